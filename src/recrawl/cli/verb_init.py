"""recrawl init: begin a crawl."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from recrawl.cli.verbs import new_parser


def add(verbs: Any) -> None:
    """Add the verb."""
    examples = (
        "examples:\n  recrawl init news\n  recrawl add -C news https://example.org/\n  recrawl run -C news --cycles 1"
    )
    parser = new_parser(verbs, "init", examples)
    parser.add_argument("dir", type=Path, help="a new or empty folder")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Make the folder."""
    from recrawl.live.facade import Crawl

    directory = Crawl.create(args.dir).directory
    print(
        f"made {directory.path}: settings are in {directory.path / 'recrawl.toml'}; next: recrawl add -C {args.dir} URL"
    )
