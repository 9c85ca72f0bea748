"""Crawls whose store was filled by hand, for tests of what comes out of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from recrawl.live.bodies import Bodies
from recrawl.live.directory import CrawlDirectory
from recrawl.live.store import Store
from recrawl.live.store_visits import VisitRecord
from recrawl.see.page import see_page
from recrawl.urls.url import host_of
from recrawl.visits import Outcome

HTML = (("content-type", "text/html; charset=utf-8"),)
BEGAN = 20_000.0  # 2024-10-04

Found = tuple[str, Outcome, bytes]  # URL, what the visit found, body


def filled(
    path: Path, cycles: Sequence[Sequence[Found]], headers: tuple[tuple[str, str], ...] = HTML
) -> CrawlDirectory:
    """A crawl whose visits found this, one cycle a day; the last cycle is left open where it is empty."""
    directory = CrawlDirectory.init(path)
    store, bodies = Store.open(directory.state), Bodies(directory.warc)
    bodies.open({})
    for cycle, visits in enumerate(cycles, 1):
        urls = list(dict.fromkeys(url for url, _, _ in visits))
        with store.transaction():
            pages = dict(zip(urls, store.add_pages(urls, [host_of(url) for url in urls], BEGAN).tolist(), strict=True))
            store.open_cycle(cycle, BEGAN + cycle, len(visits), "bayes")
            records = [
                _record(bodies, pages[url], BEGAN + cycle, url, what, body, headers) for url, what, body in visits
            ]
            bodies.sync()
            store.add_visits(cycle, records, [(1, 2)] * len(records))
            if visits:
                store.finish_cycle(cycle)
    store.close()
    bodies.close()
    return directory


def _record(
    bodies: Bodies, page: int, at: float, url: str, what: Outcome, body: bytes, headers: tuple[tuple[str, str], ...]
) -> VisitRecord:
    if what in (Outcome.GONE, Outcome.FAILED):
        note = "gone: 410" if what == Outcome.GONE else "connect-timeout: no answer"
        return VisitRecord(page, at, int(what), 410 if what == Outcome.GONE else 0, note=note)
    seen = see_page(body, url, headers)
    version = what in (Outcome.FIRST, Outcome.CHANGED)
    place = bodies.write(url, 200, headers, body) if version and seen.may_keep_body else None
    digest = seen.digest if version else None
    return VisitRecord(
        page, at, int(what), 200, len(body), title=seen.title, digest=digest, words=seen.words, warc=place
    )


def many(path: Path, pages: int, cycles: int, changed: float = 0.05, seed: int = 1) -> CrawlDirectory:
    """A crawl of so many pages and cycles, without bodies: every page visited in every cycle."""
    directory = CrawlDirectory.init(path)
    store, draw = Store.open(directory.state), np.random.default_rng(seed)
    urls = [f"https://s{page % 50}.example/{page}.html" for page in range(pages)]
    with store.transaction():
        numbers = store.add_pages(urls, [host_of(url) for url in urls], BEGAN).tolist()
    for cycle in range(1, cycles + 1):
        what = np.where(draw.random(pages) < changed, int(Outcome.CHANGED), int(Outcome.UNCHANGED))
        what = np.full(pages, int(Outcome.FIRST)) if cycle == 1 else what
        records = [
            VisitRecord(page, BEGAN + cycle, found, 200, 100, digest=b"%d" % cycle if found else None, title="A page")
            for page, found in zip(numbers, what.tolist(), strict=True)
        ]
        with store.transaction():
            store.open_cycle(cycle, BEGAN + cycle, pages, "bayes")
            store.add_visits(cycle, records, [(0, 0)] * pages)
            store.finish_cycle(cycle)
    store.close()
    return directory


def deliver_to(directory: CrawlDirectory, *tables: str) -> Path:
    """Append [[deliver]] tables to a crawl's settings; returns its folder."""
    toml = directory.path / "recrawl.toml"
    toml.write_text(toml.read_text() + "".join(f"\n[[deliver]]\n{table}\n" for table in tables))
    return directory.path
