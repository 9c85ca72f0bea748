"""GP4C (Santos et al. 2014, section 5): evolve score functions and compare them with the estimators, in time order.

The pages are split into folds and the time into three windows. Formulas are bred on some folds in the first window,
validated on other folds in the second, and tested on one more fold in the third, so every step looks at pages and
days that the steps before have not seen. This is repeated with the folds shifted, until each was tested once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.errors import InputError
from recrawl.evaluate.crawl import crawl
from recrawl.evaluate.measures.all_measures import make_measure
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.measures.ranking import NDCG, ChangeRate
from recrawl.evaluate.statistics import Interval, interval
from recrawl.evolve.evolution import SELECTIONS, SHORT, Candidate, Discovery, EvolutionSettings, Generation, discover
from recrawl.evolve.fitness import ClassFitness, PageFitness, make_fitness
from recrawl.evolve.population import FormulaPopulation
from recrawl.plan import Plan
from recrawl.policies.formulas.expression import Expression
from recrawl.policies.formulas.formula import Formula, formula_policy
from recrawl.policies.formulas.terminals import SETS
from recrawl.progress import Advance, silent
from recrawl.recording.recording import Recording

MEASURES: tuple[Measure, ...] = (ChangeRate(), NDCG())
FITNESS = ("changerate", "ndcg")  # in the order of the measures
BASELINES = ("rand", "age", "nad", "sad", "aad", "gad", "cg", "tx", "bayes")
OVER_CYCLES = ("nad(over=cycles)", "sad(over=cycles)", "aad(over=cycles)", "gad(over=cycles)")
BOUND = "oracle"
SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)  # of the budget, for the figure of interrupted schedules
NEW_PICKS = "NewPicks"


@dataclass(frozen=True)
class Variant:
    """One way to evolve: the terminals and the fitness function."""

    terminals: str
    fitness: str

    def __str__(self) -> str:
        return f"{self.terminals}/{self.fitness}"


@dataclass(frozen=True)
class Gp4cProtocol:
    """How the experiment is run; the paper's values."""

    plan: Plan = field(default_factory=Plan)
    cycles: tuple[int, int, int] = (19, 19, 19)  # training, validation, test; warm-up included
    folds: int = 5
    train_folds: int = 1  # folds to train on, and as many to validate on
    terminals: tuple[str, ...] = ("basic", "all")
    fitness: tuple[str, ...] = FITNESS
    settings: EvolutionSettings = field(default_factory=EvolutionSettings)
    over: str = "visits"
    jobs: int = 1

    @classmethod
    def quick(cls, base: Gp4cProtocol) -> Gp4cProtocol:
        """A small version of the same, for a first look."""
        return replace(base, settings=replace(base.settings, population=60, generations=12, seeds=2, archive=20))

    @property
    def variants(self) -> list[Variant]:
        """All ways to evolve."""
        return [Variant(terminals, fitness) for terminals in self.terminals for fitness in self.fitness]

    def check(self) -> None:
        """Raise InputError for a protocol that cannot be run."""
        self.settings.check()
        if self.folds < 2 * self.train_folds + 1:
            raise InputError(f"{self.folds} folds are too few to train on {self.train_folds}, validate and test")
        if min(self.cycles) <= self.plan.warmup:
            raise InputError(f"each window needs more than the {self.plan.warmup} cycles of warm-up")


@dataclass(frozen=True)
class Windows:
    """The data of one repetition."""

    train: Recording
    validation: Recording
    test: Recording


@dataclass(frozen=True)
class Fold:
    """What one repetition found; curves are measures x test cycles."""

    pages: tuple[int, int, int]
    discoveries: dict[Variant, Discovery]
    curves: dict[tuple[Variant, str], FloatArray]  # by variant and selection
    baselines: dict[str, FloatArray]
    interrupted: dict[Variant, FloatArray]  # measures x shares of the budget, best selection
    new_picks: dict[Variant, FloatArray]  # share of a cycle's visits to pages not visited since the warm-up
    changed: IntArray  # pages that change in each test cycle


