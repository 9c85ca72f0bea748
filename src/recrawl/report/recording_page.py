"""A summary of a recording as files: the numbers, the picture and one self-contained page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from recrawl.recording.link_graph import LinkGraph
from recrawl.recording.summary import Summary, bins
from recrawl.report.layout import Page, Picture, Section, Table
from recrawl.report.recording_picture import overview_of
from recrawl.report.recording_table import link_words, mass_changes, rates_table, summary_words
from recrawl.report.style import picture

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
        Section("How often pages change", mass_changes(summary), [kinds]),
        Section("Links", " ".join(link_words(summary)), [_degrees(summary, summary.links)] if summary.links else []),
        Section("Sites", tables=[sites]),
    ]
    return Page(Path(summary.name).name or summary.name, summary_words(summary), sections)


def _degrees(summary: Summary, links: LinkGraph) -> Table:
    rows = [
        ["pages with so many links", *(f"{b.pages:,}" for b in bins(links.out_degree))],
        ["pages linked to from so many", *(f"{b.pages:,}" for b in bins(links.in_degree))],
    ]
    return Table(("links", *(b.label for b in summary.changes_per_page)), rows)
