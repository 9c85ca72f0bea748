"""Run the GP4C experiment: split pages and time, breed, validate, and judge everything on the test window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from recrawl.columns import FloatArray, IntArray, PageIds
from recrawl.errors import InputError
from recrawl.evaluate.crawl import crawl
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.measures.view import CycleView
from recrawl.evaluate.parallel import SentRecording
from recrawl.evaluate.work_engine import LOCAL, Shared, open_engine
from recrawl.evolve.candidates import PROGRAM_SELECTIONS, SELECTIONS, SHORT
from recrawl.evolve.evolution import Discovery, Generation, discover
from recrawl.evolve.fitness import ClassFitness, PageFitness, make_fitness
from recrawl.evolve.population import FormulaPopulation
from recrawl.papers.gp4c.download_errors import with_errors
from recrawl.papers.gp4c.gp4c_protocol import (
    BASELINES,
    BOUND,
    MEASURES,
    OVER_CYCLES,
    SHARES,
    DataOverview,
    Fold,
    Gp4cExperiment,
    Gp4cProtocol,
    Variant,
    Windows,
)
from recrawl.plan import Plan
from recrawl.policies.formulas.expression import Expression
from recrawl.policies.formulas.formula import Formula, formula_policy
from recrawl.policies.formulas.published import TABLE_4
from recrawl.policies.formulas.terminals import FORMS, SETS
from recrawl.progress import Advance, silent
from recrawl.recording.recording import Recording


def run_experiment(
    recording: Recording, protocol: Gp4cProtocol, advance: Advance = silent, engine: str = LOCAL
) -> Gp4cExperiment:
    """Run all repetitions, here or on an engine, with the same results."""
    protocol.check()
    whole, data = prepare(recording, protocol)
    repetitions = windows(whole, protocol)
    if engine != LOCAL:
        return Gp4cExperiment(protocol, recording.name, data, _folds_on(engine, recording, protocol, advance))
    variants = protocol.variants
    step = _Steps(len(repetitions) * (len(variants) * protocol.settings.seeds * protocol.settings.generations), advance)
    folds = []
    for number, part in enumerate(repetitions, 1):
        discoveries = {
            variant: _discover(part, variant, protocol, number, step.watch(f"fold {number}, {variant}"))
            for variant in variants
        }
        step.say(f"fold {number}, test")
        folds.append(_test(part, discoveries, protocol))
    return Gp4cExperiment(protocol, recording.name, data, folds)


@dataclass
class _SentTrials:
    """What all pieces share; the windows are made again where they are used."""

    recording: SentRecording
    protocol: Gp4cProtocol

    @cached_property
    def windows(self) -> list[Windows]:
        """The data of all repetitions."""
        return windows(prepare(self.recording.open(), self.protocol)[0], self.protocol)


def _folds_on(engine: str, recording: Recording, protocol: Gp4cProtocol, advance: Advance) -> list[Fold]:
    """Evolve every variant of every fold, then test every fold: each of them is a piece of work."""
    variants, folds = protocol.variants, range(protocol.folds)
    pieces = [(number, variant) for number in folds for variant in variants]
    total = len(pieces) + len(folds)
    with open_engine(engine) as opened:
        shared = opened.share(_SentTrials(SentRecording.of(recording), replace(protocol, jobs=1)))
        found: list[dict[Variant, Discovery]] = [{} for _ in folds]
        for done, (piece, discovery) in enumerate(opened.each(_discovered, ((shared, *piece) for piece in pieces)), 1):
            number, variant = pieces[piece]
            found[number][variant] = discovery
            advance(done, total, f"fold {number + 1}, {variant}")
        # in the order of the variants, whichever was ready first: results are written in this order
        ordered = ({variant: found[number][variant] for variant in variants} for number in folds)
        tested = opened.ordered(_tested, ((shared, number, each) for number, each in enumerate(ordered)))
    advance(total, total, "test")
    return tested


def _discovered(piece: tuple[Shared, int, Variant]) -> Discovery:
    shared, number, variant = piece
    basis: _SentTrials = shared.load()
    return _discover(basis.windows[number], variant, basis.protocol, number + 1, lambda generation: None)


def _tested(piece: tuple[Shared, int, dict[Variant, Discovery]]) -> Fold:
    shared, number, discoveries = piece
    basis: _SentTrials = shared.load()
    return _test(basis.windows[number], discoveries, basis.protocol)


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


def prepare(recording: Recording, protocol: Gp4cProtocol) -> tuple[Recording, DataOverview]:
    """Take the pages that live through all windows, without those with more than two download errors (section 5)."""
    days = sum(protocol.cycles) * protocol.plan.cycle_days
    if recording.start + days > recording.end + 1e-6:
        raise InputError(
            f"{sum(protocol.cycles)} cycles of {protocol.plan.cycle_days:g} days are more than the "
            f"{recording.end - recording.start:g} days of the recording"
        )
    whole = recording.window(recording.start, min(recording.start + days, recording.end)).fixed()
    if not len(whole):
        raise InputError(f"no page of {recording.name} lives through all {sum(protocol.cycles)} cycles")
    if not len(whole.change_day):
        raise InputError(f"no page of {recording.name} changes in the {days:g} days: there is nothing to schedule")
    if not protocol.errors:
        return whole, DataOverview.of(whole)
    kept, share = with_errors(whole, protocol.plan, protocol.errors)
    return kept, DataOverview.of(kept, share, len(whole) - len(kept))


def windows(whole: Recording, protocol: Gp4cProtocol) -> list[Windows]:
    """Split pages and time, one repetition for each fold that is tested."""
    if len(whole) < protocol.folds:
        raise InputError(f"{len(whole)} pages live through all {sum(protocol.cycles)} cycles: too few for the folds")
    days = [count * protocol.plan.cycle_days for count in protocol.cycles]
    edges = np.minimum(whole.start + np.cumsum([0.0, *days]), whole.end)
    parts = whole.folds(protocol.folds, protocol.plan.seed)

    def part(first: int, count: int, window: int) -> Recording:
        chosen = np.concatenate([parts[(first + i) % protocol.folds].page_ids for i in range(count)])
        part = whole.keep(np.isin(whole.page_ids, chosen))
        return part.window(float(edges[window]), float(edges[window + 1]))

    train, validation = protocol.split
    return [
        Windows(part(i, train, 0), part(i + train, validation, 1), part(i + train + validation, 1, 2))
        for i in range(protocol.folds)
    ]


def _discover(
    data: Windows, variant: Variant, protocol: Gp4cProtocol, number: int, watch: Callable[[Generation], None]
) -> Discovery:
    train, validation = (
        make_fitness(
            part,
            protocol.plan,
            variant.fitness,
            variant.terminals,
            over=protocol.over,
            form=protocol.form,
            jobs=protocol.jobs,
        )
        for part in (data.train, data.validation)
    )
    settings = replace(protocol.settings, terminals=variant.terminals)
    seed = protocol.plan.seed + 1000 * number  # every fold and seed its own draws
    return discover(train, validation, settings, seed, watch)


def _test(data: Windows, discoveries: dict[Variant, Discovery], protocol: Gp4cProtocol) -> Fold:
    """Judge everything on the test window."""
    plan, test = protocol.plan, data.test
    variants = list(discoveries)
    names = (*SELECTIONS, *PROGRAM_SELECTIONS, SHORT)
    chosen = {(v, s): discoveries[v].chosen[s].formula for v in variants for s in names}
    curves = judge(list(chosen.values()), test, plan, protocol)
    best = [discoveries[v].best.formula for v in variants]
    shares = np.stack([judge(best, test, _reduced(plan, test, share), protocol).mean(axis=2) for share in SHARES])
    crawls = {name: crawl(test, name, plan, MEASURES) for name in (*BASELINES, *OVER_CYCLES, BOUND)}
    picks = {v: _follow(f, test, protocol) for v, f in zip(variants, best, strict=True)}
    return Fold(
        pages=(len(data.train), len(data.validation), len(test)),
        discoveries=discoveries,
        curves=dict(zip(chosen, curves, strict=True)),
        baselines={name: np.stack([c.per_cycle(m) for m in MEASURES]) for name, c in crawls.items()},
        interrupted={v: shares[:, i].T for i, v in enumerate(variants)},
        new_picks={v: never_before(log) for v, log in picks.items()},
        other_picks={v: not_last_time(log) for v, log in picks.items()},
        printed=_printed(test, protocol),
        changed=_changed(test, plan),
        shown=_shown(test, plan),
        visits=plan.visits(test),
    )


def judge(
    formulas: Sequence[Expression], test: Recording, plan: Plan, protocol: Gp4cProtocol, form: str = ""
) -> FloatArray:
    """Return formulas x measures x judged cycles."""
    population = FormulaPopulation.of(list(formulas))
    used = {name for formula in formulas for name in formula.terminals}
    terminals = "all" if used <= set(SETS["all"]) else "extended"
    over, form, jobs = protocol.over, form or protocol.form, protocol.jobs
    fitness = make_fitness(test, plan, "ndcg", terminals, over=over, form=form, jobs=jobs)
    if isinstance(fitness, ClassFitness):
        return np.stack(fitness.both(population), axis=1)
    made = [PageFitness(test, plan, m, over=over, form=form, jobs=jobs).curves(population) for m in MEASURES]
    return np.stack(made, axis=1)


def _printed(test: Recording, protocol: Gp4cProtocol) -> dict[tuple[str, str], FloatArray]:
    """Judge the formulas that the paper's Table 4 prints, with rates and with chances."""
    names = [f"{kind}-{number}" for kind, trees in TABLE_4.items() for number in range(1, len(trees) + 1)]
    formulas = [Expression.of(tree) for trees in TABLE_4.values() for tree in trees]
    found: dict[tuple[str, str], FloatArray] = {}
    for form in FORMS:
        values = judge(formulas, test, protocol.plan, protocol, form).mean(axis=2)
        found |= {(name, form): value for name, value in zip(names, values, strict=True)}
    return found


