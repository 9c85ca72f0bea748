"""Run crawls one after the other or in several processes, with the same results in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from recrawl.columns import FloatArray, PageIds
from recrawl.evaluate.crawl import CrawlResult, crawl
from recrawl.evaluate.measures.measure import Measure
from recrawl.features.pagerank import importance_of
from recrawl.plan import Plan
from recrawl.progress import Advance, silent
from recrawl.recording.recording import Recording
from recrawl.recording.tables import ParquetTables, Tables


@dataclass(frozen=True)
class Task:
    """One crawl of a comparison: a policy on one fold, with this run's seed and budget."""

    policy: str
    plan: Plan
    fold: int


class Folds:
    """The recording split by a seed, kept while the tasks stay with that seed."""

    def __init__(self, recording: Recording, count: int) -> None:
        self.recording = recording
        self.count = count
        self._importance: dict[str, FloatArray | None] = {}
        self._seed: int | None = None
        self._parts: list[Recording] = []

    def parts(self, seed: int) -> list[Recording]:
        """All folds of a seed; one fold is the whole."""
        if self.count == 1:
            return [self.recording]
        if seed != self._seed:
            self._seed, self._parts = seed, self.recording.folds(self.count, seed)
        return self._parts

    def run(self, task: Task, measures: Sequence[Measure], advance: Advance = silent) -> CrawlResult:
        """Crawl a task's fold."""
        part = self.parts(task.plan.seed)[task.fold]
        importance = self._importance_in(part, task.plan.importance)
        return crawl(part, task.policy, task.plan, measures, advance, importance=importance)

    def _importance_in(self, part: Recording, kind: str) -> FloatArray | None:
        """A fold's pages weigh what they weigh in the whole, whose links they keep."""
        if kind not in self._importance:
            self._importance[kind] = importance_of(self.recording, kind)
        whole = self._importance[kind]
        return None if whole is None else whole[np.searchsorted(self.recording.rows, part.rows)]


def run_all(
    recording: Recording,
    tasks: Sequence[Task],
    measures: tuple[Measure, ...],
    folds: int,
    jobs: int = 1,
    advance: Advance = silent,
) -> list[CrawlResult]:
    """Run all tasks in their order, in `jobs` processes."""
    if jobs > 1 and len(tasks) > 1:
        return _run_in_processes(recording, tasks, measures, folds, min(jobs, len(tasks)), advance)
    held = Folds(recording, folds)
    results = []
    for number, task in enumerate(tasks):

        def step(done: int, total: int, what: str = "", number: int = number) -> None:
            advance(number * total + done, len(tasks) * total, what)

        results.append(held.run(task, measures, step))
    return results


def _run_in_processes(
    recording: Recording,
    tasks: Sequence[Task],
    measures: tuple[Measure, ...],
    folds: int,
    jobs: int,
    advance: Advance,
) -> list[CrawlResult]:
    # Fresh processes rather than forks: a fork of a process with threads (Arrow, progress bars) may hang.
    tables = recording.tables
    source = tables.folder if isinstance(tables, ParquetTables) else tables
    state = (source, recording.rows, recording.start, recording.end, folds, measures)
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_start, initargs=state)
    try:
        results = []
        for number, result in enumerate(pool.map(_work, tasks)):
            results.append(result)
            advance(number + 1, len(tasks), result.policy)
        return results
    finally:
        pool.shutdown(cancel_futures=True)


_held: tuple[Folds, tuple[Measure, ...]] | None = None  # a worker's own


def _start(
    source: Path | Tables, rows: PageIds, start: float, end: float, folds: int, measures: tuple[Measure, ...]
) -> None:
    global _held
    tables = ParquetTables(source) if isinstance(source, Path) else source
    _held = Folds(Recording(tables, rows, start, end), folds), measures


def _work(task: Task) -> CrawlResult:
    assert _held is not None
    folds, measures = _held
    return folds.run(task, measures)
