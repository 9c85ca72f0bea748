"""recrawl remove: pages never to visit again."""

from __future__ import annotations

import argparse
from typing import Any

from recrawl.cli.crawl_options import add_crawl, crawl_of
from recrawl.cli.verbs import new_parser


def add(verbs: Any) -> None:
    """Add the verb."""
    examples = (
        "examples:\n  recrawl remove -C news https://example.org/old\n\n"
        "What was found on the pages is kept, and `recrawl add` makes them pages to visit again. For many pages,\n"
        "excludes and deny in recrawl.toml are better."
    )
    parser = new_parser(verbs, "remove", examples)
    add_crawl(parser)
    parser.add_argument("urls", nargs="+", metavar="URL")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Bar the pages."""
    print(f"{crawl_of(args).remove(*args.urls)} pages will not be visited any more")
