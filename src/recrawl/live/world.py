"""The live web as a world: visits go out politely, and each is on disk before it counts.

Pages are asked host by host, each host in its own lane (live.lanes), in the policy's order. What comes in is recorded
in small groups (live.recorder); a page whose visit was not recorded is still in the plan, and is asked again after a
restart. A page that cannot be asked is barred, with the reason (live.standing), and costs no budget.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import numpy as np

from recrawl.clock import DAY_S
from recrawl.columns import PageIds
from recrawl.cycle import Opening
from recrawl.eligibility import Bar
from recrawl.fetch.fetcher import Fetcher, Request
from recrawl.live.answer_reader import Answered, AnswerReader
from recrawl.live.bodies import Bodies
from recrawl.live.crawl_rounds import learnable
from recrawl.live.judge import validators_of
from recrawl.live.lanes import Lanes
from recrawl.live.page_reader import PageReader
from recrawl.live.reading_queue import ReadingQueue
from recrawl.live.rebuild import fill
from recrawl.live.recorder import Recorder
from recrawl.live.signals import Heard, Signals
from recrawl.live.site_settings import SiteSettings
from recrawl.live.standing import Standing
from recrawl.live.store import Store
from recrawl.live.store_visits import Copy
from recrawl.memory import Memory
from recrawl.urls.url import host_of
from recrawl.visits import Visits, no_pages

LEAST_CYCLE_S = 10.0  # however short the cycles, hosts get this long to answer
MANY_S = 1e9  # a cycle is never longer
T = TypeVar("T")
LEAST_S = 1e-3  # a host takes at most a thousand requests per second
MOST_COPIES = 20_000  # that are read with the URLs of a round; of larger rounds, one by one
SLOW_S = 2.0  # a host that must be left alone for longer is slow, unless all hosts are


class StoppedError(Exception):
    """The crawl was asked to stop; what was visited is recorded, the rest is still planned."""


class LiveWorld:
    """Fetches visits from the web. Rows of discovered pages are filled in the memory; the loop makes them known."""

    def __init__(
        self,
        recorder: Recorder,
        signals: Signals | None,
        memory: Memory,
        seed: int,
        runner: asyncio.Runner,
        stopping: asyncio.Event,
        heard: Callable[[Heard], None] = lambda _: None,
        site: Callable[[str], SiteSettings] = lambda _: SiteSettings(),
        asked: Callable[[], int] = lambda: 0,
    ) -> None:
        self.asked = asked  # how many visits the policy was asked for since the last time
        self.site = site  # what holds for a host alone
        self.recorder = recorder
        self.signals = signals  # None: sitemaps and feeds are not read
        self.memory = memory
        self.seed = seed
        self.runner = runner
        self.stopping = stopping
        self.heard = heard
        self.store: Store = recorder.store
        self.bodies: Bodies = recorder.bodies
        assert recorder.fetcher is not None, "the live web is fetched"
        self.fetcher: Fetcher = recorder.fetcher
        self.reader = PageReader()
        self.answers = AnswerReader(self.reader, self.bodies.folder)
        self.queue = ReadingQueue(self.answers, recorder)
        self.standing = Standing(self.store, self.fetcher, memory)
        self.lanes = Lanes(self._ask, self._room, self.standing.is_open, stopping, self._slow_s)
        self._pending: dict[int, str] = {}  # pages under way, in the order of their choice: their URLs
        self._copies: dict[int, Copy] = {}  # of pages under way that were not asked yet, as many as are kept at hand
        self._cycle = 0
        self._round = 0
        self._learnt: list[tuple[int, list[int]]] = []  # rounds that are not on disk yet
        self._asked: Counter[str] = Counter()  # pages asked for in this cycle, by host
        self.hurries = True  # False: a cycle takes as long as its visits take
        self.room_s: float | None = None  # seconds that a cycle's visits may take; None: until the next is due
        self._ends_s = np.inf  # on the monotonic clock

    @property
    def under_way(self) -> int:
        """Pages that were chosen and are neither recorded nor released."""
        return len(self._pending)

    def begin(self, cycle: int, at: float, budget: int) -> Opening:
        """Read sitemaps and feeds once per cycle, and return what was planned and spent before a restart."""
        self._cycle, self._round, spent = cycle, self.store.last_round(cycle), self.store.visits_in(cycle)
        lasts_s = max(self.memory.cycle_days * DAY_S, LEAST_CYCLE_S) if self.room_s is None else self.room_s
        self._ends_s = self.fetcher.clock.monotonic_s() + lasts_s if self.hurries else np.inf
        self._asked = Counter(self.store.visits_by_host(cycle)) if spent else Counter()
        self.recorder.begin(cycle)
        self._copies.clear()
        if spent:
            with self.store.transaction():
                self.store.close_rounds(cycle)
        self.standing.begin()
        probes = self.runner.run(self.unless_stopped(self.standing.probe()))
        self.standing.write(cycle, [])
        heard, announced = self._hear(at, budget - spent - probes)
        return Opening(announced, spent + probes + heard, self.store.planned(cycle))

    def close(self) -> None:
        """Cancel what is under way."""
        self.runner.run(self.lanes.close())
        self.runner.run(self.standing.close())
        if self.signals is not None:
            self.runner.run(self.signals.close())
        self.runner.run(self.reader.close())

    def _hear(self, at: float, budget: int) -> tuple[int, PageIds]:
        """Read the sitemaps and feeds that are due; return what that took of the budget, and the pages they named."""
        heard = self.store.heard_in(self._cycle)
        if heard is not None or self.signals is None:
            return heard or 0, no_pages()
        known = len(self.store.index)
        found = self.runner.run(self.unless_stopped(self.signals.hear(self._cycle, at, budget, self.memory.last_visit)))
        self.heard(found)
        pages = fill(self.store, self.memory, known, self.seed) if len(self.store.index) > known else no_pages()
        return found.visits, pages

    async def unless_stopped(self, hearing: Coroutine[Any, Any, T]) -> T:
        """Await something; StoppedError as soon as the crawl is asked to stop."""
        task = asyncio.ensure_future(hearing)
        stop = asyncio.ensure_future(self.stopping.wait())
        await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            raise StoppedError
        return task.result()

    def visit(self, pages: PageIds, at: float) -> Visits:
        """Visit the pages, as long as the round lasts; raises StoppedError if the crawl is asked to stop meanwhile."""
        self._round += 1
        chosen = self._urls_of(pages.tolist())
        with self.store.transaction():
            self.store.plan(self._cycle, self._round, list(chosen))
            self.keep_rounds()
        self._pending |= chosen
        self.memory.bars.page[pages] = Bar.UNDER_WAY
        self.lanes.add((page, host_of(url)) for page, url in chosen.items())
        self._release()
        self.runner.run(self._visit_round(len(chosen)))
        self._release()
        if self.stopping.is_set() and self._pending.keys() - self.recorder.rows.keys():
            raise StoppedError
        return self._visits()

    def _urls_of(self, pages: list[int]) -> dict[int, str]:
        """Return the URLs of pages; what is stored of them is read along with these, unless they are too many."""
        if len(self._copies) + len(pages) > MOST_COPIES:
            return dict(zip(pages, self.store.urls(pages), strict=True))
        copies = self.store.copies(pages)
        self._copies.update(zip(pages, copies, strict=True))
        return {copy.page: copy.url for copy in copies}

    def keep_rounds(self) -> None:
        """Note the rounds that were learnt from, within a transaction: before anything that follows from them."""
        self.store.add_rounds(self._cycle, self._learnt)
        self._learnt = []

    def _release(self) -> None:
        """Bar what was turned away, and release what will not be visited in this cycle."""
        for page in self.lanes.shut:
            self.standing.fill_up(page)
        released, self.lanes.released, self.lanes.shut = self.lanes.released, [], []
        for page in released:
            del self._pending[page]
            self._copies.pop(page, None)
            self.memory.bars.page[page] = Bar.OPEN
        self.standing.write(self._cycle, released)

    def _room(self, host: str) -> int:
        """How many requests a host can take before the cycle ends."""
        gate = self.fetcher.gate
        left_s = min(self._ends_s - self.fetcher.clock.monotonic_s(), MANY_S) - gate.ready_in_s(host)
        room = 0 if left_s <= 0 else 1 + int(left_s / max(gate.pace_s(host), LEAST_S))
        cap = self.site(host).cap
        return min(room, cap - self._asked[host]) if cap else room

    def _slow_s(self, host: str) -> float:
        """How long a host that is slower than most must be left alone yet; 0: it is not slow."""
        gate = self.fetcher.gate
        left_s = gate.ready_in_s(host)
        return left_s if left_s > max(SLOW_S, 2 * gate.settings.min_delay_s) else 0.0

    def _visits(self) -> Visits:
        """Return the visits recorded since the last time, in the order in which their pages were chosen."""
        rows, found = self.recorder.take()
        pages = [page for page in self._pending if page in rows]
        for page in pages:
            del self._pending[page]
        aliases, self.recorder.aliases = self.recorder.aliases, []
        if len(found):
            fill(self.store, self.memory, int(found.min()), self.seed)
        self.memory.bars.page[pages] = Bar.OPEN
        self.memory.bars.page[aliases] = Bar.ALIAS
        if pages:
            self._learnt.append((self.asked(), pages))
        return learnable(rows, pages, found, self.memory)

    async def _visit_round(self, new: int) -> None:
        self.queue.begin()
        reading = asyncio.ensure_future(self.queue.read())
        beside = asyncio.gather(reading, self.recorder.record_in_time())
        try:
            await self.lanes.run(beside, new)
            self.queue.end()
            await reading
        finally:
            if self.stopping.is_set():
                await self.lanes.close()
            beside.cancel()
            await asyncio.gather(beside, return_exceptions=True)
        self.recorder.record()

    async def _ask(self, page: int) -> None:
        copy = self._copies.pop(page, None) or self.store.copy(page)
        validators = validators_of(copy)
        host = host_of(copy.url)
        self._asked[host] += 1
        result = await self.fetcher.fetch(Request(copy.url, validators))
        if self.standing.turned_away(page, result):
            self.lanes.released.append(page)
            return
        self.standing.note_visit(page, result)
        if self.answers.is_small(result):
            self.queue.add(Answered(copy, result, validators))
            if self.queue.is_full():
                await self.queue.room()
            return
        await self.recorder.take_in(await self.answers.read(copy, result, validators))
