"""Many crawls at once: strategies times random seeds, on several cores; the results do not depend on how many.

The compiled simulator releases the interpreter's lock, so threads suffice and the web is held once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

import numpy as np

from recrawl.columns import FloatArray, PageIds
from recrawl.errors import InputError
from recrawl.focus.scores import CrawlArrays
from recrawl.focus.simulator import Desk, FocusedCrawl, new_desk, simulate
from recrawl.focus.strategy import Strategy
from recrawl.hashing import mix
from recrawl.progress import Advance, silent

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
        """Do all tasks, in the order given as far as results go; an interruption drops those that wait."""
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
