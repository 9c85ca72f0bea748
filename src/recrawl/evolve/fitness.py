"""Fitness of formulas: the measure of a simulated crawl that visits the highest scores.

`make_fitness` chooses how to simulate. Where pages in the same state are interchangeable (terminals `basic` and
`all`, pages that live throughout, ChangeRate or NDCG), crawls run over classes of pages; otherwise page by page with
the crawl loop itself. Both give the very same numbers, for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Protocol

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.evaluate.crawl import crawl
from recrawl.evaluate.measures.all_measures import make_measure
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.measures.ranking import NDCG, ChangeRate
from recrawl.evolve.classes import reads_of
from recrawl.evolve.ground import Ground, Room, WarmState, change_bits, make_ground, make_room, make_start
from recrawl.evolve.kernel import simulate
from recrawl.evolve.population import FormulaPopulation
from recrawl.plan import Plan
from recrawl.policies.formulas.formula import Formula, formula_policy
from recrawl.policies.formulas.terminals import directories, terminal_set
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld

MEASURES = {"changerate": "ChangeRate", "ndcg": "NDCG"}  # short names of the two that the paper uses
CHUNK = 8  # formulas a task: small enough to share out evenly


class Fitness(Protocol):
    """Judges formulas."""

    measure: Measure
    over: str
    form: str

    def curves(self, population: FormulaPopulation) -> FloatArray:
        """Return formulas x judged cycles: the measure's values."""

    def total(self, curves: FloatArray) -> FloatArray:
        """Return one number per formula, the higher the better."""


def make_fitness(
    recording: Recording,
    plan: Plan,
    measure: str = "ndcg",
    terminals: str = "all",
    *,
    over: str = "visits",
    form: str = "chance",
    jobs: int = 1,
) -> ClassFitness | PageFitness:
    """Prepare a fitness on a recording; `measure` is a measure's name, or changerate or ndcg.

    `over` and `form` say what the estimators among the terminals are (policies/formulas/terminals.py).
    """
    chosen = make_measure(MEASURES.get(measure.lower(), measure))
    if is_fast(recording, plan, chosen, terminals):
        return ClassFitness(recording, plan, chosen, over=over, form=form, jobs=jobs)
    return PageFitness(recording, plan, chosen, over=over, form=form, jobs=jobs)


def is_fast(recording: Recording, plan: Plan, measure: Measure, terminals: str) -> bool:
    """Whether crawls can run over classes of pages."""
    lives = bool(((recording.born <= recording.start) & (recording.died > recording.end)).all())
    plain = plan.importance == "uniform" and not plan.site_cap
    return (
        lives
        and plain
        and measure in (ChangeRate(), NDCG())
        and set(terminal_set(terminals)) <= set(terminal_set("all"))
    )


class ClassFitness:
    """Crawls over classes of pages in the same state (see kernel)."""

    def __init__(
        self,
        recording: Recording,
        plan: Plan,
        measure: Measure,
        *,
        over: str = "visits",
        form: str = "chance",
        jobs: int = 1,
    ) -> None:
        self.measure = measure
        self.over = over
        self.form = form
        cycles = plan.cycles(recording)
        edges = recording.start + plan.cycle_days * np.arange(cycles + 1, dtype=np.float64)
        bits = change_bits(recording, edges[1:], plan.seed)
        self.ground: Ground = make_ground(bits, cycles, plan.warmup, plan.visits(recording), over=over, form=form)
        self.cycles: IntArray = np.arange(plan.warmup + 1, cycles + 1)
        self.jobs = jobs
        self._starts: dict[int, WarmState] = {}
        self._rooms: SimpleQueue[Room] = SimpleQueue()
        for _ in range(jobs):
            self._rooms.put(make_room(self.ground))

    def curves(self, population: FormulaPopulation) -> FloatArray:
        """Return formulas x judged cycles."""
        return self.both(population)[0 if self.measure == ChangeRate() else 1]

    def total(self, curves: FloatArray) -> FloatArray:
        """Return the mean over the cycles."""
        return np.asarray(curves.mean(axis=1))

    def both(self, population: FormulaPopulation) -> tuple[FloatArray, FloatArray]:
        """Return ChangeRate and NDCG, each formulas x judged cycles."""
        shape = (len(population), len(self.cycles))
        found, ndcg = np.empty(shape, dtype=np.int64), np.empty(shape)
        reads = np.array(
            [reads_of(population.code[i], population.size[i], self.ground.over_cycles) for i in range(len(population))],
            dtype=np.int64,
        )

        def work(rows: IntArray) -> None:
            room = self._rooms.get()
            try:
                start = self._start(int(reads[rows[0]]))
                simulate(rows, population.arrays, self.ground, start, room, found, ndcg)
            finally:
                self._rooms.put(room)

        run_parts(work, _parts(reads), self.jobs)
        return found / self.ground.budget, ndcg

    def _start(self, reads: int) -> WarmState:
        if reads not in self._starts:  # two threads may both make it: the same twice does no harm
            self._starts[reads] = make_start(self.ground, reads)
        return self._starts[reads]


def _parts(reads: IntArray) -> list[IntArray]:
    """Split the formulas into tasks whose formulas read the same parts of the state."""
    parts: list[IntArray] = []
    for kind in np.unique(reads):
        rows = np.flatnonzero(reads == kind)
        parts += [rows[i : i + CHUNK] for i in range(0, len(rows), CHUNK)]
    return parts


class PageFitness:
    """Crawls page by page with the crawl loop itself: any terminals, any measure, pages that are born and die."""

    def __init__(
        self,
        recording: Recording,
        plan: Plan,
        measure: Measure,
        *,
        over: str = "visits",
        form: str = "chance",
        jobs: int = 1,
    ) -> None:
        self.recording = recording
        self.plan = plan
        self.measure = measure
        self.over = over
        self.form = form
        self.jobs = jobs
        self.cycles: IntArray = np.arange(plan.warmup + 1, plan.cycles(recording) + 1)
        self._directory: IntArray | None = None

    def curves(self, population: FormulaPopulation) -> FloatArray:
        """Return formulas x judged cycles."""
        out = np.empty((len(population), len(self.cycles)))
        if self._directory is None:  # reading the paths takes longer than a crawl
            self._directory = directories(RecordedWorld(self.recording).memory(cycle_days=1.0))

        def work(i: int) -> None:
            formula = Formula(population[i], self.over, form=self.form)
            policy = formula_policy(formula, self._directory)
            result = crawl(self.recording, lambda setting: policy, self.plan, [self.measure])
            out[i] = result.per_cycle(self.measure)

        run_parts(work, range(len(population)), self.jobs)
        return out

    def total(self, curves: FloatArray) -> FloatArray:
        """Return the mean over the cycles that have a value, so that higher is better."""
        known = ~np.isnan(curves)
        mean = np.where(known, curves, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        return np.asarray(-mean if self.measure.better == "lower" else mean)


def run_parts(work: Callable[..., None], parts: Sequence[object], jobs: int) -> None:
    """Run all parts, in threads if there are several: the kernels release the GIL."""
    if jobs == 1 or len(parts) < 2:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(jobs) as pool:
        for done in pool.map(work, parts):
            assert done is None
