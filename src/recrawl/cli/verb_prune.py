"""recrawl prune: drop the bodies of old versions."""

from __future__ import annotations

import argparse
import dataclasses
import json

from recrawl.cli.options import add_crawl, add_json, crawl_of, whole
from recrawl.spans import bytes_of

EXAMPLES = """examples:
  recrawl prune -C news                      as [keep] in recrawl.toml says
  recrawl prune -C news --versions 5         keep the newest five bodies of each page
  recrawl prune -C news --max-bytes 10GB     drop the oldest until so much is left

The newest body of a page is always kept, and so is what every visit found. A run prunes by [keep] after each cycle."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_crawl(parser)
    parser.add_argument("--versions", type=whole(1), metavar="N", help="keep the newest N bodies per page, at least 1")
    parser.add_argument(
        "--max-bytes", metavar="SIZE", help="keep at most SIZE of bodies in all, compressed: 500MB, 10GB"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Prune."""
    limit = None if args.max_bytes is None else bytes_of(args.max_bytes)
    pruned = crawl_of(args).prune(versions=args.versions, max_bytes=limit)
    print(json.dumps(dataclasses.asdict(pruned)) if args.json else pruned.line())
