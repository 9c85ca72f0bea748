"""Figs 6 to 8 of Radinsky & Bennett 2013 on this recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from recrawl.columns import FloatArray
from recrawl.evaluate.compare import Comparison
from recrawl.evaluate.statistics import interval
from recrawl.papers.experts.experts_crawl import COINS, DIMENSIONS, FRESHNESS
from recrawl.papers.experts.experts_trials import DRAW, MAJORITY, MULTIPLE, OWN, TrialOutcome
from recrawl.report.plots import COLOURS, INK, MUTED, picture

CAPTIONS = {
    "figures6-7": "Accuracy by training size (above) and by number of experts (below), mean over the pages.",
    "figure8": "Freshness after each day's visits, running mean of 15 days: one panel a set of pages and way to pick.",
}
COLOUR = {DRAW: COLOURS[3], MAJORITY: MUTED, OWN: COLOURS[1], MULTIPLE: COLOURS[0]}
SMOOTH = 15  # days


def draw(outcomes: Sequence[TrialOutcome], crawls: Mapping[str, Comparison]) -> dict[str, tuple[bytes, bytes]]:
    """Draw everything; returns name -> (PNG, SVG)."""
    out = {"figures6-7": picture(partial(accuracy, outcomes))}
    if crawls:
        out["figure8"] = picture(partial(freshness, crawls))
    return out


def accuracy(outcomes: Sequence[TrialOutcome]) -> Figure:
    """One column a protocol: training sizes above, numbers of experts below."""
    figure = Figure(figsize=(11.0, 5.8), layout="constrained")
    axes = figure.subplots(2, len(outcomes), squeeze=False)
    for column, outcome in enumerate(outcomes):
        _sizes(axes[0, column], outcome)
        _counts(axes[1, column], outcome)
        axes[0, column].set_title(outcome.protocol.name)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def _sizes(axis: Any, outcome: TrialOutcome) -> None:
    sizes = list(outcome.sizes)
    for method in (DRAW, MAJORITY, OWN, MULTIPLE):
        values = [100 * interval(outcome.sizes[n][method]).mean for n in sizes]
        axis.plot(sizes, values, "o-", markersize=3, label=method, color=COLOUR[method])
    axis.grid(axis="y")
    axis.set_xticks(sizes)
    axis.set_xlabel("training steps (Fig 6)")
    axis.set_ylabel("accuracy, %")


def _counts(axis: Any, outcome: TrialOutcome) -> None:
    counts = list(outcome.counts)
    values = [100 * interval(outcome.counts[k]).mean for k in counts]
    axis.plot(counts, values, "o-", markersize=3, color=COLOUR[MULTIPLE])
    for method in (OWN, MAJORITY):
        axis.axhline(100 * interval(outcome.accuracy[method]).mean, color=COLOUR[method], linestyle="--", linewidth=1.2)
    axis.grid(axis="y")
    axis.set_xticks(counts)
    axis.set_xlabel("experts, the page itself included (Fig 7)")
    axis.set_ylabel("accuracy, %")


def freshness(crawls: Mapping[str, Comparison]) -> Figure:
    """One row a set of pages: by the coin on the left, by the highest chance on the right."""
    figure = Figure(figsize=(11.0, 0.6 + 2.7 * len(crawls)), layout="constrained")
    axes = figure.subplots(len(crawls), 2, squeeze=False, sharey="row")
    for row, (name, comparison) in enumerate(crawls.items()):
        for column, (policies, way) in enumerate(((COINS, "biased coin"), (DIMENSIONS, "highest chance"))):
            axis = axes[row, column]
            for policy, colour in zip(policies, (COLOURS[3], COLOURS[1], COLOURS[0]), strict=True):
                axis.plot(comparison.cycles, _curve(comparison, policy), color=colour, label=policy[:9], linewidth=1.5)
            axis.plot(comparison.cycles, _curve(comparison, "cg"), color=INK, linewidth=0.9, linestyle=":", label="cg")
            axis.set_title(f"{name}, {way}")
            axis.grid(axis="y")
            axis.set_xlabel("days of crawling")
            axis.set_ylabel("freshness")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def _curve(comparison: Comparison, policy: str) -> FloatArray:
    values = np.array([point.mean for point in comparison.curve(policy, FRESHNESS)])
    width = min(SMOOTH, len(values))
    kernel = np.ones(width)
    return np.asarray(np.convolve(values, kernel, "same") / np.convolve(np.ones(len(values)), kernel, "same"))