def _reduced(plan: Plan, test: Recording, share: float) -> Plan:
    """Return the plan with a part of its budget, at least one visit."""
    return replace(plan, budget=max(1, round(share * plan.visits(test))))


@dataclass(frozen=True, repr=False)
class PickLog(Measure):
    """Notes the pages that each judged cycle visits."""

    name = "PickLog"
    meaning = "number of pages visited"
    log: list[PageIds] = field(default_factory=list, compare=False)

    def parts(self, view: CycleView) -> tuple[float, float]:
        """Keep the visits."""
        self.log.append(view.picks)
        return len(view.picks), 1.0


def _follow(formula: Expression, test: Recording, protocol: Gp4cProtocol) -> list[PageIds]:
    """Return the pages that the formula visits, cycle by cycle."""
    scorer, noted = Formula(formula, protocol.over, form=protocol.form), PickLog()
    crawl(test, lambda setting: formula_policy(scorer), protocol.plan, [noted])
    return noted.log


def never_before(log: Sequence[PageIds]) -> FloatArray:
    """Share of each cycle's visits that go to pages of no earlier cycle (Fig. 6: "any of the previous days")."""
    seen: set[int] = set()
    shares = []
    for picks in log:
        shares.append(sum(page not in seen for page in picks.tolist()) / max(len(picks), 1))
        seen.update(picks.tolist())
    return np.array(shares)