@dataclass(frozen=True)
class Gp4cExperiment:
    """All repetitions."""

    protocol: Gp4cProtocol
    name: str
    pages: int
    folds: list[Fold]

    @property
    def variants(self) -> list[Variant]:
        """All ways to evolve, basic before all."""
        return self.protocol.variants

    def values(self, method: str | Variant, measure: Measure, selection: str = "best") -> FloatArray:
        """Return folds x test cycles."""
        at = MEASURES.index(measure)
        if isinstance(method, Variant):
            return np.stack([fold.curves[method, selection][at] for fold in self.folds])
        return np.stack([fold.baselines[method][at] for fold in self.folds])

    def summary(self, method: str | Variant, measure: Measure, selection: str = "best") -> Interval:
        """Mean over folds and cycles with the 95% interval over the folds."""
        return interval(self.values(method, measure, selection).mean(axis=1))

    def chosen(self, variant: Variant, selection: str = "best") -> list[Candidate]:
        """Return the chosen formula of each fold."""
        return [fold.discoveries[variant].chosen[selection] for fold in self.folds]

    def for_measure(self, terminals: str, measure: Measure) -> Variant:
        """Return the variant whose fitness function is the measure."""
        return Variant(terminals, FITNESS[MEASURES.index(measure)])


def run_experiment(recording: Recording, protocol: Gp4cProtocol, advance: Advance = silent) -> Gp4cExperiment:
    """Run all repetitions."""
    protocol.check()
    repetitions = windows(recording, protocol)
    variants = protocol.variants
    step = _Steps(len(repetitions) * (len(variants) * protocol.settings.seeds * protocol.settings.generations), advance)
    folds = []
    for number, data in enumerate(repetitions, 1):
        discoveries = {
            variant: _discover(data, variant, protocol, number, step.watch(f"fold {number}, {variant}"))
            for variant in variants
        }
        step.say(f"fold {number}, test")
        folds.append(_test(data, discoveries, protocol))
    return Gp4cExperiment(protocol, recording.name, sum(len(data.test) for data in repetitions), folds)


class _Steps:
    """Counts generations of all evolutions."""

    def __init__(self, total: int, advance: Advance) -> None:
        self.done, self.total, self.advance = 0, total, advance

    def watch(self, what: str) -> Callable[[Generation], None]:
        def step(generation: Generation) -> None:
            self.done += 1
            where = f"{what}, seed {generation.seed}, generation {generation.number}"
            self.say(f"{where}: best {generation.best:.4f}, {generation.distinct} distinct")

        return step

    def say(self, what: str) -> None:
        self.advance(self.done, self.total, what)


def windows(recording: Recording, protocol: Gp4cProtocol) -> list[Windows]:
    """Split pages and time; pages that do not live throughout are left out, as in the paper's data."""
    days = [count * protocol.plan.cycle_days for count in protocol.cycles]
    if recording.start + sum(days) > recording.end + 1e-6:
        raise InputError(
            f"{sum(protocol.cycles)} cycles of {protocol.plan.cycle_days:g} days are more than the "
            f"{recording.end - recording.start:g} days of the recording"
        )
    edges = np.minimum(recording.start + np.cumsum([0.0, *days]), recording.end)
    whole = recording.window(float(edges[0]), float(edges[3])).fixed()
    if len(whole) < protocol.folds:
        raise InputError(f"{len(whole)} pages live through all {sum(protocol.cycles)} cycles: too few for the folds")
    parts = whole.folds(protocol.folds, protocol.plan.seed)

    def part(first: int, count: int, window: int) -> Recording:
        chosen = np.concatenate([parts[(first + i) % protocol.folds].page_ids for i in range(count)])
        held = whole.keep(np.isin(whole.page_ids, chosen))
        return held.window(float(edges[window]), float(edges[window + 1]))

    n = protocol.train_folds
    return [Windows(part(i, n, 0), part(i + n, n, 1), part(i + 2 * n, 1, 2)) for i in range(protocol.folds)]


