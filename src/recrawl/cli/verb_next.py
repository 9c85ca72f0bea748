"""recrawl next: which pages another crawler should visit now."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from recrawl.cli.options import add_crawl, add_json, add_order, crawl_of, moment, steering, whole

if TYPE_CHECKING:
    from recrawl.live.planner import PlannedVisit

EXAMPLES = """examples:
  recrawl next -C news -n 500 --urls > urls.txt      then fetch them, and: recrawl report -C news visits.csv
  recrawl next -C news -n 500 --per-host 5 --json    with rank, score, validators and lease
  recrawl next -C news -n 20 --dry-run               what would come next and why; nothing is leased

A page is leased until its visit is reported or the lease ends. Nothing is due once the cycle's budget is reported,
until the next cycle begins.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_crawl(parser)
    parser.add_argument("-n", dest="most", type=whole(1), default=100, metavar="N", help="at most N pages (100)")
    parser.add_argument("--per-host", type=whole(), default=0, metavar="N", help="at most N pages of one host")
    parser.add_argument(
        "--lease",
        type=float,
        default=3600.0,
        metavar="S",
        help="seconds until an unreported page is given out again (3600)",
    )
    parser.add_argument("--dry-run", action="store_true", help="only show the pages: no lease, nothing recorded")
    parser.add_argument("--now", action="store_true", help="begin a new cycle even if none is due")
    add_order(parser)
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--urls", action="store_true", help="print URLs only (default)")
    group.add_argument("--csv", action="store_true", help="print CSV, safe to open in a spreadsheet")
    add_json(group)


def run(args: argparse.Namespace) -> None:
    """Print the pages, best first."""
    from recrawl.live.planner import Planner

    crawl = crawl_of(args)
    with Planner(crawl, *crawl.steering(args.policy, **steering(args))) as planner:
        if args.dry_run:
            rows = [asdict(each) for each in planner.plan(args.most, per_host=args.per_host)]
        else:
            if args.now:
                planner.begin()
            rows = [_row(each) for each in planner.next(args.most, per_host=args.per_host, lease_s=args.lease)]
        known, due_at = len(planner.store.index), planner.next_change_at()
        for note in planner.notes:
            print(f"note: {planner.policy!r}: {note}", file=sys.stderr)
    if args.json:
        print(json.dumps(rows, indent=2))
    elif args.csv:
        from recrawl.live.exporting import write_csv

        write_csv(rows, sys.stdout)
    else:
        for row in rows:
            print(row["url"])
    if not rows:
        due = f"nothing is due before {moment(due_at)}; --now begins a new cycle, with --budget of another size"
        print(f"recrawl: {due if known else 'there are no pages yet: recrawl add URL'}", file=sys.stderr)


def _row(visit: PlannedVisit) -> dict[str, Any]:
    return {
        "url": visit.url,
        "rank": visit.rank,
        "score": visit.score,
        "etag": visit.validators.get("If-None-Match", ""),
        "last_modified": visit.validators.get("If-Modified-Since", ""),
        "lease": visit.lease,
    }
