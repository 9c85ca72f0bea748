"""recrawl diff: what changed between two versions of a page."""

from __future__ import annotations

import argparse
import json

from recrawl.cli.options import add_crawl, add_json, crawl_of, to_second
from recrawl.plain_text import shown
from recrawl.spans import dated

EXAMPLES = """examples:
  recrawl diff -C news https://example.org/            the last two versions
  recrawl diff -C news https://example.org/ 1 4        the first and the fourth
  recrawl diff -C news https://example.org/ -2 -1      counted from the newest
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_crawl(parser)
    parser.add_argument("url", metavar="URL")
    parser.add_argument("old", nargs="?", type=int, default=-2, metavar="A", help="a version, from 1, or -1 the newest")
    parser.add_argument("new", nargs="?", type=int, default=-1, metavar="B")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Print the lines that went and came."""
    found = crawl_of(args).diff(args.url, args.old, args.new)
    if args.json:
        print(json.dumps(dated(found), indent=2))
        return
    times = f"{to_second(found['old_at'])} and {to_second(found['new_at'])}"
    print(f"{found['versions']} versions of {shown(found['url'])}: {times}")
    print("\n".join(f"  {shown(line)}" for line in found["lines"]) or "  the main text is the same")
