"""Learn from a crawl's own history which policy fits it best."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recrawl.errors import InputError
from recrawl.evaluate.compare import Comparison
from recrawl.live import choice
from recrawl.plan import Plan
from recrawl.progress import Advance
from recrawl.registry import split_specs
from recrawl.report.comparison_report import compare

if TYPE_CHECKING:
    from recrawl.live.facade import Crawl

EVOLVED = "models/evolved.json"  # within the crawl's folder


def learn(crawl: Crawl, policies: str, measure: str, evolve: Any, plan: Plan, advance: Advance) -> choice.PolicyChoice:
    """Compare the candidates on the crawl's history, and keep the best in models/policy.json."""
    recording, directory = crawl.history(), crawl.directory
    names = split_specs(policies)
    if any(".py:" in name for name in names):
        raise InputError("a learnt choice names no code: a policy of your own needs an entry point (docs/plugins.md)")
    if evolve is not None:
        from recrawl.evolve.breeding import evolve_formula

        bred = evolve_formula(recording, replace(plan, warmup=1, site_cap=0), evolve, "changerate", advance=advance)
        choice.write(directory.path / EVOLVED, bred.formula.to_json().encode())
        names.append(choice.within(directory, f"gp:{EVOLVED}"))
    report = compare(recording, names, replace(plan, warmup=0), measure, advance=advance)
    chosen = _best(report.comparison, plan)
    names_kept = {choice.without(directory, name): value for name, value in chosen.values.items()}
    kept = replace(chosen, policy=choice.without(directory, chosen.policy), values=names_kept)
    choice.save(directory, kept)
    return replace(kept, notes=report.notes)


def _best(comparison: Comparison, plan: Plan) -> choice.PolicyChoice:
    measure = comparison.measures[0]
    values = {policy: comparison.summary(policy, measure).mean for policy in comparison.ranking(measure)}
    return choice.PolicyChoice(comparison.best(measure) or "age", measure.spec, plan.cycle_days, values)
