"""Compare policies: every policy crawls the same folds with the same seeds, so differences are paired.

A comparison has folds x repeats runs. Repeat r uses the seed S + r for the split into folds, the tie-break and the
policies' own draws. Each fold is a crawl of its own, with its own budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.errors import InputError
from recrawl.evaluate.crawl import CrawlResult, clairvoyant
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.parallel import Folds, Task, run_all
from recrawl.evaluate.statistics import CycleScore, Interval, PairedTest, cycle_score, interval, paired_test
from recrawl.evaluate.work_engine import LOCAL
from recrawl.features.pagerank import importance_of
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policy import Setting
from recrawl.progress import Advance, silent
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld

REFERENCE = "age"  # the baseline that every report names
ORACLE = "oracle"
SPENT = 0.99  # a policy that uses less of its budget than this share of what others use does not compete per visit


@dataclass(frozen=True)
class Versus:
    """One policy against another under one measure."""

    other: str
    test: PairedTest
    cycles: CycleScore


@dataclass(frozen=True)
class Comparison:
    """The results of all crawls, as arrays over policies, measures, runs and judged cycles."""

    policies: tuple[str, ...]
    measures: tuple[Measure, ...]
    plan: Plan
    folds: int
    repeats: int
    pages: tuple[int, ...]  # of each run, known at the start
    visits: tuple[int, ...]  # of each run, allowed in a cycle
    cycles: IntArray  # the numbers of the judged cycles
    values: FloatArray  # policies x measures x runs
    curves: FloatArray  # policies x measures x runs x cycles
    used: FloatArray  # policies x runs: share of the budget
    budgets: tuple[float | int, ...] = ()  # where asked for: other budgets, and the values under them
    budget_values: FloatArray | None = None  # budgets x policies x measures x runs
    notes: tuple[tuple[str, str], ...] = ()  # (policy, what it has to say of its work)

    def summary(self, policy: str, measure: Measure) -> Interval:
        """Mean over the runs with its 95% interval."""
        return interval(self.values[self._at(policy, measure)])

    def curve(self, policy: str, measure: Measure) -> list[Interval]:
        """The same for each judged cycle."""
        runs = self.curves[self._at(policy, measure)]
        return [interval(runs[:, cycle]) for cycle in range(runs.shape[1])]

    def budget_curve(self, policy: str, measure: Measure) -> list[Interval]:
        """The same for each of the other budgets."""
        if self.budget_values is None:
            return []
        return [interval(values[self._at(policy, measure)]) for values in self.budget_values]

    def spent(self, policy: str) -> float:
        """The share of the budget that the policy used."""
        return float(self.used[self.policies.index(policy)].mean())

    def competes(self, policy: str, measure: Measure) -> bool:
        """Whether the policy can be the best: not if clairvoyant, nor per visit if it left out visits others made."""
        if clairvoyant(policy):
            return False
        return not measure.per_visit or self.spent(policy) >= SPENT * max(self.spent(p) for p in self.policies)

    def best(self, measure: Measure) -> str | None:
        """The best of the policies that compete."""
        means = {p: self.summary(p, measure).mean for p in self.policies if self.competes(p, measure)}
        means = {p: mean for p, mean in means.items() if not math.isnan(mean)}
        if not means:
            return None
        return (max if measure.better == "higher" else min)(means, key=lambda p: means[p])

    def best_mean(self, measure: Measure) -> float:
        """The value to mark as best; NaN where all that compete have the same."""
        best = self.best(measure)
        means = {self.summary(policy, measure).mean for policy in self.policies if self.competes(policy, measure)}
        return math.nan if best is None or len(means) == 1 < len(self.policies) else self.summary(best, measure).mean

    def of_oracle(self, policy: str, measure: Measure) -> float:
        """The policy's share of what the oracle reaches; NaN without one, or where lower is better."""
        if ORACLE not in self.policies or measure.better == "lower":
            return math.nan
        top = self.summary(ORACLE, measure).mean
        return self.summary(policy, measure).mean / top if top else math.nan

    def versus(self, policy: str, other: str, measure: Measure) -> Versus:
        """Paired tests of a policy against another."""
        here, there = self._at(policy, measure), self._at(other, measure)
        score = cycle_score(self.curves[here], self.curves[there], lower_is_better=measure.better == "lower")
        return Versus(other, paired_test(self.values[here], self.values[there]), score)

    def ranking(self, measure: Measure) -> list[str]:
        """The policies from best to worst; those that do not compete come after the others, clairvoyant ones last."""
        sign = -1.0 if measure.better == "higher" else 1.0

        def key(policy: str) -> tuple[bool, bool, float]:
            mean = self.summary(policy, measure).mean
            return (
                clairvoyant(policy),
                not self.competes(policy, measure),
                math.inf if math.isnan(mean) else sign * mean,
            )

        return sorted(self.policies, key=key)

    def _at(self, policy: str, measure: Measure) -> tuple[int, int]:
        return self.policies.index(policy), self.measures.index(measure)


