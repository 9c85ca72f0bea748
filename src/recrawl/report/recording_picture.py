"""A recording as one picture of four panels: how much, when and where pages change, and how they link.

The picture is deterministic: no date, a fixed salt for the ids, one style whatever the user's own settings are.
"""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from recrawl.columns import FloatArray, IntArray
from recrawl.recording.change_rates import WEEK
from recrawl.recording.summary import Bin, Summary

INK, GRID, BLUE, ORANGE = "#1f2a36", "#dfe4ea", "#2f7fc8", "#e0762f"
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
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "recrawl",
}
_MARGINS = {"left": 0.085, "right": 0.985, "top": 0.955, "bottom": 0.075, "wspace": 0.22, "hspace": 0.3}


def draw(summary: Summary) -> tuple[bytes, bytes]:
    """Return the picture as PNG and as SVG."""
    with mpl.rc_context({**mpl.rcParamsDefault, **_STYLE, "backend": "agg"}):
        figure = Figure(figsize=(10.5, 7.0))
        panels = figure.subplots(2, 2, gridspec_kw=_MARGINS).ravel()
        _histogram(panels[0], summary.changes_per_page)
        _over_time(panels[1], summary)
        _sites(panels[2], summary)
        _degrees(panels[3], summary)
        return _bytes(figure, "png"), _bytes(figure, "svg")


def _bytes(figure: Figure, kind: str) -> bytes:
    out = io.BytesIO()
    undated: dict[str, Any] = {"Software": None} if kind == "png" else {"Date": None, "Creator": None}
    figure.savefig(out, format=kind, dpi=120, metadata=undated)
    return out.getvalue()


def _histogram(axis: Any, bins: tuple[Bin, ...]) -> None:
    total = max(sum(b.pages for b in bins), 1)
    shares = [100 * b.pages / total for b in bins]
    bars = axis.bar(range(len(bins)), shares, color=BLUE, width=0.82)
    axis.bar_label(bars, [f"{share:.1f}" if share < 99.95 else "100" for share in shares], padding=2)
    axis.set_xticks(range(len(bins)), [b.label for b in bins], fontsize=8)
    axis.set(title="Changes per page", xlabel="changes in the window", ylabel="% of the pages")
    axis.margins(y=0.1)


def _over_time(axis: Any, summary: Summary) -> None:
    for shares, days, colour, name in (
        (summary.weekly_shares, WEEK, BLUE, "in a week"),
        (summary.daily_shares, 1.0, ORANGE, "in a day"),
    ):
        if len(shares) > 1:
            middle = summary.start + days * (np.arange(len(shares)) + 0.5)
            axis.plot(middle, shares, color=colour, linewidth=1.6 if days == WEEK else 0.9, label=name)
    axis.grid(axis="y")
    axis.set_ylim(0, 1.18 * axis.get_ylim()[1])  # room for the legend
    axis.yaxis.set_major_formatter(PercentFormatter(1.0))
    axis.set(title="Pages that change", xlabel="day of the recording", ylabel="share of the pages alive")
    if axis.get_legend_handles_labels()[0]:
        axis.legend(frameon=False, ncols=2, loc="upper right")


def _sites(axis: Any, summary: Summary) -> None:
    """One dot a site, one line a kind; the area goes with the number of pages."""
    kinds = sorted({row.kind for row in summary.sites}, reverse=True)
    known = [row for row in summary.sites if row.rates.daily > 0]
    largest = max((row.pages for row in known), default=1)
    axis.scatter(
        [100 * row.rates.daily for row in known],
        [kinds.index(row.kind) for row in known],
        s=[8 + 220 * row.pages / largest for row in known],
        color=BLUE,
        alpha=0.45,
        linewidths=0,
    )
    if known:
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter(_plain)
        axis.minorticks_off()
    axis.grid(axis="x")
    axis.set_yticks(range(len(kinds)), [kind[:12] or "all" for kind in kinds])
    axis.set_ylim(-0.6, len(kinds) - 0.4)
    axis.set(
        title="Sites: pages that change in a day", xlabel="% of the site's pages; a dot a site, its area the pages"
    )


def _degrees(axis: Any, summary: Summary) -> None:
    axis.set(title="Links when the window opens", xlabel="links k", ylabel="share of the pages with at least k")
    if summary.links is None:
        axis.text(0.5, 0.5, "no table of links", ha="center", va="center", transform=axis.transAxes)
        axis.set(xticks=[], yticks=[])
        return
    for degree, colour, name in (
        (summary.links.out_degree, BLUE, "links on a page"),
        (summary.links.in_degree, ORANGE, "pages that link to a page"),
    ):
        k, share = at_least(degree)
        if len(k):
            axis.step(k, share, where="pre", color=colour, label=name)
    axis.grid()
    if axis.get_legend_handles_labels()[0]:
        axis.set(xscale="log", yscale="log")
        axis.xaxis.set_major_formatter(_plain)
        axis.yaxis.set_major_formatter(_plain)
        axis.minorticks_off()
        axis.legend(frameon=False)


def _plain(value: float, _: Any) -> str:
    """Write a tick of a logarithmic axis as a plain number."""
    return f"{value:g}"


def at_least(degree: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the degrees above 0 that occur, and the share of the nodes with at least as many."""
    values, counts = np.unique(degree, return_counts=True)
    share = np.cumsum(counts[::-1])[::-1] / max(len(degree), 1)
    return values[values > 0], share[values > 0]
