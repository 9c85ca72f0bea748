"""Figs 6 to 8 of Radinsky & Bennett 2013 on this recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from recrawl.columns import FloatArray
from recrawl.evaluate.compare import Comparison
from recrawl.evaluate.statistics import Interval, interval
from recrawl.papers.experts.batch_crawl import METHODS, BatchCrawl
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
            means = [interval(100 * sizes[method]) for sizes in outcome.sizes.values()]
            _line(above, list(outcome.sizes), means, COLOUR[method], method)
        means = [interval(100 * count) for count in outcome.counts.values()]
        _line(below, list(outcome.counts), means, COLOUR[MULTIPLE], MULTIPLE)
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
    return _smooth(np.array([point.mean for point in comparison.curve(policy, FRESHNESS)]))


def _smooth(values: FloatArray) -> FloatArray:
    width = min(SMOOTH, len(values))
    kernel = np.ones(width)
    return np.asarray(np.convolve(values, kernel, "same") / np.convolve(np.ones(len(values)), kernel, "same"))


def batch(sheet: Sheet, crawl: BatchCrawl) -> Figure:
    """Freshness by step of the models of Tables 1 to 3."""
    figure, axes = sheet.panels(1, 1, 3.0)
    for method, colour in zip(METHODS, (COLOURS[3], COLOURS[1], COLOURS[0], COLOURS[2]), strict=True):
        axes[0].plot(
            np.arange(1, crawl.steps + 1), _smooth(crawl.by_step(method)), color=colour, label=method, linewidth=1.5
        )
    sheet.values(axes[0])
    axes[0].set(xlabel=f"steps of crawling after {crawl.observed} observed ones", ylabel="freshness")
    sheet.legend(figure, axes[0], 4)
    return figure


MOST_SHOWN = 30  # characters of a page's name


def who_predicts_whom(sheet: Sheet, outcome: TrialOutcome) -> Figure:
    """One panel per page: its experts on the left by way of selection, lines as wide as their weight."""
    figure, axes = sheet.panels(len(outcome.examples), 2, 3.2)
    for axis, example in zip(axes, outcome.examples, strict=True):
        ways = [(method, experts) for method, experts in example.experts.items() if experts]
        count = max(sum(len(experts) for _, experts in ways), 1)
        at = 0.0
        for (method, experts), colour in zip(ways, COLOURS, strict=False):
            for name, weight in experts:
                height = 1.0 - (at + 0.5) / count
                axis.plot([0.52, 0.75], [height, 0.5], color=colour, linewidth=0.4 + 3.0 * weight, label=method)
                axis.text(0.5, height, _short(name), ha="right", va="center", fontsize=7)
                at += 1.0
        axis.text(0.77, 0.5, _short(example.page), ha="left", va="center", fontsize=8, weight="bold")
        gain = 100 * (example.accuracy[MULTIPLE] - example.accuracy[OWN])
        axis.set(xlim=(-0.2, 1.4), ylim=(-0.05, 1.05), title=f"3D less 2D {gain:+.1f} points")
        axis.set_axis_off()
        axis.title.set_visible(True)
    handles: dict[str, Any] = {}
    for axis in axes:
        handles |= dict(zip(*reversed(axis.get_legend_handles_labels()), strict=True))
    if handles:
        columns = 2 if sheet.narrow else 4
        figure.legend(handles.values(), handles, loc="outside lower center", ncols=columns)
    return figure


def _short(name: str) -> str:
    """The end of a name: pages of one site begin alike."""
    return name if len(name) <= MOST_SHOWN else f"…{name[-MOST_SHOWN + 1 :]}"


PLOTS = {
    "figures6-7": Plot(
        accuracy, "Accuracy by training size and by number of experts, mean over the pages with its 95% interval."
    ),
    "who-predicts-whom": Plot(
        who_predicts_whom,
        "Who predicts whom (9.1): pages that gain and lose most by their experts; lines are as wide as weights.",
    ),
    "figure8-tables": Plot(batch, "Freshness by the models of Tables 1 to 3, learnt once; running mean of 15 steps."),
    "figure8": Plot(freshness, "Freshness after each day's visits, running mean of 15 days."),
}
