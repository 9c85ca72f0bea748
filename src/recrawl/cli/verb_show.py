"""recrawl show: one page's history."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import TYPE_CHECKING

from recrawl.cli.options import add_crawl, add_json, add_order, crawl_of, moment, steering, time_at, to_second
from recrawl.plain_text import shown
from recrawl.spans import dated, iso_of

if TYPE_CHECKING:
    from recrawl.live.crawl_results import CrawledPage

EXAMPLES = """examples:
  recrawl show -C news https://example.org/
  recrawl show -C news https://example.org/ --policy age --json
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_crawl(parser)
    parser.add_argument("url", metavar="URL")
    parser.add_argument(
        "--at",
        type=time_at,
        metavar="TIME",
        help="print the copy of that time: 2026-11-16T12:00 (local time; UTC: ...Z), or 2h for two hours ago",
    )
    parser.add_argument(
        "--why", action="store_true", help="explain the next visit even if over 100,000 visits must be replayed for it"
    )
    add_order(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Print the page's history."""
    if args.at is not None:
        taken_at, text = crawl_of(args).text_at(args.url, args.at)
        print(json.dumps({"at": iso_of(taken_at), "text": text}) if args.json else shown_lines(taken_at, text))
        return
    page = crawl_of(args).page(args.url, policy=args.policy, **steering(args), why=args.why or None)
    if args.json:
        coming = None if page.next is None else {**dataclasses.asdict(page.next), "why": page.why}
        print(json.dumps(dated({**dataclasses.asdict(page.story), "next": coming}), indent=2))
    else:
        print("\n".join(_lines(page)))


def shown_lines(taken_at: float, text: str) -> str:
    """Return a version's text for a terminal."""
    return "\n".join([f"as of {to_second(taken_at)}:", *map(shown, text.splitlines())])


def _lines(page: CrawledPage) -> list[str]:
    story, coming = page.story, page.next
    lines = [shown(story.url), f"  {shown(story.title)}" if story.title else "  (no title)", ""]
    for visit in story.visits:
        links = visit["new_internal"] + visit["new_external"]
        said = f"  cycle {visit['cycle']:>4}  {moment(visit['at'])}  {visit['outcome']:<9} {visit['status'] or '-'}"
        said += f"  {visit['change_size']:g} words" if visit["change_size"] else ""
        said += f"  {links} new links" if links else ""
        lines.append(said + (f"  {shown(visit['note'])}" if visit["note"] else ""))
    if not story.visits:
        lines.append("  not visited yet")
    if story.diff:
        lines += ["", "last change:", *(f"  {shown(line)}" for line in story.diff)]
    due = f" ({moment(coming.due_at)})" if coming is not None and coming.due_at is not None else ""
    first, *rest = page.why.split("\n")
    return [*lines, "", f"next visit{due}: {shown(first)}", *map(shown, rest)]
