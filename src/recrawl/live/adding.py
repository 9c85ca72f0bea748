"""Add pages to a crawl: directly, or by a queue that the running process reads before its next cycle.

Sitemaps are read through the crawl's own gate and robots.txt, as every request of a crawl. A sitemap may name pages of
its own site; those of strangers are added only where the settings' scope admits them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from recrawl.clock import Clock
from recrawl.eligibility import Bar
from recrawl.errors import InputError
from recrawl.fetch.fetcher import Fetcher
from recrawl.fetch.gate import HostState
from recrawl.fetch.robots import RobotsRecord
from recrawl.fetch.sitemaps import read_sitemap
from recrawl.live.directory import CrawlDirectory
from recrawl.live.recorder import keep_manners
from recrawl.live.store import Store, told
from recrawl.urls.url import host_of, normalise, registrable_domain, why_not


def checked(urls: Sequence[str]) -> tuple[list[str], list[tuple[int, str]]]:
    """Return the URLs in normal form, and what is wrong with the others: their number from 1, and why."""
    good, wrong = [], []
    for number, url in enumerate(urls, 1):
        href = normalise(url)
        if href is not None:
            good.append(href)
            continue
        guess = normalise(f"https://{url.strip()}") if "://" not in url and "." in url else None
        hint = f"; did you mean {guess}?" if guess else ""
        wrong.append((number, f"{url[:200]!r} is not a URL to crawl: {why_not(url)}{hint}"))
    return good, wrong


def queue(directory: CrawlDirectory, hrefs: Sequence[str], sitemaps: Sequence[str], at: float) -> None:
    """Leave pages and sitemaps for the process that holds the crawl: it takes them in before its next cycle."""
    store = Store.open(directory.state)
    try:
        with told(directory.state), store.transaction():
            store.ask_for(hrefs, at)
            store.add_feeds([(host_of(url), url, None) for url in sitemaps])
    finally:
        store.close()


def take_in(store: Store, hrefs: Sequence[str], at: float | Sequence[float]) -> None:
    """Add pages, within a transaction; those that were removed are pages again."""
    pages = store.add_pages(hrefs, [host_of(href) for href in hrefs], at)
    store.unbar_pages(pages.tolist(), Bar.REMOVED)


async def announced(directory: CrawlDirectory, store: Store, sitemaps: Sequence[str], clock: Clock) -> list[str]:
    """Read sitemaps or feeds politely; return the pages that they name, within their own sites or the scope."""
    config, said, urls = directory.config(), list[str](), list[str]()
    async with Fetcher(config.fetch, clock=clock) as fetcher:
        fetcher.gate.restore(HostState(**json.loads(state)) for state in store.gates())
        fetcher.robots.restore(RobotsRecord(**json.loads(record)) for record in store.robots())
        for sitemap in sitemaps:
            own = registrable_domain(host_of(sitemap))
            for entry in await read_sitemap(fetcher, sitemap, said=said):
                inside = config.scope.has_rules or registrable_domain(host_of(entry.url)) == own
                if inside and config.scope(entry.url):
                    urls.append(entry.url)
        with store.transaction():
            keep_manners(store, fetcher)
    if not urls:
        raise InputError(
            f"no page that can be added: {'; '.join(said[:3]) or 'the sitemap names none of its own site'}"
        )
    return urls
