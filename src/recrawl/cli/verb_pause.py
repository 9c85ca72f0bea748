"""recrawl pause: skip a host for a while."""

from __future__ import annotations

import argparse
import json

from recrawl.cli.options import add_crawl, add_json, crawl_of

EXAMPLES = "examples:\n  recrawl pause -C news www.example.org"


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_crawl(parser)
    parser.add_argument("hosts", nargs="+", metavar="HOST")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Pause the hosts."""
    crawl_of(args).pause(*args.hosts)
    said = f"{', '.join(args.hosts)}: paused from the next cycle on"
    print(json.dumps({"paused": args.hosts}) if args.json else said)
