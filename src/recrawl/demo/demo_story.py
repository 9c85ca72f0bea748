"""The demonstration's story in one screen: what was found, what it cost, and why one page is visited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recrawl.live.facade import Crawl


def story(rows: list[dict[str, Any]], folder: Path) -> list[str]:
    """Return the story's lines from the table's rows and the folder with the crawls."""
    learned = rows[0]
    crawl = Crawl.open(folder / learned["policy"])
    status, traffic = crawl.status(), _received(crawl)
    again = max(status["visits"] - status["first"], 1)
    age = next(row for row in rows if row["policy"] == "age")
    lines = [
        f"found  {_haul(learned)} under {learned['policy']}; {_haul(age)} under age, with as many visits",
        f"cost   {status['visits']:,} visits to {status['pages']:,} pages, {traffic / 1e6:.1f} MB; "
        f"{status['changed'] / again:.0%} of the visits after the first found a change",
    ]
    for top in crawl.pages(limit=1):
        why = [line.strip() for line in crawl.page(top["url"], why=True).why.splitlines()]
        lines.append(f"why    {top['url']} (visited {top['visits']} times, changed {top['changes']} times):")
        lines += [f"       {line}" for line in why[:4]]
    return lines


def _haul(row: dict[str, Any]) -> str:
    return f"{row['changes']:,} changes and {row['new_pages']} new page{'s' if row['new_pages'] != 1 else ''}"


def _received(crawl: Crawl) -> int:
    """Return the bytes of all bodies that the crawl received."""
    with crawl.reading() as store:
        return sum(visit["body_bytes"] for visit in store.all_visits())
