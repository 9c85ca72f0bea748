"""recrawl resume: visit a paused host again."""

from __future__ import annotations

import argparse

from recrawl.cli.options import add_crawl, crawl_of

EXAMPLES = "examples:\n  recrawl resume -C news www.example.org"


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_crawl(parser)
    parser.add_argument("hosts", nargs="+", metavar="HOST")


def run(args: argparse.Namespace) -> None:
    """Resume the hosts."""
    crawl_of(args).resume(*args.hosts)
    print(f"{', '.join(args.hosts)}: resumed from the next cycle on")
