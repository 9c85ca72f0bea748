"""recrawl report: what another crawler's visits found."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from recrawl.cli.options import add_crawl, add_json, add_order, crawl_of, steering

SHOWN = 10
EXAMPLES = """examples:
  recrawl report -C news visits.csv       header: url, and outcome, digest or status; time, etag, last_modified
  recrawl report -C news visits.jsonl     the same as JSON lines; also "links": [...]
  fetch urls.txt | recrawl report -C news -

Visits without a lease count too. A digest unlike the last one is a change.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_crawl(parser)
    parser.add_argument("visits", type=Path, metavar="FILE", help="CSV or JSON lines, .gz or .zst; - is standard input")
    add_order(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Record the visits and print how many were recorded, folded and refused."""
    from recrawl.live.planner import Planner
    from recrawl.live.report_files import read_reports

    crawl = crawl_of(args)
    seen = read_reports(args.visits)
    with Planner(crawl, *crawl.steering(args.policy, **steering(args))) as planner:
        result = planner.report(seen)
    if args.json:
        refused = [{"number": each.number + 1, "url": each.url, "why": each.why} for each in result.refused]
        outcomes = {"recorded": result.recorded, "folded": result.folded, "outcomes": result.outcomes}
        print(json.dumps({**outcomes, "refused": refused}, indent=2))
        return
    found = ", ".join(f"{count} {name}" for name, count in sorted(result.outcomes.items()))
    print(
        f"{result.recorded} recorded ({found or 'nothing new'}), {result.folded} folded, {len(result.refused)} refused"
    )
    for each in result.refused[:SHOWN]:
        print(f"recrawl: visit {each.number + 1}, {each.url[:200]}: {each.why}", file=sys.stderr)
    if len(result.refused) > SHOWN:
        print(f"recrawl: and {len(result.refused) - SHOWN} more", file=sys.stderr)
