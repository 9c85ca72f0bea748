"""A synthetic web with topics: locality, tunnels and hubs.

Pages lie on hosts, and most pages of a host are about its main topic. A topic's hosts form clusters: topical links
stay in the cluster, so a crawler cannot go from one to the next along relevant pages alone. Clusters are joined by
tunnels (two irrelevant pages on the way to relevant ones) and by hubs: pages with a hundred links and more to one
topic, half of them not about it themselves. Anchors and addresses tell a link's topic more often than not.

The topics `popular` (8% of the pages), `common` (2%) and `sparse` (1.5%) are the ones to crawl for. The pages of the
sparse one lie scattered: few to a host, in small clusters, with few links to each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from recrawl.columns import IntArray, PageIds
from recrawl.errors import InputError
from recrawl.focus.crawl_graph import make_graph
from recrawl.focus.web import TopicalWeb, WordLists
from recrawl.see.words import BUCKETS

DEFAULT_PAGES = 200_000
SMALLEST = 2_000
OTHERS = 57
NOTHING = -1  # the topic of a page about nothing in particular
NO_TOPIC_SHARE = 0.25
WITHIN_HOST, RELATED_TOPIC = 0.50, 0.08  # kinds of links on a page with a topic; the rest lead anywhere


class Sort(NamedTuple):
    """A topic's share of the pages and how it is clustered."""

    share: float  # of the pages
    purity: float = 0.55  # of the pages of a host of the topic, the share that is about it
    own_topic: float = 0.20  # of the links of a page, the share that leads to its cluster of the topic
    cluster_hosts: int = 12


NAMED = {"popular": Sort(0.08), "common": Sort(0.02), "sparse": Sort(0.015, 0.15, 0.06, 4)}
ORDINARY = Sort(0.0)  # all other topics: they share what is left
SORTS = (*NAMED.values(), *([ORDINARY] * OTHERS))

FAMOUS = 0.02  # share of the links anywhere that go to well-known pages
LINKS = 23.0  # mean of an ordinary page; hubs, tunnels and home pages bring the mean near 20
TOKENS = 40
COMMON_WORDS, TOPIC_WORDS, HOST_WORDS = 20_000, 150, 100_000  # host words are numbered from HOST_WORDS
ANCHOR_WORDS = 2


@dataclass(frozen=True)
class _Plan:
    """The layout: hosts in a row, topics, and the pages of each cluster one after another."""

    host: IntArray
    host_start: IntArray
    topic: IntArray
    cluster: IntArray  # each page's cluster; those of one topic are neighbours
    cluster_start: IntArray
    cluster_pages: IntArray
    topic_clusters: IntArray  # where each topic's clusters begin


class TokenBags:
    """Words in sequence, counted with their bi-grams when asked for."""

    def __init__(self, tokens: npt.NDArray[np.int32]) -> None:
        self.tokens = tokens

    def rows(self, pages: PageIds) -> csr_matrix:
        """Count words and bi-grams of these pages."""
        words = self.tokens[pages].astype(np.int64)
        pairs = (words[:, :-1] * 1_000_003 + words[:, 1:] * 7_919 + 13) % BUCKETS
        columns = np.concatenate([words, pairs], axis=1).astype(np.int32)
        start = np.arange(len(words) + 1) * columns.shape[1]
        ones = np.ones(columns.size, dtype=np.float32)
        counts = csr_matrix((ones, columns.ravel(), start), shape=(len(words), BUCKETS))
        counts.sum_duplicates()
        return counts


def synthetic_web(pages: int = DEFAULT_PAGES, seed: int = 0) -> TopicalWeb:
    """Make a web of `pages` pages; the same for the same seed."""
    if pages < SMALLEST:
        raise InputError(f"a synthetic web needs at least {SMALLEST:,} pages for its topics, not {pages:,}")
    rng = np.random.default_rng(seed)
    plan = _plan(pages, rng)
    source, target = _links(plan, rng)
    urls = np.array([f"host{h}.example/{p}" for p, h in enumerate(plan.host)], dtype=object)
    graph = make_graph(source, target, plan.host, urls)
    anchors = _about(plan.topic[graph.out], ANCHOR_WORDS, 0.5, rng)
    starts = np.arange(graph.links + 1, dtype=np.int64) * ANCHOR_WORDS
    labels = {name: plan.topic == number for number, name in enumerate(NAMED)}
    return TopicalWeb(
        f"synthetic web of {pages:,} pages, seed {seed}",
        graph,
        TokenBags(_tokens(plan, rng)),
        _addresses(plan, rng),
        WordLists(starts, anchors.ravel()),
        labels,
    )


