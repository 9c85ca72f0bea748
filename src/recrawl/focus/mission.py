"""A topic on a web, ready to crawl: seeds, distances, and crawlers for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, IntArray, PageIds
from recrawl.errors import InputError
from recrawl.focus.crawl_graph import UNREACHED, CrawlGraph, check_seeds
from recrawl.focus.scores import CrawlArrays, classifier_order
from recrawl.focus.simulator import Fleet
from recrawl.focus.topic import Topic, learn_topic
from recrawl.focus.web import TopicalWeb, WordLists

LONGEST = 10_000  # the paper evolved on crawls of so many pages
SEED_SHARE = 8  # at most one relevant page in eight is a seed
REACH_SHARE = 20  # on a small graph a crawl is one page in twenty of those that can be reached


@dataclass(frozen=True)
class Seeding:
    """Pages to start from, and how far everything lies from them."""

    seeds: PageIds
    distance: IntArray

    @property
    def reach(self) -> int:
        """How many pages a crawl can download at most."""
        return int((self.distance != UNREACHED).sum())


class Mission:
    """A web, a topic that was learnt on it, and crawlers."""

    def __init__(self, web: TopicalWeb, topic: Topic, jobs: int = 1) -> None:
        self.web = web
        self.topic = topic
        self.fleet = Fleet(prepare(web, topic), jobs)

    @classmethod
    def learn(cls, web: TopicalWeb, spec: str, *, seed: int = 0, jobs: int = 1, vocabulary: str = "all") -> Mission:
        """Learn the topic that `spec` names."""
        return cls(web, learn_topic(web, spec, seed, vocabulary), jobs)

    def start(self, seeds: PageIds) -> Seeding:
        """Start from these pages; they must lie in the graph."""
        checked = check_seeds(self.web.graph, seeds)
        return Seeding(checked, self.web.graph.distances(checked))

    def examples(self, seed: int = 0) -> Seeding:
        """Start from the training examples of the topic, as in the paper; from a part if they are most of the pages.

        A crawl that starts from most of the relevant pages has little to find.
        """
        self._relevant()
        examples = np.random.default_rng(seed).permutation(self.topic.examples)
        return self.start(examples[: self._most(len(examples))])

    def draw(self, count: int, seed: int) -> Seeding:
        """Start from relevant pages drawn at random, at most an eighth of them; those with links before the others."""
        order = np.random.default_rng(seed).permutation(self._relevant())
        linking = np.diff(self.web.graph.start)[order] > 0
        order = np.concatenate([order[linking], order[~linking]])
        return self.start(order[: self._most(count)])

    def _relevant(self) -> PageIds:
        """Return the relevant pages; InputError if the list is empty."""
        good = np.flatnonzero(self.topic.good)
        if not len(good):
            raise InputError(f"topic {self.topic.name!r} is empty: the classifier accepts no page of {self.web.name}")
        return good

    def _most(self, count: int) -> int:
        return max(min(count, int(self.topic.good.sum()) // SEED_SHARE), 1)

    def good_within(self, start: Seeding) -> int:
        """How many relevant pages can be reached."""
        return int((self.topic.good & (start.distance != UNREACHED)).sum())


def default_pages(start: Seeding, good: int) -> int:
    """Default length of a crawl: 10,000 pages, or what the graph and the topic allow.

    That is one page in twenty of those in reach, and not more than there are relevant ones: beyond that all strategies
    have found the same pages. At least twice the seeds.
    """
    allowed = max(min(start.reach // REACH_SHARE, good), min(2 * len(start.seeds), start.reach))
    if allowed >= LONGEST:
        return LONGEST
    return max(allowed // 50 * 50, min(allowed, 50))


def check_room(start: Seeding, pages: int = 0) -> None:
    """Raise InputError where there is nothing to rank: the seeds lead nowhere, or the crawl ends among them."""
    count = len(start.seeds)
    if start.reach <= count:
        raise InputError(f"no link leads from the {count} seeds to another page: there is nothing to rank")
    if pages and pages <= count:
        raise InputError(f"a crawl of {pages:,} pages ends among its {count} seeds: there is nothing to rank")


def prepare(web: TopicalWeb, topic: Topic) -> CrawlArrays:
    """Judge every page and every link of the web by the topic."""
    addresses, anchors = _dense_words(web)
    return judged(web.graph, topic.svm, link_similarity(web, topic), addresses, anchors)


def judged(
    graph: CrawlGraph,
    svm: FloatArray,
    hint: npt.NDArray[np.float32] | None = None,
    addresses: WordLists | None = None,
    anchors: WordLists | None = None,
) -> CrawlArrays:
    """Assemble the simulator's input from a graph and the classifier's scores; words count from 0, None is unknown.

    The types of the arrays are always the same, so that the simulator is compiled once.
    """
    order, value = classifier_order(svm)
    none = WordLists(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32))
    addresses, anchors = addresses or none, anchors or none
    return CrawlArrays(
        start=graph.start.astype(np.int64),
        out=graph.out.astype(np.int32),
        source=graph.source.astype(np.int32),
        order=order.astype(np.int32),
        value=value.astype(np.float64),
        good=np.asarray(svm > 0),
        host=graph.host.astype(np.int32),
        hint=np.asarray([] if hint is None else hint, dtype=np.float32),
        word_start=addresses.start.astype(np.int64),
        word=addresses.word.astype(np.int32),
        anchor_start=anchors.start.astype(np.int64),
        anchor=anchors.word.astype(np.int32),
    )


def link_similarity(web: TopicalWeb, topic: Topic) -> npt.NDArray[np.float32]:
    """Cosine of each link's words and the topic's: of its anchor, or of the address it leads to, if that is nearer."""
    by_address = _cosine(web.addresses, topic)[web.graph.out]
    if web.anchors is None:
        return by_address.astype(np.float32)
    return np.maximum(by_address, _cosine(web.anchors, topic)).astype(np.float32)


def _cosine(lists: WordLists, topic: Topic) -> FloatArray:
    """Sum of the words' weights in the topic's mean page / length of the list as a vector of idf weights."""
    size = np.diff(lists.start)
    weight = topic.similarity[lists.word]
    total = np.add.reduceat(np.append(weight, 0.0), lists.start[:-1]) * (size > 0)
    square = np.add.reduceat(np.append(topic.idf[lists.word] ** 2, 0.0), lists.start[:-1]) * (size > 0)
    return np.asarray(np.minimum(total / np.sqrt(np.maximum(square, 1e-12)), 1.0))


def _dense_words(web: TopicalWeb) -> tuple[WordLists, WordLists | None]:
    """Number the words of addresses and anchors from 0: the link classifier keeps a table of them."""
    anchored = np.empty(0, dtype=np.int32) if web.anchors is None else web.anchors.word
    _, number = np.unique(np.concatenate([web.addresses.word, anchored]), return_inverse=True)
    split = len(web.addresses.word)
    addresses = WordLists(web.addresses.start, number[:split])
    return addresses, None if web.anchors is None else WordLists(web.anchors.start, number[split:])