def _discover(
    data: Windows, variant: Variant, protocol: Gp4cProtocol, number: int, watch: Callable[[Generation], None]
) -> Discovery:
    train, validation = (
        make_fitness(part, protocol.plan, variant.fitness, variant.terminals, over=protocol.over, jobs=protocol.jobs)
        for part in (data.train, data.validation)
    )
    settings = replace(protocol.settings, terminals=variant.terminals)
    seed = protocol.plan.seed + 1000 * number  # every fold and seed its own draws
    return discover(train, validation, settings, seed, watch)


def _test(data: Windows, discoveries: dict[Variant, Discovery], protocol: Gp4cProtocol) -> Fold:
    """Judge everything on the test window."""
    plan, test = protocol.plan, data.test
    variants = list(discoveries)
    chosen = {(v, s): discoveries[v].chosen[s].formula for v in variants for s in (*SELECTIONS, SHORT)}
    curves = judge(list(chosen.values()), test, plan, protocol)
    best = [discoveries[v].best.formula for v in variants]
    shares = np.stack([judge(best, test, _reduced(plan, test, share), protocol).mean(axis=2) for share in SHARES])
    picks = make_measure(NEW_PICKS)
    names = [*BASELINES, *OVER_CYCLES, BOUND]
    crawls = {name: crawl(test, name, plan, MEASURES) for name in names}
    return Fold(
        pages=(len(data.train), len(data.validation), len(test)),
        discoveries=discoveries,
        curves=dict(zip(chosen, curves, strict=True)),
        baselines={name: np.stack([c.per_cycle(m) for m in MEASURES]) for name, c in crawls.items()},
        interrupted={v: shares[:, i].T for i, v in enumerate(variants)},
        new_picks={v: _follow(f, test, protocol, picks) for v, f in zip(variants, best, strict=True)},
        changed=_changed(test, plan),
    )


def judge(formulas: Sequence[Expression], test: Recording, plan: Plan, protocol: Gp4cProtocol) -> FloatArray:
    """Return formulas x measures x judged cycles."""
    population = FormulaPopulation.of(list(formulas))
    used = {name for formula in formulas for name in formula.terminals}
    terminals = "all" if used <= set(SETS["all"]) else "extended"
    fitness = make_fitness(test, plan, "ndcg", terminals, over=protocol.over, jobs=protocol.jobs)
    if isinstance(fitness, ClassFitness):
        return np.stack(fitness.both(population), axis=1)
    made = [PageFitness(test, plan, m, over=protocol.over, jobs=protocol.jobs).curves(population) for m in MEASURES]
    return np.stack(made, axis=1)


def _reduced(plan: Plan, test: Recording, share: float) -> Plan:
    """Return the plan with a part of its budget, at least one visit."""
    return replace(plan, budget=max(1, round(share * plan.visits(test))))


def _follow(formula: Expression, test: Recording, protocol: Gp4cProtocol, measure: Measure) -> FloatArray:
    held = Formula(formula, protocol.over)
    return crawl(test, lambda setting: formula_policy(held), protocol.plan, [measure]).per_cycle(measure)


def _changed(test: Recording, plan: Plan) -> IntArray:
    """Count the pages that change in each judged cycle."""
    cycles = plan.cycles(test)
    edges = test.start + plan.cycle_days * np.arange(cycles + 1, dtype=np.float64)
    page = np.repeat(np.arange(len(test)), np.diff(test.change_start))
    cycle = np.searchsorted(edges, test.change_day)
    keep = (cycle >= 1) & (cycle <= cycles)
    once = np.unique(page[keep] * np.int64(cycles + 1) + cycle[keep])
    return np.bincount(once % (cycles + 1), minlength=cycles + 1)[plan.warmup + 1 :]
