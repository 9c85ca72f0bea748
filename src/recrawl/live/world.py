"""The live web as a world: visits go out politely, and each is on disk before it counts.

Pages are asked host by host, one after the other in the policy's order, many hosts at once. What comes in is recorded
in small groups: bodies first, then one transaction with the visits, their links, newly found pages and the hosts'
politeness. A page whose visit was not recorded is still in the plan, and is asked again after a restart.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from recrawl.columns import FloatArray, PageIds
from recrawl.fetch.fetcher import Fetcher, Request
from recrawl.fetch.gate import HostState
from recrawl.fetch.outcome import FetchResult
from recrawl.fetch.robots import RobotsRecord
from recrawl.live.bodies import Bodies
from recrawl.live.calendar import Calendar
from recrawl.live.judge import judge, validators_of, words_changed
from recrawl.live.signals import Heard, Signals, add_feeds
from recrawl.live.store import Copy, Store, VisitRecord
from recrawl.see.page import see_page
from recrawl.urls.scope import Scope
from recrawl.urls.traps import DiscoveryBudget
from recrawl.urls.url import host_of
from recrawl.urls.urlindex import url_hashes
from recrawl.visits import Outcome, Visits

GROUP = 200  # visits a transaction, at most
AHEAD = 32  # pages of a host that are looked up at once
KNOWN = 100_000  # URLs whose pages are kept at hand
GROUP_S = 0.25  # how long a visit waits for others before it is recorded
HOSTS_AT_ONCE = 256
DRAIN_S = 8.0  # how long visits under way may take when the crawl is told to stop


class StoppedError(Exception):
    """The crawl was told to stop; what was visited is recorded, the rest is still planned."""


@dataclass(frozen=True, slots=True)
class Noted:
    """A visit that is on disk, for those who watch a crawl."""

    url: str
    record: VisitRecord
    new_links: tuple[int, int]
    discovered: int


class _Arrived(NamedTuple):
    result: FetchResult
    record: VisitRecord
    keeps_body: bool
    feeds: tuple[str, ...]


class LiveWorld:
    """Answers `visit` from the web. `cycle` must be set before the visits of a cycle."""

    def __init__(
        self,
        store: Store,
        bodies: Bodies,
        fetcher: Fetcher,
        scope: Scope,
        runner: asyncio.Runner,
        calendar: Calendar,
        learn_of: Callable[[int], int],
        watch: Callable[[Noted], None] = lambda _: None,
    ) -> None:
        self.store = store
        self.bodies = bodies
        self.fetcher = fetcher
        self.scope = scope
        self.runner = runner
        self.stopping = calendar.stopping
        self.learn_of = learn_of  # makes pages from this number on known; returns how many pages there is room for
        self.watch = watch
        self.discovery = DiscoveryBudget()
        self.discovery.restore(
            dict(store.db.execute("select template, pages from templates").fetchall()),
            store.db.execute(
                "select h.name, n from (select host, count(*) as n from pages group by host) join hosts h using (host)"
            ),
        )
        self.signals = Signals(store, fetcher, scope, self.discovery)
        self.cycle = 0
        self._round = 0
        self._arrived: list[_Arrived] = []
        self._rows: dict[int, tuple[object, ...]] = {}
        self._found: list[int] = []
        self._known: dict[
            str, int
        ] = {}  # pages of URLs met lately: a site's pages link to the same ones again and again

    def announce(self, at: float) -> PageIds:
        """Nothing: what sites say of their pages is heard when a cycle begins, see `hear`."""
        return np.empty(0, dtype=np.int64)

    def hear(self, at: float, budget: int, last_visit: FloatArray) -> Heard:
        """Read the sitemaps and feeds that are due, as part of the budget; pages that they name become known."""
        known = len(self.store.index)
        heard = self.runner.run(self._hear(at, budget, last_visit))
        if len(self.store.index) > known:
            self.learn_of(known)
        return heard

    async def _hear(self, at: float, budget: int, last_visit: FloatArray) -> Heard:
        hearing = asyncio.ensure_future(self.signals.hear(self.cycle, at, budget, last_visit))
        stop = asyncio.ensure_future(self.stopping.wait())
        await asyncio.wait({hearing, stop}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if not hearing.done():
            hearing.cancel()
            await asyncio.gather(hearing, return_exceptions=True)
            raise StoppedError
        return hearing.result()

    def visit(self, pages: PageIds, at: float) -> Visits:
        """Visit the pages; returns when all are recorded. Raises StoppedError if the crawl is told to stop before."""
        self._rows, self._found = {}, []
        self._round += 1
        with self.store.transaction():
            self.store.db.executemany(
                "insert or ignore into plan (cycle, round, rank, page) values (?, ?, ?, ?)",
                [(self.cycle, self._round, rank, page) for rank, page in enumerate(pages.tolist())],
            )
        self.runner.run(self._visit_all(pages))
        if len(self._rows) < len(pages):
            raise StoppedError
        return self._visits(pages)

    def _visits(self, pages: PageIds) -> Visits:
        room = self.learn_of(min(self._found, default=0)) if self._found else 0
        columns = np.array([self._rows[page] for page in pages.tolist()], dtype=np.float64).reshape(-1, 6).T
        return Visits(
            pages=pages,
            at=columns[0],
            outcome=columns[1].astype(np.uint8),
            new_internal=columns[2].astype(np.int64),
            new_external=columns[3].astype(np.int64),
            change_size=columns[4],
            discovered=np.array([page for page in self._found if page < room], dtype=np.int64),
            length=columns[5],
        )

    # -- asking -----------------------------------------------------------------------------------------------------

    async def _visit_all(self, pages: PageIds) -> None:
        queues: dict[str, deque[int]] = defaultdict(deque)
        for page, url in zip(pages.tolist(), self.store.urls(pages.tolist()), strict=True):
            queues[host_of(url)].append(page)
        waiting = deque(queues.values())
        workers = [asyncio.ensure_future(self._work(waiting)) for _ in range(min(HOSTS_AT_ONCE, len(waiting)))]
        recorder = asyncio.ensure_future(self._record_in_time())
        try:
            await self._until_done(workers, recorder)
        finally:
            for task in (*workers, recorder):
                task.cancel()
            await asyncio.gather(*workers, recorder, return_exceptions=True)
        self._record()

    async def _until_done(self, workers: Sequence[asyncio.Future[None]], recorder: asyncio.Future[None]) -> None:
        """Wait for the workers; when told to stop, only a little longer. An error of any of them ends the wait."""
        stop: asyncio.Future[Any] = asyncio.ensure_future(self.stopping.wait())
        left: set[asyncio.Future[Any]] = set(workers)
        try:
            while left and not self.stopping.is_set():
                everyone = left | {recorder, stop}
                done, _ = await asyncio.wait(everyone, return_when=asyncio.FIRST_COMPLETED)
                left -= done
                for task in done:
                    if not task.cancelled():
                        task.result()
            if left:
                await asyncio.wait(left, timeout=DRAIN_S)
        finally:
            stop.cancel()

    async def _work(self, waiting: deque[deque[int]]) -> None:
        while waiting and not self.stopping.is_set():
            queue = waiting.popleft()
            while queue and not self.stopping.is_set():
                for copy in self.store.copies([queue.popleft() for _ in range(min(AHEAD, len(queue)))]):
                    if self.stopping.is_set():
                        return
                    await self._ask(copy)

    async def _ask(self, copy: Copy) -> None:
        validators = validators_of(copy)
        result = await self.fetcher.fetch(Request(copy.url, validators))
        record, seen = judge(copy, result, validators)
        if record.outcome == Outcome.CHANGED and seen is not None:
            record = record._replace(change_size=words_changed(self._old_text(copy), seen.main_text))
        keeps_body, feeds = (False, ()) if seen is None else (seen.may_keep_body, seen.feeds)
        self._arrived.append(_Arrived(result, record, keeps_body, feeds))
        if len(self._arrived) >= GROUP:
            self._record()

    def _old_text(self, copy: Copy) -> str:
        """Return the main text of the copy we hold, as far as its body was kept."""
        place = self.store.db.execute(
            "select warc, offset, length from versions where page = ? order by visit desc limit 1", (copy.page,)
        ).fetchone()
        if place is None or place[0] is None:
            return ""
        return see_page(self.bodies.read(place), copy.url).main_text

    # -- recording --------------------------------------------------------------------------------------------------

    async def _record_in_time(self) -> None:
        while True:
            await asyncio.sleep(GROUP_S)
            self._record()

    def _record(self) -> None:
        """Put on disk what has arrived: bodies, then the visits that mention them."""
        arrived, self._arrived = self._arrived, []
        if not arrived:
            return
        records = [self._with_body(each) for each in arrived]
        self.bodies.sync()
        with self.store.transaction():
            pages, discovered = self._pages_of(records)
            new_links = self.store.set_links(records, pages)
            for i, record in enumerate(records):
                if record.outcome == Outcome.FIRST:  # nothing to compare with: no link is new
                    new_links[i] = (0, 0)
            self.store.add_visits(self.cycle, records, new_links)
            self._keep_manners()
            self._keep_feeds(arrived)
        self._found += pages_of(discovered)
        for each, record, new in zip(arrived, records, new_links, strict=True):
            length = np.nan if record.digest is None else record.words
            self._rows[record.page] = (record.at, record.outcome, *new, record.change_size, length)
            self.watch(Noted(each.result.url, record, new, len(discovered.get(record.page, ()))))

    def _keep_manners(self) -> None:
        """Keep what politeness must not forget: every host's gate and robots.txt."""
        self.store.db.executemany(
            "update hosts set gate = ? where host = ?",
            [(json.dumps(_fields(s)), self.store.host(s.host)) for s in self.fetcher.gate.export_changed()],
        )
        self.store.db.executemany(
            "insert or replace into robots (origin, record) values (?, ?)",
            [(record.origin, json.dumps(_fields(record))) for record in self.fetcher.robots.export_changed()],
        )

    def _keep_feeds(self, arrived: Sequence[_Arrived]) -> None:
        """Keep the feeds that pages name, and how many pages of each template were discovered."""
        feeds = {url: host_of(each.result.url) for each in arrived for url in each.feeds if self.scope(url)}
        if feeds:
            add_feeds(self.store, [(host, url, None) for url, host in feeds.items()])
        self.store.db.executemany(
            "insert or replace into templates (template, pages) values (?, ?)", self.discovery.export_grown()
        )

    def _with_body(self, arrived: _Arrived) -> VisitRecord:
        result, record = arrived.result, arrived.record
        if not arrived.keeps_body:
            return record
        return record._replace(warc=self.bodies.write(result.url, result.status, result.headers, result.body))

    def _pages_of(self, records: Sequence[VisitRecord]) -> tuple[dict[str, int | None], dict[int, list[int]]]:
        """Return the page of every URL that these visits show, and the pages that each visit was the first to show.

        Pages are made of URLs that are new, in scope, and within the budgets.
        """
        shown: dict[str, VisitRecord] = {}
        for record in records:
            if record.links is not None:
                shown.update(dict.fromkeys([url for url in record.links.urls if url not in shown], record))
        pages: dict[str, int | None] = dict(zip(shown, map(self._known.get, shown), strict=True))
        strange = self._find([url for url, page in pages.items() if page is None], pages)
        if not strange:
            return pages, {}
        fresh = [url for url in strange if self.scope(url) and self.discovery.admit(url)]
        parents = [shown[url] for url in fresh]
        known = len(self.store.index)
        made = self.store.add_pages(
            fresh, [host_of(url) for url in fresh], [r.at for r in parents], [r.page for r in parents]
        ).tolist()
        pages.update(zip(fresh, made, strict=True))
        self._known.update(zip(fresh, made, strict=True))
        discovered: dict[int, list[int]] = defaultdict(list)
        for page, parent in zip(made, parents, strict=True):
            if page >= known:
                discovered[parent.page].append(page)
        return pages, discovered

    def _find(self, urls: Sequence[str], pages: dict[str, int | None]) -> list[str]:
        """Look up the pages of these URLs; return those that are no pages."""
        if not urls:
            return []
        if len(self._known) > KNOWN:
            self._known.clear()
        numbers = self.store.index.find(url_hashes(urls))
        found = {urls[i]: int(numbers[i]) for i in np.flatnonzero(numbers >= 0).tolist()}
        self._known.update(found)
        pages.update(found)
        return [urls[i] for i in np.flatnonzero(numbers < 0).tolist()]


def _fields(state: HostState | RobotsRecord) -> dict[str, object]:
    """Return a flat state as a dict; `asdict` copies deeply, and there is one of these for each visit."""
    return {name: getattr(state, name) for name in state.__slots__}


def pages_of(discovered: dict[int, list[int]]) -> list[int]:
    """Return all pages that were discovered, in their order."""
    return sorted(page for pages in discovered.values() for page in pages)
