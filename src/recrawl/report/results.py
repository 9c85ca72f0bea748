"""A comparison as JSON: stable order, no clock, so the same inputs and seed give the same bytes."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recrawl import __version__
from recrawl.evaluate.compare import REFERENCE, Comparison, Versus
from recrawl.evaluate.crawl import clairvoyant
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.statistics import Interval
from recrawl.recording.recording import Recording
from recrawl.report.comparison_defaults import DISCOVERY

DIGITS = 10  # significant; enough to recompute, short enough to read


@dataclass(frozen=True)
class Selection:
    """What was crawled, and the command that does it again."""

    name: str
    start_day: float
    end_day: float
    pages: int
    sites: int
    changes: int
    slices: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    command: str = ""

    @property
    def title(self) -> str:
        """The name without the folders above it."""
        return Path(self.name).name or self.name

    @classmethod
    def of(
        cls, recording: Recording, slices: tuple[str, ...] = (), notes: tuple[str, ...] = (), command: str = ""
    ) -> Selection:
        """Describe a recording."""
        sites = len(np.unique(recording.site))
        changes = len(recording.change_day)
        return cls(
            recording.name, recording.start, recording.end, len(recording), sites, changes, slices, notes, command
        )


def to_json(comparison: Comparison, selection: Selection) -> str:
    """Write the results as JSON text."""
    return json_text(results(comparison, selection))


def json_text(results: dict[str, Any]) -> str:
    """Write plain values as results.json has them."""
    return json.dumps(results, indent=1, ensure_ascii=False) + "\n"


def results(comparison: Comparison, selection: Selection) -> dict[str, Any]:
    """Return everything measured as plain values."""
    plan = comparison.plan
    return {
        "recrawl": __version__,
        "command": selection.command,
        "data": {
            "name": selection.name,
            "start_day": number(selection.start_day),
            "end_day": number(selection.end_day),
            "pages": selection.pages,
            "sites": selection.sites,
            "changes": selection.changes,
            "slices": list(selection.slices),
            "notes": list(selection.notes),
        },
        "plan": {
            "cycle_days": number(plan.cycle_days),
            "budget": plan.budget if isinstance(plan.budget, int) else number(plan.budget),
            "warmup": plan.warmup,
            "site_cap": plan.site_cap,
            "discover": plan.discover,
            **({} if plan.discovery == DISCOVERY else {"discovery": number(plan.discovery)}),
            "importance": plan.importance,
            "seed": plan.seed,
            "folds": comparison.folds,
            "repeats": comparison.repeats,
        },
        "runs": [{"pages": p, "visits_a_cycle": v} for p, v in zip(comparison.pages, comparison.visits, strict=True)],
        "cycles": comparison.cycles.tolist(),
        "measures": [_measure(comparison, measure) for measure in comparison.measures],
        "policies": [_policy(comparison, policy) for policy in comparison.policies],
    }


def number(value: float) -> float | None:
    """Return a number for JSON, which has neither NaN nor infinity."""
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def _measure(comparison: Comparison, measure: Measure) -> dict[str, Any]:
    return {
        "name": measure.spec,
        "meaning": measure.description,
        "better": measure.better,
        "unit": measure.unit,
        "over_cycles": "ratio of sums" if measure.pooled else "mean",
        "best": comparison.best(measure),
    }


def _policy(comparison: Comparison, policy: str) -> dict[str, Any]:
    return {
        "name": policy,
        "clairvoyant": clairvoyant(policy),
        "spent": number(comparison.spent(policy)),
        "results": {measure.spec: _result(comparison, policy, measure) for measure in comparison.measures},
    }


def _result(comparison: Comparison, policy: str, measure: Measure) -> dict[str, Any]:
    at = comparison.policies.index(policy), comparison.measures.index(measure)
    curve = comparison.curve(policy, measure)
    found: dict[str, Any] = _interval(comparison.summary(policy, measure))
    found["competes"] = comparison.competes(policy, measure)
    found["of_oracle"] = number(comparison.of_oracle(policy, measure))
    found["runs"] = [number(value) for value in comparison.values[at]]
    found["cycles"] = [number(point.mean) for point in curve]
    found["cycles_ci95"] = [number(point.half) for point in curve]
    best = comparison.best(measure)
    for label, other in (("versus_best", best), (f"versus_{REFERENCE}", REFERENCE)):
        if other in comparison.policies and other != policy:
            found[label] = _versus(comparison.versus(policy, other, measure))
    if comparison.budgets:
        points = zip(comparison.budgets, comparison.budget_curve(policy, measure), strict=True)
        found["budgets"] = [{"budget": b if isinstance(b, int) else number(b), **_interval(i)} for b, i in points]
    return found


def _interval(value: Interval) -> dict[str, Any]:
    return {"mean": number(value.mean), "ci95": number(value.half)}


def _versus(versus: Versus) -> dict[str, Any]:
    cycles = versus.cycles
    return {
        "other": versus.other,
        "difference": number(versus.test.difference),
        "p": number(versus.test.p),
        "victories": cycles.victories,
        "losses": cycles.losses,
        "gain_pct": number(cycles.gain_pct),
        "loss_pct": number(cycles.loss_pct),
        "cycles_ahead": cycles.ahead,
        "cycles_behind": cycles.behind,
    }
