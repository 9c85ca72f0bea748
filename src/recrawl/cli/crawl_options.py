"""What the verbs of a live crawl share: which crawl, how it is to be run, how times and strangers' texts are shown."""

from __future__ import annotations

import argparse
import datetime as dt
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from recrawl.cli.parse import share_or_count, span
from recrawl.errors import InputError
from recrawl.spans import budget_of, days_of

if TYPE_CHECKING:
    from recrawl.live.directory import CrawlDirectory
    from recrawl.live.session import Order
    from recrawl.live.store import Store

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


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


def order_of(directory: CrawlDirectory, args: argparse.Namespace) -> Order:
    """Return how to run: the command line where it says something, the crawl's settings otherwise."""
    from recrawl.live.choice import resolve
    from recrawl.live.session import Order

    config = directory.config()
    try:
        every = days_of(config.every) if args.every is None else args.every
        budget = budget_of(config.budget) if args.budget is None else args.budget
    except InputError as wrong:
        raise InputError(f"{directory.path / 'recrawl.toml'}: {wrong}") from None
    policy = resolve(directory, args.policy or config.policy)
    return Order(policy, every, budget, config.warmup, config.site_cap, config.seed)


@contextmanager
def reading(args: argparse.Namespace) -> Iterator[tuple[CrawlDirectory, Store]]:
    """Open a crawl to read; another process may be crawling meanwhile."""
    from recrawl.live.directory import CrawlDirectory
    from recrawl.live.store import Store, told

    directory = CrawlDirectory.open(args.crawl)
    store = Store.open(directory.state, read_only=True)
    try:
        with told(directory.state):
            store.db.execute("begin")  # one moment of the crawl, whatever is recorded meanwhile
            yield directory, store
    finally:
        store.close()


def shown(text: object) -> str:
    """Return a stranger's text with nothing in it that a terminal would obey."""
    return _CONTROL.sub("?", str(text))


def moment(at: float | None) -> str:
    """Return a time as people write it (UTC)."""
    if at is None:
        return "never"
    try:
        return (dt.datetime(1970, 1, 1) + dt.timedelta(days=at)).strftime("%Y-%m-%d %H:%M")
    except OverflowError:
        return f"day {at:g}"


def csv_cell(value: object) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return str(value)
    cell = shown(value)
    return "'" + cell if cell.startswith(("=", "+", "-", "@", "|", "%")) else cell
