"""recrawl add: pages to begin with."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.cli.crawl_options import add_crawl, shown
from recrawl.errors import InputError

if TYPE_CHECKING:
    from recrawl.fetch.fetcher import Fetcher
    from recrawl.live.directory import CrawlDirectory
    from recrawl.live.store import Store


def add(verbs: Any) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "add",
        help="add pages to a crawl",
        epilog="examples:\n  recrawl add https://example.org/ https://example.org/blog/\n  recrawl add -f urls.txt\n"
        "  recrawl add --sitemap https://example.org/sitemap.xml\n\n"
        "The hosts of the pages added are the crawl's scope, unless recrawl.toml names hosts or prefixes.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_crawl(parser)
    parser.add_argument("urls", nargs="*", metavar="URL")
    parser.add_argument("-f", "--file", metavar="FILE", help="a URL a line; - for standard input")
    parser.add_argument("--sitemap", metavar="URL", help="a sitemap, sitemap index or feed")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Add the pages that are not there yet."""
    from recrawl.clock import SystemClock
    from recrawl.live.directory import CrawlDirectory
    from recrawl.live.store import Store, told
    from recrawl.urls.url import host_of

    directory = CrawlDirectory.open(args.crawl)
    given = [*args.urls, *_lines(args.file)]
    if args.sitemap:
        given += asyncio.run(_announced(directory, args.sitemap))
    if not given:
        raise InputError("no URL given (see recrawl add --help)")
    urls = [_normal(url) for url in given]
    with directory.locked(), told(directory.state):
        store = Store.open(directory.state)
        store.load_index()
        before = len(store.index)
        with store.transaction():
            store.add_pages(urls, [host_of(url) for url in urls], SystemClock().now())
        store.close()
    print(f"{len(store.index) - before} pages added, {len(store.index)} in all")


def _normal(url: str) -> str:
    from recrawl.urls.url import normalise, why_not

    href = normalise(url)
    if href is None:
        raise InputError(f"{shown(url)[:200]!r} is not a URL to crawl: {why_not(url)}; nothing was added")
    return href


def _lines(file: str | None) -> list[str]:
    if file is None:
        return []
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text()
    except (OSError, UnicodeDecodeError) as wrong:
        raise InputError(f"{file} cannot be read: {wrong}") from None
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


async def _announced(directory: CrawlDirectory, url: str) -> list[str]:
    from recrawl.fetch.fetcher import Fetcher
    from recrawl.fetch.sitemaps import of_site, read_sitemap
    from recrawl.live.manners import load_manners
    from recrawl.live.store import Store, told

    config = directory.config()
    with directory.locked(), told(directory.state):  # one gate for every request of a crawl: not beside a run
        store = Store.open(directory.state)
        try:
            async with Fetcher(config.fetch) as fetcher:
                load_manners(store, fetcher)
                fetcher.keep_manners = lambda: _keep(store, fetcher)
                entries = await read_sitemap(fetcher, url)
                _keep(store, fetcher)
        finally:
            store.close()
    inside = of_site(entries, url, config.scope if config.scope.has_rules else None)
    if not inside:
        raise InputError(f"{shown(url)} announces no page that can be read")
    if len(inside) < len(entries):
        print(
            f"{len(entries) - len(inside)} pages of other hosts are left out: a sitemap speaks for its own host alone"
        )
    return [entry.url for entry in inside]


def _keep(store: Store, fetcher: Fetcher) -> None:
    from recrawl.live.manners import keep_manners

    with store.transaction():
        keep_manners(store, fetcher)
