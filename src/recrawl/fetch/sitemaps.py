"""Walk a site's sitemaps: from robots.txt or a given address, through at most one index, within caps."""

from __future__ import annotations

from collections.abc import Iterable

from recrawl.fetch.fetcher import Fetcher, Request
from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.see.feeds import MAX_ENTRIES, MAX_FEED_BYTES, FeedEntry, read_feed
from recrawl.urls.scope import Scope
from recrawl.urls.url import host_of, registrable_domain, shown

MAX_DEPTH = 2  # an index, and the sitemaps it names; an index inside an index is not followed
MAX_FILES = 1_000


async def read_sitemap(
    fetcher: Fetcher,
    url: str,
    *,
    max_entries: int = MAX_ENTRIES,
    max_files: int = MAX_FILES,
    problems: list[FetchResult] | None = None,
    partial: list[tuple[str, str]] | None = None,
) -> list[FeedEntry]:
    """Return the pages that a sitemap, a sitemap index or a feed announces, each once, as far as it can be read.

    The answers to files that could not be read are added to `problems`; the URLs of those of which only a part was
    read, and why, to `partial`.
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
                if problems is not None:
                    problems.append(result)
                continue
            feed = read_feed(result.body, result.final_url)
            if feed.why_partial and partial is not None:
                partial.append((address, feed.why_partial))
            if feed.kind == "index":
                below += [entry.url for entry in feed.entries]
                continue
            for entry in feed.entries[: max_entries - len(entries)]:
                entries.setdefault(entry.url, entry)
        level, waiting = level + 1, below
    return list(entries.values())


def of_site(entries: Iterable[FeedEntry], sitemap: str, scope: Scope) -> list[FeedEntry]:
    """Return the entries that a sitemap may name: pages of its own site, or where the scope has rules, those it admits.

    Without this a stranger's file could widen a crawl.
    """
    own = registrable_domain(host_of(sitemap))
    inside = (e for e in entries if scope.has_rules or registrable_domain(host_of(e.url)) == own)
    return [entry for entry in inside if scope(entry.url)]


def read_in_part(url: str, why: str) -> str:
    """Say why only a part of a sitemap or feed was read."""
    return f"{shown(url)}: read only in part: {why}"
