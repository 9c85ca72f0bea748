"""The compiled simulator keeps exact scores and crawls as the plain one does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.columns import FloatArray
from recrawl.focus.bayes import RETRAIN_EVERY, learn, new_links, odds_of, retrain
from recrawl.focus.crawl_graph import make_graph
from recrawl.focus.mission import judged
from recrawl.focus.scores import (
    ALL_SCORES,
    ANCESTOR,
    FROM_COMMUNITY,
    FRONTIER,
    LEVELS,
    MOST_LINKS,
    N_DOWNLOADED,
    N_LINKS,
    N_SEEN,
    PARENTS,
    STATUS,
    UNIT,
    UNSEEN,
    WIDE_COMM_OUT,
    CrawlArrays,
    State,
    classifier_order,
    clear,
    download,
    new_state,
    see_seed,
    settle,
)
from recrawl.focus.simulator import new_desk, simulate
from recrawl.focus.strategy import BEST_FIRST, BREADTH_FIRST, LINK_CLASSIFIER, PUBLISHED, RANDOM, Strategy
from recrawl.focus.web import WordLists
from reference.plain_focus import PlainCrawl, parent_score, scores_from_scratch


def make_web(pairs: list[tuple[int, int]], svm: FloatArray, hosts: int = 2, hints: bool = True) -> CrawlArrays:
    """A web of as many pages as there are scores."""
    pages = len(svm)
    source, target = (np.array([p[i] for p in pairs], dtype=np.int64) for i in (0, 1))
    graph = make_graph(source, target, np.arange(pages) % hosts, np.array([str(i) for i in range(pages)], dtype=object))
    hint = (np.arange(graph.links) % 7 / 7).astype(np.float32)
    words = WordLists(np.arange(pages + 1, dtype=np.int64), np.arange(pages) % 5)
    return judged(graph, svm, hint if hints else None, words)


def scores_of(web: CrawlArrays, state: State, page: int) -> FloatArray:
    """Return the settled scores of a URL, in the order of SCORES + EXTRAS (QUEUE and BAYES are the simulator's)."""
    number = state.number[page]
    row, tally = state.row[number], state.tally
    ave_out = tally[N_LINKS] / tally[N_DOWNLOADED]
    ave_in = tally[N_LINKS] / tally[N_SEEN]
    parents = [web.value[row[ANCESTOR + k]] for k in range(LEVELS)]
    host = web.host[page]
    return np.array(
        [
            row[MOST_LINKS] / ave_out,
            row[PARENTS] / ave_in,
            row[FROM_COMMUNITY] / row[PARENTS],
            state.wide[number, WIDE_COMM_OUT] / UNIT,
            *parents,
            state.hint[number],
            state.host_good[host] / (state.host_all[host] + 1),
        ]
    )


def random_web(pages: int, links: int, seed: int) -> tuple[CrawlArrays, FloatArray]:
    rng = np.random.default_rng(seed)
    svm = np.round(rng.standard_normal(pages) - 0.3, 1)
    pairs = [(int(a), int(b)) for a, b in rng.integers(0, pages, (pages * links, 2))]
    return make_web(pairs, svm, hosts=max(pages // 20, 1)), svm


@st.composite
def small_crawls(draw: st.DrawFn) -> tuple[CrawlArrays, FloatArray, list[int], list[int]]:
    pages = draw(st.integers(2, 9))
    place = st.integers(0, pages - 1)
    pairs = draw(st.lists(st.tuples(place, place), min_size=1, max_size=30))
    svm = np.array(draw(st.lists(st.sampled_from([-2.0, -0.5, 0.0, 0.5, 1.0, 3.0]), min_size=pages, max_size=pages)))
    seeds = sorted(draw(st.sets(place, min_size=1, max_size=3)))
    return make_web(pairs, svm), svm, seeds, draw(st.permutations(range(pages)))


@settings(max_examples=200, deadline=None)
@given(small_crawls(), st.integers(1, 4))
def test_scores_equal_a_recomputation_from_scratch_at_every_step(
    crawl: tuple[CrawlArrays, FloatArray, list[int], list[int]], settle_every: int
) -> None:
    """After every download the scores of every URL in the frontier are those of eqs 3-12, however late they settle."""
    web, svm, seeds, wish = crawl
    state = new_state(web)
    for seed in seeds:
        see_seed(state, seed)
    known, done = set(seeds), list[int]()
    for _ in range(len(svm)):
        ready = [page for page in wish if page in known and page not in done]
        if not ready:
            break
        download(web, state, state.number[ready[0]], LEVELS, True)
        done.append(ready[0])
        known.update(web.out[web.start[ready[0]] : web.start[ready[0] + 1]].tolist())
        if len(done) % settle_every:
            continue
        settle(web, state, LEVELS)
        frontier = [page for page in known if page not in done and page not in seeds]
        ranked = np.flatnonzero(state.row[: len(known), STATUS] == FRONTIER)
        assert set(state.page[ranked].tolist()) == set(frontier)
        for url in frontier:
            expected = scores_from_scratch(web, svm, seeds, done, url)
            np.testing.assert_allclose(scores_of(web, state, url), expected, rtol=1e-6, atol=1e-6)
    clear(state)
    assert not state.row.any()
    assert (state.number == UNSEEN).all()


def test_scores_by_hand() -> None:
    """Seeds 0 and 1 link to 2 and 3, and 1 to 4: the scores of 2, 3 and 4 follow eqs 3-8 and 11-12 by hand."""
    svm = np.array([2.0, -1.0, 0.5, 0.5, 0.5, -3.0])
    web = make_web([(0, 2), (0, 3), (1, 2), (1, 3), (1, 4), (2, 4), (2, 5)], svm, hints=False)
    state = new_state(web)
    for seed in (0, 1):
        see_seed(state, seed)
    for page in (0, 1, 2):
        download(web, state, state.number[page], LEVELS, False)
    settle(web, state, LEVELS)
    ave_out, ave_in = (2 + 3 + 2) / 3, 7 / 6  # three pages downloaded; 7 links to the 6 URLs seen
    four = scores_of(web, state, 4)[:9]
    # parents 1 (3 links, one of them to the member 2) and 2 (2 links, none into the community {0, 1, 2})
    expected = [3 / ave_out, 2 / ave_in, 2 / 2, 1 / 3 + 0 / 2, max(-1.0, 0.5), max(2.0, -1.0), 0, 0, 0]
    np.testing.assert_allclose(four, expected)
    three = scores_of(web, state, 3)[:9]
    np.testing.assert_allclose(three, [3 / ave_out, 2 / ave_in, 1.0, 1 / 2 + 1 / 3, 2.0, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("scores", "expected"),
    [([0.5, 2.0], 2.0), ([-0.5, -2.0], -2.0), ([-5.0, 0.25], 0.25), ([], 0.0), ([0.0, -1.0], -1.0)],
)
def test_sign_rule(scores: list[float], expected: float) -> None:
    """Of one sign the strongest parent counts, of both signs the greatest (eqs 11, 12), and the order agrees."""
    assert parent_score(scores) == expected
    order, value = classifier_order(np.array([*scores, 9.0]))
    best = max(order[:-1], default=0)
    assert value[best] == expected


STRATEGIES = [
    PUBLISHED,
    BEST_FIRST,
    BREADTH_FIRST,
    RANDOM,
    Strategy("anchors", ({"ANCHOR": 0.5, "HOST": 0.3, "PARENT_1": 0.2},)),
    Strategy("hubs", ({"HUB": 0.6, "AUTHORITY": 0.4},)),
    Strategy("two parts", ({"COMM_out": 0.5, "PARENT_5": 0.5}, {"PARENT_1": 0.5, "HOST": 0.5}), (2,)),
]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_compiled_crawl_is_the_plain_crawl(strategy: Strategy) -> None:
    """The compiled simulator downloads the very pages that the plain-Python one does, in the same order."""
    web, _ = random_web(1500, 6, 3)
    seeds = np.arange(0, 30, dtype=np.int64)
    desk = new_desk(web)
    for seed in (1, 2**40 + 7):
        crawl = simulate(web, desk, seeds, strategy.weights, strategy.within, 700, seed)
        assert crawl.pages.tolist() == PlainCrawl(web, strategy.weights, strategy.within).run(seeds, 700, seed)


@pytest.mark.parametrize("strategy", [*STRATEGIES, LINK_CLASSIFIER], ids=str)
def test_a_crawl_downloads_every_reachable_page_once(strategy: Strategy) -> None:
    """Without a limit a crawl ends when all reachable pages are downloaded, each of them once."""
    web, _ = random_web(600, 3, 5)
    desk = new_desk(web)
    for seeds in (np.array([7]), np.arange(120)):
        crawl = simulate(web, desk, seeds, strategy.weights, strategy.within, 10_000, 4)
        reached, ring = set(seeds.tolist()), set(seeds.tolist())
        while ring:
            ring = {int(t) for p in ring for t in web.out[web.start[p] : web.start[p + 1]]} - reached
            reached |= ring
        assert sorted(crawl.pages.tolist()) == sorted(reached)
        assert (crawl.good == web.good[crawl.pages]).all()


def test_a_shorter_crawl_is_the_beginning_of_a_longer_one() -> None:
    """The number of pages to download decides when a crawl ends, not how it goes."""
    web, _ = random_web(800, 5, 6)
    desk = new_desk(web)
    long = simulate(web, desk, np.arange(10), PUBLISHED.weights, (), 600, 9)
    short = simulate(web, desk, np.arange(10), PUBLISHED.weights, (), 200, 9)
    assert short.pages.tolist() == long.pages[:200].tolist()


def test_roulette_prefers_what_has_waited() -> None:
    """Of seeds that wait since the start and URLs that joined later, the seeds arrive first on average."""
    pages = 400
    pairs = [(seed, 100 + (seed * 7 + i) % 300) for seed in range(100) for i in range(5)]
    web = make_web(pairs, np.ones(pages), hints=False)
    desk = new_desk(web)
    last_seed = []
    for seed in range(40):
        crawl = simulate(web, desk, np.arange(100), np.zeros((1, len(ALL_SCORES))), (), pages, seed)
        last_seed.append(np.flatnonzero(crawl.pages < 100).max())
        assert set(crawl.pages[:50].tolist()) <= set(range(100))  # only seeds until the list has fallen to 50
    assert np.mean(last_seed) < 250


def test_depth_counts_links_from_the_seeds() -> None:
    """Along a chain each page is one link further from the seed than the page before."""
    web = make_web([(i, i + 1) for i in range(9)], np.ones(10), hints=False)
    crawl = simulate(web, new_desk(web), np.array([0]), BEST_FIRST.weights, (), 10, 0)
    assert crawl.pages.tolist() == crawl.depth.tolist() == list(range(10))


def test_best_first_goes_to_the_children_of_the_best_page() -> None:
    """With PARENT_1 alone the links of the best-scored parent come before all others."""
    svm = np.concatenate([[3.0, 1.0], np.full(600, -1.0)])
    pairs = [(0, 2 + i) for i in range(300)] + [(1, 302 + i) for i in range(300)]
    web = make_web(pairs, svm, hints=False)
    crawl = simulate(web, new_desk(web), np.array([0, 1]), BEST_FIRST.weights, (), 602, 0)
    order = {page: i for i, page in enumerate(crawl.pages.tolist())}
    assert np.mean([order[p] for p in range(2, 302)]) < np.mean([order[p] for p in range(302, 602)]) - 150


def test_link_classifier_by_hand() -> None:
    """Naive Bayes with Laplace's rule on the words of addresses and anchors, averaged over the links to a URL."""
    source, target = np.array([0, 0, 0, 1]), np.array([1, 2, 3, 3])
    graph = make_graph(source, target, np.zeros(4, dtype=np.int32), np.array(list("abcd"), dtype=object))
    addresses = WordLists(np.arange(5), np.array([0, 0, 1, 0]))
    anchors = WordLists(np.arange(5), np.array([2, 3, 2, 3]))  # of the links, in this order
    web = judged(graph, np.array([1.0, 1.0, -1.0, 1.0]), None, addresses, anchors)
    state, links = new_state(web), new_links(web)
    see_seed(state, 0)
    for page in (0, 1, 2):
        number = int(state.number[page])
        download(web, state, number, LEVELS, False)
        learn(web, state, links, number)
    retrain(web, state, links)
    # good pages 0 and 1: address word 0 twice, anchor word 2 once; other page 2: words 1 and 3; four words in all
    good, other = np.array([2, 0, 1, 0]), np.array([0, 1, 0, 1])
    odds = np.log((good + 1) / (3 + 4)) - np.log((other + 1) / (2 + 4))
    np.testing.assert_allclose(links.odds, odds)
    assert odds_of(web, state, links, int(state.number[3])) == pytest.approx(odds[0] + (odds[2] + odds[3]) / 2)


def test_link_classifier_learns_during_the_crawl() -> None:
    """Where an address tells the topic, the link classifier harvests more after its first training than at random."""
    rng = np.random.default_rng(2)
    pages = 4000
    svm = np.where(np.arange(pages) % 5 == 0, 1.0, -1.0)  # word 0 of five marks the good pages, see `make_web`
    web = make_web([(int(a), int(b)) for a, b in rng.integers(0, pages, (20 * pages, 2))], svm, hints=False)
    desk, seeds = new_desk(web), np.arange(20)
    clever, blind = (simulate(web, desk, seeds, s.weights, (), 3 * RETRAIN_EVERY, 0) for s in (LINK_CLASSIFIER, RANDOM))
    assert blind.good[RETRAIN_EVERY:].mean() < 0.3
    assert clever.good[RETRAIN_EVERY + 100 :].mean() > 0.6


def test_seeds_in_separate_parts_are_all_crawled_from() -> None:
    """Seeds that no path joins are a crawl of all their parts; depth and community are those of each."""
    web = make_web([(0, 1), (1, 2), (3, 4), (4, 5)], np.array([1.0, -1.0, 1.0, 1.0, 1.0, -1.0]), hints=False)
    crawl = simulate(web, new_desk(web), np.array([0, 3]), PUBLISHED.weights, (), 10, 0)
    depth = dict(zip(crawl.pages.tolist(), crawl.depth.tolist(), strict=True))
    assert depth == {0: 0, 1: 1, 2: 2, 3: 0, 4: 1, 5: 2}
