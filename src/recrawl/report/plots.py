"""The comparison as pictures: all policies at a glance, cycle by cycle, and by budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from recrawl.columns import FloatArray
from recrawl.evaluate.compare import ORACLE, REFERENCE, Comparison
from recrawl.evaluate.crawl import clairvoyant
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.statistics import Interval
from recrawl.report.comparison_table import comparable, heading
from recrawl.report.style import COLOURS, INK, MUTED, Drawing, Sheet, picture, settle

LABELLED = 6  # policies with a colour and a name in a panel of curves; the others are thin grey lines


def pictures(comparison: Comparison) -> dict[str, Drawing]:
    """Draw everything, by name."""
    found = {"overview": picture(overview, comparison), "cycles": picture(cycles, comparison)}
    if comparison.budgets:
        found["budgets"] = picture(budgets, comparison)
    return found


def overview(sheet: Sheet, comparison: Comparison) -> Figure:
    """One panel per measure: every policy's mean with its interval, the oracle as a line."""
    order = [p for p in comparison.ranking(comparison.measures[0]) if p != ORACLE][::-1]
    height = 0.24 * len(order) + 1.1
    figure, axes = sheet.panels(len(comparison.measures), 4, height, sharey=True)
    colour = _colours(comparison)
    for axis, measure in zip(axes, comparison.measures, strict=True):
        sheet.values(axis, "x")
        top = comparison.best_mean(measure)
        for y, policy in enumerate(order):
            if comparable(comparison, policy, measure):
                value = comparison.summary(policy, measure)
                _dot(axis, y, value, colour[policy], value.mean == top)
            else:
                _excuse(axis, y, comparison.spent(policy))
        _oracle_line(axis, comparison, measure)
        axis.set_yticks(range(len(order)), order)
        axis.tick_params(length=0)
        axis.set_ylim(-0.6, len(order) - 0.4)
        axis.spines["left"].set_visible(False)
        axis.set_title(heading(measure), pad=14)
        axis.locator_params(axis="x", nbins=4)
        axis.set_xlabel("higher is better →" if measure.better == "higher" else "← lower is better", color=MUTED)
    return figure


def cycles(sheet: Sheet, comparison: Comparison) -> Figure:
    """One panel per measure: the curves over the cycles, smoothed where there are many."""
    figure = _curves(
        sheet,
        comparison,
        x=comparison.cycles.astype(np.float64),
        read=comparison.curve,
        label=f"cycle of {comparison.plan.cycle_days:g} {'day' if comparison.plan.cycle_days == 1 else 'days'}",
        width=_smoothing(len(comparison.cycles)),
    )
    for axis in figure.axes:
        axis.locator_params(axis="x", integer=True)
    return figure


def budgets(sheet: Sheet, comparison: Comparison) -> Figure:
    """One panel per measure: the values by budget."""
    shares = not any(isinstance(budget, int) for budget in comparison.budgets)
    order = np.argsort(comparison.budgets, kind="stable")

    def read(policy: str, measure: Measure) -> list[Interval]:
        points = comparison.budget_curve(policy, measure)
        return [points[i] for i in order]

    x = np.array([comparison.budgets[i] * (100.0 if shares else 1.0) for i in order])
    label = "budget: % of the pages per cycle" if shares else "budget: visits per cycle"
    return _curves(sheet, comparison, x, read, label, 1)


def _curves(
    sheet: Sheet,
    comparison: Comparison,
    x: FloatArray,
    read: Callable[[str, Measure], list[Interval]],
    label: str,
    width: int,
) -> Figure:
    figure, axes = sheet.panels(len(comparison.measures), 2, 2.75)
    colour = _colours(comparison)
    banded = {comparison.best(comparison.measures[0]), REFERENCE}  # more bands would hide each other
    for axis, measure in zip(axes, comparison.measures, strict=True):
        axis.grid(axis="y")
        ends: list[tuple[float, str, str]] = []
        drawn: list[FloatArray] = []
        for policy in reversed(comparison.ranking(comparison.measures[0])):
            if not comparable(comparison, policy, measure):
                continue
            points = read(policy, measure)
            mean = np.array([point.mean for point in points])
            half = np.nan_to_num(np.array([point.half for point in points]))
            _line(axis, x, mean, half if policy in banded else half * 0, colour[policy], policy, width)
            shown = _smooth(mean, width)
            drawn.append(shown)
            known = np.flatnonzero(~np.isnan(shown))
            if colour[policy] != MUTED and len(known):
                ends.append((float(shown[known[-1]]), policy, colour[policy]))
        smoothed = f", mean of {width} cycles" if width > 1 else ""
        axis.set(title=f"{heading(measure)}{smoothed}: {measure.better} is better", xlabel=label)
        axis.tick_params(length=0)
        axis.margins(x=0.01)
        axis.set_ylim(_range(drawn))
        settle(axis)
        _name_ends(axis, float(x[-1]), ends)
    return figure


