"""recrawl plan: which pages of a crawl in shards to visit next."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from recrawl.cli.options import add_engine, add_jobs, add_json, share_or_count

EXAMPLES = """examples:
  recrawl plan --shards parts -n 5% > urls.txt
  recrawl plan --shards parts -n 1000000 --policy learned --jobs 2 --csv > plan.csv
  recrawl plan --shards parts -n 5% --per-site 100 --engine dask://10.0.0.1:8786 --json

The plan is the same whatever the number of shards, processes and workers. `recrawl shards` writes shards.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--shards", type=Path, required=True, metavar="DIR", help="the folder of the shards")
    parser.add_argument("--policy", default="bayes", metavar="NAME", help="learned, or one that scores pages (bayes)")
    parser.add_argument(
        "-n", dest="budget", type=share_or_count, default=0.05, metavar="N", help="visits: a number or a share (5%%)"
    )
    parser.add_argument("--per-site", type=int, default=0, metavar="N", help="at most N pages of one site")
    add_engine(parser)
    add_jobs(parser, "processes of the local engine")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--urls", action="store_true", help="print URLs only (default)")
    group.add_argument("--csv", action="store_true", help="print CSV, safe to open in a spreadsheet")
    add_json(group, "print one JSON object per line: url, page, rank, score")


def run(args: argparse.Namespace) -> None:
    """Print the pages, best first."""
    from recrawl.cli.options import check_numbers
    from recrawl.extras import extras_named
    from recrawl.progress import progress

    check_numbers(args)
    with extras_named():
        from recrawl.fleet.planning import plan_shards
        from recrawl.fleet.shard_files import ShardSet
    with progress("planning") as advance:
        plan = plan_shards(
            ShardSet.open(args.shards), args.policy, args.budget, engine=args.engine, jobs=args.jobs,
            per_site=args.per_site, advance=advance,
        )  # fmt: skip
    for note in plan.notes:
        print(f"note: {args.policy}: {note}", file=sys.stderr)
    if args.csv:
        from recrawl.live.exporting import write_csv

        write_csv([asdict(visit) for visit in plan.visits()], sys.stdout)
        return
    for visit in plan.visits():
        print(json.dumps(asdict(visit)) if args.json else visit.url)
