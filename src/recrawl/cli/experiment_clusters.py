"""recrawl experiment clusters: cluster-level sampling, and what freshness does to search results (Tan et al. 2007)."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from recrawl.cli.output import check_folder, write_folder
from recrawl.cli.parse import share_or_count, span
from recrawl.cli.slice_options import add_slices, select
from recrawl.cli.verb_evolve import command
from recrawl.errors import InputError
from recrawl.progress import progress

if TYPE_CHECKING:
    from recrawl.papers.clusters.clusters_protocol import ClustersExperiment

T = TypeVar("T")
QUICK_PAGES = 5_000

EXAMPLES = """examples:
  recrawl experiment clusters web --out clusters
  recrawl experiment clusters web --cycles 7d,14d --budgets 5% --parts policies --out weekly
  recrawl experiment clusters web --queries queries.txt --parts policies
  recrawl experiment clusters web --quick

Without options this is the paper's protocol: cycles of 2, 4 and 8 weeks; 1/12, 1/6 and 1/3 of the pages a cycle.
"""


def add(names: Any) -> None:
    """Add the experiment."""
    parser: argparse.ArgumentParser = names.add_parser(
        "clusters",
        help="cluster-level sampling and search results (Tan et al. 2007)",
        description="Cluster pages that look alike, sample clusters, and judge search results; Figs 1-4, Tables 2-3.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", metavar="DATA", help="folder of a recording")
    add_slices(parser)
    group = parser.add_argument_group("the protocol")
    group.add_argument("--cycles", type=_list(span), default=(14.0, 28.0, 56.0), metavar="14d,28d,56d",
                       help="lengths of cycles (14d,28d,56d)")  # fmt: skip
    group.add_argument("--budgets", type=_list(share_or_count), default=(1 / 12, 1 / 6, 1 / 3), metavar="A,B,C",
                       help="visits a cycle (a twelfth, a sixth and a third of the pages)")  # fmt: skip
    group.add_argument("--warmup", type=int, default=2, metavar="W", help="first cycles, not judged (2)")
    group.add_argument("--clusters", type=int, default=100, metavar="K", help="clusters (100)")
    group.add_argument("--queries", default="100", metavar="N|FILE", help="queries to draw, or a file of them (100)")
    group.add_argument("--parts", default=None, metavar="A,B", help="only some of counts,units,features,policies,cold")
    group.add_argument("--quick", action="store_true", help=f"a small version: {QUICK_PAGES:,} pages, 20 clusters")
    group = parser.add_argument_group("where to")
    group.add_argument("--seed", type=int, default=0, metavar="S", help="seed of everything that is drawn (0)")
    group.add_argument("--out", type=Path, metavar="DIR", help="write results.json, figures and report.html")
    group.add_argument("--force", action="store_true", help="replace earlier results in --out")
    group.add_argument("--json", action="store_true", help="print results.json instead of the tables")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Check everything, run, print, write."""
    import json

    from recrawl.evaluate.search.queries import read_queries
    from recrawl.papers.clusters.clusters_protocol import PARTS, ClustersProtocol, run_experiment
    from recrawl.papers.clusters.clusters_report import files_of, is_ours
    from recrawl.papers.clusters.clusters_tables import results

    if args.seed < 0:
        raise InputError("a seed must be at least 0")
    asked = None if args.queries.isdigit() else read_queries(args.queries)
    parts = PARTS if args.parts is None else tuple(dict.fromkeys(args.parts.split(",")))
    protocol = ClustersProtocol(
        args.cycles, args.budgets, args.warmup, args.clusters, int(args.queries) if asked is None else len(asked),
        parts=parts, seed=args.seed,
    )  # fmt: skip
    if args.quick:
        protocol = _quick(protocol)
    if args.out is not None:
        held = os.listdir(args.out) if args.out.is_dir() else []
        check_folder(args.out, force=args.force, may_replace=[name for name in held if is_ours(name)])
    recording, _, notes = select(args)
    if args.quick and args.pages is None and len(recording) > QUICK_PAGES:
        recording = recording.sample(QUICK_PAGES, args.seed)
    with progress("clusters") as advance:
        experiment = run_experiment(recording, protocol, asked, advance)
    words = command(args, "experiment clusters", skip=("experiment",))
    if args.json:
        json.dump(results(experiment, words), sys.stdout, indent=1, ensure_ascii=False)
        print()
    else:
        show(experiment, notes)
    if args.out is not None:
        write_folder(args.out, files_of(experiment, words))
        print(f"wrote {args.out}/report.html", file=sys.stderr)


def _quick(protocol: Any) -> Any:
    """A small version of the same: few clusters, folds and queries, and one budget."""
    from dataclasses import replace

    clusters = min(protocol.clusters, 20)
    return replace(
        protocol, clusters=clusters, queries=min(protocol.queries, 20), folds=3, budgets=protocol.budgets[:1]
    )


def show(experiment: ClustersExperiment, notes: tuple[str, ...]) -> None:
    """Print the tables."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from recrawl.papers.clusters import clusters_tables as tables
    from recrawl.papers.clusters.clusters_report import headline

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 10_000
    console.print(Text(headline(experiment)), soft_wrap=True)
    for note in notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)
    places = list(dict.fromkeys((c, b) for c, b, _ in experiment.runs))
    parts = [tables.counts(experiment)] if experiment.counts else []
    parts += [tables.units(experiment)] if experiment.units else []
    parts += [tables.features(experiment)] if experiment.features else []
    for place in places:
        parts += [tables.overall(experiment, *place), tables.t_tests(experiment, *place)]
    parts += [tables.cold(experiment)] if experiment.cold else []
    for part in (*parts, tables.findings(experiment)):
        table = Table(box=None, header_style="bold", pad_edge=False)
        for i, head in enumerate(part.heads):
            table.add_column(head, justify="left" if i == 0 or part.prose else "right")
        for r, row in enumerate(part.rows):
            table.add_row(*(Text(cell, style="bold" if (r, c) in part.best else "") for c, cell in enumerate(row)))
        console.print()
        console.print(table)
        if part.note:
            console.print(Text(part.note, style="dim"), soft_wrap=True)


def _list(parse: Callable[[str], T]) -> Callable[[str], tuple[T, ...]]:
    def read(text: str) -> tuple[T, ...]:
        values = tuple(dict.fromkeys(parse(part.strip()) for part in text.split(",") if part.strip()))
        if not values:
            raise argparse.ArgumentTypeError("at least one is needed")
        return values

    return read
