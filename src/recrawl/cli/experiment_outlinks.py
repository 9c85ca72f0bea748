"""recrawl experiment outlinks: what predicts new links, and how to rank pages by it (Dang et al. 2022)."""

from __future__ import annotations

import argparse

from recrawl.cli.options import add_results, check_numbers, whole_numbers
from recrawl.cli.output import check_out, deliver_paper
from recrawl.cli.slice_options import add_recording, select
from recrawl.progress import progress

EXAMPLES = """examples:
  recrawl synth weekly-links --pages 20000 --out weekly && recrawl experiment outlinks weekly --out outlinks
  recrawl experiment outlinks gitweb --active --out outlinks-active
  recrawl experiment outlinks gitweb --kinds crawl,list --rows 40000 --trees 300 --out outlinks-crawl
  recrawl experiment outlinks gitweb --quick --jobs 2
  recrawl experiment outlinks gitweb --engine dask://10.0.0.1:8786 --out outlinks

The crawls are weekly and begin with the window: days 0, 7, ..., 63, unless --from-day says otherwise.
Every model is trained in one thread, with the same digits anywhere; --jobs and --engine train several at once.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Predict new links from static and dynamic features of pages and their network, rank pages by it; "
        "Tables 2 and 3, Figures 2 to 6 and 8 to 15."
    )
    add_recording(parser)
    group = parser.add_argument_group("the protocol")
    group.add_argument(
        "--weeks", type=int, default=9, metavar="W", help="weeks of the study; the last one is predicted (9)"
    )
    group.add_argument("--rows", type=int, default=20_000, metavar="N", help="pages to learn from and test on (20000)")
    group.add_argument("--repeats", type=int, default=3, metavar="R", help="draws of the test set (3)")
    group.add_argument("--trees", type=int, default=0, metavar="T", help="trees per ensemble (tuned, 200 to 500)")
    group.add_argument("--folds", type=int, default=3, metavar="F", help="folds of the cross-validation that tunes (3)")
    group.add_argument("--no-tuning", action="store_true", help="use the learners' default settings")
    group.add_argument("--histories", type=whole_numbers("0,1,8"), default=tuple(range(9)), metavar="A,B",
                       help="weeks of history (0 to 8)")  # fmt: skip
    group.add_argument("--neighbours", type=int, default=30, metavar="K", help="related pages per page (30)")
    group.add_argument("--trusted", default="", metavar="SITE,SITE", help="sites that TrustRank starts from (all)")
    group.add_argument("--ranks", choices=("trust", "both"), default="trust",
                       help="learners see TrustRank, as the paper reports, or PageRank too (trust)")  # fmt: skip
    group.add_argument("--related-rate", choices=("past", "all"), default="past",
                       help="link change rate of related pages over the weeks before the predicted one, or over all "
                       "weeks as the paper writes (past)")  # fmt: skip
    group.add_argument("--sentence-model", metavar="M", help="vectors by this sentence-embedding model")
    group.add_argument("--no-ngboost", action="store_true", help="leave out natural gradient boosting, which is slow")
    group.add_argument("--quick", action="store_true", help="a small version: 4,000 rows, 2 draws, 40 trees, no tuning")
    add_results(parser, "results.json, figures and report.html", jobs="processes on this machine", pieces="models")


def run(args: argparse.Namespace) -> None:
    """Check everything, run, print, write."""
    from recrawl.papers.outlinks.outlinks_protocol import WEEK, OutlinksProtocol
    from recrawl.papers.outlinks.outlinks_report import OutlinksReport
    from recrawl.papers.outlinks.outlinks_run import run_experiment
    from recrawl.papers.outlinks.taxonomy import Reading

    check_numbers(args)
    protocol = OutlinksProtocol(
        weeks=args.weeks, rows=args.rows, repeats=args.repeats, trees=args.trees, tune=not args.no_tuning,
        histories=args.histories, neighbours=args.neighbours, model=args.sentence_model or "",
        natural=False if args.no_ngboost else None, seed=args.seed, folds=args.folds,
        trusted_sites=tuple(name for name in args.trusted.split(",") if name),
        reading=Reading(args.ranks, args.related_rate),
    )  # fmt: skip
    protocol = OutlinksProtocol.quick(protocol) if args.quick else protocol
    protocol.check()
    check_out(args, OutlinksReport.owns)
    if args.days is None:  # sites that were watched for less than the whole window count too
        args.days, args.from_day = protocol.weeks * WEEK, args.from_day or 0.0
    recording, _, notes = select(args)
    with progress("outlinks") as advance:
        experiment = run_experiment(recording, protocol, advance, jobs=args.jobs, engine=args.engine)
    deliver_paper(args, OutlinksReport(experiment), notes)
