"""recrawl experiment gp4c: evolved score functions against the estimators (Santos et al. 2014)."""

from __future__ import annotations

import argparse

from recrawl.cli.options import add_results, add_warmup, check_numbers, share, share_or_count, span, whole_numbers
from recrawl.cli.output import check_out, deliver_paper
from recrawl.cli.slice_options import add_recording, select
from recrawl.cli.verb_evolve import add_settings, settings_of
from recrawl.progress import progress

QUICK_PAGES = 10_000

EXAMPLES = """examples:
  recrawl experiment gp4c brdc12 --jobs 2 --out gp4c
  recrawl experiment gp4c gitweb --cycle 7d --cycles 17,17,18 --budget 2% --out gp4c-weekly
  recrawl experiment gp4c brdc12 --errors 2.9% --form chance --out gp4c-errors
  recrawl experiment gp4c brdc12 --quick

Without options this is the paper's protocol: 5 folds (2 to train, 2 to validate, 1 to test), 3 x 19 days, 2 of each
for warm-up, 5% of the pages per day. --split 3,1 --over cycles --crossover-depth 17 is that of the authors' program;
--form chance reads the estimators as probabilities, --parents archive reads lines 11 and 12 of Listing 1 literally.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Breed, validate and test score functions in time order; Tables 1 to 4 and Figures 3 to 6."
    add_recording(parser)
    group = parser.add_argument_group("the protocol")
    group.add_argument("--cycle", type=span, default=1.0, metavar="1d", help="length of a cycle (1d)")
    group.add_argument("--cycles", type=whole_numbers("19,19,19", 1, 3), default=(19, 19, 19), metavar="A,B,C",
                       help="cycles to train, validate and test, warm-up included (19,19,19)")  # fmt: skip
    group.add_argument("--budget", type=share_or_count, default=0.05, metavar="5%", help="visits per cycle (5%%)")
    add_warmup(group, "first cycles of each window")
    group.add_argument("--folds", type=int, default=5, metavar="F", help="split the pages into F folds (5)")
    group.add_argument("--split", type=whole_numbers("2,2", 1, 2), default=(2, 2), metavar="A,B",
                       help="folds to train and to validate on; one of the others is the test (2,2)")  # fmt: skip
    group.add_argument("--errors", type=share, default=0.0, metavar="P",
                       help="share of failed downloads to simulate; pages with over two are dropped (0)")  # fmt: skip
    group.add_argument("--sets", default="basic,all", metavar="A,B", help="sets of terminals (basic,all)")
    group.add_argument("--quick", action="store_true", help=f"a small version: {QUICK_PAGES:,} pages, few generations")
    add_settings(parser, chosen=False)
    add_results(parser, "results.json, formulas, figures and report.html", jobs="threads in this process",
                pieces="the evolutions of each fold, set and fitness, and the tests")  # fmt: skip


def run(args: argparse.Namespace) -> None:
    """Check everything, run, print, write."""

    from recrawl.papers.gp4c.gp4c_protocol import Gp4cProtocol
    from recrawl.papers.gp4c.gp4c_report import Gp4cReport
    from recrawl.papers.gp4c.gp4c_trials import run_experiment
    from recrawl.plan import Plan

    check_numbers(args)
    plan = Plan(args.cycle, args.budget, args.warmup, seed=args.seed)
    sets = tuple(dict.fromkeys(args.sets.split(",")))
    args.terminals = sets[0]
    protocol = Gp4cProtocol(
        plan, args.cycles, args.folds, args.split, sets,
        settings=settings_of(args), over=args.over, form=args.form, errors=args.errors, jobs=args.jobs,
    )  # fmt: skip
    del args.terminals  # no option of this experiment: not part of its command
    protocol = Gp4cProtocol.quick(protocol) if args.quick else protocol
    protocol.check()
    check_out(args, Gp4cReport.owns)
    recording, _, notes = select(args, QUICK_PAGES)
    with progress("gp4c") as advance:
        experiment = run_experiment(recording, protocol, advance, args.engine)
    deliver_paper(args, Gp4cReport(experiment), notes)
