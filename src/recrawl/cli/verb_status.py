"""recrawl status: the state of a crawl."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from recrawl.cli.options import add_crawl, add_json, counted, crawl_of, moment
from recrawl.plain_text import shown
from recrawl.spans import dated

if TYPE_CHECKING:
    from recrawl.live.directory import CrawlDirectory

FEEDS = 3  # that could not be read, shown
EXAMPLES = """examples:
  recrawl status -C news
  watch recrawl status -C news        while it runs in another terminal
  recrawl status -C news --json
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_crawl(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Print the numbers."""
    crawl = crawl_of(args)
    found = crawl.status()
    print(json.dumps(dated(found), indent=2) if args.json else "\n".join(_lines(crawl.directory, found)))


def _lines(directory: CrawlDirectory, found: dict[str, Any]) -> list[str]:
    from recrawl.plan import spent_text

    lines = [
        f"{directory.path}: {counted(found['pages'], 'page')} on {counted(found['hosts'], 'host')}, "
        f"{found['fetched']:,} with a copy, {counted(found['links'], 'link')}",
        f"{counted(found['visits'], 'visit')}: {found['changed']:,} changed, {found['unchanged']:,} unchanged, "
        f"{found['first']:,} first, {found['gone']:,} gone, {found['failed']:,} failed",
    ]
    if found["barred"]:
        barred = ", ".join(f"{count:,} {reason}" for reason, count in sorted(found["barred"].items()))
        lines.append(f"not visited now: {barred}; they cost no budget")
    for url, why in list(found["feeds"].items())[:FEEDS]:
        lines.append(f"sitemap or feed {shown(url)}: {shown(why)}")
    if len(found["feeds"]) > FEEDS:
        lines.append(f"... and {len(found['feeds']) - FEEDS} more of them (--json)")
    cycle = found["cycle"]
    if cycle is None:
        lines.append("no cycle yet: recrawl run")
    else:
        state = "done" if cycle["done"] else "running" if found["running"] else "interrupted"
        lines.append(
            f"cycle {cycle['number']} ({shown(cycle['policy'])}, due {moment(cycle['at'])}): {state}, "
            f"{spent_text(cycle['visits'], cycle['budget'])}, {cycle['planned']:,} planned"
        )
        lines += [f"  {shown(note)}" for note in found["notes"]]
    if "workers" in found:
        lines += [
            f"worker {shown(each['name'])}: {each['visits']:,} visits, {each['sites']:,} sites,"
            f" lease for another {each['lease_left_s']:g} s"
            for each in found["workers"]
        ] or ["no worker is alive: recrawl work"]
    if found["running"] and cycle is not None and cycle["done"]:
        lines.append("a process runs the crawl and waits for the next cycle")
    elif found["next_due_at"] is not None:
        lines.append(f"the next cycle is due {moment(found['next_due_at'])}: recrawl run")
    return lines
