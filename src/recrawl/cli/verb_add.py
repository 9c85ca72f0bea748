"""recrawl add: pages to begin with."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from recrawl.cli.options import add_crawl, add_json, counted, crawl_of
from recrawl.errors import InputError
from recrawl.plain_text import shown

MOST_LINES = 20  # of a file that are named: it may be no list at all
EXAMPLES = """examples:
  recrawl add https://example.org/ https://example.org/blog/
  recrawl add -f urls.txt
  recrawl add --sitemap https://example.org/sitemap.xml

The hosts of the pages added are the crawl's scope, unless recrawl.toml names hosts or prefixes."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_crawl(parser)
    parser.add_argument("urls", nargs="*", metavar="URL")
    parser.add_argument("-f", "--file", metavar="FILE", help="one URL per line; - for standard input")
    parser.add_argument(
        "--sitemap",
        action="append",
        default=[],
        metavar="URL",
        help="a sitemap, sitemap index or feed; may be repeated",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Add the pages that are not there yet; lines of a file that are not URLs are reported, the others added."""
    from recrawl.live.adding import checked

    crawl, lines = crawl_of(args), _lines(args.file)
    good, bad = checked([line for _, line in lines])
    name = "standard input" if args.file == "-" else args.file
    for number, why in bad[:MOST_LINES]:
        print(f"recrawl: {name}, line {lines[number - 1][0]}: {why}", file=sys.stderr)
    if len(bad) > MOST_LINES:
        print(f"recrawl: {name}: {len(bad) - MOST_LINES:,} more lines hold no URL to crawl", file=sys.stderr)
    if bad and not good and not args.urls and not args.sitemap:
        raise InputError(f"{name} holds no URL to crawl")
    waits, problems = crawl.is_held(), list[str]()
    new, known = crawl.add(*args.urls, *good, sitemap=args.sitemap, problems=problems)
    for problem in problems:
        print(f"recrawl: {shown(problem)}", file=sys.stderr)
    if args.json:
        print(json.dumps({"queued" if waits else "added": new, "pages": known}))
    elif waits:
        both = ((new, "page"), (len(args.sitemap), "sitemap"))
        queued = " and ".join(counted(count, thing) for count, thing in both if count)
        print(f"{queued} queued: the process that crawls adds them before its next cycle")
    else:
        print(f"{counted(new, 'page')} added, {known} in all")


def _lines(file: str | None) -> list[tuple[int, str]]:
    """Return the lines of a file that are neither empty nor comments, with their numbers."""
    if file is None:
        return []
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from None
    text = raw.decode("utf-8-sig", "surrogateescape")  # a line with other bytes is no URL, and is reported
    lines = enumerate((line.strip() for line in text.splitlines()), 1)
    return [(number, line) for number, line in lines if line and not line.startswith("#")]
