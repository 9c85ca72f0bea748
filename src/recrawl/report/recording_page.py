"""A summary of a recording as files: the numbers, the picture and one self-contained page.

The picture has four panels: how much, when and where pages change, and how they link.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from recrawl.columns import FloatArray, IntArray
from recrawl.recording.change_rates import WEEK
from recrawl.recording.link_graph import LinkGraph
from recrawl.recording.summary import Bin, Summary, bins
from recrawl.report.layout import Page, Picture, Section, Table
from recrawl.report.recording_table import link_words, mass_changes, rates_table, summary_words
from recrawl.report.style import COLOURS, Sheet, log_scale, picture

MOST_SITES = 1000  # in the page's table


def summary_files(summary: Summary) -> dict[str, bytes]:
    """Return every file by name."""
    drawing = picture(overview_of, summary)
    html = page_of(summary, Picture("overview", drawing)).html()
    return {
        "summary.json": summary.to_json().encode(),
        **drawing.files("overview"),
        "describe.html": html.encode(),
    }


def page_of(summary: Summary, overview: Picture) -> Page:
    """Lay out the page."""
    sites = rates_table(summary, summary.sites[:MOST_SITES], "site")
    if len(summary.sites) > MOST_SITES:
        sites = replace(sites, note=f"The first {MOST_SITES} of {len(summary.sites)} sites; all are in summary.json.")
    kinds = rates_table(summary, summary.kinds, "kind")
    sections = [
        Section("At a glance", pictures=[overview]),
        Section("How often pages change", f"{mass_changes(summary)} {too_little(summary)}".strip(), [kinds]),
        Section("Links", " ".join(link_words(summary)), [_degrees(summary, summary.links)] if summary.links else []),
        Section("Sites", tables=[sites]),
    ]
    return Page(Path(summary.name).name or summary.name, summary_words(summary), sections)


def too_little(summary: Summary) -> str:
    """Say what the recording is too short or too small to show."""
    return (
        f"Pages that change less often than once in {summary.end - summary.start:g} days may show no change here, and "
        "the rates of sites with few pages are rough."
    )


def _degrees(summary: Summary, links: LinkGraph) -> Table:
    rows = [
        ["pages with so many links", *(f"{b.pages:,}" for b in bins(links.out_degree))],
        ["pages linked to from so many", *(f"{b.pages:,}" for b in bins(links.in_degree))],
    ]
    return Table(("links", *(b.label for b in summary.changes_per_page)), rows)


BLUE, ORANGE = COLOURS[:2]


def overview_of(sheet: Sheet, summary: Summary) -> Figure:
    """Draw all four panels."""
    figure, panels = sheet.panels(4, 2, 3.5, 10.5)
    _histogram(panels[0], summary.changes_per_page)
    _over_time(panels[1], summary)
    _sites(panels[2], summary)
    _draw_links(panels[3], summary)
    return figure


def _histogram(axis: Any, bins: tuple[Bin, ...]) -> None:
    total = max(sum(b.pages for b in bins), 1)
    shares = [100 * b.pages / total for b in bins]
    bars = axis.bar(range(len(bins)), shares, color=BLUE, width=0.82)
    axis.bar_label(bars, [f"{share:.1f}" if share < 99.95 else "100" for share in shares], padding=2)
    axis.set_xticks(
        range(len(bins)), [b.label.replace("–", "–\n") if len(b.label) > 3 else b.label for b in bins], fontsize=8
    )
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
        axis.legend(ncols=2, loc="upper right")


def _sites(axis: Any, summary: Summary) -> None:
    """One dot per site, one line per kind; the area goes with the number of pages."""
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
        log_scale(axis, "x")
    axis.grid(axis="x")
    axis.set_yticks(range(len(kinds)), [kind[:12] or "all" for kind in kinds])
    axis.set_ylim(-0.6, len(kinds) - 0.4)
    axis.set(
        title="Sites: pages that change in a day",
        xlabel="% of the site's pages, log scale; one dot per site, its area the pages",
    )


def _draw_links(axis: Any, summary: Summary) -> None:
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
        log_scale(axis, "xy")
        axis.legend()


def at_least(degree: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the degrees above 0 that occur, and the share of the nodes with at least as many."""
    values, counts = np.unique(degree, return_counts=True)
    share = np.cumsum(counts[::-1])[::-1] / max(len(degree), 1)
    return values[values > 0], share[values > 0]
