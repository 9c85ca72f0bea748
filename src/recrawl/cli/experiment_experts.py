"""recrawl experiment experts: predicting content change with the help of related pages (Radinsky & Bennett 2013)."""

from __future__ import annotations

import argparse
import json
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
    from recrawl.evaluate.compare import Comparison
    from recrawl.papers.experts.experts_protocol import ExpertsProtocol
    from recrawl.papers.experts.experts_trials import TrialOutcome
    from recrawl.recording.recording import Recording

EXAMPLES = """examples:
  recrawl experiment experts gitweb --out experts
  recrawl experiment experts gitweb --steps weekly --no-crawl
  recrawl experiment experts gitweb-mini --quick

The recording needs a table of texts; pages without one are left out. Steps: daily, weekly, and weekly for changes of at
least 1% of the words (weekly-large).
"""
STEPS = ("daily", "weekly", "weekly-large")


def add(names: Any) -> None:
    """Add the experiment."""
    parser: argparse.ArgumentParser = names.add_parser(
        "experts",
        help="predict changes with related pages (Radinsky & Bennett 2013)",
        description="Predict each page's next step from its own past and that of related pages; Tables 1-3, Figs 6-8.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", metavar="DATA", help="folder of a recording with texts")
    add_slices(parser)
    group = parser.add_argument_group("the protocol")
    group.add_argument("--steps", default=",".join(STEPS), metavar="A,B", help=f"of {','.join(STEPS)} (all)")
    group.add_argument("--flips", type=float, metavar="S", help="filter: share of steps at which behaviour flips (0.3)")
    group.add_argument("--experts", type=int, default=20, metavar="K", help="experts of a page (20)")
    group.add_argument("--no-crawl", action="store_true", help="leave out the crawl of Fig 8")
    group.add_argument("--quick", action="store_true", help="a small version: every fourth step, two seeds")
    group = parser.add_argument_group("where to")
    group.add_argument("--seed", type=int, default=0, metavar="S", help="seed of everything that is drawn (0)")
    group.add_argument("--out", type=Path, metavar="DIR", help="write results.json, figures and report.html")
    group.add_argument("--force", action="store_true", help="replace earlier results in --out")
    group.add_argument("--json", action="store_true", help="print results.json instead of the tables")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Check everything, run, print, write."""
    from recrawl.papers.experts.experts_report import files_of, is_ours
    from recrawl.papers.experts.experts_tables import as_json

    protocols = _protocols(args)
    if args.out is not None:
        held = os.listdir(args.out) if args.out.is_dir() else []
        check_folder(args.out, force=args.force, may_replace=[name for name in held if is_ours(name)])
    recording, _, notes = select(args)
    if not recording.tables.has("texts"):
        raise InputError(f"{args.data} has no texts of its pages, so there are no words to learn from")
    outcomes, crawls = _work(recording, protocols, args)
    words = command(args, "experiment experts", skip=("experiment",))
    if args.json:
        print(json.dumps(as_json(outcomes, crawls, words), indent=1))
    else:
        show(outcomes, crawls, notes)
    if args.out is not None:
        write_folder(args.out, files_of(outcomes, crawls, words))
        print(f"wrote {args.out}/report.html", file=sys.stderr)


def _protocols(args: argparse.Namespace) -> list[ExpertsProtocol]:
    from dataclasses import replace

    from recrawl.papers.experts.experts_protocol import PROTOCOLS, quick

    named = dict(zip(STEPS, PROTOCOLS, strict=True))
    wanted = list(dict.fromkeys(args.steps.split(",")))
    unknown = [name for name in wanted if name not in named]
    if unknown:
        raise InputError(f"unknown steps {unknown[0]!r}; take some of {', '.join(STEPS)}")
    if args.experts < 1 or args.seed < 0:
        raise InputError("experts must be at least 1, a seed at least 0")
    if args.flips is not None and not 0 <= args.flips <= 1:
        raise InputError("--flips is a share from 0 to 1")
    found = [replace(named[name], experts=args.experts, seed=args.seed) for name in wanted]
    found = [replace(p, flips=p.flips if args.flips is None else args.flips) for p in found]
    return [quick(protocol) for protocol in found] if args.quick else found


def _work(
    recording: Recording, protocols: list[ExpertsProtocol], args: argparse.Namespace
) -> tuple[list[TrialOutcome], dict[str, Comparison]]:
    from recrawl.papers.experts.experts_crawl import CrawlSetting, run_crawls
    from recrawl.papers.experts.experts_protocol import choose_pages
    from recrawl.papers.experts.experts_trials import run_protocol
    from recrawl.papers.experts.snapshots import Snapshots, behaviour_flips, snapshots_of

    held: dict[float, Snapshots] = {}
    outcomes, crawls = [], {}
    with progress("experts") as advance:
        for protocol in protocols:
            if protocol.step_days not in held:
                held[protocol.step_days] = snapshots_of(recording, protocol.step_days, advance=advance)
            outcomes.append(run_protocol(recording, held[protocol.step_days], protocol, advance))
        if not args.no_crawl:
            first = held[protocols[0].step_days]
            flips = behaviour_flips(first.changed(), first.there)
            _, rows, _ = choose_pages(flips, protocols[0])
            sets = {"pages that pass the filter": first.pages[rows], "all pages with text": first.pages}
            setting = CrawlSetting(seed=args.seed, repeats=2 if args.quick else 5)
            crawls = run_crawls(recording, sets, setting, advance)
    return outcomes, crawls


def show(outcomes: list[TrialOutcome], crawls: dict[str, Comparison], notes: tuple[str, ...]) -> None:
    """Print the tables."""
    from recrawl.cli.verb_focus import show as show_table
    from recrawl.papers.experts.experts_report import headline
    from recrawl.papers.experts.experts_tables import (
        counts_table,
        crawl_findings,
        crawl_table,
        findings,
        findings_table,
        sizes_table,
        tables,
    )

    for note in notes:
        print(f"note: {note}")
    for outcome in outcomes:
        print(f"\n{headline(outcome)}")
        more = [sizes_table(outcome)] if outcome.sizes else []
        for table in (*tables(outcome), *more, counts_table(outcome), findings_table(findings(outcome))):
            print(f"\n{table.note}")
            show_table("", table.heads, table.rows)
    for name, comparison in crawls.items():
        for table in (crawl_table(name, comparison), findings_table(crawl_findings(name, comparison))):
            print(f"\n{table.note}")
            show_table("", table.heads, table.rows)
