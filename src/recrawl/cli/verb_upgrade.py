"""recrawl upgrade: bring a crawl of an older version of recrawl to this one."""

from __future__ import annotations

import argparse
import json

from recrawl.cli.options import add_crawl, add_json, crawl_of

EXAMPLES = """examples:
  recrawl upgrade -C news

The store is copied, the copy is brought to this version's format and checked, and then takes the old one's name; the
old store stays as state.sqlite.format-N until you delete it. Nothing is lost if that is interrupted."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_crawl(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Upgrade the store."""
    before, after = crawl_of(args).upgrade()
    if args.json:
        print(json.dumps({"before": before, "after": after}))
    elif before == after:
        print(f"{args.crawl} has format {after} already")
    else:
        print(f"{args.crawl}: format {before} is format {after} now; the old store is state.sqlite.format-{before}")
