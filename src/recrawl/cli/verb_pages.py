"""recrawl pages: the pages of a crawl."""

from __future__ import annotations

import argparse
import json
import sys

from recrawl.cli.options import add_crawl, add_json, crawl_of, moment, time_at, whole
from recrawl.plain_text import shown
from recrawl.spans import dated

SORTS = ("changes", "visits", "last", "waiting", "url")
EXAMPLES = """examples:
  recrawl pages -C news                          the pages that changed most often
  recrawl pages -C news --changed --sort last
  recrawl pages -C news --changed --since 2026-11-16
  recrawl pages -C news --contains /blog/ --limit 0 --csv > pages.csv
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_crawl(parser)
    parser.add_argument("--contains", default="", metavar="TEXT", help="only URLs that contain TEXT")
    parser.add_argument("--changed", action="store_true", help="only pages that changed at least once")
    parser.add_argument(
        "--since",
        type=time_at,
        metavar="TIME",
        help="visited, or with --changed changed, since 2026-11-16T12:00 (local time; UTC: ...Z) or 2h ago",
    )
    parser.add_argument("--sort", choices=SORTS, default="changes", help="order of the list (changes)")
    parser.add_argument("--limit", type=whole(), default=50, metavar="N", help="at most N pages, 0 for all (50)")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--csv", action="store_true", help="print CSV, safe to open in a spreadsheet")
    add_json(group)


def run(args: argparse.Namespace) -> None:
    """Print the pages."""
    found = crawl_of(args).pages(
        args.contains, changed=args.changed, since=args.since, sort=args.sort, limit=args.limit
    )
    if args.json:
        print(json.dumps(dated(found), indent=2))
    elif args.csv:
        from recrawl.live.exporting import write_csv

        write_csv(dated(found), sys.stdout)
    else:
        for page in found:
            gone = "  (gone)" if page["gone"] else ""
            print(
                f"{page['changes']:>4} changes in {page['visits']:>4} visits, last {moment(page['last_visit_at']):>20}"
                f"  {shown(page['url'])}{gone}"
            )
