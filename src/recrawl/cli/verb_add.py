"""recrawl add: pages to begin with."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from recrawl.cli.options import add_crawl, crawl_of
from recrawl.errors import InputError

EXAMPLES = """examples:
  recrawl add https://example.org/ https://example.org/blog/
  recrawl add -f urls.txt
  recrawl add --sitemap https://example.org/sitemap.xml

The hosts of the pages added are the crawl's scope, unless recrawl.toml names hosts or prefixes."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_crawl(parser)
    parser.add_argument("urls", nargs="*", metavar="URL")
    parser.add_argument("-f", "--file", metavar="FILE", help="a URL a line; - for standard input")
    parser.add_argument(
        "--sitemap",
        action="append",
        default=[],
        metavar="URL",
        help="a sitemap, sitemap index or feed; may be repeated",
    )


def run(args: argparse.Namespace) -> None:
    """Add the pages that are not there yet; lines of a file that are no URLs are named, the others added."""
    from recrawl.live.adding import checked

    crawl, lines = crawl_of(args), _lines(args.file)
    good, wrong = checked([line for _, line in lines])
    for number, why in wrong:
        print(f"recrawl: {args.file}, line {lines[number - 1][0]}: {why}", file=sys.stderr)
    if wrong and not good and not args.urls and not args.sitemap:
        raise InputError(f"{args.file} holds no URL to crawl")
    waits = crawl.is_held()
    new, known = crawl.add(*args.urls, *good, sitemap=args.sitemap)
    if waits:
        said = f"{new} pages" + (f" and {len(args.sitemap)} sitemaps" if args.sitemap else "")
        print(f"{said} left for the process that crawls: it takes them in before its next cycle")
    else:
        print(f"{new} pages added, {known} in all")


def _lines(file: str | None) -> list[tuple[int, str]]:
    """Return the lines of a file that say something, with their numbers."""
    if file is None:
        return []
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text()
    except (OSError, UnicodeDecodeError) as wrong:
        raise InputError(f"{file} cannot be read: {wrong}") from None
    lines = enumerate((line.strip() for line in text.splitlines()), 1)
    return [(number, line) for number, line in lines if line and not line.startswith("#")]
