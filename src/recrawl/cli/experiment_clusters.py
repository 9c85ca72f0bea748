"""recrawl experiment clusters: cluster-level sampling, and what freshness does to search results (Tan et al. 2007)."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, TypeVar

from recrawl.cli.options import add_results, add_warmup, check_numbers, share_or_count, span
from recrawl.cli.output import check_out, deliver_paper
from recrawl.cli.slice_options import add_recording, select
from recrawl.progress import progress

T = TypeVar("T")
QUICK_PAGES = 5_000

EXAMPLES = """examples:
  recrawl experiment clusters web --out clusters
  recrawl experiment clusters web --cycles 7d,14d --budgets 5% --parts policies --out weekly
  recrawl experiment clusters web --queries queries.txt --parts policies
  recrawl experiment clusters web --engine dask://10.0.0.1:8786 --out clusters
  recrawl experiment clusters web --quick

Without options this is the paper's protocol: cycles of 2, 4 and 8 weeks; 1/12, 1/6 and 1/3 of the pages per cycle; no
history at the start.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Cluster pages that look alike, sample clusters, and judge search results; Figs 1-4, Tables 1-3."
    )
    add_recording(parser)
    group = parser.add_argument_group("the protocol")
    group.add_argument("--cycles", type=_list(span), default=(14.0, 28.0, 56.0), metavar="14d,28d,56d",
                       help="lengths of cycles (14d,28d,56d)")  # fmt: skip
    group.add_argument("--budgets", type=_list(share_or_count), default=(1 / 12, 1 / 6, 1 / 3), metavar="A,B,C",
                       help="visits per cycle (a twelfth, a sixth and a third of the pages)")  # fmt: skip
    add_warmup(group, "first cycles, in which every page is visited; not judged", 0)
    group.add_argument("--clusters", type=int, default=0, metavar="K",
                       help="number of clusters (one per 3,000 pages as in the paper, from 5 to 100)")  # fmt: skip
    group.add_argument("--repeats", type=int, default=3, metavar="R", help="number of seeds for Fig 4 and Table 2 (3)")
    group.add_argument("--queries", default="100", metavar="N|FILE", help="queries to draw, or a file of them (100)")
    group.add_argument("--relevant", choices=("web", "results"), default="web",
                       help="average precision is over all pages that answer a query, or over those among its ten "
                       "results (web)")  # fmt: skip
    group.add_argument(
        "--parts", default=None, metavar="A,B", help="only these parts, of counts,units,features,policies,cold (all)"
    )
    group.add_argument("--quick", action="store_true", help=f"a small version: {QUICK_PAGES:,} pages, 2 seeds")
    add_results(parser, "results.json, figures and report.html", pieces="the crawls and clusterings")


def run(args: argparse.Namespace) -> None:
    """Check everything, run, print, write."""

    from recrawl.evaluate.search.queries import read_queries
    from recrawl.papers.clusters.clusters_protocol import PARTS, ClustersProtocol
    from recrawl.papers.clusters.clusters_report import ClustersReport
    from recrawl.papers.clusters.clusters_run import run_experiment

    check_numbers(args)
    asked = None if args.queries.isdigit() else read_queries(args.queries)
    parts = PARTS if args.parts is None else tuple(dict.fromkeys(args.parts.split(",")))
    protocol = ClustersProtocol(
        args.cycles, args.budgets, args.warmup, args.clusters, int(args.queries) if asked is None else len(asked),
        parts=parts, seed=args.seed, repeats=args.repeats, relevant=args.relevant,
    )  # fmt: skip
    if args.quick:
        protocol = _quick(protocol)
    check_out(args, ClustersReport.owns)
    recording, _, notes = select(args, QUICK_PAGES)
    with progress("clusters") as advance:
        experiment = run_experiment(recording, protocol, asked, advance, args.engine)
    deliver_paper(args, ClustersReport(experiment), notes)


def _quick(protocol: Any) -> Any:
    """A small version of the same: few clusters, folds and queries, and one budget."""
    from dataclasses import replace

    return replace(
        protocol, clusters=protocol.clusters and min(protocol.clusters, 20), queries=min(protocol.queries, 20), folds=3,
        budgets=protocol.budgets[:1], repeats=min(protocol.repeats, 2),
    )  # fmt: skip


def _list(parse: Callable[[str], T]) -> Callable[[str], tuple[T, ...]]:
    def read(text: str) -> tuple[T, ...]:
        values = tuple(dict.fromkeys(parse(part.strip()) for part in text.split(",") if part.strip()))
        if not values:
            raise argparse.ArgumentTypeError("at least one is needed")
        return values

    return read
