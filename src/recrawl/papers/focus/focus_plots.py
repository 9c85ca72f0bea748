"""The paper's Figs 3-10 for one topic, and the harvest over the crawl."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from recrawl.focus.baselines import BEST_FIRST, PUBLISHED
from recrawl.papers.focus.focus_protocol import FocusTrial, TopicResult
from recrawl.report.plots import COLOURS, INK, MUTED, picture

COUNT = "{x:,.0f}"
CAPTIONS = {
    "harvest": "Harvest rate by length of the crawl, mean and 95% interval of the runs (the paper's Figs 3 and 4).",
    "cohesiveness": "Links into the community, of its own and of all pages downloaded; larger set of seeds (Figs 5-8).",
    "distance": "Pages and good pages by distance from the seeds: longest crawls, larger set of seeds (Figs 9 and 10).",
    "curves": "Harvest rate so far, over the crawl.",
}


def draw(result: TopicResult) -> dict[str, tuple[bytes, bytes]]:
    """Draw everything about one topic; returns name -> (PNG, SVG)."""
    painters: dict[str, Callable[[TopicResult], Figure]] = {
        "harvest": harvest,
        "cohesiveness": cohesiveness,
        "distance": distance,
        "curves": curves,
    }
    return {name: picture(partial(paint, result)) for name, paint in painters.items()}


def harvest(result: TopicResult) -> Figure:
    """One panel a set of seeds: groups of bars by length of the crawl."""
    figure, axes = _panels(len(result.trials), sharey=True)
    axes[0].set_ylabel("good pages / pages")
    for axis, trial in zip(axes, result.trials, strict=True):
        _bars(axis, result, trial, "harvest")
        axis.set_title(f"from {trial.seeds} seeds")
    _legend(figure, axes[0])
    return figure


def cohesiveness(result: TopicResult) -> Figure:
    """Community and overall cohesiveness from the large set of seeds."""
    figure, axes = _panels(2)
    for axis, measure in zip(axes, ("community cohesiveness", "overall cohesiveness"), strict=True):
        _bars(axis, result, result.trials[0], measure)
        axis.set_title(measure)
        axis.set_ylabel("links into the community / page")
    _legend(figure, axes[0])
    return figure


def distance(result: TopicResult) -> Figure:
    """Histograms of the distance from the seeds: all pages, and good pages."""
    figure, axes = _panels(2)
    trial = result.trials[0]
    names = [BEST_FIRST.name, *(strategy.name for strategy in result.evolved)]
    width = 0.8 / len(names)
    for axis, part, title in zip(axes, (0, 1), ("all pages", "good pages"), strict=True):
        for i, name in enumerate(names):
            counts = trial.histograms[name][part]
            axis.bar(np.arange(len(counts)) + i * width - 0.4, counts, width, align="edge", label=name,
                     color=_colour(result, name))  # fmt: skip
        axis.grid(axis="y")
        axis.set_title(title)
        axis.set_xlabel("links from the seeds")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.yaxis.set_major_formatter(COUNT)
        axis.set_ylabel("pages")
    _legend(figure, axes[0])
    return figure


def curves(result: TopicResult) -> Figure:
    """Harvest so far, one panel a set of seeds."""
    figure, axes = _panels(len(result.trials), sharey=True)
    axes[0].set_ylabel("good pages / pages")
    for axis, trial in zip(axes, result.trials, strict=True):
        for name, curve in trial.curves.items():
            axis.plot(trial.points, curve, label=name, color=_colour(result, name), linestyle=_line(name))
        axis.grid(axis="y")
        axis.set_title(f"from {trial.seeds} seeds")
        axis.set_xlabel("pages downloaded")
        axis.xaxis.set_major_formatter(COUNT)
    _legend(figure, axes[0])
    return figure


def _bars(axis: Any, result: TopicResult, trial: FocusTrial, measure: str) -> None:
    names = list(trial.values[measure])
    width = 0.84 / len(names)
    for i, name in enumerate(names):
        points = [trial.summary(measure, name, size) for size in range(len(result.sizes))]
        x = np.arange(len(points)) + i * width - 0.42
        heights = [point.mean for point in points]
        errors = np.nan_to_num([point.half for point in points])
        axis.bar(x, heights, width, align="edge", label=name, color=_colour(result, name), yerr=errors,
                 error_kw={"ecolor": INK, "elinewidth": 0.7})  # fmt: skip
    axis.set_xticks(range(len(result.sizes)), [f"{size:,}" for size in result.sizes])
    axis.set_xlabel("pages downloaded")
    axis.grid(axis="y")


def _panels(count: int, *, sharey: bool = False) -> tuple[Figure, Sequence[Any]]:
    figure = Figure(figsize=(11.0, 3.6), layout="constrained")
    return figure, figure.subplots(1, count, squeeze=False, sharey=sharey)[0].tolist()


def _legend(figure: Figure, axis: Any) -> None:
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 8), frameon=False)


def _colour(result: TopicResult, name: str) -> str:
    """Best-First is orange, evolved strategies are shades of blue, the rest have colours of their own."""
    evolved = [strategy.name for strategy in result.evolved]
    if name in evolved:
        return ("#1b5e9e", "#2f7fc8", "#7fb4e6")[evolved.index(name) % 3]
    fixed = {BEST_FIRST.name: COLOURS[1], "breadth-first": COLOURS[2], "random": MUTED, "link classifier": COLOURS[3]}
    return fixed.get(name, COLOURS[4])


def _line(name: str) -> str:
    return "--" if name == PUBLISHED.name else "-"