def check(recording: Recording, policies: Sequence[str], plan: Plan, *, folds: int, repeats: int = 1) -> list[str]:
    """Raise InputError for whatever would stop a comparison, before any crawl; return the policies without doubles."""
    chosen = list(dict.fromkeys(policies))
    if not chosen:
        raise InputError("no policy is named")
    if not len(recording):
        raise InputError("no page is left to crawl: the selection is empty")
    if folds < 1 or repeats < 1:
        raise InputError("folds and repeats must be at least 1")
    if folds > len(recording):
        raise InputError(f"{folds} folds of {len(recording)} pages: a fold needs at least one page")
    plan.cycles(recording)
    for part in _runs(recording, plan, folds, repeats):
        plan.visits(part)
    one = recording.keep(np.arange(len(recording)) < 1)
    importance_of(one, plan.importance)
    world = RecordedWorld(one, discover=plan.discover)
    for policy in chosen:
        make_policy(policy, Setting(seed=plan.seed, truth=world))
    return chosen


def compare(
    recording: Recording,
    policies: Sequence[str],
    measures: Sequence[Measure],
    plan: Plan,
    *,
    folds: int = 1,
    repeats: int = 1,
    budgets: Sequence[float | int] = (),
    jobs: int = 1,
    engine: str = LOCAL,
    advance: Advance = silent,
) -> Comparison:
    """Run every policy on every fold with every seed; the result does not depend on jobs and engine."""
    by_budget = {repr(budget): replace(plan, budget=budget) for budget in (plan.budget, *budgets)}  # 1 is not 100%
    plans = list(by_budget.values())
    for each in plans:
        chosen = check(recording, policies, each, folds=folds, repeats=repeats)
    tasks = [
        Task(policy, replace(each, seed=plan.seed + repeat), fold)
        for repeat in range(repeats)
        for fold in range(folds)
        for each in plans
        for policy in chosen
    ]
    results = run_all(recording, tasks, tuple(measures), folds, jobs, advance, engine)
    cube = np.array(results, dtype=object).reshape(repeats * folds, len(plans), len(chosen)).transpose(1, 2, 0)
    grid = dict(zip(by_budget, cube, strict=True))  # budget -> policies x runs
    main = grid[repr(plan.budget)]
    runs = _runs(recording, plan, folds, repeats)
    return Comparison(
        policies=tuple(chosen),
        measures=tuple(measures),
        plan=plan,
        folds=folds,
        repeats=repeats,
        pages=tuple(int((run.born <= run.start).sum()) for run in runs),
        visits=tuple(plan.visits(run) for run in runs),
        cycles=results[0].cycles,
        values=_table(main, measures, lambda result, m: result.value(m)),
        curves=_table(main, measures, lambda result, m: result.per_cycle(m)),
        used=np.array([[result.spent for result in row] for row in main]),
        budgets=tuple(budgets),
        budget_values=np.stack([_table(grid[repr(b)], measures, lambda r, m: r.value(m)) for b in budgets])
        if budgets
        else None,
        notes=tuple(dict.fromkeys((task.policy, n) for task, r in zip(tasks, results, strict=True) for n in r.notes)),
    )


def _runs(recording: Recording, plan: Plan, folds: int, repeats: int) -> list[Recording]:
    split = Folds(recording, folds)
    return [part for repeat in range(repeats) for part in split.parts(plan.seed + repeat)]


def _table(
    grid: np.ndarray[tuple[int, ...], np.dtype[np.object_]],
    measures: Sequence[Measure],
    read: Callable[[CrawlResult, Measure], float | FloatArray],
) -> FloatArray:
    """Read every measure of a grid of results (... x runs) into an array (... x measures x runs [x cycles])."""
    if grid.ndim > 1:
        return np.stack([_table(part, measures, read) for part in grid])
    return np.array([[read(result, measure) for result in grid] for measure in measures], dtype=np.float64)
