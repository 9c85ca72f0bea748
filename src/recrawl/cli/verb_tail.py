"""recrawl tail: what a crawl found, one event per line."""

from __future__ import annotations

import argparse
import json
import select
import sys
from typing import TYPE_CHECKING

from recrawl.cli.options import add_crawl, to_second, with_zone
from recrawl.plain_text import shown
from recrawl.spans import at_of

if TYPE_CHECKING:
    from recrawl.live.feed import Event

POLL_S = 1.0
EXAMPLES = """examples:
  recrawl tail -C news                           the last ten events
  recrawl tail -C news -f --with diff            from now on, with what changed
  recrawl tail -C news --since 1d --types new,changed --json | jq -r .url
  recrawl tail -C news --since 0 --types all     everything, from the beginning

--since takes an event's id (those after it), a time (2026-11-16T12:00, local unless it names a
zone, as ...Z) or a span (30min, 1d).
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Print events as JSON, one per line; on a terminal as a table."
    add_crawl(parser)
    parser.add_argument("-f", "--follow", action="store_true", help="keep printing as the crawl goes on")
    parser.add_argument(
        "--since", type=with_zone, metavar="ID|TIME|1d", help="events after this (default: the last ten)"
    )
    parser.add_argument(
        "--types", type=_words, default=("new", "changed", "gone"), metavar="T,..",
        help="new, changed, gone, failed, cycle, or all (new,changed,gone)",
    )  # fmt: skip
    parser.add_argument(
        "--with", dest="include", type=_words, default=(), metavar="C,..",
        help="also: diff, added, removed, text, markdown, links_added, change",
    )  # fmt: skip
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--table", action="store_true", help="one line per event, for people")
    group.add_argument("--json", action="store_true", help="JSON, on a terminal too")


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def run(args: argparse.Namespace) -> None:
    """Print the events, and those to come with -f."""
    from recrawl.live.feed import EventFeed

    feed = EventFeed(args.crawl, args.since, types=args.types, include=args.include)
    if args.since is None:
        feed.go_back(10)
    table = args.table or (sys.stdout.isatty() and not args.json)
    while True:
        for event in feed:
            print(line_of(event) if table else json.dumps(event), flush=args.follow)
        sys.stdout.flush()
        if not args.follow or _reader_gone(POLL_S):
            return


def line_of(event: Event) -> str:
    """Return an event as a line for people, without control characters."""
    what, at = event["type"].split(".")[1], to_second(at_of(event["time"]))
    if "url" not in event:
        counts = ", ".join(f"{count} {name}" for name, count in event["visits"].items() if count)
        return f"{at}  cycle {event['cycle']} {what}: {counts or 'no visit'}"
    lines = [f"{at}  {what:7}  {event['status'] or '-':>3}  {shown(event['url'])}  {shown(event['title'] or '')}"]
    for name in ("diff", "added", "removed", "text", "markdown"):
        lines += [f"    {shown(line)}" for line in (event.get(name) or "").split("\n") if name in event]
    return "\n".join(lines).rstrip()


def _reader_gone(seconds: float) -> bool:
    """Wait; return early, and true, when the reader of our output has gone (`| head`)."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(what & (select.POLLERR | select.POLLHUP | select.POLLNVAL) for _, what in poll.poll(seconds * 1000))
