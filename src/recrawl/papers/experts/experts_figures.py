"""Figs 6 to 8 of Radinsky & Bennett 2013 on this recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from recrawl.columns import FloatArray
from recrawl.evaluate.compare import Comparison
from recrawl.evaluate.statistics import Interval, interval
from recrawl.papers.experts.experts_experiment import COINS, DIMENSIONS, FRESHNESS
from recrawl.papers.experts.experts_trials import DRAW, MAJORITY, MULTIPLE, OWN, TrialOutcome
from recrawl.report.style import COLOURS, INK, MUTED, Plot, Sheet

COLOUR = {DRAW: COLOURS[3], MAJORITY: MUTED, OWN: COLOURS[1], MULTIPLE: COLOURS[0]}
SMOOTH = 15  # days


def accuracy(sheet: Sheet, outcomes: Sequence[TrialOutcome]) -> Figure:
    """One column per protocol: training sizes above, numbers of experts below."""
    figure, axes = sheet.panels(2 * len(outcomes), len(outcomes), 2.9)
    for i, outcome in enumerate(outcomes):
        above, below = axes[i], axes[i + len(outcomes)]
        for method in (DRAW, MAJORITY, OWN, MULTIPLE):
            held = [interval(100 * sizes[method]) for sizes in outcome.sizes.values()]
            _line(above, list(outcome.sizes), held, COLOUR[method], method)
        held = [interval(100 * count) for count in outcome.counts.values()]
        _line(below, list(outcome.counts), held, COLOUR[MULTIPLE], MULTIPLE)
        for method in (OWN, MAJORITY):
            level = 100 * interval(outcome.accuracy[method]).mean
            below.axhline(level, color=COLOUR[method], linestyle="--", linewidth=1.2)
        words = ("training steps (Fig 6)", "experts, the page itself included (Fig 7)")
        for axis, at, word in zip((above, below), (outcome.sizes, outcome.counts), words, strict=True):
            sheet.values(axis)
            axis.set_xticks(list(at))
            axis.set(xlabel=word, ylabel="accuracy, %", title=outcome.protocol.name)
    sheet.legend(figure, axes[0], 4)
    return figure


def _line(axis: Any, x: list[int], values: Sequence[Interval], colour: str, label: str) -> None:
    """Draw means with their 95% intervals."""
    half = np.nan_to_num([value.half for value in values])
    means = [value.mean for value in values]
    axis.errorbar(x, means, half, fmt="o-", markersize=3, capsize=2, elinewidth=0.8, label=label, color=colour)


def freshness(sheet: Sheet, crawls: Mapping[str, Comparison]) -> Figure:
    """One row per set of pages: by the coin on the left, by the highest chance on the right."""
    ways = ((COINS, "biased coin"), (DIMENSIONS, "highest chance"))
    figure, axes = sheet.panels(2 * len(crawls), 2, 2.8)
    places = [(name, comparison, *way) for name, comparison in crawls.items() for way in ways]
    for axis, (name, comparison, policies, way) in zip(axes, places, strict=True):
        for policy, colour in zip(policies, (COLOURS[3], COLOURS[1], COLOURS[0]), strict=True):
            axis.plot(comparison.cycles, _curve(comparison, policy), color=colour, label=policy[:9], linewidth=1.5)
        axis.plot(comparison.cycles, _curve(comparison, "cg"), color=INK, linewidth=0.9, linestyle=":", label="cg")
        axis.set_title(f"{name}, {way}")
        sheet.values(axis)
        axis.set(xlabel="days of crawling", ylabel="freshness")
    sheet.legend(figure, axes[0], 4)
    return figure


def _curve(comparison: Comparison, policy: str) -> FloatArray:
    values = np.array([point.mean for point in comparison.curve(policy, FRESHNESS)])
    width = min(SMOOTH, len(values))
    kernel = np.ones(width)
    return np.asarray(np.convolve(values, kernel, "same") / np.convolve(np.ones(len(values)), kernel, "same"))


PLOTS = {
    "figures6-7": Plot(
        accuracy, "Accuracy by training size and by number of experts, mean over the pages with its 95% interval."
    ),
    "figure8": Plot(freshness, "Freshness after each day's visits, running mean of 15 days."),
}
