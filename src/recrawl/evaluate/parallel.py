"""Run crawls one after the other, in several processes or on a cluster, with the same results in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from recrawl.columns import FloatArray, PageIds
from recrawl.evaluate.crawl import CrawlResult, crawl
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.work_engine import LOCAL, Engine, Shared, open_engine
from recrawl.features.one_thread import one_thread
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
        """Crawl a task's fold; products of matrices in one thread, on which their last digits depend."""
        part = self.parts(task.plan.seed)[task.fold]
        importance = self._importance_in(part, task.plan.importance)
        with one_thread(openmp=False):
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
    engine: str = LOCAL,
) -> list[CrawlResult]:
    """Run all tasks, in `jobs` processes or on an engine; the results are in the order of the tasks."""
    if engine != LOCAL or (jobs > 1 and len(tasks) > 1):
        with open_engine(engine, min(jobs, len(tasks))) as opened:
            return _run_on(opened, recording, tasks, measures, folds, advance)
    whole = Folds(recording, folds)
    results = []
    for number, task in enumerate(tasks):

        def step(done: int, total: int, what: str = "", number: int = number) -> None:
            advance(number * total + done, len(tasks) * total, what)

        results.append(whole.run(task, measures, step))
    return results


def _run_on(
    engine: Engine,
    recording: Recording,
    tasks: Sequence[Task],
    measures: tuple[Measure, ...],
    folds: int,
    advance: Advance,
) -> list[CrawlResult]:
    shared = engine.share(_Basis(SentRecording.of(recording), folds, measures))
    results: dict[int, CrawlResult] = {}
    for number, result in engine.each(_work, ((shared, task) for task in tasks)):
        results[number] = result
        advance(len(results), len(tasks), result.policy)
    return [results[number] for number in range(len(tasks))]


@dataclass(frozen=True)
class SentRecording:
    """A recording as it is sent to workers: a folder is opened where it is used, so they must see it."""

    source: Path | Tables
    rows: PageIds
    start: float
    end: float

    @classmethod
    def of(cls, recording: Recording) -> SentRecording:
        """Describe a recording."""
        tables = recording.tables
        source = tables.folder.absolute() if isinstance(tables, ParquetTables) else tables
        return cls(source, recording.rows, recording.start, recording.end)

    def open(self) -> Recording:
        """Return the recording."""
        tables = ParquetTables(self.source) if isinstance(self.source, Path) else self.source
        return Recording(tables, self.rows, self.start, self.end)


@dataclass
class _Basis:
    """What all tasks of a comparison share."""

    recording: SentRecording
    folds: int
    measures: tuple[Measure, ...]

    @cached_property
    def whole(self) -> Folds:
        """The recording with its folds."""
        return Folds(self.recording.open(), self.folds)


def _work(piece: tuple[Shared, Task]) -> CrawlResult:
    shared, task = piece
    basis: _Basis = shared.load()
    return basis.whole.run(task, basis.measures)
