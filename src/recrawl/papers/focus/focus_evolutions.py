"""The evolutions of one topic: independent of each other, so they run here or on an engine, with the same results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from recrawl.columns import FloatArray, PageIds
from recrawl.evaluate.work_engine import LOCAL, Shared, open_engine
from recrawl.focus.genetic import Evolution, GeneticSettings, Search, evolve
from recrawl.focus.scores import CrawlArrays
from recrawl.focus.simulator import Fleet
from recrawl.focus.strategy import Strategy
from recrawl.papers.focus.focus_measures import harvest
from recrawl.progress import Advance, silent


class Hunt(NamedTuple):
    """One evolution: what to look for, and its seed."""

    search: Search
    seed: int


@dataclass(frozen=True)
class Evolved:
    """What one evolution found, and how its best strategy does from the larger set of seeds."""

    strategies: tuple[Strategy, ...]
    course: Evolution
    harvest: FloatArray  # sizes x runs


@dataclass
class HuntingGround:
    """What all evolutions of a topic share."""

    web: CrawlArrays
    training: PageIds  # seeds to evolve with
    start: PageIds  # seeds to test with
    sizes: tuple[int, ...]
    settings: GeneticSettings
    chances: Sequence[int]  # seeds of the crawls that test

    @cached_property
    def fleet(self) -> Fleet:
        """One crawler, made where it is used; a cluster works on several evolutions at once."""
        return Fleet(self.web)

    def evolve(self, hunt: Hunt, fleet: Fleet, advance: Advance = silent) -> Evolved:
        """Evolve, and test the best strategy."""
        found, course = evolve(fleet, self.training, self.sizes[0], self.settings, hunt.seed, hunt.search, advance)
        return Evolved(tuple(found), course, harvests(fleet, self.start, found[0], self.sizes, self.chances))


def run_hunts(
    ground: HuntingGround, fleet: Fleet, hunts: Sequence[Hunt], engine: str = LOCAL, advance: Advance = silent
) -> list[Evolved]:
    """Run evolutions by the fleet, or on an engine; the results are in their order."""
    if engine == LOCAL:
        return [ground.evolve(hunt, fleet, advance) for hunt in hunts]
    found: dict[int, Evolved] = {}
    with open_engine(engine) as opened:
        shared = opened.share(ground)
        for number, result in opened.each(_work, ((shared, hunt) for hunt in hunts)):
            found[number] = result
            advance(len(found), len(hunts), hunts[number].search.name)
    return [found[number] for number in range(len(hunts))]


def _work(piece: tuple[Shared, Hunt]) -> Evolved:
    shared, hunt = piece
    ground: HuntingGround = shared.load()
    return ground.evolve(hunt, ground.fleet)


def harvests(
    fleet: Fleet, seeds: PageIds, strategy: Strategy, sizes: tuple[int, ...], drawn: Sequence[int]
) -> FloatArray:
    """Harvest of crawls of each size with each seed of chance: sizes x runs."""
    [crawls] = fleet.crawls([strategy], seeds, sizes[-1], drawn)
    return np.array([[harvest(crawl, size) for crawl in crawls] for size in sizes])
