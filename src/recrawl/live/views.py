"""What a crawl has found so far, read from its store while another process may be crawling."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

from recrawl.errors import InputError
from recrawl.live.bodies import Bodies
from recrawl.live.directory import CrawlDirectory
from recrawl.live.store import Store
from recrawl.see.page import see_page
from recrawl.urls.url import normalise


@dataclass(frozen=True)
class PageStory:
    """One page's timeline and its last change."""

    page: int
    url: str
    title: str
    visits: list[dict[str, Any]]
    diff: list[str]


def show(directory: CrawlDirectory, store: Store, url: str) -> PageStory:
    """Return the story of a page, by its URL."""
    href = normalise(url)
    page = store.page_of(href) if href else None
    if page is None:
        near = store.url_like(url)
        raise InputError(f"no page {url!r} in {directory.path}" + (f"; did you mean {near}?" if near else ""))
    diff = last_diff(directory, store, page, href or url)
    return PageStory(page, href or url, store.title(page), store.visits_to(page), diff)


def last_diff(directory: CrawlDirectory, store: Store, page: int, url: str, context: int = 1) -> list[str]:
    """Return the lines that the last change removed (-) and added (+), from the stored bodies."""
    places = [place for _, _, place in store.bodies_of(page)[-2:]]
    if len(places) < 2:
        return []
    bodies = Bodies(directory.warc)
    old, new = (see_page(bodies.read(place), url).main_text.splitlines() for place in places)
    return [
        line
        for line in difflib.unified_diff(old, new, lineterm="", n=context)
        if not line.startswith(("---", "+++", "@@"))
    ]


def links(store: Store) -> list[dict[str, Any]]:
    """Return every link with the URL of its page."""
    urls = store.all_urls()
    return [
        {"url": urls[page], "target": target, "internal": int(internal), "anchor": anchor}
        | {"first_seen_at": first_seen_at, "gone_at": gone_at}
        for page, target, _, internal, anchor, first_seen_at, gone_at in sorted(store.links(), key=lambda row: row[:2])
    ]
