"""The figures of the outlinks experiment (Dang et al. 2022, Figs 3 to 6 and 8 to 15)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.ticker import FuncFormatter, NullFormatter

from recrawl.features.newlinks import WHERE
from recrawl.papers.outlinks.outlinks_models import Importances, Scores
from recrawl.papers.outlinks.outlinks_protocol import OutlinksExperiment
from recrawl.papers.outlinks.outlinks_statistics import LABELS
from recrawl.report.plots import COLOURS, GRID, INK, MUTED, picture

CAPTIONS = {
    "figure3": "Pages by the number of new links, week by week, and how they move between the groups (Fig 3). "
    "Pages without any new link in a week are most, and are left out of the picture.",
    "figure4": "Link change rates: in how many of the weeks a page gained a link (Fig 4).",
    "figure5": "Share of the pages with at least so many new links, each week a line (Fig 5).",
    "figure6": "The eight pages with most new links in some week (Fig 6).",
    "figure8": "Spearman's rho between static features (Fig 8).",
    "figure9": "The link change rate predicted from static features: internal (Fig 9) and external links (Fig 10).",
    "figure11": "What R2 of the link change rate falls by when a feature is shuffled (Fig 11).",
    "figure12": "The presence of new links next week, by weeks of history; NNL-Pr: as in the last week (Fig 12).",
    "figure13": "What balanced accuracy falls by when a feature is shuffled, with all history (Fig 13).",
    "figure14": "Spearman's rho of rankings and targets (Fig 14).",
    "figure15": "Precision@k% of rankings for the number of new links (Fig 15).",
}
DASHED = {"NNL-Av", "NNL-Pr", "CCR", "random"}
CURVES = ("NNL-ET", "NNL-ET LBLA", "NNL-NGB", "NNL-Poisson LBLA", "PNL-ET", "NNL-Av", "NNL-Pr", "CCR", "random")


def pictures(experiment: OutlinksExperiment) -> dict[str, tuple[bytes, bytes]]:
    """Draw everything; returns name -> (PNG, SVG)."""
    draws: dict[str, Callable[[OutlinksExperiment], Figure]] = {
        "figure3": figure3,
        "figure4": figure4,
        "figure5": figure5,
        "figure6": figure6,
        "figure8": figure8,
        "figure9": figure9,
        "figure11": figure11,
        "figure12": figure12,
        "figure13": figure13,
        "figure14": figure14,
        "figure15": figure15,
    }
    return {name: picture(lambda draw=draw: draw(experiment)) for name, draw in draws.items()}  # type: ignore[misc]


def _panels(height: float = 3.4, width: float = 11.0) -> tuple[Figure, list[Any]]:
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(1, 2).tolist()
    for axis, where in zip(axes, WHERE, strict=True):
        axis.set_title(f"{where} links")
    return figure, axes


def _log(axis: Any, which: str) -> None:
    """Make axes logarithmic, with plain numbers."""
    for name in which:
        getattr(axis, f"set_{name}scale")("log")
        getattr(axis, f"{name}axis").set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        getattr(axis, f"{name}axis").set_minor_formatter(NullFormatter())


def figure3(experiment: OutlinksExperiment) -> Figure:
    """Groups of pages by week, with the flows between them; the group without new links has no bar."""
    figure, axes = _panels(3.8)
    for axis, where in zip(axes, WHERE, strict=True):
        axis.set_title(f"{where} links", pad=20)
        sizes, flows = experiment.statistics.sizes[where][:, 1:], experiment.statistics.flows[where][:, 1:, 1:]
        edges = np.column_stack([np.zeros(len(sizes)), np.cumsum(sizes, axis=1)])
        for group, colour in zip(range(sizes.shape[1]), COLOURS, strict=False):
            axis.bar(
                np.arange(1, len(sizes) + 1), sizes[:, group], 0.3, edges[:, group], color=colour,
                label=f"{LABELS[where][group + 1]} new links",
            )  # fmt: skip
        for week, flow in enumerate(flows):
            _bands(axis, week + 1, flow, edges[week], edges[week + 1])
        axis.set_xlabel("week")
        axis.set_ylabel("pages")
        axis.set_xticks(np.arange(1, len(sizes) + 1))
        axis.legend(frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    return figure


def _bands(axis: Any, week: int, flow: Any, left: Any, right: Any) -> None:
    """Draw the pages that stay in or go between groups from one week to the next."""
    came = np.zeros(flow.shape[1])
    for i in range(len(flow)):
        low = left[i]
        for j in range(flow.shape[1]):
            if not flow[i, j]:
                continue
            y = right[j] + came[j]
            corners = [
                (week + 0.15, low),
                (week + 0.85, y),
                (week + 0.85, y + flow[i, j]),
                (week + 0.15, low + flow[i, j]),
            ]
            axis.add_patch(Polygon(corners, facecolor=COLOURS[i % len(COLOURS)], alpha=0.3, linewidth=0))
            low += flow[i, j]
            came[j] += flow[i, j]


def figure4(experiment: OutlinksExperiment) -> Figure:
    """Histograms of the link change rate."""
    figure, axes = _panels(3.0)
    for axis, where in zip(axes, WHERE, strict=True):
        counts = experiment.statistics.rates[where] / experiment.statistics.pages
        axis.bar(np.arange(len(counts)) / (len(counts) - 1), 100 * counts, 0.8 / (len(counts) - 1), color=COLOURS[0])
        _log(axis, "y")
        axis.set_xlabel("link change rate")
        axis.set_ylabel("% of the pages")
        axis.grid(axis="y")
    return figure


def figure5(experiment: OutlinksExperiment) -> Figure:
    """Tails of the number of new links."""
    figure, axes = _panels(3.2)
    for axis, where in zip(axes, WHERE, strict=True):
        for week, (count, share) in enumerate(experiment.statistics.tails[where]):
            if len(count):
                axis.plot(count, share, color=COLOURS[week % len(COLOURS)], linewidth=1, label=f"week {week + 1}")
        _log(axis, "xy")
        axis.set_xlabel("new links")
        axis.set_ylabel("share of pages with as many")
        axis.grid()
    axes[0].legend(frameon=False, fontsize=7, ncols=2)
    return figure


def figure6(experiment: OutlinksExperiment) -> Figure:
    """The busiest pages over time."""
    figure, axes = _panels(4.2)
    names, counts = experiment.statistics.busiest
    for at, axis in enumerate(axes):
        for page, name in enumerate(names):
            style = "-" if page < len(COLOURS) else "--"
            colour = COLOURS[page % len(COLOURS)]
            weeks = np.arange(1, counts.shape[1] + 1)
            axis.plot(
                weeks, counts[at, :, page], color=colour, linestyle=style, marker="o", markersize=3, label=name[-40:]
            )
        axis.set_xlabel("week")
        axis.set_ylabel("new links")
        axis.grid(axis="y")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=7)
    return figure


def figure8(experiment: OutlinksExperiment) -> Figure:
    """Correlations of the static features."""
    names, rho = experiment.correlations
    figure = Figure(figsize=(9.5, 8.0), layout="constrained")
    axis = figure.subplots()
    image = axis.imshow(np.nan_to_num(rho), cmap="RdYlGn", vmin=-1, vmax=1)
    axis.set_xticks(range(len(names)), names, rotation=90)
    axis.set_yticks(range(len(names)), names)
    for i, j in np.ndindex(rho.shape):
        if i != j and not np.isnan(rho[i, j]):
            axis.text(j, i, f"{rho[i, j]:.2f}".replace("0.", "."), ha="center", va="center", fontsize=6, color=INK)
    figure.colorbar(image, ax=axis, shrink=0.6)
    return figure


def figure9(experiment: OutlinksExperiment) -> Figure:
    """Scores of the static sets."""
    figure, axes = _panels(3.2)
    for axis, where in zip(axes, WHERE, strict=True):
        _bars(axis, experiment.static[where])
    return figure


def _bars(axis: Any, scores: list[Scores]) -> None:
    keys = list(scores[0].values)
    width = 0.8 / len(keys)
    for at, (key, colour) in enumerate(zip(keys, COLOURS, strict=False)):
        values = [score.values[key] for score in scores]
        bars = axis.bar(
            np.arange(len(scores)) + (at - (len(keys) - 1) / 2) * width, values, width, color=colour, label=key
        )
        axis.bar_label(bars, [f"{value:.2f}" for value in values], fontsize=7, color=INK)
    axis.set_xticks(range(len(scores)), [score.name for score in scores])
    axis.axhline(0, color=GRID, linewidth=0.8)
    axis.margins(y=0.15)
    axis.legend(frameon=False, fontsize=8)


def figure11(experiment: OutlinksExperiment) -> Figure:
    """Importances of static features."""
    return _importances(experiment.static_importance)


def figure13(experiment: OutlinksExperiment) -> Figure:
    """Importances of all features."""
    return _importances(experiment.history_importance)


def _importances(found: dict[str, Importances]) -> Figure:
    figure, axes = _panels(3.4)
    for axis, where in zip(axes, WHERE, strict=True):
        held = found[where].features[::-1]
        colours = {"SP": COLOURS[0], "SN": COLOURS[1], "DP": COLOURS[2], "DN": COLOURS[3]}
        axis.barh(range(len(held)), [fall for _, _, fall in held], color=[colours[kind] for _, kind, _ in held])
        axis.set_yticks(range(len(held)), [f"{name} ({kind})" for name, kind, _ in held], fontsize=7)
        axis.set_xlabel(f"fall of {found[where].score}")
        axis.grid(axis="x")
    return figure


def figure12(experiment: OutlinksExperiment) -> Figure:
    """Scores by history."""
    figure, axes = _panels(3.4)
    for axis, where in zip(axes, WHERE, strict=True):
        *models, baseline = experiment.history[where]
        x = [int(score.name.split()[-1]) for score in models]
        for key, colour in zip(baseline.values, COLOURS, strict=False):
            axis.plot(x, [score.values[key] for score in models], color=colour, marker="o", markersize=3, label=key)
            axis.axhline(baseline.values[key], color=colour, linestyle=":", linewidth=1)
        axis.set_xlabel("weeks of history (dotted: NNL-Pr)")
        axis.set_ylim(0, 1.02)
        axis.grid(axis="y")
        axis.legend(frameon=False, fontsize=8)
    return figure


def figure14(experiment: OutlinksExperiment) -> Figure:
    """Correlations of rankings with targets."""
    figure, axes = _panels(3.2, 12.5)
    for axis, where in zip(axes, WHERE, strict=True):
        held = experiment.rankings[where]
        rho = np.array([[ranking.rho[target] for ranking in held] for target in ("LCR", "NL", "NNL")])
        shown = np.nan_to_num(rho)
        low, high = shown.min(axis=1, keepdims=True), shown.max(axis=1, keepdims=True)
        axis.imshow((shown - low) / np.maximum(high - low, 1e-9), cmap="Blues", vmin=-0.1, vmax=1.6, aspect="auto")
        axis.set_xticks(range(len(held)), [ranking.name for ranking in held], rotation=60, ha="right")
        axis.set_yticks(range(3), ("LCR", "NL", "NNL"))
        for i, j in np.ndindex(rho.shape):
            axis.text(j, i, "–" if np.isnan(rho[i, j]) else f"{rho[i, j]:.2f}", ha="center", va="center", fontsize=7)
    return figure


def figure15(experiment: OutlinksExperiment) -> Figure:
    """Curves of Precision@k%."""
    figure, axes = _panels(4.0)
    for axis, where in zip(axes, WHERE, strict=True):
        shown = [ranking for ranking in experiment.rankings[where] if ranking.name in CURVES]
        for at, ranking in enumerate(shown):
            colour = MUTED if ranking.name == "random" else COLOURS[at % len(COLOURS)]
            style = "--" if ranking.name in DASHED else "-"
            label = f"{ranking.name}: {ranking.area:.3f}"
            axis.plot(
                np.arange(1, len(ranking.curve)), 100 * ranking.curve[1:], color=colour, linestyle=style, label=label
            )
        axis.set_xlabel("k%")
        axis.set_ylabel("Precision@k%")
        _log(axis, "x")
        axis.grid()
        axis.legend(frameon=False, fontsize=7, title="area", title_fontsize=7)
    return figure
