"""recrawl export: a crawl's history for other tools."""

from __future__ import annotations

import argparse
from pathlib import Path

from recrawl.cli.options import add_crawl, crawl_of

EXAMPLES = """examples:
  recrawl export -C news recording history       then: recrawl compare history
  recrawl export -C news csv tables              pages.csv, visits.csv, links.csv
  recrawl export -C news warc bodies             gzipped WARC files, digests verified
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_crawl(parser)
    parser.add_argument("what", choices=("recording", "csv", "warc"))
    parser.add_argument("dest", type=Path, metavar="DEST", help="a folder to make")
    parser.add_argument("--force", action="store_true", help="replace what an earlier export left there")


def run(args: argparse.Namespace) -> None:
    """Write one of the three."""
    written = crawl_of(args).export(args.what, args.dest, force=args.force)
    print(f"{args.dest}: {written}")
