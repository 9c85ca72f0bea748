"""recrawl experiment gp4c: evolved score functions against the estimators (Santos et al. 2014)."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.cli.output import check_folder, write_folder
from recrawl.cli.parse import share_or_count, span
from recrawl.cli.slice_options import add_slices, select
from recrawl.cli.verb_evolve import add_settings, command, settings_of
from recrawl.errors import InputError
from recrawl.progress import progress

if TYPE_CHECKING:
    from recrawl.papers.gp4c.gp4c_protocol import Gp4cExperiment

QUICK_PAGES = 10_000

EXAMPLES = """examples:
  recrawl experiment gp4c brdc12 --jobs 2 --out gp4c
  recrawl experiment gp4c gitweb --cycle 7d --cycles 17,17,18 --budget 2% --out gp4c-weekly
  recrawl experiment gp4c brdc12 --quick

Without options this is the paper's protocol: 5 folds, 19 + 19 + 19 days, 2 of each for warm-up, 5% of the pages a day.
"""


def add(names: Any) -> None:
    """Add the experiment."""
    parser: argparse.ArgumentParser = names.add_parser(
        "gp4c",
        help="evolved score functions against the estimators (Santos et al. 2014)",
        description="Breed, validate and test score functions in time order; Tables 2 to 4 and Figures 3 to 6.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", metavar="DATA", help="folder of a recording")
    add_slices(parser)
    group = parser.add_argument_group("the protocol")
    group.add_argument("--cycle", type=span, default=1.0, metavar="1d", help="length of a cycle (1d)")
    group.add_argument("--cycles", type=_cycles, default=(19, 19, 19), metavar="A,B,C",
                       help="cycles to train, validate and test, warm-up included (19,19,19)")  # fmt: skip
    group.add_argument("--budget", type=share_or_count, default=0.05, metavar="5%", help="visits a cycle (5%%)")
    group.add_argument("--warmup", type=int, default=2, metavar="W", help="first cycles of each window (2)")
    group.add_argument("--folds", type=int, default=5, metavar="F", help="parts of the pages (5)")
    group.add_argument("--train-folds", type=int, default=1, metavar="F", help="parts to train on (1)")
    group.add_argument("--sets", default="basic,all", metavar="A,B", help="sets of terminals (basic,all)")
    group.add_argument("--quick", action="store_true", help=f"a small version: {QUICK_PAGES:,} pages, few generations")
    add_settings(parser, chosen=False)
    group = parser.add_argument_group("how fast, where to")
    group.add_argument("--seed", type=int, default=0, metavar="S", help="seed of everything that is drawn (0)")
    group.add_argument("--jobs", type=int, default=1, metavar="J", help="threads; the results are the same (1)")
    group.add_argument("--out", type=Path, metavar="DIR", help="write results.json, formulas, figures and report.html")
    group.add_argument("--force", action="store_true", help="replace earlier results in --out")
    group.add_argument("--json", action="store_true", help="print results.json instead of the tables")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Check everything, run, print, write."""
    import json

    from recrawl.papers.gp4c.gp4c_protocol import Gp4cProtocol, run_experiment
    from recrawl.papers.gp4c.gp4c_report import files_of, is_ours
    from recrawl.papers.gp4c.gp4c_tables import results
    from recrawl.plan import Plan

    if args.jobs < 1 or args.seed < 0:
        raise InputError("jobs must be at least 1, a seed at least 0")
    plan = Plan(args.cycle, args.budget, args.warmup, seed=args.seed)
    sets = tuple(dict.fromkeys(args.sets.split(",")))
    args.terminals = sets[0]
    protocol = Gp4cProtocol(
        plan, args.cycles, args.folds, args.train_folds, sets,
        settings=settings_of(args), over=args.over, jobs=args.jobs,
    )  # fmt: skip
    protocol = Gp4cProtocol.quick(protocol) if args.quick else protocol
    protocol.check()
    if args.out is not None:
        held = os.listdir(args.out) if args.out.is_dir() else []
        check_folder(args.out, force=args.force, may_replace=[name for name in held if is_ours(name)])
    recording, _, notes = select(args)
    if args.quick and args.pages is None and len(recording) > QUICK_PAGES:
        recording = recording.sample(QUICK_PAGES, args.seed)
    with progress("gp4c") as advance:
        experiment = run_experiment(recording, protocol, advance)
    words = command(args, "experiment gp4c", skip=("terminals", "experiment"))
    if args.json:
        json.dump(results(experiment, words), sys.stdout, indent=1, ensure_ascii=False)
        print()
    else:
        show(experiment, notes)
    if args.out is not None:
        write_folder(args.out, files_of(experiment, words))
        print(f"wrote {args.out}/report.html", file=sys.stderr)


def show(experiment: Gp4cExperiment, notes: tuple[str, ...]) -> None:
    """Print Tables 2 to 4."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from recrawl.evolve.archive import SHORT
    from recrawl.papers.gp4c.gp4c_report import headline
    from recrawl.papers.gp4c.gp4c_tables import contests, formulas, overall

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 10_000
    console.print(Text(headline(experiment)), soft_wrap=True)
    for note in notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)
    for part in (overall(experiment), *contests(experiment), *formulas(experiment, SHORT)):
        table = Table(box=None, header_style="bold", pad_edge=False)
        for i, head in enumerate(part.heads):
            table.add_column(head, justify="left" if i == 0 else "right")
        for r, row in enumerate(part.rows):
            table.add_row(*(Text(cell, style="bold" if (r, c) in part.best else "") for c, cell in enumerate(row)))
        console.print()
        console.print(table)


def _cycles(text: str) -> tuple[int, int, int]:
    try:
        parts = tuple(int(part) for part in text.split(","))
    except ValueError:
        parts = ()
    if len(parts) != 3 or min(parts) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be three whole numbers such as 19,19,19")
    return parts[0], parts[1], parts[2]
