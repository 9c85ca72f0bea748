"""recrawl init: begin a crawl."""

from __future__ import annotations

import argparse
from pathlib import Path

EXAMPLES = """examples:
  recrawl init news
  recrawl add -C news https://example.org/
  recrawl run -C news --cycles 1"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("dir", type=Path, help="a new or empty folder")


def run(args: argparse.Namespace) -> None:
    """Make the folder."""
    from recrawl.live.facade import Crawl

    directory = Crawl.create(args.dir).directory
    print(
        f"made {directory.path}: settings are in {directory.path / 'recrawl.toml'}; next: recrawl add -C {args.dir} URL"
    )
