"""recrawl remove: pages never to visit again."""

from __future__ import annotations

import argparse

from recrawl.cli.options import add_crawl, crawl_of

EXAMPLES = (
    "examples:\n  recrawl remove -C news https://example.org/old\n\n"
    "What was found on the pages is kept, and `recrawl add` makes them pages to visit again. For many pages,\n"
    "excludes and deny in recrawl.toml are better."
)


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_crawl(parser)
    parser.add_argument("urls", nargs="+", metavar="URL")


def run(args: argparse.Namespace) -> None:
    """Bar the pages."""
    print(f"{crawl_of(args).remove(*args.urls)} pages will not be visited any more")
