"""recrawl replay: what other policies would have found on a crawl's own history."""

from __future__ import annotations

import argparse

from recrawl.cli.options import add_crawl, add_order, add_out, add_warmup, crawl_of, steering
from recrawl.cli.output import check_folder
from recrawl.live.crawl_defaults import MEASURES, REPLAYED
from recrawl.progress import progress
from recrawl.report.comparison_defaults import FILES

EXAMPLES = """examples:
  recrawl replay -C news
  recrawl replay -C news --policies age,bayes,oracle --budget 5% --out report
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Compare policies on the crawl's own history, exported as a recording."
    add_crawl(parser)
    parser.add_argument("--policies", default=REPLAYED, metavar="A,B", help=f"policies to replay (default: {REPLAYED})")
    parser.add_argument("--measures", default=MEASURES, metavar="M,N", help=f"measures to print (default: {MEASURES})")
    add_order(parser)
    add_warmup(parser, default=0)
    add_out(parser, "results.json, plots and report.html")


def run(args: argparse.Namespace) -> None:
    """Replay, print, write."""
    if args.out is not None:
        check_folder(args.out, force=args.force, may_replace=FILES)
    command = f"recrawl replay -C {args.crawl}"
    with progress("replaying") as advance:
        result = crawl_of(args).replay(
            args.policies, args.measures, warmup=args.warmup, command=command, advance=advance, **steering(args)
        )
    if args.out is not None:
        result.save(args.out, force=args.force)
    if args.json:
        print(result.to_json(), end="")
    else:
        result.show()
