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
    parser.add_argument("--sitemap", metavar="URL", help="a sitemap, sitemap index or feed")


def run(args: argparse.Namespace) -> None:
    """Add the pages that are not there yet."""
    new, known = crawl_of(args).add(*args.urls, *_lines(args.file), sitemap=args.sitemap)
    print(f"{new} pages added, {known} in all")


def _lines(file: str | None) -> list[str]:
    if file is None:
        return []
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text()
    except (OSError, UnicodeDecodeError) as wrong:
        raise InputError(f"{file} cannot be read: {wrong}") from None
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
