"""Options that several verbs share, and the command that gives the same results again."""

from __future__ import annotations

import argparse
import datetime as dt
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from recrawl.clock import SystemClock
from recrawl.errors import InputError
from recrawl.spans import at_of, budget_of, days_of, local_of, share_of

MOST = (1 << 31) - 1  # more pages, cycles or versions than any crawl has


def add_json(parser: Any, help: str = "print JSON") -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help=help)


def add_out(parser: Any, writes: str, replaces: str = "replace earlier results in --out") -> None:
    """Add --out, --force and --json; `writes` names the files."""
    parser.add_argument("--out", type=Path, metavar="DIR", help=f"write {writes} there")
    parser.add_argument("--force", action="store_true", help=replaces)
    add_json(parser, "print results.json instead of the tables")


def add_seed(parser: Any, default: int = 0, what: str = "seed of everything that is drawn") -> None:
    """Add --seed."""
    parser.add_argument("--seed", type=int, default=default, metavar="S", help=f"{what} ({default})")


def add_jobs(parser: Any, what: str = "threads") -> None:
    """Add --jobs."""
    parser.add_argument("--jobs", type=int, default=1, metavar="J", help=f"{what}; the results are the same (1)")


def add_engine(parser: Any, pieces: str = "") -> None:
    """Add --engine; `pieces` names what is computed at once."""
    what = f"where to compute {pieces}".rstrip()
    kinds = "local, dask://HOST:PORT (a Dask scheduler) or joblib:BACKEND (loky, ray)"
    help = f"{what}: {kinds}; the results are the same (local)"
    parser.add_argument("--engine", default="local", metavar="E", help=help)


def add_results(parser: argparse.ArgumentParser, writes: str, *, jobs: str = "", pieces: str = "") -> None:
    """Add the group of options for seed, jobs, engine and output.

    `jobs` says of what --jobs is the number, `pieces` what a cluster works on at once.
    """
    group = parser.add_argument_group("how fast, where to" if jobs or pieces else "where to")
    add_seed(group)
    if jobs:
        add_jobs(group, jobs)
    if pieces:
        add_engine(group, pieces)
    add_out(group, writes)


def add_cycles(group: Any) -> None:
    """Add --cycle and --budget of a simulated crawl."""
    group.add_argument("--cycle", type=span, default=1.0, metavar="1d", help="length of a cycle: 1h, 1d, 2w (1d)")
    help = "visits per cycle: a share of the pages, or a number (5%%)"
    group.add_argument("--budget", type=share_or_count, default=0.05, metavar="5%", help=help)


def add_warmup(group: Any, what: str = "first cycles that visit every page", default: int = 2) -> None:
    """Add --warmup."""
    group.add_argument("--warmup", type=int, default=default, metavar="W", help=f"{what} ({default})")


def whole_numbers(example: str, least: int = 0, count: int | None = None) -> Callable[[str], tuple[int, ...]]:
    """Return a parser of lists such as the example; `count`: exactly so many numbers."""

    def read(text: str) -> tuple[int, ...]:
        parts = text.split(",")
        found = tuple(int(part) for part in parts if part.strip().isdigit())
        if len(found) != len(parts) or len(found) != (count or len(found)) or min(found) < least:
            many = {None: "", 3: "three "}.get(count, f"{count} ")
            raise argparse.ArgumentTypeError(f"{text!r} must be {many}whole numbers such as {example}")
        return found

    return read


def whole(least: int = 0, most: int = MOST) -> Callable[[str], int]:
    """Return a parser of whole numbers in a range."""

    def read(text: str) -> int:
        if not re.fullmatch(r"-?[0-9]{1,30}", text) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from {least:,} to {most:,}")
        return int(text)

    return read


def check_numbers(args: argparse.Namespace) -> None:
    """Raise InputError for a number out of range, before the long work."""
    for option, least in (("pages", 0), ("seeds", 0), ("web_pages", 0), ("seed", 0), ("jobs", 1), ("runs", 1)):
        value = getattr(args, option, None)
        if value is not None and value < least:
            raise InputError(f"--{option.replace('_', '-')} must be at least {least}")