def _line(axis: Any, x: FloatArray, mean: FloatArray, half: FloatArray, colour: str, policy: str, width: int) -> None:
    loud = colour != MUTED
    style = "--" if clairvoyant(policy) else "-"
    marker = "o" if len(x) < 12 else ""
    smooth = _smooth(mean, width)
    if loud and width > 1:
        axis.plot(x, mean, color=colour, linewidth=0.6, alpha=0.35)
    axis.plot(
        x, smooth, color=colour, linewidth=1.7 if loud else 0.7, linestyle=style, marker=marker, markersize=3,
        alpha=1.0 if loud else 0.6, zorder=3 if loud else 2,
    )  # fmt: skip
    if loud and half.any():
        band = _smooth(half, width)
        axis.fill_between(x, smooth - band, smooth + band, color=colour, alpha=0.13, linewidth=0)


def _name_ends(axis: Any, x: float, ends: list[tuple[float, str, str]]) -> None:
    """Write each curve's name at its end, pushed apart so that names do not overlap."""
    low, high = axis.get_ylim()
    gap = (high - low) * 0.085
    ends.sort(key=lambda end: end[0])  # stable: equal curves are named in the order of the ranking
    heights = spread([end[0] for end in ends], gap, low, high)
    for height, (_, policy, colour) in zip(heights, ends, strict=True):
        axis.annotate(
            policy, (x, height), xytext=(6, 0), textcoords="offset points", color=colour, va="center", fontsize=8,
            annotation_clip=False,
        )  # fmt: skip
    axis.set_ylim(low, high)


def spread(values: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move ascending values as little as it takes to stand `gap` apart, from `low` and, if there is room, to `high`."""
    placed: list[float] = []
    for value in values:
        placed.append(max(value, placed[-1] + gap) if placed else max(value, low))
    for i in range(len(placed) - 1, -1, -1):
        ceiling = high if i == len(placed) - 1 else placed[i + 1] - gap
        placed[i] = min(placed[i], ceiling)
    return placed


def _dot(axis: Any, y: int, value: Interval, colour: str, best: bool) -> None:
    if math.isnan(value.mean):
        return
    if value.half > 0:
        axis.plot([value.mean - value.half, value.mean + value.half], [y, y], color=colour, linewidth=2.2, alpha=0.45)
    axis.plot(value.mean, y, "o", color=colour, markersize=7 if best else 5, markeredgewidth=0)
    if best:
        axis.plot(
            value.mean, y, "o", markersize=11, markerfacecolor="none", markeredgecolor=colour, markeredgewidth=1.2
        )


def _excuse(axis: Any, y: int, spent: float) -> None:
    """Return why there is no dot: a policy that made few of its visits has no value per visit to compare."""
    axis.annotate(
        f"spent {100 * spent:.3g}%", (0.02, y), xycoords=("axes fraction", "data"), color=MUTED, fontsize=7, va="center"
    )


def _oracle_line(axis: Any, comparison: Comparison, measure: Measure) -> None:
    if ORACLE not in comparison.policies:
        return
    top = comparison.summary(ORACLE, measure).mean
    if not math.isnan(top):
        axis.axvline(top, color=MUTED, linestyle="--", linewidth=1.2)
        axis.annotate(
            "oracle", (top, 1.0), xycoords=("data", "axes fraction"), xytext=(0, -1), textcoords="offset points",
            color=MUTED, fontsize=7, ha="center", va="bottom",
        )  # fmt: skip


def _colours(comparison: Comparison) -> dict[str, str]:
    """Colour the best few, the reference and the oracle; all others are grey."""
    ranking = [p for p in comparison.ranking(comparison.measures[0]) if not clairvoyant(p)]
    loud = list(dict.fromkeys([*ranking[: LABELLED - 1], *([REFERENCE] if REFERENCE in ranking else [])]))[:LABELLED]
    if len(ranking) == LABELLED + 1:
        loud = ranking  # one more colour is better than a single grey line
    colours = dict.fromkeys(comparison.policies, MUTED)
    colours.update(zip(loud, COLOURS, strict=False))
    if ORACLE in colours:
        colours[ORACLE] = INK
    return colours


def _range(curves: Sequence[FloatArray]) -> tuple[float, float]:
    """The range of the curves with a margin: intervals may reach out of the picture, curves do not."""
    values = np.concatenate(curves)
    values = values[~np.isnan(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    margin = 0.07 * (high - low) or 0.5
    return low - margin, high + margin


def _smoothing(count: int) -> int:
    """How many cycles to average in a curve: an odd number, 1 where there are few."""
    return 1 if count < 30 else count // 12 | 1


def _smooth(values: FloatArray, width: int) -> FloatArray:
    """Centred moving average without NaN, with shorter windows at the ends."""
    if width <= 1:
        return values
    there = ~np.isnan(values)
    kernel = np.ones(width)
    total = np.convolve(np.where(there, values, 0.0), kernel, mode="same")
    count = np.convolve(there.astype(np.float64), kernel, mode="same")
    return np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0)
