"""recrawl show: one page's story."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import TYPE_CHECKING

from recrawl.cli.options import add_crawl, add_json, add_order, crawl_of, moment, steering
from recrawl.plain_text import shown

if TYPE_CHECKING:
    from recrawl.live.forecast import Forecast
    from recrawl.live.views import PageStory

EXAMPLES = """examples:
  recrawl show -C news https://example.org/
  recrawl show -C news https://example.org/ --policy age --json
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_crawl(parser)
    parser.add_argument("url", metavar="URL")
    add_order(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Print the story."""
    page = crawl_of(args).page(args.url, policy=args.policy, **steering(args))
    story, coming = page.story, page.next
    if args.json:
        told = {**dataclasses.asdict(story), "next": {**dataclasses.asdict(coming), "why": coming.why}}
        print(json.dumps(told, indent=2))
    else:
        print("\n".join(_lines(story, coming)))


def _lines(story: PageStory, coming: Forecast) -> list[str]:
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
    due = f" ({moment(coming.due_at)})" if coming.due_at is not None else ""
    first, *rest = coming.why.split("\n")
    return [*lines, "", f"next visit{due}: {shown(first)}", *map(shown, rest)]
