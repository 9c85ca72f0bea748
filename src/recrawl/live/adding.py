"""Add pages to a crawl: directly, or by a queue that the running process reads before its next cycle.

Sitemaps are read through the crawl's own gate and robots.txt, as every request of a crawl. A sitemap may name pages of
its own site; those of other sites are added only where the scope in the settings admits them.
"""

from __future__ import annotations

from collections.abc import Sequence

from recrawl.clock import Clock
from recrawl.eligibility import Bar
from recrawl.fetch.fetcher import Fetcher
from recrawl.fetch.outcome import FetchResult
from recrawl.fetch.sitemaps import of_site, read_in_part, read_sitemap
from recrawl.live.directory import CrawlDirectory
from recrawl.live.fetching import make_fetcher, restore_manners
from recrawl.live.recorder import keep_manners
from recrawl.live.standing import why_unread
from recrawl.live.store import Store, one_line_errors
from recrawl.live.store_bars import QUEUED_SITEMAP
from recrawl.urls.scope import Scope
from recrawl.urls.url import host_of, normalise, shown, why_not

ELSEWHERE = "pages are of other sites or out of the scope, and left out; [scope] in recrawl.toml can admit them"

NO_SITEMAP = "it must be a sitemap, a sitemap index or a feed"


def checked(urls: Sequence[str]) -> tuple[list[str], list[tuple[int, str]]]:
    """Return the URLs in normal form, and what is wrong with the others: their number from 1, and why."""
    good, bad = [], []
    for number, url in enumerate(urls, 1):
        href = normalise(url)
        if href is not None:
            good.append(href)
            continue
        guess = normalise(f"https://{url.strip()}") if "://" not in url and "." in url else None
        hint = f"; did you mean {guess}?" if guess else ""
        bad.append((number, f"{url[:200]!r} is not a URL to crawl: {why_not(url)}{hint}"))
    return good, bad


def queue(directory: CrawlDirectory, hrefs: Sequence[str], sitemaps: Sequence[str], at: float) -> None:
    """Queue pages and sitemaps for the process that runs the crawl; it adds them before its next cycle."""
    store = directory.open_store()
    try:
        with one_line_errors(directory.state), store.transaction():
            store.ask_for([*hrefs, *(QUEUED_SITEMAP + url for url in sitemaps)], at)
    finally:
        store.close()


def take_in(store: Store, hrefs: Sequence[str], at: float | Sequence[float]) -> None:
    """Add pages, within a transaction; those that were removed are pages again."""
    pages = store.add_pages(hrefs, [host_of(href) for href in hrefs], at)
    store.unbar_pages(pages.tolist(), Bar.REMOVED)


async def announced(
    directory: CrawlDirectory, store: Store, sitemaps: Sequence[str], clock: Clock
) -> tuple[list[str], list[str]]:
    """Read sitemaps or feeds for a crawl that no process holds; return the pages that they name, and what was wrong."""
    config = directory.config()
    async with make_fetcher(config, clock) as fetcher:
        restore_manners(fetcher, store)
        found = await named_by(fetcher, config.scope, sitemaps)
        with store.transaction():
            keep_manners(store, fetcher)
            store.follow([(host_of(url), url) for url in sitemaps])
    return found


async def named_by(fetcher: Fetcher, scope: Scope, sitemaps: Sequence[str]) -> tuple[list[str], list[str]]:
    """Read sitemaps or feeds politely; return the pages that they name, within their own sites or the scope's rules.

    Also return what went wrong: why a file could not be read, and how many pages were left out.
    """
    good, bad = checked(sitemaps)  # an older version queued whatever was typed
    urls, problems = list[str](), [why for _, why in bad]
    for sitemap in good:
        failed, partial = list[FetchResult](), list[tuple[str, str]]()
        entries = await read_sitemap(fetcher, sitemap, problems=failed, partial=partial)
        own = of_site(entries, sitemap, scope)
        urls += [entry.url for entry in own]
        problems += [f"{shown(result.url)}: {why_unread(result)}" for result in failed]
        if not failed and not entries:
            why = f" ({partial[0][1]})" if partial else ""
            problems.append(f"{shown(sitemap)}: names no page{why}; {NO_SITEMAP}")
        else:
            problems += [read_in_part(url, why) for url, why in partial]
        if len(own) < len(entries):
            problems.append(f"{shown(sitemap)}: {len(entries) - len(own)} of {len(entries)} {ELSEWHERE}")
    return urls, problems
