"""The figures of the experiment on clusters (Tan et al. 2007, Figs 1 to 4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from recrawl.evaluate.statistics import mean_of as mean
from recrawl.papers.clusters.clusters_protocol import CLS, IDEAL, WAITING, ClustersExperiment
from recrawl.papers.clusters.clusters_tables import budget_word
from recrawl.report.style import COLOURS, MUTED, Plot, Sheet, grouped


def figure1(sheet: Sheet, experiment: ClustersExperiment) -> Figure:
    """The criterion by the number of clusters."""
    figure, (axis,) = sheet.panels(height=3.4, width=7.0)
    sheet.values(axis)
    for (name, found), colour in zip(experiment.counts.items(), COLOURS, strict=False):
        axis.plot(found.numbers, found.curve, color=colour, marker="o", markersize=3, label=f"words of the {name}")
        height = found.curve[found.numbers.index(found.best)]
        axis.plot(found.best, height, "o", markersize=12, markerfacecolor="none", markeredgecolor=colour)
        axis.annotate(f"{found.best}", (found.best, height), xytext=(6, -14), textcoords="offset points", color=colour)
    axis.set(xlabel="number of clusters", title="Mean cosine of left-out pages with the nearest centre")
    axis.legend(loc="lower right")
    return figure


def figure2(sheet: Sheet, experiment: ClustersExperiment) -> Figure:
    """Feature sets by budget."""
    figure, (axis,) = sheet.panels(height=3.2, width=9.0)
    sheet.values(axis)
    budgets = experiment.protocol.budgets
    sets = list(dict.fromkeys(which for which, _ in experiment.features))
    heights = {which: [mean(experiment.features[which, budget]) for budget in budgets] for which in sets}
    grouped(axis, [f"{budget_word(budget)} per cycle" for budget in budgets], heights, COLOURS)
    axis.set_title(f"ChangeRatio, cycles of {experiment.protocol.middle:g} d")
    sheet.legend(figure, axis)
    return figure


def figure3(sheet: Sheet, experiment: ClustersExperiment) -> Figure:
    """The four weights, cycle by cycle."""
    figure, (axis,) = sheet.panels(height=3.2, width=9.0)
    sheet.values(axis)
    cycle, budget = min(experiment.protocol.cycles), min(experiment.protocol.budgets)
    for policy, colour in zip(CLS, COLOURS, strict=False):
        change = experiment.runs[cycle, budget, policy].change
        running = np.cumsum(change) / np.arange(1, len(change) + 1)
        x = np.arange(len(change)) + experiment.protocol.warmup + 1
        axis.plot(x, change, color=colour, linewidth=0.7, alpha=0.5)
        axis.plot(x, running, color=colour, linewidth=1.8, label=policy)
    axis.set_ylim(bottom=0)
    axis.set_xlabel(f"cycle of {cycle:g} d")
    axis.set_title(f"ChangeRatio at {budget_word(budget)} per cycle: thin by cycle, thick the mean so far")
    sheet.legend(figure, axis)
    return figure


def figure4(sheet: Sheet, experiment: ClustersExperiment) -> Figure:
    """One row of panels per cycle length, one panel per measure, one group of bars per budget."""
    cycles, budgets = experiment.protocol.cycles, experiment.protocol.budgets
    figure, axes = sheet.panels(3 * len(cycles), 3, 2.9, 13.0)
    policies = [policy for policy in experiment.policies if policy != IDEAL]
    colours = _shades(policies)
    places = [(cycle, *measure) for cycle in cycles for measure in _MEASURES]
    for axis, (cycle, what, title) in zip(axes, places, strict=True):
        sheet.values(axis)

        def at(policy: str, cycle: float = cycle, what: str = what) -> list[float]:
            return [mean(getattr(experiment.runs[cycle, budget, policy], what)) for budget in budgets]

        drawn = {policy: at(policy) for policy in policies}
        bars = grouped(axis, [budget_word(budget) for budget in budgets], drawn, colours)
        ends = at(IDEAL)
        for policy, made in zip(policies, bars, strict=True):
            runs = [experiment.runs[cycle, budget, policy] for budget in budgets]
            half = np.nan_to_num([run.half(what) for run in runs])
            x = [bar.get_x() + bar.get_width() / 2 for bar in made]
            axis.errorbar(x, drawn[policy], half, fmt="none", ecolor=MUTED, elinewidth=0.8)
            ends += [value + sign * wide for value, wide in zip(drawn[policy], half, strict=True) for sign in (-1, 1)]
        for b, top in enumerate(at(IDEAL)):
            if not np.isnan(top):
                axis.plot([b - 0.45, b + 0.45], [top, top], color=MUTED, linestyle="--", linewidth=1.2)
        _zoom(axis, ends)
        axis.set_title(f"{title}, cycles of {cycle:g} d")
    sheet.legend(figure, axes[0], len(policies))
    return figure


_MEASURES = (("change", "ChangeRatio"), ("fresh", "freshness@10"), ("precision", "MAP@10"))


def _zoom(axis: Any, values: list[float]) -> None:
    """Cut the axis where all values, with their intervals, are high: what differs is at the top."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if low > 0.5 * high:
        axis.set_ylim(max(0.0, low - 0.5 * (high - low) - 1e-3), high + 0.1 * (high - low) + 1e-3)
    else:
        axis.set_ylim(bottom=0.0)  # intervals of few seeds may reach below


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


PLOTS = {
    "figure1": Plot(
        figure1, "Mean cosine of left-out pages with the nearest centre by the number of clusters; circles: the elbow."
    ),
    "figure2": Plot(figure2, "ChangeRatio of cls-nad by the features that are clustered, and by budget."),
    "figure3": Plot(
        figure3, "ChangeRatio of cluster-level sampling cycle by cycle, with the four weights of past changes."
    ),
    "figure4": Plot(
        figure4,
        "All policies by cycle length and budget, with 95% intervals over the seeds (of one seed: over its cycles or "
        "queries); dashed: all fresh. Axes that do not begin at 0 say so.",
    ),
}
