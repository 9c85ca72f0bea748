"""What the verbs of a live crawl share: which crawl, how it is to be run, how times and strangers' texts are shown."""

from __future__ import annotations

import argparse
import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.cli.parse import share_or_count, span

if TYPE_CHECKING:
    from recrawl.live.facade import Crawl


def add_crawl(parser: argparse.ArgumentParser) -> None:
    """Add the option that says which crawl."""
    parser.add_argument(
        "-C", dest="crawl", type=Path, default=Path(), metavar="DIR", help="the crawl (default: this folder)"
    )


def add_order(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how to run, instead of the crawl's own settings."""
    parser.add_argument("--every", type=span, metavar="1d", help="length of a cycle: 1h, 1d, 2w")
    parser.add_argument("--budget", type=share_or_count, metavar="N", help="visits a cycle: a number, or a share (5%%)")
    parser.add_argument("--policy", metavar="NAME", help="one of `recrawl policies`, or auto")


def crawl_of(args: argparse.Namespace) -> Crawl:
    """Open the crawl that -C names."""
    from recrawl.live.facade import Crawl

    return Crawl.open(args.crawl)


def steering(args: argparse.Namespace) -> dict[str, Any]:
    """Return what the command line says of how to run; None means the crawl's own settings."""
    return {"every": args.every, "budget": args.budget}


def moment(at: float | None) -> str:
    """Return a time as people write it (UTC)."""
    if at is None:
        return "never"
    try:
        return (dt.datetime(1970, 1, 1) + dt.timedelta(days=at)).strftime("%Y-%m-%d %H:%M")
    except OverflowError:
        return f"day {at:g}"
