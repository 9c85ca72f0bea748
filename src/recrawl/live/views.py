"""Read-only views of a crawl: a page's history, texts and differences, while another process may be crawling."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recrawl.errors import InputError
from recrawl.live.bodies import Bodies, Place
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
    page, href = page_of(directory, store, url)
    return PageStory(page, href, store.title(page), store.visits_to(page), last_diff(directory, store, page, href))


def page_of(directory: CrawlDirectory, store: Store, url: str) -> tuple[int, str]:
    """Find a page by its URL; return its number and its URL in normal form."""
    href = normalise(url)
    page = store.page_of(href) if href else None
    if page is None or href is None:
        near = store.url_like(url)
        raise InputError(f"no page {url!r} in {directory.path}" + (f"; did you mean {near}?" if near else ""))
    return page, href


def text_at(directory: CrawlDirectory, store: Store, url: str, at: float) -> tuple[float, str]:
    """Return the version of a page that was current at a time: when it was fetched, and its main text."""
    page, href = page_of(directory, store, url)
    versions = [(taken_at, place) for taken_at, _, place in store.bodies_of(page) if taken_at <= at]
    if not versions:
        raise InputError(f"{url!r} has no version from before that time whose body was kept")
    taken_at, place = versions[-1]
    return taken_at, see_page(Bodies(directory.warc).read(place), href).main_text


def diff(directory: CrawlDirectory, store: Store, url: str, old: int, new: int) -> dict[str, Any]:
    """Return what changed in a page's main text between two of its versions (from 1, or back from -1)."""
    page, href = page_of(directory, store, url)
    versions = store.bodies_of(page)
    if len(versions) < 2:
        count = "one version" if versions else "no version"
        raise InputError(
            f"{url!r} has {count} whose body was kept; a difference needs two, so a visit that finds a change"
        )
    for number in (old, new):
        if not number or abs(number) > len(versions):
            raise InputError(
                f"{url!r} has {len(versions)} versions whose bodies were kept; there is no version {number}"
            )
    one, two = (versions[number - 1 if number > 0 else number] for number in (old, new))
    lines = _difference(directory, [one[2], two[2]], href)
    return {"url": href, "versions": len(versions), "old_at": one[0], "new_at": two[0], "lines": lines}


def last_diff(directory: CrawlDirectory, store: Store, page: int, url: str, context: int = 1) -> list[str]:
    """Return the lines that the last change removed (-) and added (+), from the stored bodies."""
    places = [place for _, _, place in store.bodies_of(page)[-2:]]
    return _difference(directory, places, url, context) if len(places) == 2 else []


def _difference(directory: CrawlDirectory, places: Sequence[Place], url: str, context: int = 1) -> list[str]:
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
