"""recrawl pause: pass a host over for a while."""

from __future__ import annotations

import argparse
from typing import Any

from recrawl.cli.crawl_options import add_crawl, crawl_of
from recrawl.cli.verbs import new_parser


def add(verbs: Any) -> None:
    """Add the verb."""
    parser = new_parser(verbs, "pause", "examples:\n  recrawl pause -C news www.example.org")
    add_crawl(parser)
    parser.add_argument("hosts", nargs="+", metavar="HOST")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Pause the hosts."""
    crawl_of(args).pause(*args.hosts)
    print(f"{', '.join(args.hosts)}: paused from the next cycle on")
