"""recrawl experiment experts: predicting content change with the help of related pages (Radinsky & Bennett 2013)."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from recrawl.cli.options import add_engine, add_results, check_numbers
from recrawl.cli.output import check_out, deliver_paper
from recrawl.cli.slice_options import add_recording, select
from recrawl.errors import InputError
from recrawl.progress import progress

if TYPE_CHECKING:
    from recrawl.papers.experts.experts_protocol import ExpertsProtocol

EXAMPLES = """examples:
  recrawl experiment experts gitweb --out experts
  recrawl experiment experts gitweb --steps weekly --no-crawl
  recrawl experiment experts gitweb-mini --quick

The recording needs a table of texts; pages without one are left out. Steps: daily for significant changes, the paper's
own target (significant), daily and weekly for any change, and weekly for changes of at least 1% of the words
(weekly-large).
"""
STEPS = ("significant", "daily", "weekly", "weekly-large")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Predict each page's next step from its own past and that of related pages; Tables 1-3, Figs 6-8."
    )
    add_recording(parser)
    group = parser.add_argument_group("the protocol")
    group.add_argument(
        "--steps", default=",".join(STEPS), metavar="A,B", help=f"lengths of a step, of {','.join(STEPS)} (all)"
    )
    group.add_argument(
        "--flips",
        type=float,
        metavar="S",
        help="keep pages that start or stop changing in at least this share of steps (0.3)",
    )
    group.add_argument("--experts", type=int, default=20, metavar="K", help="experts per page (20)")
    group.add_argument(
        "--window", type=int, default=1, metavar="L", help="steps that the features look back, l in the paper (1)"
    )
    group.add_argument(
        "--interval", type=int, default=1, metavar="S", help="how many steps ahead to predict, sigma (1)"
    )
    group.add_argument("--train", type=int, metavar="N", help="training steps, n in the paper (50 daily, 20 weekly)")
    group.add_argument("--stride", type=int, metavar="N", help="judge every so many steps (2 daily, 1 weekly)")
    group.add_argument(
        "--words", type=int, default=32, metavar="W", help="words by which pages are compared, 0 for all (32)"
    )
    group.add_argument("--own-features", action="store_true", help="experts see the predicted page's features, too")
    group.add_argument("--no-crawl", action="store_true", help="leave out the crawl of Fig 8")
    group.add_argument("--quick", action="store_true", help="a small version: every fourth step, two seeds")
    add_engine(parser)
    add_results(parser, "results.json, figures and report.html")


def run(args: argparse.Namespace) -> None:
    """Check everything, run, print, write."""
    from recrawl.papers.experts.experts_experiment import run_experiment
    from recrawl.papers.experts.experts_report import ExpertsReport

    check_numbers(args)
    protocols = _protocols(args)
    check_out(args, ExpertsReport.owns)
    recording, _, notes = select(args)
    if not recording.tables.has("texts"):
        raise InputError(f"{args.data} has no texts of its pages, so there are no words to learn from")
    with progress("experts") as advance:
        seeds = 0 if args.no_crawl else 2 if args.quick else 5
        experiment = run_experiment(recording, protocols, seeds, advance, args.engine)
    deliver_paper(args, ExpertsReport(experiment), notes)


def _protocols(args: argparse.Namespace) -> list[ExpertsProtocol]:
    from dataclasses import replace

    from recrawl.papers.experts.expert_features import Window
    from recrawl.papers.experts.experts_protocol import PROTOCOLS, quick

    named = dict(zip(STEPS, PROTOCOLS, strict=True))
    wanted = list(dict.fromkeys(args.steps.split(",")))
    unknown = [name for name in wanted if name not in named]
    if unknown:
        raise InputError(f"unknown steps {unknown[0]!r}; take some of {', '.join(STEPS)}")
    if args.experts < 1:
        raise InputError("experts must be at least 1")
    if args.flips is not None and not 0 <= args.flips <= 1:
        raise InputError("--flips must be a share from 0 to 1")
    if args.train is not None and args.train < 4:
        raise InputError("--train must be at least 4 steps")
    if args.words < 0 or (args.stride is not None and args.stride < 1):
        raise InputError("--stride must be at least 1, and --words 0 or more")
    window = Window(args.window, args.interval)
    own = args.own_features
    found = [
        replace(named[name], experts=args.experts, seed=args.seed, window=window, beside=own, words=args.words)
        for name in wanted
    ]
    found = [p if args.stride is None else replace(p, stride=args.stride) for p in found]
    found = [p if args.train is None else replace(p, train=args.train) for p in found]
    found = [replace(p, flips=p.flips if args.flips is None else args.flips) for p in found]
    return [quick(protocol) for protocol in found] if args.quick else found
