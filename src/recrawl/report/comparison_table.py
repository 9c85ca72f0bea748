"""The comparison as a table for people."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table as TerminalTable

from recrawl.evaluate.compare import ORACLE, REFERENCE, Comparison
from recrawl.evaluate.crawl import clairvoyant
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.statistics import Interval
from recrawl.report.console import WIDE, terminal_table
from recrawl.report.table import Table

SPENT_WORD = (
    "Spent is the share of the budget that was used. A policy that leaves visits unused makes only its surest ones, so "
    "its values per visit do not compare with the others'."
)
ORACLE_WORD = (
    "The oracle is clairvoyant: it visits pages that are stale. It bounds the changes that can be found in "
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


def results_table(comparison: Comparison, start: int = 0, end: int | None = None) -> Table:
    """Return all policies under some measures, with bars; columns about the first measure stand beside it."""
    found, lengths, shown = rows(comparison), bars(comparison), comparison.measures[start:end]
    with_oracle = start == 0 and ORACLE in comparison.policies and comparison.measures[0].better == "higher"
    with_reference = start == 0 and REFERENCE in comparison.policies
    lead = ["policy"] + ["spent"] * (start == 0 and thrifty(comparison))
    extra = ["of oracle"] * with_oracle + [f"vs {REFERENCE}"] * with_reference
    heads = [heading(measure) for measure in shown]
    columns = [len(lead) + i + (len(extra) if i else 0) for i in range(len(shown))]
    cells: list[list[str]] = []
    best: set[tuple[int, int]] = set()
    bar: dict[tuple[int, int], float] = {}
    for r, row in enumerate(found):
        first, *others = [joined(cell) for cell in row.cells[start:end]]
        beside = [row.of_oracle] * with_oracle + [row.versus] * with_reference
        cells.append([*(row.policy, row.spent)[: len(lead)], first, *beside, *others])
        best |= {(r, c) for c, cell in zip(columns, row.cells[start:end], strict=True) if cell.best}
        bar |= {(r, c): length for c, length in zip(columns, lengths[row.policy][start:end], strict=True)}
    bounds = frozenset(r for r, row in enumerate(found) if row.clairvoyant)
    heads[1:1] = extra
    return Table([*lead, *heads], cells, best=frozenset(best), bars=bar, bounds=bounds)


def bars(comparison: Comparison) -> dict[str, list[float]]:
    """Return for every policy and measure the length of the bar behind the number, in percent: longer is better."""
    lengths: dict[str, list[float]] = {policy: [] for policy in comparison.policies}
    for measure in comparison.measures:
        means = {
            policy: comparison.summary(policy, measure).mean if comparable(comparison, policy, measure) else math.nan
            for policy in comparison.policies
        }
        known = [mean for mean in means.values() if not math.isnan(mean)]
        for policy, mean in means.items():
            share = 0.0 if math.isnan(mean) else _share(mean, min(known), max(known), measure.better)
            lengths[policy].append(round(100 * max(share, 0.0), 1))
    return lengths


def _share(mean: float, low: float, high: float, better: str) -> float:
    """How long a bar is, as a share of the best one's."""
    if better == "higher":
        return mean / high if high > 0 else 0.0
    return low / mean if low > 0 else 1.0 - mean / high if high > 0 else 1.0


def tables(comparison: Comparison, width: int) -> list[TerminalTable]:
    """Return the table for a terminal, best in bold; as several, by measures, where one would be too wide."""
    count = len(comparison.measures)
    for parts in range(1, count + 1):
        size = math.ceil(count / parts)
        shown = [terminal_table(results_table(comparison, at, at + size)) for at in range(0, count, size)]
        if all(Console(width=WIDE).measure(part).maximum <= width for part in shown):
            break
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
    """Whether a policy's value compares with the others': it competes, or it is the bound."""
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
