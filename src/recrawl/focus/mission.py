"""A topic on a web, ready to crawl: seeds, distances, and crawlers for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.columns import IntArray, PageIds
from recrawl.errors import InputError
from recrawl.focus.crawl_graph import UNREACHED, check_seeds
from recrawl.focus.fleet import Fleet
from recrawl.focus.prepare import prepare
from recrawl.focus.topic import Topic, learn_topic
from recrawl.focus.web import TopicalWeb

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
    def learn(cls, web: TopicalWeb, spec: str, *, seed: int = 0, jobs: int = 1) -> Mission:
        """Learn the topic that `spec` names."""
        return cls(web, learn_topic(web, spec, seed), jobs)

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
        """The relevant pages; InputError if there are none."""
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
    """How long a crawl should be: 10,000 pages, or what the graph and the topic allow.

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
