"""recrawl describe: what is in a recording."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from recrawl.cli.options import add_out, span
from recrawl.cli.output import check_out, deliver
from recrawl.cli.slice_options import add_pages, sliced, window
from recrawl.progress import progress

if TYPE_CHECKING:
    from recrawl.recording.summary import Summary
    from recrawl.report.table import Table

EXAMPLES = """examples:
  recrawl describe web
  recrawl describe web --sites                     one line per site
  recrawl describe web --kinds docs,wiki --days 90 only those kinds of sites, the last 90 days
  recrawl describe web --json > summary.json
  recrawl describe web --out about-web             summary.json, the picture (PNG, SVG) and describe.html
"""
FILES = ("summary.json", "overview.png", "overview.svg", "describe.html")
BAR = 40  # characters of the longest bar


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Summarise a recording: sites, pages, how often they change, new links, the link graph."
    parser.add_argument("data", metavar="DATA", help="folder of a recording")
    parser.add_argument("--days", type=span, metavar="D", help="only the last D days (of sites watched to the end)")
    parser.add_argument("--sites", nargs="?", const="", metavar="A,B", help="one line per site; or only these sites")
    parser.add_argument("--kinds", nargs="?", const="", metavar="K,L", help="one line per kind; or only these kinds")
    add_pages(parser)
    add_out(parser, "summary.json, a picture and describe.html")


def run(args: argparse.Namespace) -> None:
    """Open, summarise, print, write."""
    from recrawl.recording.recording import Recording
    from recrawl.recording.summary import summarise

    check_out(args, FILES.__contains__)
    recording = Recording.open(args.data)
    if args.days is not None:
        recording = recording.window(*window(recording, args.days, None))
    recording = sliced(recording, args)
    with progress("describing") as advance:
        summary = summarise(recording, advance)
    deliver(
        args,
        summary.to_json,
        lambda: show(summary, sites=args.sites is not None, kinds=args.kinds is not None or args.sites is None),
        lambda: _files(summary),
        "describe.html",
    )


def _files(summary: Summary) -> Mapping[str, bytes]:
    from recrawl.report.recording_page import summary_files  # drawing is slow to import and only needed here

    return summary_files(summary)


def show(summary: Summary, *, sites: bool, kinds: bool) -> None:
    """Print the summary for people."""
    from recrawl.report.console import print_tables
    from recrawl.report.recording_table import link_words, mass_changes, rates_table, summary_words

    more = [f"{rows:,} {name}" for name, rows in summary.tables.items() if name in ("links", "terms", "texts")]
    intro = summary_words(summary) + ([f"further tables, all pages: {', '.join(more)}"] if more else [])
    tables = [rates_table(summary, summary.kinds, "kind")] if kinds and summary.kinds else []
    tables += [rates_table(summary, summary.sites, "site")] if sites else []
    print_tables(intro, (), [*(tables or [rates_table(summary, (), "")]), _histogram(summary)])
    for line in filter(None, (mass_changes(summary), *link_words(summary), *_degrees(summary))):
        print(line)


def _histogram(summary: Summary) -> Table:
    from recrawl.report.table import Table

    counts = summary.changes_per_page
    total, most = sum(b.pages for b in counts), max(b.pages for b in counts)
    rows = [
        (b.label, f"{b.pages:,}", f"{100 * b.pages / max(total, 1):.1f}", "█" * round(BAR * b.pages / max(most, 1)))
        for b in counts
    ]
    quantiles = ", ".join(f"{name} {value:g}" for name, value in summary.quantiles.items())
    return Table(("changes per page", "pages", "%", ""), rows, f"Changes per page: {quantiles}.", prose=True)


def _degrees(summary: Summary) -> list[str]:
    from recrawl.recording.summary import bins

    if summary.links is None:
        return []
    lines = []
    named = (("links on a page", summary.links.out_degree), ("pages that link to a page", summary.links.in_degree))
    for name, degree in named:
        counted = ", ".join(f"{b.label}: {b.pages:,}" for b in bins(degree))
        lines.append(f"{name} (mean {degree.mean() if len(degree) else 0:.1f}): {counted}")
    return lines
