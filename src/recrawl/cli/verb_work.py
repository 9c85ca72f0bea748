"""recrawl work: fetch for a crawl in a database."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

EXAMPLES = """examples:
  recrawl work --store postgresql://crawler@db.example/news --name w1
  recrawl work --store postgresql://crawler@db.example/news --name w2 -C /var/lib/recrawl

SIGTERM (or Ctrl-C) lets the visits under way end, records them and gives the worker's sites to the others.
A machine that dies gives them up when its lease is over. See docs/howto/run-a-fleet.md.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Visit what the planner (`recrawl run`) chose, beside any number of other workers."
    parser.add_argument("--store", metavar="URL", help="the crawl's database (default: that of the folder's settings)")
    parser.add_argument("--name", required=True, metavar="NAME", help="name of this worker; part of its files' names")
    parser.add_argument(
        "-C", dest="crawl", type=Path, default=Path(), metavar="DIR", help="folder for bodies (default: this one)"
    )
    parser.add_argument("--password-file", type=Path, metavar="FILE", help="file with the database's password")


def run(args: argparse.Namespace) -> None:
    """Join the fleet."""
    from recrawl.live.working import work

    logging.basicConfig(format="recrawl: %(message)s", level=logging.WARNING)
    work(args.crawl, args.name, store=args.store, password_file=args.password_file, stop_on_signals=True)