def command(args: argparse.Namespace, verb: str) -> str:
    """Write the command that gives these results, without what does not matter for them."""
    words = ["recrawl", *verb.split(), str(args.data)]
    skip = ("data", "verb", "run", "out", "force", "json", "jobs", "engine", "experiment")
    for option, value in vars(args).items():
        if option in skip or value is None or value is False:
            continue
        words.append("--" + option.replace("_", "-"))
        if value is not True:
            scale, unit = (100, "%") if option in ("budget", "budgets") else (1, "")  # shares are typed in percent
            shown = value if isinstance(value, tuple) else (value,)
            words.append(",".join(f"{v * scale:.12g}{unit}" if isinstance(v, float) else str(v) for v in shown))
    return shlex.join(words)


T = TypeVar("T")


def span(text: str) -> float:
    """Parse a span of time into days: 30min, 1h, 1d, 2w; a bare number is days."""
    return _parsed(days_of, text)


def time_at(text: str) -> float:
    """Parse a time such as 2026-11-16 or 2026-11-16T12:00Z into days since 1970; local where it names no zone.

    A span such as 2h is the time that long ago.
    """
    if text[-1:].isalpha() and text[:1].isdigit() and "-" not in text:
        return SystemClock().now() - _parsed(days_of, text)
    return _parsed(at_of, with_zone(text))


def with_zone(text: str) -> str:
    """Return a time that names no zone with the local one; anything else, as 1d or an event's number, as it is."""
    try:
        at = None if text.isdigit() else dt.datetime.fromisoformat(text)
        return text if at is None or at.tzinfo is not None else at.astimezone().isoformat()
    except (OverflowError, ValueError):
        return text


def share_or_count(text: str) -> float | int:
    """Parse a budget: `5%` is the share 0.05 (a float), `200` is a number of pages (an int)."""
    return _parsed(budget_of, text)


def share(text: str) -> float:
    """Parse a share from 0 to 1: `5%` or `0.05`."""
    return _parsed(share_of, text)


def _parsed(read: Callable[[str], T], text: str) -> T:
    """Parse a word; argparse puts the option's name before the error."""
    try:
        return read(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


if TYPE_CHECKING:
    from recrawl.live.facade import Crawl


def add_crawl(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the crawl."""
    parser.add_argument(
        "-C", dest="crawl", type=Path, default=Path(), metavar="DIR", help="the crawl (default: this folder)"
    )


def add_address(parser: argparse.ArgumentParser, port: int) -> None:
    """Add --host and --port of a server."""
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="address to listen at (127.0.0.1)")
    help = f"port; 0: any that is free ({port})"
    parser.add_argument("--port", type=whole(most=65_535), default=port, metavar="N", help=help)


def add_order(parser: argparse.ArgumentParser) -> None:
    """Add the options of a run that replace the crawl's own settings."""
    parser.add_argument("--every", type=span, metavar="1d", help="length of a cycle: 1h, 1d, 2w")
    parser.add_argument("--budget", type=share_or_count, metavar="N", help="visits per cycle: number or share (5%%)")
    parser.add_argument("--policy", metavar="NAME", help="one of `recrawl policies`, or auto")


def crawl_of(args: argparse.Namespace) -> Crawl:
    """Open the crawl that -C names."""
    from recrawl.live.facade import Crawl

    return Crawl.open(args.crawl)


def steering(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of a run; None means the crawl's own settings."""
    return {"every": args.every, "budget": args.budget}


def counted(count: int, thing: str) -> str:
    """Return a number of things: 1 page, 2 pages."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def moment(at: float | None, form: str = "%Y-%m-%d %H:%M %Z") -> str:
    """Return a time as people write it, in the local zone, which is named."""
    return "never" if at is None else local_of(at, form)


def to_second(at: float | None) -> str:
    """Return a time as people write it, with its seconds."""
    return moment(at, "%Y-%m-%d %H:%M:%S %Z")
