"""Walk a site's sitemaps: from robots.txt or a given address, through at most one index, within caps."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from recrawl.fetch.fetcher import Fetcher, Request
from recrawl.fetch.outcome import Kind
from recrawl.see.feeds import MAX_ENTRIES, MAX_FEED_BYTES, FeedEntry, read_feed
from recrawl.urls.url import Base, host_of, normalise, parse, shown

MAX_DEPTH = 2  # an index, and the sitemaps it names; an index inside an index is not followed
MAX_FILES = 1_000


async def read_sitemap(
    fetcher: Fetcher,
    url: str,
    *,
    max_entries: int = MAX_ENTRIES,
    max_files: int = MAX_FILES,
    said: list[str] | None = None,
) -> list[FeedEntry]:
    """Return the pages that a sitemap, a sitemap index or a feed announces, each once, as far as it can be read.

    Why a file could not be read is added to `said`.
    """
    entries: dict[str, FeedEntry] = {}
    asked: set[str] = set()
    level, waiting = 1, [url]
    while waiting and level <= MAX_DEPTH:
        below: list[str] = []
        for address in waiting:
            if address in asked or len(asked) >= max_files or len(entries) >= max_entries:
                continue
            asked.add(address)
            result = await fetcher.fetch(Request(address, max_body_bytes=MAX_FEED_BYTES), scoped=False)
            if result.kind is not Kind.OK:
                if said is not None:
                    said.append(f"{shown(address)}: {result.kind} {result.reason or result.status}")
                continue
            feed = read_feed(result.body, result.final_url)
            if feed.kind == "index":
                below += [entry.url for entry in feed.entries]
                continue
            for entry in feed.entries[: max_entries - len(entries)]:
                entries.setdefault(entry.url, entry)
        level, waiting = level + 1, below
    return list(entries.values())


def of_site(entries: Iterable[FeedEntry], sitemap: str, admits: Callable[[str], bool] | None = None) -> list[FeedEntry]:
    """Return the entries that a sitemap may speak for: pages of its own host, or where the user's scope admits them.

    The protocol lets a sitemap name pages of its own host only; without this a stranger's file could widen a crawl.
    """
    own = host_of(normalise(sitemap) or "http:///")
    return [entry for entry in entries if (host_of(entry.url) == own if admits is None else admits(entry.url))]


async def sitemaps_of(fetcher: Fetcher, page: str) -> list[str]:
    """Return the sitemaps of a page's site: those that its robots.txt names, or the usual place."""
    url = parse(page)
    if url is None:
        return []
    base = Base(url.href)
    named = [normalise(text, base) for text in await fetcher.robots.sitemaps(url)]
    return list(dict.fromkeys(address for address in named if address)) or [f"{url.origin}/sitemap.xml"]
