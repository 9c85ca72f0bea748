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
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from recrawl.columns import PageIds
from recrawl.fetch.fetcher import Fetcher, Request
from recrawl.fetch.outcome import FetchResult
from recrawl.fetch.validators import Validators
from recrawl.remember.bodies import Bodies
from recrawl.remember.store import Store, VisitRecord
from recrawl.remember.urlindex import url_hashes
from recrawl.remember.visits import Outcome, Visits
from recrawl.run.calendar import Calendar
from recrawl.run.config import Scope
from recrawl.run.discovery import Discovery
from recrawl.run.judge import judge, words_changed
from recrawl.see.page import SeenPage, see_page
from recrawl.see.url import host_of

GROUP = 200  # visits a transaction, at most
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
    seen: SeenPage | None


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
        self.discovery = Discovery(store)
        self.cycle = 0
        self._round = 0
        self._arrived: list[_Arrived] = []
        self._rows: dict[int, tuple[object, ...]] = {}
        self._found: list[int] = []

    def announce(self, at: float) -> PageIds:
        """Nothing: pages come from links and from `recrawl add`."""
        return np.empty(0, dtype=np.int64)

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
        columns = np.array([self._rows[page] for page in pages.tolist()], dtype=np.float64).reshape(-1, 5).T
        return Visits(
            pages=pages,
            at=columns[0],
            outcome=columns[1].astype(np.uint8),
            new_internal=columns[2].astype(np.int64),
            new_external=columns[3].astype(np.int64),
            change_size=columns[4],
            discovered=np.array([page for page in self._found if page < room], dtype=np.int64),
        )

    # -- asking -----------------------------------------------------------------------------------------------------

    async def _visit_all(self, pages: PageIds) -> None:
        queues: dict[str, deque[tuple[int, str]]] = defaultdict(deque)
        for page, url in zip(pages.tolist(), self.store.urls(pages), strict=True):
            queues[host_of(url)].append((page, url))
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

    async def _work(self, waiting: deque[deque[tuple[int, str]]]) -> None:
        while waiting and not self.stopping.is_set():
            queue = waiting.popleft()
            while queue and not self.stopping.is_set():
                await self._ask(*queue.popleft())

    async def _ask(self, page: int, url: str) -> None:
        told, copy = self.store.db.execute("select validators, digest from pages where page = ?", (page,)).fetchone()
        validators = Validators(**json.loads(told))
        result = await self.fetcher.fetch(Request(url, validators))
        record, seen = judge(page, result, copy, validators)
        if record.outcome == Outcome.CHANGED and seen is not None:
            record = replace(record, change_size=words_changed(self._old_text(page), seen.main_text))
        self._arrived.append(_Arrived(result, record, seen))
        if len(self._arrived) >= GROUP:
            self._record()

    def _old_text(self, page: int) -> str:
        """Return the main text of the copy we hold, as far as its body was kept."""
        place = self.store.db.execute(
            "select warc, offset, length from versions where page = ? order by visit desc limit 1", (page,)
        ).fetchone()
        if place is None or place[0] is None:
            return ""
        return see_page(self.bodies.read(place), self.store.urls([page])[0]).main_text

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
        noted: list[Noted] = []
        found: list[int] = []
        with self.store.transaction():
            for each, record in zip(arrived, records, strict=True):
                discovered, new_links = self._add_links(record)
                self.store.add_visit(self.cycle, record, new_links)
                noted.append(Noted(each.result.url, record, new_links, len(discovered)))
                found += discovered
            self._keep_manners()
        self._found += found
        for note in noted:
            record = note.record
            self._rows[record.page] = (record.at, record.outcome, *note.new_links, record.change_size)
            self.watch(note)

    def _keep_manners(self) -> None:
        """Keep what politeness must not forget: every host's gate and robots.txt."""
        self.store.db.executemany(
            "update hosts set gate = ? where host = ?",
            [(json.dumps(asdict(s)), self.store.host(s.host)) for s in self.fetcher.gate.export_changed()],
        )
        self.store.db.executemany(
            "insert or replace into robots (origin, record) values (?, ?)",
            [(record.origin, json.dumps(asdict(record))) for record in self.fetcher.robots.export_changed()],
        )

    def _with_body(self, arrived: _Arrived) -> VisitRecord:
        result, record, seen = arrived
        if seen is None or not seen.may_keep_body:
            return record
        return replace(record, warc=self.bodies.write(result.url, result.status, result.headers, result.body))

    def _add_links(self, record: VisitRecord) -> tuple[list[int], tuple[int, int]]:
        """Add the pages and links that a visit showed; return the pages that are new and the counts of new links."""
        if record.links is None:
            return [], (0, 0)
        known = len(self.store.index)
        urls = [link.url for link in record.links]
        pages = dict(zip(urls, self._pages_of(urls, record), strict=True))
        new_links = self.store.set_links(record, pages)
        first = record.outcome == Outcome.FIRST  # nothing to compare with: no link is new
        return list(range(known, len(self.store.index))), (0, 0) if first else new_links

    def _pages_of(self, urls: list[str], record: VisitRecord) -> list[int | None]:
        """Return the pages of URLs, making pages of those that are new, in scope, and within the budgets."""
        if not urls:
            return []
        pages: list[int | None] = self.store.index.find(url_hashes(urls)).tolist()
        fresh = list(dict.fromkeys(url for url, page in zip(urls, pages, strict=True) if page == -1))
        admitted = self.discovery.admit([url for url in fresh if self.scope(url)])
        made = self.store.add_pages(admitted, [host_of(url) for url in admitted], record.at, record.page).tolist()
        numbers = dict(zip(admitted, made, strict=True))
        return [numbers.get(url) if page == -1 else page for url, page in zip(urls, pages, strict=True)]
