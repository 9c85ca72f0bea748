"""The comparison as one self-contained page: no scripts, nothing loaded from anywhere."""

from __future__ import annotations

import math
import re
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from recrawl.evaluate.compare import ORACLE, REFERENCE, Comparison
from recrawl.evaluate.measures.measure import Measure
from recrawl.report.comparison_table import (
    ORACLE_WORD,
    SPENT_WORD,
    comparable,
    decimals,
    heading,
    percent,
    rows,
    thrifty,
    versus_reference,
)
from recrawl.report.plots import GRID, INK, pictures
from recrawl.report.results import Selection, to_json

CAPTIONS = {
    "overview": "Every policy: mean and 95% interval. A ring marks the best; the dashed line is the oracle.",
    "cycles": "Cycle by cycle. The best policies have a name; thin grey lines are the others.",
    "budgets": "What more budget buys.",
}


def report_files(comparison: Comparison, selection: Selection) -> dict[str, bytes]:
    """Return every file of a report by name: results.json, the plots and report.html."""
    drawn = pictures(comparison)
    out = {"results.json": to_json(comparison, selection).encode()}
    for name, (png, svg) in drawn.items():
        out[f"{name}.png"], out[f"{name}.svg"] = png, svg
    figures = {name: svg for name, (_, svg) in drawn.items()}
    out["report.html"] = page(comparison, selection, figures).encode()
    return out


def page(comparison: Comparison, selection: Selection, figures: dict[str, bytes]) -> str:
    """Render the page."""
    source = (files("recrawl.report") / "comparison_page.html.j2").read_text(encoding="utf-8")
    template = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    first = comparison.measures[0]
    return template.from_string(source).render(
        selection=selection,
        comparison=comparison,
        plan=comparison.plan,
        first=first,
        heads=[heading(measure) for measure in comparison.measures],
        cards=cards(comparison),
        rows=rows(comparison),
        bars=bars(comparison),
        contests=contests(comparison),
        runs=comparison.folds * comparison.repeats,
        budget=_budget(comparison),
        figures=[(name, CAPTIONS[name], inline(svg.decode(), name)) for name, svg in figures.items()],
        reference=REFERENCE if REFERENCE in comparison.policies else None,
        with_oracle=ORACLE in comparison.policies and first.better == "higher",
        with_spent=thrifty(comparison),
        spent_word=SPENT_WORD if thrifty(comparison) else "",
        oracle_word=ORACLE_WORD if ORACLE in comparison.policies else "",
    )


def cards(comparison: Comparison) -> list[tuple[str, str, str]]:
    """Return the headline numbers: (label, number, a word about it)."""
    first = comparison.measures[0]
    best = comparison.best(first)
    if best is None:
        return []
    value = comparison.summary(best, first)
    digits = decimals([value.mean])
    shown = f"{value.mean:.{digits}f}"
    if value.half > 0:
        shown += f" ± {value.half:.{digits}f}"
    found = [(f"best {first.spec}", best, f"{shown}{' ' + first.unit if first.unit else ''}")]
    share = comparison.of_oracle(best, first)
    if not math.isnan(share):
        found.append(("of the oracle", percent(share), f"the clairvoyant bound is {_mean(comparison, ORACLE, first)}"))
    if best != REFERENCE and REFERENCE in comparison.policies:
        gain = versus_reference(comparison, best, first)
        found.append((f"against {REFERENCE}", gain.rstrip("*") or "–", _surely(comparison, best, first)))
    for measure in comparison.measures[1:]:
        leader = comparison.best(measure)
        if leader is not None and len(found) < 4:
            found.append((f"best {measure.spec}", leader, _mean(comparison, leader, measure)))
    return found


def _surely(comparison: Comparison, policy: str, measure: Measure) -> str:
    versus = comparison.versus(policy, REFERENCE, measure)
    base = f"{REFERENCE} has {_mean(comparison, REFERENCE, measure)}"
    if math.isnan(versus.test.p):
        return f"{base}; ahead in {versus.cycles.ahead} of {versus.cycles.cycles} cycles"
    return f"{base}; {'significant' if versus.test.significant else 'not significant'} at 95%"


def _mean(comparison: Comparison, policy: str, measure: Measure) -> str:
    mean = comparison.summary(policy, measure).mean
    return f"{mean:.{decimals([mean])}f}{' ' + measure.unit if measure.unit else ''}"


def bars(comparison: Comparison) -> dict[str, list[float]]:
    """Return for every policy and measure the length of the bar behind the number, in percent of the largest."""
    lengths: dict[str, list[float]] = {policy: [] for policy in comparison.policies}
    for measure in comparison.measures:
        means = {
            policy: comparison.summary(policy, measure).mean if comparable(comparison, policy, measure) else math.nan
            for policy in comparison.policies
        }
        top = max((mean for mean in means.values() if not math.isnan(mean)), default=0.0)
        for policy, mean in means.items():
            lengths[policy].append(0.0 if math.isnan(mean) or top <= 0 else round(100 * mean / top, 1))
    return lengths


def contests(comparison: Comparison) -> list[dict[str, Any]]:
    """Return victories and losses of every policy against the best and the reference, under the first two measures."""
    found = []
    for measure in comparison.measures[:2]:
        best = comparison.best(measure)
        others = [other for other in dict.fromkeys((best, REFERENCE)) if other in comparison.policies]
        entries = [
            (policy, [comparison.versus(policy, other, measure) if policy != other else None for other in others])
            for policy in comparison.ranking(measure)
            if comparison.competes(policy, measure)
        ]
        if others and len(entries) > 1:
            found.append({"measure": measure, "others": others, "entries": entries})
    return found


def _budget(comparison: Comparison) -> str:
    budget = comparison.plan.budget
    return f"{budget:,} visits" if isinstance(budget, int) else f"{budget * 100:g}% of the pages"


def inline(svg: str, name: str) -> Markup:
    """Make a figure part of the page: its ids its own, its ink and grid those of the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r"fill: #ffffff(?=[;\"])", "fill: none", svg)
    svg = svg.replace(INK, "currentColor").replace(GRID, "var(--grid)")
    return Markup(svg.replace("<svg", f'<svg role="img" aria-label="{name}"', 1))
