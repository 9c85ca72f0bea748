"""The compiled simulator of a focused crawl (Johnson et al., section 2.1).

The crawler downloads from a current list, which starts with the seeds. Whenever it has fallen to 50 URLs, the 50 best
of the frontier join it with time stamp 1, and the stamps of those that wait go up by 1. The next URL to arrive is drawn
with probability proportional to its stamp, as slow hosts answer late. A downloaded page shows its links and, if the
topic classifier accepts it, joins the community.

A fleet runs many crawls at once, strategies times random seeds, on several cores; the results do not depend on how
many. The compiled simulator releases the interpreter's lock, so threads suffice and the web is held once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from numba import uint64

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds
from recrawl.compiled import kernel
from recrawl.errors import InputError
from recrawl.focus.bayes import RETRAIN_EVERY, LinkWords, forget, learn, new_links, retrain
from recrawl.focus.frontier import FILL, Frontier, best, empty, enter, new_frontier, rank, scrambled
from recrawl.focus.scores import (
    ALL_SCORES,
    ANCHOR,
    BAYES,
    CURRENT,
    DEPTH,
    LEVELS,
    PARENT,
    STATUS,
    CrawlArrays,
    State,
    clear,
    download,
    new_state,
    see_seed,
    settle,
)
from recrawl.focus.strategy import Strategy
from recrawl.hashing import GOLDEN, mix
from recrawl.progress import Advance, silent

FILL_AT = 50  # the current list is filled when so many URLs are left


class Desk(NamedTuple):
    """Preallocated memory for one crawl at a time over one web."""

    state: State
    frontier: Frontier
    links: LinkWords


def new_desk(web: CrawlArrays) -> Desk:
    """Allocate the memory for crawls over `web`."""
    return Desk(new_state(web), new_frontier(len(web.start) - 1), new_links(web))


@dataclass(frozen=True)
class FocusedCrawl:
    """What a simulated crawl downloaded, in order, and how many links from the seeds it then knew each page to be."""

    pages: PageIds
    depth: IntArray
    good: BoolArray

    @property
    def harvest(self) -> float:
        """Good pages / all pages: the fitness of eq. 1."""
        return float(self.good.mean()) if len(self.good) else 0.0


def simulate(
    web: CrawlArrays, desk: Desk, seeds: PageIds, weights: FloatArray, within: Sequence[int], pages: int, seed: int
) -> FocusedCrawl:
    """Crawl up to `pages` pages from `seeds`.

    `weights` has a row of weights (in the order of ALL_SCORES) for each sub-strategy; row i ranks the URLs that are at
    most `within[i]` links from the seeds, the last row all others.
    """
    assert weights.shape == (len(within) + 1, len(ALL_SCORES))
    downloaded = np.empty(min(pages, len(web.start) - 1), dtype=np.int64)
    depth = np.empty(len(downloaded), dtype=np.int32)
    bands, luck = np.asarray(within, dtype=np.int64), np.uint64(seed % 2**64)
    count = _crawl(web, desk, seeds, weights, bands, luck, downloaded, depth)
    pages_ = downloaded[:count]
    return FocusedCrawl(pages_, depth[:count], web.good[pages_])


@kernel(error_model="numpy")
def _crawl(
    web: CrawlArrays, desk: Desk, seeds: PageIds, weights: FloatArray, within: IntArray, seed: np.uint64,
    downloaded: PageIds, depth: IntArray,
) -> int:  # fmt: skip
    state, frontier, links = desk
    clear(state)
    empty(frontier)
    learning = weights[:, BAYES].any()
    if learning:
        forget(links)
    levels = _levels(weights)
    hinted = len(web.hint) > 0 and weights[:, ANCHOR].any()
    luck = np.array([seed], dtype=np.uint64)
    current = np.empty(len(seeds) + 2 * FILL, dtype=np.int32)
    stamp = np.empty(len(current), dtype=np.int64)
    for i in range(len(seeds)):
        current[i] = see_seed(state, seeds[i])
        stamp[i] = 1
    waiting = len(seeds)
    total = waiting
    n = 0
    while waiting > 0 and n < len(downloaded):
        i = _draw(stamp, total, luck)
        number = current[i]
        total -= stamp[i]
        waiting -= 1
        current[i], stamp[i] = current[waiting], stamp[waiting]
        download(web, state, number, levels, hinted)
        downloaded[n] = state.page[number]
        depth[n] = state.row[number, DEPTH]
        n += 1
        if learning:
            learn(web, state, links, number)
            if n % RETRAIN_EVERY == 0:
                retrain(web, state, links)
        if waiting <= FILL_AT:
            settle(web, state, levels)
            enter(web, state, frontier, seed)
            rank(web, state, frontier, links, weights, within)
            chosen = best(state, frontier, seed)
            if len(chosen):
                for j in range(waiting):
                    stamp[j] += 1
                total += waiting
                for url in chosen:
                    state.row[url, STATUS] = CURRENT
                    frontier.part[url, 2] = -np.inf
                    current[waiting] = url
                    stamp[waiting] = 1
                    waiting += 1
                frontier.size[0] -= len(chosen)
                total += len(chosen)
    return n


@kernel(error_model="numpy")
def _levels(weights: FloatArray) -> int:
    """Return the number of generations of ancestors that have a weight."""
    for k in range(LEVELS, 0, -1):
        if weights[:, PARENT + k - 1].any():
            return k
    return 1


@kernel(error_model="numpy")
def _draw(stamp: IntArray, total: int, luck: npt.NDArray[np.uint64]) -> int:
    """Spin the roulette wheel: a place with probability proportional to its time stamp."""
    luck[0] += GOLDEN
    left = np.int64(scrambled(luck[0]) % uint64(total))
    i = 0
    while left >= stamp[i]:
        left -= stamp[i]
        i += 1
    return i


T = TypeVar("T")
Task = tuple[Strategy, int]  # what to crawl by, and the seed of chance


class Fleet:
    """Crawlers of one web, each with a desk of its own."""

    def __init__(self, web: CrawlArrays, jobs: int = 1) -> None:
        if jobs < 1:
            raise InputError(f"there must be at least one job, not {jobs}")
        self.web = web
        self.jobs = jobs
        self._desks: SimpleQueue[Desk] = SimpleQueue()
        for _ in range(jobs):
            self._desks.put(new_desk(web))

    def crawl(self, strategy: Strategy, seeds: PageIds, pages: int, seed: int) -> FocusedCrawl:
        """Run one crawl."""
        desk = self._desks.get()
        try:
            return simulate(self.web, desk, seeds, strategy.weights, strategy.within, pages, seed)
        finally:
            self._desks.put(desk)

    def crawls(
        self,
        strategies: Sequence[Strategy],
        seeds: PageIds,
        pages: int,
        runs: Sequence[int],
        advance: Advance = silent,
    ) -> list[list[FocusedCrawl]]:
        """Run every strategy with every random seed; returns crawls[strategy][run]."""
        tasks = [(strategy, run) for strategy in strategies for run in runs]
        done = self._each(lambda task: self.crawl(task[0], seeds, pages, task[1]), tasks, advance)
        return [done[i * len(runs) : (i + 1) * len(runs)] for i in range(len(strategies))]

    def fitness(
        self, strategies: Sequence[Strategy], seeds: PageIds, pages: int, runs: Sequence[int], explore: float = 0.0
    ) -> FloatArray:
        """Mean fitness of each strategy over the runs."""
        tasks = [(strategy, run) for strategy in strategies for run in runs]
        values = self._each(lambda task: fitness(self.crawl(task[0], seeds, pages, task[1]), explore), tasks)
        return np.array(values).reshape(len(strategies), len(runs)).mean(axis=1)

    def _each(self, work: Callable[[Task], T], tasks: list[Task], advance: Advance = silent) -> list[T]:
        """Run all tasks in threads, results in their order; an interruption drops the waiting ones."""
        pool = ThreadPoolExecutor(self.jobs)
        try:
            done: list[T] = []
            for result in pool.map(work, tasks):
                done.append(result)
                advance(len(done), len(tasks))
            return done
        finally:
            pool.shutdown(cancel_futures=True)


def fitness(crawl: FocusedCrawl, explore: float = 0.0) -> float:
    """Good pages / pages (eq. 1); with `explore` a good page d links from the seeds counts 1 + explore * (d - 1)."""
    if not len(crawl.pages):
        return 0.0
    worth = crawl.good * (1.0 + explore * np.maximum(crawl.depth - 1, 0))
    return float(worth.mean())


def chances(seed: int, runs: int) -> list[int]:
    """Random seeds for so many crawls, drawn from one seed."""
    return [int(number >> np.uint64(1)) for number in mix(np.arange(runs), seed)]
