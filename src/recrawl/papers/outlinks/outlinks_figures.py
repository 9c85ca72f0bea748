"""The figures of the outlinks experiment (Dang et al. 2022, Figs 2 to 6 and 8 to 15)."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from recrawl.features.newlinks import WHERE
from recrawl.papers.outlinks.outlinks_importances import Importances
from recrawl.papers.outlinks.outlinks_models import Scores
from recrawl.papers.outlinks.outlinks_run import OutlinksExperiment
from recrawl.papers.outlinks.outlinks_statistics import LABELS
from recrawl.report.style import COLOURS, GRID, INK, MUTED, WIDE_IN, Plot, Sheet, grouped, log_scale

DASHED = {"NNL-Av", "NNL-Pr", "CCR", "random"}
CURVES = ("NNL-ET", "NNL-ET LBLA", "NNL-NGB", "NNL-Poisson LBLA", "PNL-ET", "NNL-Av", "NNL-Pr", "CCR", "random")


def _panels(sheet: Sheet, height: float = 3.4, width: float = WIDE_IN) -> tuple[Figure, list[tuple[Any, str]]]:
    """One panel per sort of links."""
    figure, axes = sheet.panels(2, height=height, width=width)
    for axis, where in zip(axes, WHERE, strict=True):
        axis.set_title(f"{where} links")
    return figure, list(zip(axes, WHERE, strict=True))


def figure2(sheet: Sheet, experiment: OutlinksExperiment) -> Figure:
    """Pages by top-level domain."""
    figure, (axis,) = sheet.panels(height=3.2, width=9.0)
    domains = experiment.statistics.domains
    axis.bar(range(len(domains)), list(domains.values()), color=COLOURS[0])
    axis.set_xticks(range(len(domains)), [name[-28:] for name in domains], rotation=60, ha="right", fontsize=7)
    log_scale(axis, "y")
    axis.set_ylabel("pages")
    sheet.values(axis)
    return figure


def figure3(sheet: Sheet, experiment: OutlinksExperiment) -> Figure:
    """Groups of pages by week, with the flows between them; the group without new links is drawn small."""
    figure, axes = _panels(sheet, 3.8)
    for axis, where in axes:
        axis.set_title(f"{where} links", pad=20)
        sizes, flows = _shrunk(experiment.statistics.sizes[where], experiment.statistics.flows[where])
        edges = np.column_stack([np.zeros(len(sizes)), np.cumsum(sizes, axis=1)])
        for group, colour in zip(range(sizes.shape[1]), COLOURS, strict=False):
            axis.bar(
                np.arange(1, len(sizes) + 1), sizes[:, group], 0.3, edges[:, group], color=colour,
                label=f"{LABELS[where][group]} new links",
            )  # fmt: skip
        for week, flow in enumerate(flows):
            _bands(axis, week + 1, flow, edges[week], edges[week + 1])
        axis.set(xlabel="week", ylabel="pages")
        axis.set_xticks(np.arange(1, len(sizes) + 1))
        axis.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, fontsize=6.5, handlelength=1, columnspacing=0.8
        )
    return figure


def _shrunk(sizes: Any, flows: Any) -> tuple[Any, Any]:
    """Draw the group without new links, which is most pages, so small that the others can be seen.

    Its bar is as high as the largest of the others in any week; its flows are scaled so that they fit the bars.
    """
    sizes, flows = sizes.astype(np.float64), flows.astype(np.float64)
    scale = min(max(sizes[:, 1:].sum(axis=1).max(), 1.0) / max(sizes[:, 0].max(), 1.0), 1.0)
    flows[:, 0, 0] = 0.0  # those that stay without any are left to the bar
    sizes[:, 0] *= scale
    return sizes, flows


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


def figure4(sheet: Sheet, experiment: OutlinksExperiment) -> Figure:
    """Histograms of the link change rate."""
    figure, axes = _panels(sheet, 3.0)
    for axis, where in axes:
        counts = experiment.statistics.rates[where] / experiment.statistics.pages
        axis.bar(np.arange(len(counts)) / (len(counts) - 1), 100 * counts, 0.8 / (len(counts) - 1), color=COLOURS[0])
        log_scale(axis, "y")
        axis.set(xlabel="link change rate", ylabel="% of the pages")
        sheet.values(axis)
    return figure


def figure5(sheet: Sheet, experiment: OutlinksExperiment) -> Figure:
    """Tails of the number of new links."""
    figure, axes = _panels(sheet, 3.2)
    for axis, where in axes:
        for week, (count, share) in enumerate(experiment.statistics.tails[where]):
            if len(count):
                axis.plot(count, share, color=COLOURS[week % len(COLOURS)], linewidth=1, label=f"week {week + 1}")
        log_scale(axis, "xy")
        axis.set(xlabel="new links", ylabel="share of pages with as many")
        axis.grid()
    axes[0][0].legend(fontsize=7, ncols=2)
    return figure


def figure6(sheet: Sheet, experiment: OutlinksExperiment) -> Figure:
    """The busiest pages over time."""
    figure, axes = _panels(sheet, 4.2)
    names, counts = experiment.statistics.busiest
    for at, (axis, _) in enumerate(axes):
        for page, name in enumerate(names):
            style = "-" if page < len(COLOURS) else "--"
            colour = COLOURS[page % len(COLOURS)]
            weeks = np.arange(1, counts.shape[1] + 1)
            axis.plot(
                weeks, counts[at, :, page], color=colour, linestyle=style, marker="o", markersize=3, label=name[-40:]
            )
        axis.set(xlabel="week", ylabel="new links")
        sheet.values(axis)
    sheet.legend(figure, axes[0][0], 3)
    return figure


def figure8(sheet: Sheet, experiment: OutlinksExperiment) -> Figure:
    """Correlations of the static features."""
    names, rho = experiment.correlations
    figure, (axis,) = sheet.panels(height=4.6 if sheet.narrow else 8.0, width=9.5)
    image = axis.imshow(np.nan_to_num(rho), cmap="RdYlGn", vmin=-1, vmax=1)
    size = 5.5 if sheet.narrow else 9
    axis.set_xticks(range(len(names)), names, rotation=90, fontsize=size)
    axis.set_yticks(range(len(names)), names, fontsize=size)
    for i, j in np.ndindex(rho.shape) if not sheet.narrow else ():
        if i != j and not np.isnan(rho[i, j]):
            axis.text(j, i, f"{rho[i, j]:.2f}".replace("0.", "."), ha="center", va="center", fontsize=6, color=INK)
    figure.colorbar(image, ax=axis, shrink=0.6, orientation="horizontal" if sheet.narrow else "vertical")
    return figure


def figure9(sheet: Sheet, experiment: OutlinksExperiment) -> Figure:
    """Scores of the static sets."""
    figure, axes = _panels(sheet, 3.2)
    for axis, where in axes:
        _bars(axis, experiment.static[where])
    return figure


def _bars(axis: Any, scores: list[Scores]) -> None:
    values = {key: [score.values[key] for score in scores] for key in scores[0].values}
    for bars, heights in zip(grouped(axis, [s.name for s in scores], values, COLOURS), values.values(), strict=True):
        axis.bar_label(bars, [f"{value:.2f}" for value in heights], fontsize=7, color=INK)
    axis.axhline(0, color=GRID, linewidth=0.8)
    axis.margins(y=0.15)
    axis.legend()


def figure11(sheet: Sheet, experiment: OutlinksExperiment) -> Figure:
    """Importances of static features."""
    return _importances(sheet, experiment.static_importance)


def figure13(sheet: Sheet, experiment: OutlinksExperiment) -> Figure:
    """Importances of all features."""
    return _importances(sheet, experiment.history_importance)


def _importances(sheet: Sheet, found: dict[str, Importances]) -> Figure:
    figure, axes = _panels(sheet, 3.4)
    for axis, where in axes:
        features = found[where].features[::-1]
        colours = {"SP": COLOURS[0], "SN": COLOURS[1], "DP": COLOURS[2], "DN": COLOURS[3]}
        axis.barh(
            range(len(features)), [fall for _, _, fall in features], color=[colours[kind] for _, kind, _ in features]
        )
        axis.set_yticks(range(len(features)), [f"{name} ({kind})" for name, kind, _ in features], fontsize=7)
        axis.set_xlabel(f"fall of {found[where].score}")
        sheet.values(axis, "x")
        axis.locator_params(axis="x", nbins=5)  # small falls have long labels
    return figure


def figure12(sheet: Sheet, experiment: OutlinksExperiment) -> Figure:
    """Scores by history."""
    figure, axes = _panels(sheet, 3.4)
    for axis, where in axes:
        *models, baseline = experiment.history[where]
        x = [int(score.name.split()[-1]) for score in models]
        for key, colour in zip(baseline.values, COLOURS, strict=False):
            half = [np.nan_to_num(score.spread[key]) for score in models]
            axis.errorbar(
                x, [score.values[key] for score in models], half, color=colour, marker="o", markersize=3, label=key,
                capsize=2,
            )  # fmt: skip
            axis.axhline(baseline.values[key], color=colour, linestyle=":", linewidth=1)
        axis.set_xlabel("weeks of history (dotted: NNL-Pr)")
        axis.set_ylim(0, 1.02)
        sheet.values(axis)
        axis.legend()
    return figure


def figure14(sheet: Sheet, experiment: OutlinksExperiment) -> Figure:
    """Correlations of rankings with targets."""
    figure, axes = _panels(sheet, 3.2, 12.5)
    size = 5.5 if sheet.narrow else 7
    for axis, where in axes:
        rankings = experiment.rankings[where]
        rho = np.array([[ranking.rho[target] for ranking in rankings] for target in ("LCR", "NL", "NNL")])
        shown = np.nan_to_num(rho)
        low, high = shown.min(axis=1, keepdims=True), shown.max(axis=1, keepdims=True)
        axis.imshow((shown - low) / np.maximum(high - low, 1e-9), cmap="Blues", vmin=-0.1, vmax=1.6, aspect="auto")
        axis.set_xticks(range(len(rankings)), [ranking.name for ranking in rankings], rotation=60, ha="right")
        axis.set_yticks(range(3), ("LCR", "NL", "NNL"))
        for i, j in np.ndindex(rho.shape):
            axis.text(j, i, "–" if np.isnan(rho[i, j]) else f"{rho[i, j]:.2f}", ha="center", va="center", fontsize=size)
    return figure


def figure15(sheet: Sheet, experiment: OutlinksExperiment) -> Figure:
    """Curves of Precision@k%."""
    figure, axes = _panels(sheet, 4.0)
    for axis, where in axes:
        shown = [ranking for ranking in experiment.rankings[where] if ranking.name in CURVES]
        for at, ranking in enumerate(shown):
            colour = MUTED if ranking.name == "random" else COLOURS[at % len(COLOURS)]
            style = "--" if ranking.name in DASHED else "-"
            label = f"{ranking.name}: {ranking.area:.3f}"
            axis.plot(
                np.arange(1, len(ranking.curve)), 100 * ranking.curve[1:], color=colour, linestyle=style, label=label
            )
        axis.set(xlabel="k%", ylabel="Precision@k%")
        log_scale(axis, "x")
        axis.grid()
        axis.legend(fontsize=7, title="area", title_fontsize=7)
    return figure


PLOTS = {
    "figure2": Plot(figure2, "Pages by top-level domain, the twenty largest; by site where sites have none (Fig 2)."),
    "figure3": Plot(
        figure3,
        "Pages by the number of new links, week by week, and how they move between the groups (Fig 3). The bar of the "
        "pages without any new link (group 0), which are most, is scaled to the height of all others together.",
    ),
    "figure4": Plot(figure4, "Link change rates: in how many of the weeks a page gained a link (Fig 4)."),
    "figure5": Plot(figure5, "Share of the pages with at least so many new links, each week a line (Fig 5)."),
    "figure6": Plot(figure6, "The eight pages with most new links in some week (Fig 6)."),
    "figure8": Plot(figure8, "Spearman's rho between static features (Fig 8)."),
    "figure9": Plot(
        figure9, "The link change rate predicted from static features: internal (Fig 9) and external links (Fig 10)."
    ),
    "figure11": Plot(figure11, "What R2 of the link change rate falls by when a feature is shuffled (Fig 11)."),
    "figure12": Plot(
        figure12, "The presence of new links next week, by weeks of history; NNL-Pr: as in the last week (Fig 12)."
    ),
    "figure13": Plot(
        figure13, "What balanced accuracy falls by when a feature is shuffled, with all history (Fig 13)."
    ),
    "figure14": Plot(figure14, "Spearman's rho of rankings and targets (Fig 14)."),
    "figure15": Plot(figure15, "Precision@k% of rankings for the number of new links (Fig 15)."),
}
