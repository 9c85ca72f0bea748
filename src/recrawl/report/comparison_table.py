"""The comparison as a table for people."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recrawl.evaluate.compare import ORACLE, REFERENCE, Comparison
from recrawl.evaluate.crawl import clairvoyant
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.statistics import Interval

SPENT_WORD = (
    "Spent is the share of the budget that was used. A policy that leaves visits unused makes only its surest ones, so "
    "its values per visit do not compare with the others'."
)
ORACLE_WORD = (
    "The oracle is clairvoyant: it goes to pages that it knows to be stale. It bounds the changes that can be found in "
    "a cycle, but does not aim at freshness or age, where others can be better."
)


@dataclass(frozen=True)
class Cell:
    """A value as text, and whether it is the best of those that compete."""

    mean: str
    half: str  # empty for a single run
    best: bool


@dataclass(frozen=True)
class Row:
    """One policy."""

    policy: str
    clairvoyant: bool
    spent: str
    cells: tuple[Cell, ...]
    of_oracle: str  # share of what the oracle reaches, empty where it has no meaning
    versus: str  # against age under the first measure: relative difference, * if significant at 95%


def rows(comparison: Comparison) -> list[Row]:
    """Return the policies from best to worst under the first measure, clairvoyant ones last."""
    first = comparison.measures[0]
    best = {measure: comparison.best_mean(measure) for measure in comparison.measures}
    return [
        Row(
            policy,
            clairvoyant(policy),
            percent(comparison.spent(policy)),
            tuple(_cell(comparison, policy, measure, best[measure]) for measure in comparison.measures),
            percent(comparison.of_oracle(policy, first)) if comparable(comparison, policy, first) else "",
            versus_reference(comparison, policy, first) if comparable(comparison, policy, first) else "",
        )
        for policy in comparison.ranking(first)
    ]


def tables(comparison: Comparison, width: int) -> list[Table]:
    """Return the table for a terminal, best in bold; as several, by measures, where one would be too wide."""
    found = rows(comparison)
    for parts in range(1, len(comparison.measures) + 1):
        size = math.ceil(len(comparison.measures) / parts)
        starts = range(0, len(comparison.measures), size)
        shown = [_table(comparison, found, start, start + size) for start in starts]
        if all(Console(width=10_000).measure(part).maximum <= width for part in shown):
            break
    return shown


def _table(comparison: Comparison, found: list[Row], start: int, end: int) -> Table:
    """Return the columns of some measures; what is said of the first measure stands beside it."""
    shown = Table(box=None, header_style="bold", pad_edge=False)
    shown.add_column("policy", no_wrap=True)
    first = comparison.measures[0]
    with_oracle = ORACLE in comparison.policies and first.better == "higher" and start == 0
    with_reference = REFERENCE in comparison.policies and start == 0
    with_spent = thrifty(comparison) and start == 0
    if with_spent:
        shown.add_column("spent", justify="right", no_wrap=True)
    for measure in comparison.measures[start:end]:
        shown.add_column(heading(measure), justify="right", no_wrap=True)
        if measure == first:
            for head in ["of oracle"] * with_oracle + [f"vs {REFERENCE}"] * with_reference:
                shown.add_column(head, justify="right", no_wrap=True)
    for row in found:
        cells = [Text(joined(cell), style="bold" if cell.best else "") for cell in row.cells[start:end]]
        cells[1:1] = [Text(row.of_oracle)] * with_oracle + [Text(row.versus)] * with_reference
        cells[:0] = [Text(row.spent)] * with_spent
        shown.add_row(Text(row.policy), *cells, style="italic dim" if row.clairvoyant else "")
    return shown


def legend(comparison: Comparison) -> list[str]:
    """Return the lines under the table: what the measures mean."""
    arrow = {"higher": "higher is better", "lower": "lower is better"}
    width = max(len(measure.spec) for measure in comparison.measures)
    lines = [f"{m.spec:{width}}  {m.description} ({arrow[m.better]})" for m in comparison.measures]
    runs = comparison.folds * comparison.repeats
    if runs > 1:
        lines.append(f"± is the 95% t-interval over {runs} runs; * marks a paired t-test significant at 95%.")
    if thrifty(comparison):
        lines.append(SPENT_WORD)
    if ORACLE in comparison.policies:
        lines.append(ORACLE_WORD)
    return lines


def comparable(comparison: Comparison, policy: str, measure: Measure) -> bool:
    """Whether a policy's value can stand beside the others': it competes, or it is the bound."""
    return clairvoyant(policy) or comparison.competes(policy, measure)


def thrifty(comparison: Comparison) -> bool:
    """Whether some policy left a part of its budget unused, so that the table should say how much each used."""
    return any(comparison.spent(policy) < 0.995 for policy in comparison.policies)


def heading(measure: Measure) -> str:
    """Name a measure with its unit and direction."""
    unit = f", {measure.unit}" if measure.unit else ""
    return f"{measure.spec}{unit}{' ↓' if measure.better == 'lower' else ''}"


def versus_reference(comparison: Comparison, policy: str, measure: Measure) -> str:
    """Write the relative difference to the reference policy, e.g. `+12.3%*`."""
    if REFERENCE not in comparison.policies or policy == REFERENCE:
        return ""
    base = comparison.summary(REFERENCE, measure).mean
    test = comparison.versus(policy, REFERENCE, measure).test
    if not base or math.isnan(test.difference):
        return ""
    return f"{100 * test.difference / base:+.1f}%{'*' if test.significant else ''}"


def percent(share: float) -> str:
    """Write a share as a percentage."""
    return "" if math.isnan(share) else f"{100 * share:.1f}%"


def decimals(values: list[float]) -> int:
    """How many decimals the values of one measure need: three for shares, fewer for days."""
    top = max((abs(v) for v in values if math.isfinite(v)), default=0.0)
    return 3 if top < 10 else 2 if top < 100 else 1


def _cell(comparison: Comparison, policy: str, measure: Measure, best: float) -> Cell:
    digits = decimals([comparison.summary(p, measure).mean for p in comparison.policies])
    value: Interval = comparison.summary(policy, measure)
    return Cell(
        mean=_fixed(value.mean, digits) or "–",
        half=_fixed(value.half, digits),
        best=comparison.competes(policy, measure) and value.mean == best,
    )


def _fixed(value: float, digits: int) -> str:
    return "" if math.isnan(value) else f"{value:.{digits}f}"


def joined(cell: Cell) -> str:
    """Write a mean with its interval."""
    return f"{cell.mean} ±{cell.half}" if cell.half else cell.mean
