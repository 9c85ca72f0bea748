"""Learn from a crawl's own history which policy fits it best."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.errors import InputError, StoreError
from recrawl.evaluate.compare import Comparison
from recrawl.evaluate.statistics import LEVEL, paired_test
from recrawl.live import choice
from recrawl.live.history_export import fitting
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policies.learned.objectives import Objective
from recrawl.policy import Setting
from recrawl.progress import Advance
from recrawl.registry import split_specs
from recrawl.report.comparison_report import compare

if TYPE_CHECKING:
    from recrawl.live.facade import Crawl

CHANCE = 0.5  # p-values above this are no evidence at all
EVOLVED = "models/evolved.json"  # within the crawl's folder
MEASURED_BY = {  # what a policy that has an objective is judged by
    "changes": "ChangesFound",
    "balanced": "ChangesFound",
    "freshness": "Freshness",
    "age": "Age",
    "links": "NewLinks",
}


def measure_of(policy: str) -> str:
    """Return the measure of a policy's objective, by its heaviest term; without one, that of the default policy."""
    made = make_policy(policy, Setting())
    objective: Objective | None = getattr(made, "objective", None)
    if objective is None:
        return measure_of(choice.DEFAULT)
    return MEASURED_BY[max(objective.weights, key=lambda term: term[1])[0]]


def learn(
    crawl: Crawl, policies: str, measure: str | None, evolve: Any, plan: Plan, advance: Advance, *, anyway: bool = False
) -> choice.PolicyChoice:
    """Compare the candidates on the crawl's history, and keep in models/policy.json what `auto` means from now on.

    They are judged by the measure, or else by that of the objective of the crawl's own policy. The best candidate is
    kept if it beats what `auto` meant so far by a paired t-test over the cycles, at 95% whatever the number of
    candidates (Bonferroni), or `anyway`; otherwise it stays as it was.
    """
    recording, directory = crawl.history(), crawl.directory
    plan = fitting(plan, recording)
    names = split_specs(policies)
    try:
        now = choice.resolve(directory, choice.AUTO)
    except StoreError:  # what was learnt before cannot be used: begin anew
        now = choice.DEFAULT
    own = directory.config().policy
    measure = measure or measure_of(now if own == choice.AUTO else own)
    names = names if now in names else [*names, now]
    if any(".py:" in name for name in names):
        raise InputError("a learnt choice names no code: a policy of your own needs an entry point (docs/plugins.md)")
    if evolve is not None:
        from recrawl.evolve.breeding import evolve_formula

        bred = evolve_formula(recording, replace(plan, warmup=1, site_cap=0), evolve, "changerate", advance=advance)
        choice.write(directory.path / EVOLVED, bred.formula.to_json().encode())
        names.append(choice.within(directory, f"gp:{EVOLVED}"))
    report = compare(recording, names, replace(plan, warmup=0), measure, advance=advance)
    chosen = _best(report.comparison, plan, now, anyway)
    kept = replace(chosen, policy=choice.without(directory, chosen.policy))
    choice.save(directory, kept)
    return replace(kept, notes=(*report.notes, *kept.notes))


def _best(comparison: Comparison, plan: Plan, now: str, anyway: bool) -> choice.PolicyChoice:
    measure = comparison.measures[0]
    values = {policy: comparison.summary(policy, measure).mean for policy in comparison.ranking(measure)}
    best = comparison.best(measure) or now
    p, cycles = _p_value(comparison, best, now)
    sure = best == now or p < 1 - LEVEL
    notes = () if sure else (f"{_lead(best, now, values)} over {cycles} cycles, p = {p:.2g}: {_missing(p)}",)
    return choice.PolicyChoice(best if sure or anyway else now, measure.spec, plan.cycle_days, values, notes)


def _p_value(comparison: Comparison, best: str, now: str) -> tuple[float, int]:
    """Return the p-value of "best is better than now", paired by cycle and corrected for the candidates; and cycles."""
    runs = comparison.curves[:, 0, 0, :]
    one, other = (runs[comparison.policies.index(policy)] for policy in (best, now))
    both = ~np.isnan(one - other)
    p = paired_test(one[both], other[both]).p if both.sum() > 1 else np.nan
    return (1.0 if np.isnan(p) else min(1.0, p * max(1, len(comparison.policies) - 1))), int(both.sum())


def _lead(best: str, now: str, values: dict[str, float]) -> str:
    if values[best] == values[now]:
        return f"{best} is no better than {now}"
    return f"{best} is ahead of {now} ({values[best]:.4g} and {values[now]:.4g})"


def _missing(p: float) -> str:
    if p > CHANCE:
        return "that may be chance; more cycles, or more pages that change, would show it"
    return "not significant yet; a few more cycles may show it"