def not_last_time(log: Sequence[PageIds]) -> FloatArray:
    """Share of each cycle's visits that go to pages not visited in the cycle before."""
    empty = np.empty(0, dtype=np.int64)
    before = [empty, *log[:-1]]
    return np.array(
        [1.0 - np.isin(now, last).mean() if len(now) else 0.0 for now, last in zip(log, before, strict=True)]
    )


def _shown(test: Recording, plan: Plan) -> float:
    """Share of the pages that change during the warm-up: those that formulas like t * X tell from the others."""
    page = np.repeat(np.arange(len(test)), np.diff(test.change_start))
    early = test.change_day <= test.start + plan.warmup * plan.cycle_days
    return len(np.unique(page[early])) / len(test)


def _changed(test: Recording, plan: Plan) -> IntArray:
    """Count the pages that change in each judged cycle."""
    cycles = plan.cycles(test)
    edges = test.start + plan.cycle_days * np.arange(cycles + 1, dtype=np.float64)
    page = np.repeat(np.arange(len(test)), np.diff(test.change_start))
    cycle = np.searchsorted(edges, test.change_day)
    keep = (cycle >= 1) & (cycle <= cycles)
    once = np.unique(page[keep] * np.int64(cycles + 1) + cycle[keep])
    return np.bincount(once % (cycles + 1), minlength=cycles + 1)[plan.warmup + 1 :]
