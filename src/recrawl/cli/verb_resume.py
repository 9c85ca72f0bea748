"""recrawl resume: visit a paused host again."""

from __future__ import annotations

import argparse
import json

from recrawl.cli.options import add_crawl, add_json, crawl_of

EXAMPLES = "examples:\n  recrawl resume -C news www.example.org"


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_crawl(parser)
    parser.add_argument("hosts", nargs="+", metavar="HOST")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Resume the hosts."""
    crawl_of(args).resume(*args.hosts)
    said = f"{', '.join(args.hosts)}: resumed from the next cycle on"
    print(json.dumps({"resumed": args.hosts}) if args.json else said)
