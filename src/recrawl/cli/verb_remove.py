"""recrawl remove: pages never to visit again."""

from __future__ import annotations

import argparse
import json

from recrawl.cli.options import add_crawl, add_json, counted, crawl_of

EXAMPLES = (
    "examples:\n  recrawl remove -C news https://example.org/old\n\n"
    "What was found on the pages is kept, and `recrawl add` makes them pages to visit again. For many pages,\n"
    "excludes and deny in recrawl.toml are better."
)


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_crawl(parser)
    parser.add_argument("urls", nargs="+", metavar="URL")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Bar the pages."""
    removed = crawl_of(args).remove(*args.urls)
    print(json.dumps({"removed": removed}) if args.json else f"{counted(removed, 'page')} will not be visited any more")
