"""recrawl describe: what is in a recording."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from recrawl.cli.output import check_folder, write_folder
from recrawl.cli.parse import span
from recrawl.errors import InputError
from recrawl.progress import progress
from recrawl.recording.change_rates import ChangeRates
from recrawl.recording.recording import Recording
from recrawl.recording.summary import Bin, Summary, SummaryRow, bins, percent, summarise
from recrawl.registry import split_specs

EXAMPLES = """examples:
  recrawl describe web
  recrawl describe web --sites                     a line for every site
  recrawl describe web --kinds docs,wiki --days 90 only those kinds of sites, the last 90 days
  recrawl describe web --json > summary.json
  recrawl describe web --out about-web             summary.json, the picture (PNG, SVG) and describe.html
"""
FILES = ("summary.json", "overview.png", "overview.svg", "describe.html")
BAR = 40  # characters of the longest bar
HEADS = ("pages", "changes", "day", "week", "words", "+int", "+ext", "never")
LEGEND = (
    "% of the pages alive that change in a day, in a week, in a week in their words; that gain links within the site "
    "and to elsewhere in a week; that never change"
)


def add(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "describe",
        help="say what is in a recording",
        description="Say what is in a recording: sites, pages, how often they change, new links, the link graph.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", metavar="DATA", help="folder of a recording")
    parser.add_argument("--days", type=span, metavar="D", help="only the last D days (of sites watched to the end)")
    parser.add_argument(
        "--sites", nargs="?", const="", metavar="A,B", help="a line for every site; or only these sites"
    )
    parser.add_argument(
        "--kinds", nargs="?", const="", metavar="K,L", help="a line for every kind; or only these kinds"
    )
    parser.add_argument("--fixed", action="store_true", help="only pages that live through the whole window")
    parser.add_argument("--active", action="store_true", help="only pages that had changed before the window")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write summary.json, a picture and describe.html there")
    parser.add_argument("--force", action="store_true", help="replace an existing description in --out")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Open, summarise, print, write."""
    if args.out is not None:
        check_folder(args.out, force=args.force, may_replace=FILES)
    recording = _select(args)
    with progress("describing") as advance:
        summary = summarise(recording, advance)
    if args.json:
        sys.stdout.write(summary.to_json())
    else:
        show(summary, sites=args.sites is not None, kinds=args.kinds is not None or args.sites is None)
    if args.out is not None:
        from recrawl.report.recording_page import summary_files  # drawing is slow to import and only needed here

        write_folder(args.out, summary_files(summary))
        print(f"wrote {args.out}/describe.html", file=sys.stderr)


def _select(args: argparse.Namespace) -> Recording:
    recording = Recording.open(args.data)
    if args.days is not None:
        if args.days > recording.end - recording.start:
            length = recording.end - recording.start
            raise InputError(f"{args.days:g} days are more than the recording has: {length:g}")
        recording = recording.window(recording.end - args.days, recording.end)
    if args.sites:
        recording = recording.sites(split_specs(args.sites))
    if args.kinds:
        recording = recording.kinds(split_specs(args.kinds))
    recording = recording.fixed() if args.fixed else recording
    recording = recording.active() if args.active else recording
    if not len(recording):
        raise InputError(f"no page of {args.data} is left: the selection is empty")
    return recording


