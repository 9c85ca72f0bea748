"""The paper's Figs 3-10 for one topic, and the harvest over the crawl."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from recrawl.columns import FloatArray
from recrawl.focus.strategy import BEST_FIRST, PUBLISHED
from recrawl.papers.focus.focus_protocol import FocusTrial, TopicResult
from recrawl.report.style import COLOURS, INK, MUTED, Plot, Sheet, grouped

COUNT = "{x:,.0f}"


def harvest(sheet: Sheet, result: TopicResult) -> Figure:
    """One panel per set of seeds: groups of bars by length of the crawl."""
    figure, axes = sheet.panels(len(result.trials), height=3.6, sharey=True)
    axes[0].set_ylabel("good pages / pages")
    for axis, trial in zip(axes, result.trials, strict=True):
        _bars(sheet, axis, result, trial, "harvest")
        axis.set_title(f"from {trial.seeds} seeds")
    sheet.legend(figure, axes[0])
    return figure


def cohesiveness(sheet: Sheet, result: TopicResult) -> Figure:
    """Community and overall cohesiveness from the large set of seeds."""
    figure, axes = sheet.panels(2, height=3.6)
    for axis, measure in zip(axes, ("community cohesiveness", "overall cohesiveness"), strict=True):
        _bars(sheet, axis, result, result.trials[0], measure)
        axis.set(title=measure, ylabel="links into the community / page")
    sheet.legend(figure, axes[0])
    return figure


def distance(sheet: Sheet, result: TopicResult) -> Figure:
    """Histograms of the distance from the seeds: all pages, and good pages."""
    return _far(sheet, result, result.trials[0].histograms, "links from the seeds")


def depth(sheet: Sheet, result: TopicResult) -> Figure:
    """Histograms of the depth of the crawl: all pages, and good pages."""
    return _far(sheet, result, result.trials[0].depths, "links from the seeds on the crawler's way")


def evolution(sheet: Sheet, result: TopicResult) -> Figure:
    """Best and mean fitness by generation, one colour for each evolution."""
    figure, (axis,) = sheet.panels(height=3.4, width=9.0)
    sheet.values(axis)
    for number, (evolved, colour) in enumerate(
        zip(result.evolutions, COLOURS * len(result.evolutions), strict=False), 1
    ):
        axis.plot(evolved.course.best, color=colour, linewidth=1.8, label=f"evolution {number}")
        axis.plot(evolved.course.mean, color=colour, linewidth=0.8)
    axis.set(xlabel="generation", ylabel="good pages / pages", title="best (bold) and mean of the population")
    axis.legend()
    return figure


def _far(
    sheet: Sheet, result: TopicResult, histograms: Mapping[str, tuple[FloatArray, FloatArray]], label: str
) -> Figure:
    figure, axes = sheet.panels(2, height=3.6)
    names = [BEST_FIRST.name, *(strategy.name for strategy in result.evolved)]
    for axis, part, title in zip(axes, (0, 1), ("all pages", "good pages"), strict=True):
        longest = max(len(histograms[name][part]) for name in names)
        counts = {
            name: np.pad(histograms[name][part], (0, longest - len(histograms[name][part]))).tolist() for name in names
        }
        grouped(axis, list(map(str, range(longest))), counts, map(partial(_colour, result), names))
        sheet.values(axis)
        axis.set(title=title, xlabel=label)
        axis.yaxis.set_major_formatter(COUNT)
        axis.set_ylabel("pages")
    sheet.legend(figure, axes[0])
    return figure


def curves(sheet: Sheet, result: TopicResult) -> Figure:
    """Harvest so far, one panel per set of seeds."""
    figure, axes = sheet.panels(len(result.trials), height=3.6, sharey=True)
    axes[0].set_ylabel("good pages / pages")
    for axis, trial in zip(axes, result.trials, strict=True):
        for name, curve in trial.curves.items():
            axis.plot(trial.points, curve, label=name, color=_colour(result, name), linestyle=_line(name))
        sheet.values(axis)
        axis.set(title=f"from {trial.seeds} seeds", xlabel="pages downloaded")
        axis.xaxis.set_major_formatter(COUNT)
    sheet.legend(figure, axes[0])
    return figure


def _bars(sheet: Sheet, axis: Any, result: TopicResult, trial: FocusTrial, measure: str) -> None:
    points = {
        name: [trial.summary(measure, name, size) for size in range(len(result.sizes))]
        for name in trial.values[measure]
    }
    means = {name: [point.mean for point in mine] for name, mine in points.items()}
    errors = {name: np.nan_to_num([point.half for point in mine]) for name, mine in points.items()}
    thin = {name: {"ecolor": INK, "elinewidth": 0.7} for name in points}
    sizes = [f"{size:,}" for size in result.sizes]
    grouped(axis, sizes, means, map(partial(_colour, result), points), yerr=errors, error_kw=thin)
    axis.set_xlabel("pages downloaded")
    sheet.values(axis)


def _colour(result: TopicResult, name: str) -> str:
    """Best-First is orange, evolved strategies are shades of blue, the rest have colours of their own."""
    evolved = [strategy.name for strategy in result.evolved]
    if name in [strategy.name for strategy in result.foreign]:
        return COLOURS[5 % len(COLOURS)]
    if name in evolved:
        return ("#1b5e9e", "#2f7fc8", "#7fb4e6")[evolved.index(name) % 3]
    fixed = {BEST_FIRST.name: COLOURS[1], "breadth-first": COLOURS[2], "random": MUTED, "link classifier": COLOURS[3]}
    return fixed.get(name, COLOURS[4])


def _line(name: str) -> str:
    return "--" if name == PUBLISHED.name else "-"


PLOTS = {
    "harvest": Plot(
        harvest, "Harvest rate by length of the crawl, mean and 95% interval of the runs (the paper's Figs 3 and 4)."
    ),
    "cohesiveness": Plot(
        cohesiveness,
        "Links into the community, of its own and of all pages downloaded; larger set of seeds (Figs 5-8).",
    ),
    "distance": Plot(
        distance,
        "Pages and good pages by distance from the seeds: longest crawls, larger set of seeds (Figs 9 and 10).",
    ),
    "depth": Plot(depth, "The same by the links that the crawler knew of when it downloaded the page (Figs 9 and 10)."),
    "evolution": Plot(evolution, "Fitness in the evolution, by generation."),
    "curves": Plot(curves, "Harvest rate so far, over the crawl."),
}
