"""recrawl shards: what a crawl knows, as shards that are planned one by one or side by side."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from recrawl.cli.options import add_cycles, add_jobs, add_json, add_seed, add_warmup, counted

EXAMPLES = """examples:
  recrawl shards parts -C news --count 16                      the memory of a crawl
  recrawl shards parts --recording web --cycles 20             a recording, crawled for 20 cycles first
  recrawl shards parts --synthetic 1000000 --count 64          a made-up crawl, to find out what a plan costs

Then: recrawl plan --shards parts -n 5% --policy learned
A shard has the pages of whole registrable domains. Workers of a Dask cluster must see the folder under the same path.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("dest", type=Path, metavar="DEST", help="a folder to make")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("-C", dest="crawl", type=Path, metavar="DIR", help="shards of a crawl")
    source.add_argument("--recording", type=Path, metavar="DATA", help="shards of a simulated crawl of this recording")
    source.add_argument("--synthetic", type=int, metavar="PAGES", help="shards of a made-up crawl of so many pages")
    parser.add_argument("--count", type=int, default=64, metavar="K", help="number of shards (64)")
    group = parser.add_argument_group("of a recording or a made-up crawl")
    group.add_argument("--cycles", type=int, default=20, metavar="N", help="cycles to simulate, warm-up included (20)")
    group.add_argument("--policy", default="bayes", metavar="NAME", help="policy of the simulated crawl (bayes)")
    add_cycles(group)
    add_warmup(group)
    add_seed(group)
    add_jobs(group, "processes that write a made-up crawl")
    parser.add_argument("--force", action="store_true", help="replace shards that are there")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Write the shards."""
    from recrawl.fleet.shards_of import shards_of
    from recrawl.progress import progress

    with progress("shards") as advance:
        shards = shards_of(
            args.dest, args.count, crawl=args.crawl, recording=args.recording, synthetic=args.synthetic,
            cycles=args.cycles, policy=args.policy, cycle_days=args.cycle, budget=args.budget, warmup=args.warmup,
            seed=args.seed, jobs=args.jobs, force=args.force, advance=advance,
        )  # fmt: skip
    visits = sum(part.visits for part in shards.parts)
    if args.json:
        made = {"dest": str(args.dest), "shards": len(shards), "pages": shards.pages, "visits": visits}
        print(json.dumps(made | {"cycle": shards.cycle}))
    else:
        contents = f"{counted(shards.pages, 'page')} and {counted(visits, 'visit')}"
        print(f"{args.dest}: {counted(len(shards), 'shard')}, {contents}; next is cycle {shards.cycle}")
