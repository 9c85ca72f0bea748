"""recrawl init: begin a crawl."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from recrawl.cli.options import add_json

EXAMPLES = """examples:
  recrawl init news
  recrawl add -C news https://example.org/
  recrawl run -C news --cycles 1"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("dir", type=Path, help="a new or empty folder")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Make the folder."""
    from recrawl.live.facade import Crawl

    directory = Crawl.create(args.dir).directory
    path, settings = directory.path, directory.path / "recrawl.toml"
    if args.json:
        print(json.dumps({"crawl": str(path), "settings": str(settings)}))
    else:
        print(f"made {path}: settings are in {settings}; next: recrawl add -C {args.dir} URL")
