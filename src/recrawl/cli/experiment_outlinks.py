"""recrawl experiment outlinks: what predicts new links, and how to rank pages by it (Dang et al. 2022)."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.cli.output import check_folder, write_folder
from recrawl.cli.slice_options import add_slices, select
from recrawl.cli.verb_evolve import command
from recrawl.errors import InputError
from recrawl.progress import progress

if TYPE_CHECKING:
    from recrawl.papers.outlinks.outlinks_protocol import OutlinksExperiment

EXAMPLES = """examples:
  recrawl synth weekly-links --pages 20000 --out weekly && recrawl experiment outlinks weekly --out outlinks
  recrawl experiment outlinks gitweb --active --out outlinks-active
  recrawl experiment outlinks gitweb --kinds crawl,list --rows 40000 --trees 300 --out outlinks-crawl
  recrawl experiment outlinks gitweb --quick

The crawls are weekly and begin with the window: days 0, 7, ..., 63, unless --from-day says otherwise.
"""


def add(names: Any) -> None:
    """Add the experiment."""
    parser: argparse.ArgumentParser = names.add_parser(
        "outlinks",
        help="what predicts new links (Dang et al. 2022)",
        description="Predict new links from static and dynamic features of pages and their network, rank pages by it; "
        "Table 2, Figures 3 to 6 and 8 to 15.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", metavar="DATA", help="folder of a recording")
    add_slices(parser)
    group = parser.add_argument_group("the protocol")
    group.add_argument("--weeks", type=int, default=9, metavar="W", help="weeks; the last one is predicted (9)")
    group.add_argument("--rows", type=int, default=20_000, metavar="N", help="pages that learners see (20000)")
    group.add_argument("--repeats", type=int, default=3, metavar="R", help="draws of the test set (3)")
    group.add_argument("--trees", type=int, default=200, metavar="T", help="trees of each ensemble (200)")
    group.add_argument("--no-tuning", action="store_true", help="take the learners' settings as they are")
    group.add_argument("--histories", type=_numbers, default=(0, 1, 2, 4, 8), metavar="A,B", help="weeks of history "
                       "(0,1,2,4,8)")  # fmt: skip
    group.add_argument("--neighbours", type=int, default=30, metavar="K", help="related pages of a page (30)")
    group.add_argument("--sentence-model", metavar="M", help="vectors by this sentence-embedding model")
    group.add_argument("--no-ngboost", action="store_true", help="leave natural gradient boosting out: it is slow")
    group.add_argument("--quick", action="store_true", help="a small version: 4,000 rows, 1 draw, 40 trees, no tuning")
    group = parser.add_argument_group("how fast, where to")
    group.add_argument("--seed", type=int, default=0, metavar="S", help="seed of everything that is drawn (0)")
    group.add_argument("--jobs", type=int, default=1, metavar="J", help="threads; the results are the same (1)")
    group.add_argument("--out", type=Path, metavar="DIR", help="write results.json, figures and report.html")
    group.add_argument("--force", action="store_true", help="replace earlier results in --out")
    group.add_argument("--json", action="store_true", help="print results.json instead of the tables")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Check everything, run, print, write."""
    from recrawl.papers.outlinks.outlinks_protocol import WEEK, OutlinksProtocol, run_experiment
    from recrawl.papers.outlinks.outlinks_report import files_of, is_ours, results_text

    if args.jobs < 1 or args.seed < 0:
        raise InputError("jobs must be at least 1, a seed at least 0")
    protocol = OutlinksProtocol(
        args.weeks, args.rows, args.repeats, args.trees, not args.no_tuning, args.histories, args.neighbours,
        args.sentence_model or "", False if args.no_ngboost else None, args.jobs, args.seed,
    )  # fmt: skip
    protocol = OutlinksProtocol.quick(protocol) if args.quick else protocol
    protocol.check()
    if args.out is not None:
        held = os.listdir(args.out) if args.out.is_dir() else []
        check_folder(args.out, force=args.force, may_replace=[name for name in held if is_ours(name)])
    if args.days is None:  # sites that were watched for less than the whole window count too
        args.days, args.from_day = protocol.weeks * WEEK, args.from_day or 0.0
    recording, _, notes = select(args)
    with progress("outlinks") as advance:
        experiment = run_experiment(recording, protocol, advance)
    words = command(args, "experiment outlinks", skip=("experiment",))
    if args.json:
        print(results_text(experiment, words))
    else:
        show(experiment, notes)
    if args.out is not None:
        write_folder(args.out, files_of(experiment, words))
        print(f"wrote {args.out}/report.html", file=sys.stderr)


def show(experiment: OutlinksExperiment, notes: tuple[str, ...]) -> None:
    """Print the tables."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from recrawl.papers.outlinks.outlinks_report import all_tables, headline

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 10_000
    console.print(Text(headline(experiment)), soft_wrap=True)
    for note in notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)
    for part in all_tables(experiment):
        table = Table(box=None, header_style="bold", pad_edge=False)
        for i, head in enumerate(part.heads):
            table.add_column(head, justify="left" if i == 0 else "right")
        for r, row in enumerate(part.rows):
            table.add_row(*(Text(cell, style="bold" if (r, c) in part.best else "") for c, cell in enumerate(row)))
        console.print()
        console.print(table)


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be whole numbers such as 0,1,8") from None
