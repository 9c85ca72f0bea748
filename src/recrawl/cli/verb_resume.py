"""recrawl resume: visit a paused host again."""

from __future__ import annotations

import argparse
from typing import Any

from recrawl.cli.crawl_options import add_crawl, crawl_of
from recrawl.cli.verbs import new_parser


def add(verbs: Any) -> None:
    """Add the verb."""
    parser = new_parser(verbs, "resume", "examples:\n  recrawl resume -C news www.example.org")
    add_crawl(parser)
    parser.add_argument("hosts", nargs="+", metavar="HOST")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Resume the hosts."""
    crawl_of(args).resume(*args.hosts)
    print(f"{', '.join(args.hosts)}: resumed from the next cycle on")
