"""The comparison as pictures: all policies at a glance, cycle by cycle, and by budget.

Figures are deterministic: no date, fixed salts for the ids. Text and grid have two fixed colours that the report
replaces by its own, so the same picture suits a light and a dark page.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from recrawl.columns import FloatArray
from recrawl.evaluate.compare import ORACLE, REFERENCE, Comparison
from recrawl.evaluate.crawl import clairvoyant
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.statistics import Interval
from recrawl.report.comparison_table import comparable

INK = "#1f2a36"
GRID = "#dfe4ea"
MUTED = "#8b97a3"
COLOURS = ("#2f7fc8", "#e0762f", "#2f9e6e", "#c94f62", "#8a68c0", "#1f97a8", "#ad8627")
LABELLED = 6  # policies with a colour and a name in a panel of curves; the others are thin grey lines
_STYLE: Any = {
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GRID,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.parse_math": False,  # a policy's name is a name, even with a dollar in it
    "svg.fonttype": "none",
    "svg.hashsalt": "recrawl",
}


def pictures(comparison: Comparison) -> dict[str, tuple[bytes, bytes]]:
    """Draw everything; returns name -> (PNG, SVG)."""
    figures: dict[str, Callable[[Comparison], Figure]] = {"overview": overview, "cycles": cycles}
    if comparison.budgets:
        figures["budgets"] = budgets
    return {name: picture(partial(draw, comparison)) for name, draw in figures.items()}


def picture(draw: Callable[[], Figure]) -> tuple[bytes, bytes]:
    """Draw a figure in the style of all figures; returns PNG and SVG."""
    with mpl.rc_context(_STYLE):
        figure = draw()
        png = _bytes(figure, "png")
        figure.set_layout_engine("none")  # the layout is found; once is enough
        return png, _bytes(figure, "svg")


def overview(comparison: Comparison) -> Figure:
    """One panel a measure: every policy's mean with its interval, the oracle as a line."""
    order = [p for p in comparison.ranking(comparison.measures[0]) if p != ORACLE][::-1]
    columns = min(len(comparison.measures), 4)
    lines = math.ceil(len(comparison.measures) / columns)
    height = lines * (0.24 * len(order) + 1.0)
    figure, axes = _grid(len(comparison.measures), columns, (11.0, height), sharey=True)
    colour = _colours(comparison)
    for axis, measure in zip(axes, comparison.measures, strict=True):
        values = [comparison.summary(policy, measure) for policy in order]
        axis.grid(axis="x")
        top = comparison.best_mean(measure)
        for y, (policy, value) in enumerate(zip(order, values, strict=True)):
            if comparable(comparison, policy, measure):
                _dot(axis, y, value, colour[policy], value.mean == top)
            else:
                _excuse(axis, y, comparison.spent(policy))
        _oracle_line(axis, comparison, measure)
        axis.set_yticks(range(len(order)), order)
        axis.tick_params(length=0)
        axis.set_ylim(-0.6, len(order) - 0.4)
        axis.spines["left"].set_visible(False)
        axis.set_xlim(left=min(0.0, axis.get_xlim()[0]) if _from_zero(values) else None)
        axis.set_title(_title(measure), pad=14)
    return figure


def cycles(comparison: Comparison) -> Figure:
    """One panel a measure: the curves over the cycles, smoothed where there are many."""
    return _curves(
        comparison,
        x=comparison.cycles.astype(np.float64),
        read=comparison.curve,
        label=f"cycle of {comparison.plan.cycle_days:g} {'day' if comparison.plan.cycle_days == 1 else 'days'}",
        width=_smoothing(len(comparison.cycles)),
    )


def budgets(comparison: Comparison) -> Figure:
    """One panel a measure: the values by budget."""
    shares = not any(isinstance(budget, int) for budget in comparison.budgets)
    order = np.argsort(comparison.budgets, kind="stable")

    def read(policy: str, measure: Measure) -> list[Interval]:
        points = comparison.budget_curve(policy, measure)
        return [points[i] for i in order]

    x = np.array([comparison.budgets[i] * (100.0 if shares else 1.0) for i in order])
    return _curves(comparison, x, read, "budget: % of the pages a cycle" if shares else "budget: visits a cycle", 1)


def _curves(
    comparison: Comparison,
    x: FloatArray,
    read: Callable[[str, Measure], list[Interval]],
    label: str,
    width: int,
) -> Figure:
    columns = min(len(comparison.measures), 2)
    lines = math.ceil(len(comparison.measures) / columns)
    figure, axes = _grid(len(comparison.measures), columns, (11.0, 2.75 * lines))
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
        axis.set_title(_title(measure) + (f", mean of {width} cycles" if width > 1 else ""))
        axis.set_xlabel(label)
        axis.tick_params(length=0)
        axis.margins(x=0.01)
        axis.set_ylim(_range(drawn))
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
    """Say why there is no dot: a policy that made few of its visits has no value per visit to compare."""
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


def _grid(count: int, columns: int, size: tuple[float, float], **options: Any) -> tuple[Figure, list[Any]]:
    layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1, wspace=0.02, hspace=0.04)
    figure = Figure(figsize=(size[0], max(size[1], 2.2)), layout=layout)
    lines = math.ceil(count / columns)
    axes = figure.subplots(lines, columns, squeeze=False, **options).flatten().tolist()
    for axis in axes[count:]:
        axis.set_visible(False)
    return figure, axes[:count]


def _title(measure: Measure) -> str:
    unit = f", {measure.unit}" if measure.unit else ""
    return f"{measure.spec}{unit}{' ↓' if measure.better == 'lower' else ''}"


def _range(curves: Sequence[FloatArray]) -> tuple[float, float]:
    """The range of the curves with a margin: intervals may reach out of the picture, curves do not."""
    values = np.concatenate(curves)
    values = values[~np.isnan(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    margin = 0.07 * (high - low) or 0.5
    return low - margin, high + margin


def _from_zero(values: Sequence[Interval]) -> bool:
    """Whether an axis should begin at 0: not where all values crowd far from it."""
    means = [value.mean for value in values if not math.isnan(value.mean)]
    return bool(means) and min(means) < 0.5 * max(means)


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


def _bytes(figure: Figure, kind: str) -> bytes:
    out = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
    figure.savefig(out, format=kind, dpi=150, metadata=metadata)
    return out.getvalue()
