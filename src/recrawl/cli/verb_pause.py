"""recrawl pause: pass a host over for a while."""

from __future__ import annotations

import argparse

from recrawl.cli.options import add_crawl, crawl_of

EXAMPLES = "examples:\n  recrawl pause -C news www.example.org"


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_crawl(parser)
    parser.add_argument("hosts", nargs="+", metavar="HOST")


def run(args: argparse.Namespace) -> None:
    """Pause the hosts."""
    crawl_of(args).pause(*args.hosts)
    print(f"{', '.join(args.hosts)}: paused from the next cycle on")