def show(summary: Summary, *, sites: bool, kinds: bool) -> None:
    """Print the summary for people."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 10_000  # a pipe has no width
    tables = [_rates(summary, summary.kinds, "kind")] if kinds and summary.kinds else []
    tables += [_rates(summary, summary.sites, "site")] if sites else []
    tables = tables or [_rates(summary, (), "")]
    if not console.is_terminal:  # in a file or a pipe nothing is cut off
        unbound = console.options.update(max_width=1000)
        console.width = max(console.width, *(Measurement.get(console, unbound, table).maximum for table in tables))
    console.print(Text(_head(summary)))
    for table in tables:
        console.print()
        console.print(table)
    console.print(Text(LEGEND, style="dim"))
    console.print(Text(f"\nchanges per page ({_quantiles(summary)})"))
    console.print(_bars(summary.changes_per_page))
    for line in _link_lines(summary):
        console.print(Text(line))


def _head(summary: Summary) -> str:
    whole, tables = summary.whole, summary.tables
    held = [f"{rows:,} {name}" for name, rows in tables.items() if name in ("links", "terms", "texts")]
    return (
        f"{summary.name}: {whole.sites:,} sites, {whole.pages:,} pages, {whole.changes:,} changes, "
        f"day {summary.start:g} to {summary.end:g}\n"
        f"{summary.alive_at_start:,} pages at the start, {summary.born:,} born, {summary.died:,} died; "
        f"{summary.had_changed_before:,} known to have changed before"
        + (f"\nfurther tables, all pages: {', '.join(held)}" if held else "")
    )


def _rates(summary: Summary, rows: tuple[SummaryRow, ...], what: str) -> Table:
    """Lay out rates; the last two lines are all sites, by page and by site."""
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(what, no_wrap=what != "site", overflow="fold")
    for head in ("kind" if what == "site" else "sites", *HEADS):
        table.add_column(head, justify="left" if head == "kind" else "right", no_wrap=True)
    for row in rows:
        second = row.kind if what == "site" else f"{row.sites:,}"
        table.add_row(*_cells(row, row.name, second))
    second = "" if what == "site" else f"{summary.whole.sites:,}"
    table.add_row(*_cells(summary.whole, "all, by page", second), style="bold")
    means = ["all, mean of sites", "", "", "", *_percents(summary.mean_of_sites), ""]
    table.add_row(*means, style="bold")
    return table


def _cells(row: SummaryRow, name: str, second: str) -> list[Text]:
    numbers = [f"{row.pages:,}", f"{row.changes:,}", *_percents(row.rates), percent(row.never, 1)]
    return [Text(cell) for cell in (name, second, *numbers)]


def _percents(rates: ChangeRates) -> list[str]:
    return [
        percent(rates.daily, 2),
        percent(rates.weekly, 1),
        percent(rates.weekly_words, 1),
        percent(rates.weekly_new_internal, 2),
        percent(rates.weekly_new_external, 2),
    ]


def _quantiles(summary: Summary) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in summary.quantiles.items())


def _bars(histogram: tuple[Bin, ...]) -> Table:
    total, most = sum(b.pages for b in histogram), max(b.pages for b in histogram)
    table = Table(box=None, show_header=False, pad_edge=False)
    for _ in range(3):
        table.add_column(justify="right")
    table.add_column()
    for b in histogram:
        bar = "█" * round(BAR * b.pages / max(most, 1))
        table.add_row(b.label, f"{b.pages:,}", f"{100 * b.pages / max(total, 1):.1f} %", Text(bar, style="blue"))
    return table


def _link_lines(summary: Summary) -> list[str]:
    lines = []
    if summary.mass_share == summary.mass_share:
        daily, weekly = percent(summary.whole.rates.daily_small, 2), percent(summary.whole.rates.weekly_small, 1)
        lines.append(
            f"\n{percent(summary.mass_share, 1)} % of the changes came with much of their site at once; "
            f"without them {daily} % of the pages change in a day and {weekly} % in a week"
        )
    graph = summary.links
    if graph is None:
        return [*lines, "\nno table of links"]

    def of(part: int, whole: int) -> str:
        return f"{part:,} ({percent(part / whole, 1)} %)" if whole else "0"

    lines.append(
        f"\nlinks at the start: {graph.nodes:,} pages, {graph.edges:,} links, {of(graph.internal, graph.edges)} within "
        f"their site, {of(graph.known, graph.edges)} to a page of the recording"
    )
    for name, degree in (("links on a page", graph.out_degree), ("pages that link to a page", graph.in_degree)):
        counted = ", ".join(f"{b.label}: {b.pages:,}" for b in bins(degree))
        lines.append(f"{name} (mean {degree.mean() if len(degree) else 0:.1f}): {counted}")
    lines.append(
        f"of {graph.born:,} pages born later {of(graph.linked, graph.born)} are linked to while they live, "
        f"{of(graph.discoverable, graph.born)} can be discovered by following links"
    )
    return lines
