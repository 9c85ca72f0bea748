"""The figures of the experiment on clusters (Tan et al. 2007, Figs 1 to 4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from recrawl.papers.clusters.clusters_protocol import CLS, IDEAL, WAITING, ClustersExperiment
from recrawl.papers.clusters.clusters_tables import budget_word, mean
from recrawl.report.plots import COLOURS, MUTED, picture

CAPTIONS = {
    "figure1": "Mean cosine of left-out pages with the nearest centre by the number of clusters; circles: the elbow.",
    "figure2": "ChangeRatio of cls-nad by the features that are clustered, and by budget.",
    "figure3": "ChangeRatio of cluster-level sampling cycle by cycle, with the four weights of past changes.",
    "figure4": "All policies by cycle length and budget; dashed: all fresh. The last two axes do not begin at 0.",
}


def pictures(experiment: ClustersExperiment) -> dict[str, tuple[bytes, bytes]]:
    """Draw what was run; returns name -> (PNG, SVG)."""
    draws: dict[str, Callable[[ClustersExperiment], Figure]] = {}
    if experiment.counts:
        draws["figure1"] = figure1
    if experiment.features:
        draws["figure2"] = figure2
    if experiment.runs:
        draws |= {"figure3": figure3, "figure4": figure4}
    return {name: picture(partial(draw, experiment)) for name, draw in draws.items()}


def figure1(experiment: ClustersExperiment) -> Figure:
    """The criterion by the number of clusters."""
    figure = Figure(figsize=(7.0, 3.4), layout="constrained")
    axis = figure.subplots()
    axis.grid(axis="y")
    for (name, found), colour in zip(experiment.counts.items(), COLOURS, strict=False):
        axis.plot(found.numbers, found.curve, color=colour, marker="o", markersize=3, label=f"words of the {name}")
        height = found.curve[found.numbers.index(found.best)]
        axis.plot(found.best, height, "o", markersize=12, markerfacecolor="none", markeredgecolor=colour)
        axis.annotate(f"{found.best}", (found.best, height), xytext=(6, -14), textcoords="offset points", color=colour)
    axis.set_xlabel("number of clusters")
    axis.set_title("Mean cosine of left-out pages with the nearest centre")
    axis.legend(frameon=False, fontsize=8, loc="lower right")
    return figure


def figure2(experiment: ClustersExperiment) -> Figure:
    """Feature sets by budget."""
    figure = Figure(figsize=(9.0, 3.2), layout="constrained")
    axis = figure.subplots()
    axis.grid(axis="y")
    budgets = experiment.protocol.budgets
    sets = list(dict.fromkeys(which for which, _ in experiment.features))
    width = 0.8 / len(sets)
    for i, (which, colour) in enumerate(zip(sets, COLOURS, strict=False)):
        values = [mean(experiment.features[which, budget]) for budget in budgets]
        axis.bar(np.arange(len(budgets)) + (i - len(sets) / 2 + 0.5) * width, values, width * 0.92, color=colour,
                 label=which)  # fmt: skip
    axis.set_xticks(range(len(budgets)), [f"{budget_word(budget)} a cycle" for budget in budgets])
    axis.tick_params(length=0)
    axis.set_title(f"ChangeRatio, cycles of {experiment.protocol.middle:g} d")
    axis.legend(frameon=False, fontsize=8, ncols=1, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def figure3(experiment: ClustersExperiment) -> Figure:
    """The four weights, cycle by cycle."""
    figure = Figure(figsize=(9.0, 3.2), layout="constrained")
    axis = figure.subplots()
    axis.grid(axis="y")
    cycle, budget = min(experiment.protocol.cycles), min(experiment.protocol.budgets)
    for policy, colour in zip(CLS, COLOURS, strict=False):
        change = experiment.runs[cycle, budget, policy].change
        running = np.cumsum(change) / np.arange(1, len(change) + 1)
        x = np.arange(len(change)) + experiment.protocol.warmup + 1
        axis.plot(x, change, color=colour, linewidth=0.7, alpha=0.5)
        axis.plot(x, running, color=colour, linewidth=1.8, label=policy)
    axis.set_ylim(bottom=0)
    axis.set_xlabel(f"cycle of {cycle:g} d")
    axis.set_title(f"ChangeRatio at {budget_word(budget)} a cycle: thin by cycle, thick the mean so far")
    axis.legend(frameon=False, fontsize=8, ncols=4)
    return figure


def figure4(experiment: ClustersExperiment) -> Figure:
    """A row of panels a cycle length, a panel a measure, a group of bars a budget."""
    cycles, budgets = experiment.protocol.cycles, experiment.protocol.budgets
    figure = Figure(figsize=(13.0, 2.9 * len(cycles) + 0.5), layout="constrained")
    grid = figure.subplots(len(cycles), 3, squeeze=False)
    policies = [policy for policy in experiment.policies if policy != IDEAL]
    colour = dict(zip(policies, _shades(policies), strict=True))
    for cycle, line in zip(cycles, grid, strict=True):
        for axis, (what, title) in zip(line, _MEASURES, strict=True):
            _bars(axis, experiment, cycle, what, colour)
            axis.set_xticks(range(len(budgets)), [budget_word(budget) for budget in budgets])
            axis.tick_params(length=0)
            cut = "" if what == "change" else " (axis not from 0)"
            axis.set_title(f"{title}, cycles of {cycle:g} d{cut}")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, fontsize=8, ncols=len(policies), loc="outside lower center")
    return figure


_MEASURES = (("change", "ChangeRatio"), ("fresh", "freshness@10"), ("precision", "MAP@10"))


def _bars(axis: Any, experiment: ClustersExperiment, cycle: float, what: str, colour: dict[str, str]) -> None:
    axis.grid(axis="y")
    width = 0.84 / len(colour)
    drawn: list[float] = []
    for b, budget in enumerate(experiment.protocol.budgets):
        for i, policy in enumerate(colour):
            value = mean(getattr(experiment.runs[cycle, budget, policy], what))
            drawn.append(value)
            axis.bar(b + (i - len(colour) / 2 + 0.5) * width, value, width * 0.92, color=colour[policy],
                     label=policy if b == 0 else None)  # fmt: skip
        top = mean(getattr(experiment.runs[cycle, budget, IDEAL], what))
        if not np.isnan(top):
            axis.plot([b - 0.45, b + 0.45], [top, top], color=MUTED, linestyle="--", linewidth=1.2)
            drawn.append(top)
    if what != "change":  # all are high: what differs is at the top
        low, high = min(drawn), max(drawn)
        axis.set_ylim(max(0.0, low - 0.5 * (high - low) - 1e-3), high + 0.1 * (high - low) + 1e-3)


def _shades(policies: list[str]) -> list[str]:
    """Grey for the baselines, one warm and one cold family for estimators and clusters, and green for sites."""
    greys, warm, cold = ["#c9d0d6", "#a3adb6", "#7c8894"], ["#f3c29b", "#eaa468", "#e0762f", "#b85a1b"], [
        "#a9cdec", "#6fa9dc", "#2f7fc8", "#1b5a94",
    ]  # fmt: skip
    left = {"grey": iter(greys), "warm": iter(warm), "cold": iter(cold)}
    kind = {policy: "cold" if policy in CLS else "warm" if policy in ("nad", "sad", "aad", "gad") else "grey"
            for policy in policies}  # fmt: skip
    own = {"sls": COLOURS[2], WAITING: COLOURS[4]}
    return [own[policy] if policy in own else next(left[kind[policy]], MUTED) for policy in policies]