def _plan(pages: int, rng: np.random.Generator) -> _Plan:
    sizes = np.minimum(rng.lognormal(4.0, 0.9, pages).astype(np.int64) + 5, max(pages // 100, 10))
    ends = np.cumsum(sizes)
    hosts = int(np.searchsorted(ends, pages)) + 1
    host_start = np.concatenate([[0], ends[: hosts - 1], [pages]])
    host = np.repeat(np.arange(hosts), np.diff(host_start)).astype(np.int32)
    main = _main_topics(np.diff(host_start), rng)
    draw = rng.random(pages)
    purity = np.array([sort.purity for sort in SORTS] + [ORDINARY.purity])[main[host]]
    topic = np.where(draw < purity, main[host], np.where(draw < 0.9, NOTHING, rng.integers(0, len(SORTS), pages)))
    strays = (draw >= 0.9) & (topic < len(NAMED))  # the named topics keep their shares
    topic[strays] = NOTHING
    cluster, clusters = _clusters(topic, host, main)
    order = np.argsort(cluster, kind="stable")
    cluster_start = np.searchsorted(cluster[order], np.arange(clusters[-1] + 1))
    return _Plan(host, host_start, topic, cluster, cluster_start, order, clusters)


def _main_topics(sizes: IntArray, rng: np.random.Generator) -> IntArray:
    """Give hosts their main topics, so that the named ones come as near as hosts allow to their shares of the pages."""
    main = np.full(len(sizes), NOTHING)
    order = rng.permutation(len(sizes))
    shares = [sort.share / sort.purity for sort in NAMED.values()]
    rest = 1.0 - NO_TOPIC_SHARE - sum(shares)
    shares += [rest / OTHERS] * OTHERS
    wanted = np.cumsum(shares) * sizes.sum()
    main[order] = np.minimum(np.searchsorted(wanted, np.cumsum(sizes[order]) - sizes[order] / 2), len(shares))
    main[main == len(shares)] = NOTHING
    return main


def _clusters(topic: IntArray, host: IntArray, main: IntArray) -> tuple[IntArray, IntArray]:
    """Group the hosts of each topic into three clusters or more; pages about nothing form the last one."""
    hosts_of = np.bincount(main[main >= 0], minlength=len(SORTS))
    parts = np.maximum(hosts_of // [sort.cluster_hosts for sort in SORTS], 3)
    begin = np.concatenate([[0], np.cumsum(parts)])
    safe = np.maximum(topic, 0)
    part = host % parts[safe]
    cluster = np.where(topic >= 0, begin[safe] + part, begin[-1])
    return cluster, np.concatenate([begin, [begin[-1] + 1]])


def _links(plan: _Plan, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Draw all links: ordinary ones, hubs and tunnels."""
    parts = [_ordinary(plan, rng), _hubs(plan, rng), _tunnels(plan, rng)]
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def _ordinary(plan: _Plan, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Links within the host, to the own topic's cluster, to a related topic, and anywhere."""
    pages = len(plan.host)
    count = np.maximum(rng.lognormal(np.log(LINKS) - 0.18, 0.6, pages), 1).astype(np.int64)
    source = np.repeat(np.arange(pages), count)
    kind = rng.random(len(source))
    topical = plan.topic[source] >= 0
    host = plan.host[source]
    size = plan.host_start[host + 1] - plan.host_start[host]
    home = rng.random(len(source)) < 0.2
    target = plan.host_start[host] + np.where(home, 0, (size * rng.random(len(source))).astype(np.int64))
    until = WITHIN_HOST + np.array([sort.own_topic for sort in SORTS] + [0.0])[plan.topic[source]]
    own = topical & (kind >= WITHIN_HOST) & (kind < until)
    target[own] = _pick(plan, plan.cluster[source[own]], rng)
    related = topical & (kind >= until) & (kind < until + RELATED_TOPIC)
    target[related] = _pick(plan, _any_cluster(plan, (plan.topic[source[related]] + 1) % _topics(plan), rng), rng)
    anywhere = kind >= np.where(topical, until + RELATED_TOPIC, 0.55)
    target[anywhere] = _anywhere(source[anywhere], pages, rng)
    return source, target


def _hubs(plan: _Plan, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """One page in two hundred has 100 to 300 more links, four of five to one topic: its own, or a topic's directory."""
    pages = len(plan.host)
    hubs = rng.choice(pages, pages // 200, replace=False)
    topic = np.where(plan.topic[hubs] >= 0, plan.topic[hubs], rng.integers(0, _topics(plan), len(hubs)))
    source = np.repeat(np.arange(len(hubs)), rng.integers(100, 300, len(hubs)))
    target = _pick(plan, _any_cluster(plan, topic[source], rng), rng)
    stray = rng.random(len(source)) < 0.2
    target[stray] = _skewed(pages, int(stray.sum()), rng)
    return hubs[source], target


def _tunnels(plan: _Plan, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """From each cluster to the next one of its topic: page, irrelevant page, irrelevant page, three relevant pages."""
    clusters = np.arange(plan.topic_clusters[-2])
    topic = np.searchsorted(plan.topic_clusters, clusters, side="right") - 1
    first, parts = plan.topic_clusters[topic], np.diff(plan.topic_clusters)[topic]
    after = first + (clusters - first + 1) % parts
    filled = (np.diff(plan.cluster_start)[clusters] > 0) & (np.diff(plan.cluster_start)[after] > 0)
    chains = np.repeat(clusters[filled], np.maximum(np.diff(plan.cluster_start)[clusters[filled]] // 20, 3))
    into = np.repeat(after[filled], np.maximum(np.diff(plan.cluster_start)[clusters[filled]] // 20, 3))
    nothing = np.flatnonzero(plan.topic == NOTHING)
    a, b = rng.choice(nothing, len(chains)), rng.choice(nothing, len(chains))
    ends = [(b, _pick(plan, into, rng)) for _ in range(3)]
    pairs = [(_pick(plan, chains, rng), a), (a, b), *ends]
    return np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs])


def _topics(plan: _Plan) -> int:
    return len(plan.topic_clusters) - 2


def _any_cluster(plan: _Plan, topic: IntArray, rng: np.random.Generator) -> IntArray:
    first, last = plan.topic_clusters[topic], plan.topic_clusters[topic + 1]
    return first + ((last - first) * rng.random(len(topic))).astype(np.int64)


def _pick(plan: _Plan, cluster: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw a page of each cluster, a few far more often than most; any page where the cluster is empty."""
    first, last = plan.cluster_start[cluster], plan.cluster_start[cluster + 1]
    at = first + ((last - first) * rng.random(len(cluster)) ** 2).astype(np.int64)
    chosen = plan.cluster_pages[np.minimum(at, len(plan.cluster_pages) - 1)]
    return np.where(last > first, chosen, _skewed(len(plan.host), len(cluster), rng))


def _anywhere(source: IntArray, pages: int, rng: np.random.Generator) -> IntArray:
    """Draw targets for links without a topic: mostly not far away, some on the pages that all the web links to."""
    away = np.exp(np.log(pages / 200) * rng.random(len(source))).astype(np.int64)
    near = (source + np.where(rng.random(len(source)) < 0.5, away, -away)) % pages
    famous = rng.random(len(source)) < FAMOUS
    return np.where(famous, _skewed(pages, len(source), rng), near)


def _skewed(pages: int, count: int, rng: np.random.Generator) -> IntArray:
    """Draw pages of the whole web, a few far more often than most, wherever they lie."""
    rank = (pages * rng.random(count) ** 3).astype(np.int64)
    return (rank * 7_368_787 + 11) % pages  # a permutation: the number is prime


def _tokens(plan: _Plan, rng: np.random.Generator) -> npt.NDArray[np.int32]:
    """Write every page: a third of a topical page's words are the topic's, more or less."""
    pages = len(plan.host)
    strength = rng.beta(3.0, 6.0, pages)
    topic = np.repeat(plan.topic[:, None], TOKENS, axis=1)
    other = rng.random((pages, TOKENS)) < 0.03
    topic = np.where(other, rng.integers(0, _topics(plan), (pages, TOKENS)), topic)
    say = other | ((rng.random((pages, TOKENS)) < strength[:, None]) & (topic >= 0))
    return _words(np.where(say, topic, NOTHING), rng)


def _about(topic: IntArray, count: int, share: float, rng: np.random.Generator) -> npt.NDArray[np.int32]:
    """Write `count` words for each topic: all the topic's own with probability `share`, else common ones."""
    say = (rng.random(len(topic)) < share) & (topic >= 0)
    return _words(np.repeat(np.where(say, topic, NOTHING)[:, None], count, axis=1), rng)


def _words(topic: IntArray, rng: np.random.Generator) -> npt.NDArray[np.int32]:
    common = (COMMON_WORDS * rng.random(topic.shape) ** 3).astype(np.int64)
    own = COMMON_WORDS + topic * TOPIC_WORDS + (TOPIC_WORDS * rng.random(topic.shape) ** 2).astype(np.int64)
    return np.where(topic >= 0, own, common).astype(np.int32)


def _addresses(plan: _Plan, rng: np.random.Generator) -> WordLists:
    """Each address has its host's own word and one of the path."""
    path = _about(plan.topic, 1, 0.4, rng)[:, 0]
    words = np.stack([HOST_WORDS + plan.host, path], axis=1).astype(np.int32)
    return WordLists(np.arange(len(path) + 1, dtype=np.int64) * 2, words.ravel())
