"""A recording in numbers, for a page or a terminal: how often its kinds, its sites and all of it change."""

from __future__ import annotations

from collections.abc import Sequence

from recrawl.recording.change_rates import ChangeRates
from recrawl.recording.summary import Summary, SummaryRow, percent
from recrawl.report.table import Table

HEADS = ("pages", "changes", "daily %", "weekly %", "words %", "+int %", "+ext %", "never %")
LEGEND = (
    "% of the pages alive that change in a day, in a week, in a week in their words; that gain links within the site "
    "and to elsewhere in a week; that never change"
)


def rates_table(summary: Summary, rows: Sequence[SummaryRow], what: str) -> Table:
    """Lay out the rates of kinds or sites; the last two rows are all sites, by page and by site."""
    second, whole = "kind" if what == "site" else "sites", summary.whole
    found = [_cells(row, row.name, row.kind if what == "site" else f"{row.sites:,}") for row in rows]
    found.append(_cells(whole, "all, by page", "" if what == "site" else f"{whole.sites:,}"))
    found.append(["all, mean of sites", "", "", "", *_percents(summary.mean_of_sites), ""])
    return Table((what, second, *HEADS), found, LEGEND + ".", sums=frozenset({len(found) - 2, len(found) - 1}))


def _cells(row: SummaryRow, name: str, second: str) -> list[str]:
    return [name, second, f"{row.pages:,}", f"{row.changes:,}", *_percents(row.rates), percent(row.never, 1)]


def _percents(rates: ChangeRates) -> list[str]:
    return [
        percent(rates.daily, 2),
        percent(rates.weekly, 1),
        percent(rates.weekly_words, 1),
        percent(rates.weekly_new_internal, 2),
        percent(rates.weekly_new_external, 2),
    ]


def mass_changes(summary: Summary) -> str:
    """Describe how many changes came at once with many others of their site; empty where that is not known."""
    if summary.mass_share != summary.mass_share:
        return ""
    rates = summary.whole.rates
    return (
        f"{percent(summary.mass_share, 1)} % of the changes came with much of their site at once; without them "
        f"{percent(rates.daily_small, 2)} % of the pages change in a day and {percent(rates.weekly_small, 1)} % in a "
        "week."
    )


def link_words(summary: Summary) -> list[str]:
    """Describe how pages link at the start, and how many of the pages born later can be found by links."""
    graph = summary.links
    if graph is None:
        return ["No table of links."]

    def of(part: int, whole: int) -> str:
        return f"{part:,} ({percent(part / whole, 1)} %)" if whole else "0"

    return [
        f"Links at the start: {graph.nodes:,} pages, {graph.edges:,} links, {of(graph.internal, graph.edges)} within "
        f"their site, {of(graph.known, graph.edges)} to a page of the recording.",
        f"Of {graph.born:,} pages born later {of(graph.linked, graph.born)} are linked to while they live, "
        f"{of(graph.discoverable, graph.born)} can be discovered by following links.",
    ]


def summary_words(summary: Summary) -> list[str]:
    """Describe the recording in two lines."""
    whole = summary.whole
    return [
        f"{summary.name}: {whole.sites:,} sites, {whole.pages:,} pages, {whole.changes:,} changes, "
        f"day {summary.start:g} to {summary.end:g}.",
        f"{summary.alive_at_start:,} pages at the start, {summary.born:,} born, {summary.died:,} died; "
        f"{summary.had_changed_before:,} known to have changed before.",
    ]
