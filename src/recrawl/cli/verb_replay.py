"""recrawl replay: what other policies would have found on a crawl's own history."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.cli.crawl_options import add_crawl, add_order, order_of, reading
from recrawl.cli.options import add_out, add_warmup
from recrawl.cli.output import check_folder, write_folder
from recrawl.cli.verb_compare import show
from recrawl.cli.verbs import new_parser
from recrawl.progress import progress
from recrawl.registry import split_specs
from recrawl.report.comparison_defaults import FILES

if TYPE_CHECKING:
    from recrawl.evaluate.compare import Comparison
    from recrawl.live.session import Order
    from recrawl.recording.recording import Recording

POLICIES = "age,cg,nad,gad,bayes,lambdacrawl,oracle"
MEASURES = "ChangeRate,NDCG,Freshness,ChangesFound,NewLinks"
CAVEAT = "a change is known only where this crawl visited, so pages that it neglected look quieter than they are"

EXAMPLES = """examples:
  recrawl replay -C news
  recrawl replay -C news --policies age,bayes,oracle --budget 5% --out report
"""


def add(verbs: Any) -> None:
    """Add the verb."""
    parser = new_parser(
        verbs, "replay", EXAMPLES, "Compare policies on the crawl's own history, exported as a recording."
    )
    add_crawl(parser)
    parser.add_argument("--policies", default=POLICIES, metavar="A,B", help=f"(default: {POLICIES})")
    parser.add_argument("--measures", default=MEASURES, metavar="M,N", help=f"(default: {MEASURES})")
    add_order(parser)
    add_warmup(parser, default=0)
    add_out(parser, "results.json, plots and report.html")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Export, compare, print."""
    from recrawl.report.results import Selection, to_json

    if args.out is not None:
        check_folder(args.out, force=args.force, may_replace=FILES)
    with reading(args) as (directory, store), tempfile.TemporaryDirectory() as folder:
        order = order_of(directory, args)
        recording = history(store, Path(folder) / directory.path.absolute().name)
        comparison = replayed(recording, split_specs(args.policies), args.measures, order, args.warmup)
        selection = Selection.of(recording, (), (CAVEAT,), f"recrawl replay -C {args.crawl}")
    if args.json:
        print(to_json(comparison, selection), end="")
    else:
        show(comparison, selection)
    if args.out is not None:
        from recrawl.report.comparison_page import report_files

        write_folder(args.out, report_files(comparison, selection))


def history(store: Any, folder: Path) -> Recording:
    """Write the crawl's history as a recording, and open it."""
    from recrawl.live.history_export import to_tables
    from recrawl.recording.recording import Recording
    from recrawl.recording.write import write_recording

    write_recording(to_tables(store), folder)
    return Recording.open(folder)


def replayed(recording: Recording, policies: list[str], measures: str, order: Order, warmup: int) -> Comparison:
    """Compare policies on a recording as the crawl would be run."""
    from recrawl.evaluate.compare import check, compare
    from recrawl.evaluate.crawl import Plan
    from recrawl.evaluate.measures.all_measures import make_measures

    plan = Plan(order.cycle_days, order.budget, warmup, order.site_cap, order.seed)
    chosen = check(recording, policies, plan, folds=1)
    with progress("replaying") as advance:
        return compare(recording, chosen, make_measures(measures), plan, advance=advance)
