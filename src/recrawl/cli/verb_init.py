"""recrawl init: begin a crawl."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from recrawl.cli.options import add_json

EXAMPLES = """examples:
  recrawl init news
  recrawl add -C news https://example.org/
  recrawl run -C news --cycles 1
  recrawl init news --store postgresql://crawler@db.example/news    # for a fleet: see docs/howto/run-a-fleet.md"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("dir", type=Path, help="a new or empty folder")
    parser.add_argument("--store", metavar="URL", help="keep the crawl in a PostgreSQL database: postgresql://...")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Make the folder."""
    from recrawl.live.facade import Crawl

    directory = Crawl.create(args.dir, store=args.store).directory
    path, settings = directory.path, directory.path / "recrawl.toml"
    if args.json:
        print(json.dumps({"crawl": str(path), "settings": str(settings)}))
    else:
        print(f"made {path}: settings are in {settings}; next: recrawl add -C {args.dir} URL")
