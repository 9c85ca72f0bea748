"""The live web as a world: visits go out politely, and each is on disk before it counts.

Pages are asked host by host, one after the other in the policy's order, many hosts at once. What comes in is recorded
in small groups (live.recorder); a page whose visit was not recorded is still in the plan, and is asked again after a
restart.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import numpy as np

from recrawl.columns import PageIds
from recrawl.cycle import Opening
from recrawl.fetch.fetcher import Fetcher, Request
from recrawl.live.bodies import Bodies
from recrawl.live.judge import judge, validators_of, words_changed
from recrawl.live.rebuild import fill
from recrawl.live.recorder import Arrived, Recorder
from recrawl.live.signals import Heard, Signals
from recrawl.live.store import Store
from recrawl.live.store_visits import Copy
from recrawl.memory import Memory
from recrawl.see.page import see_page
from recrawl.urls.url import host_of
from recrawl.visits import Outcome, Visits, no_pages

AHEAD = 32  # pages of a host that are looked up at once
HOSTS_AT_ONCE = 256
DRAIN_S = 8.0  # how long visits under way may take when the crawl is told to stop


class StoppedError(Exception):
    """The crawl was told to stop; what was visited is recorded, the rest is still planned."""


class LiveWorld:
    """Answers visits from the web. Rows of pages that it finds are filled in the memory; the loop makes them known."""

    def __init__(
        self,
        recorder: Recorder,
        signals: Signals | None,
        memory: Memory,
        seed: int,
        runner: asyncio.Runner,
        stopping: asyncio.Event,
        heard: Callable[[Heard], None] = lambda _: None,
    ) -> None:
        self.recorder = recorder
        self.signals = signals  # None: what sites say of their pages is not asked for
        self.memory = memory
        self.seed = seed
        self.runner = runner
        self.stopping = stopping
        self.heard = heard
        self.store: Store = recorder.store
        self.bodies: Bodies = recorder.bodies
        assert recorder.fetcher is not None, "the live web is fetched"
        self.fetcher: Fetcher = recorder.fetcher
        self._cycle = 0
        self._round = 0

    def begin(self, cycle: int, at: float, budget: int) -> Opening:
        """Listen to what sites say, once a cycle, and return what was planned and spent before a restart."""
        self._cycle = cycle
        spent = self.store.visits_in(cycle)
        heard, announced = self._hear(at, budget - spent)
        return Opening(announced, spent + heard, self.store.planned(cycle))

    def _hear(self, at: float, budget: int) -> tuple[int, PageIds]:
        """Read the sitemaps and feeds that are due; return what that took of the budget, and the pages they named."""
        heard = self.store.heard_in(self._cycle)
        if heard is not None or self.signals is None:
            return heard or 0, no_pages()
        known = len(self.store.index)
        found = self.runner.run(
            self._unless_stopped(self.signals.hear(self._cycle, at, budget, self.memory.last_visit))
        )
        self.heard(found)
        pages = fill(self.store, self.memory, known, self.seed) if len(self.store.index) > known else no_pages()
        return found.visits, pages

    async def _unless_stopped(self, hearing: Coroutine[Any, Any, Heard]) -> Heard:
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
        """Visit the pages; returns when all are recorded. Raises StoppedError if the crawl is told to stop before."""
        self._round += 1
        self.recorder.begin(self._cycle)
        with self.store.transaction():
            self.store.plan(self._cycle, self._round, pages.tolist())
        self.runner.run(self._visit_all(pages))
        if len(self.recorder.rows) < len(pages):
            raise StoppedError
        return self._visits(pages)

    def _visits(self, pages: PageIds) -> Visits:
        rows, found = self.recorder.rows, np.array(self.recorder.found, dtype=np.int64)
        if len(found):
            fill(self.store, self.memory, int(found.min()), self.seed)
        columns = np.array([rows[page] for page in pages.tolist()], dtype=np.float64).reshape(-1, 6).T
        return Visits(
            pages=pages,
            at=columns[0],
            outcome=columns[1].astype(np.uint8),
            new_internal=columns[2].astype(np.int64),
            new_external=columns[3].astype(np.int64),
            change_size=columns[4],
            discovered=found[found < len(self.memory)],
            length=columns[5],
        )

    async def _visit_all(self, pages: PageIds) -> None:
        queues: dict[str, deque[int]] = defaultdict(deque)
        for page, url in zip(pages.tolist(), self.store.urls(pages.tolist()), strict=True):
            queues[host_of(url)].append(page)
        waiting = deque(queues.values())
        workers = [asyncio.ensure_future(self._work(waiting)) for _ in range(min(HOSTS_AT_ONCE, len(waiting)))]
        recording = asyncio.ensure_future(self.recorder.record_in_time())
        try:
            await self._until_done(workers, recording)
        finally:
            for task in (*workers, recording):
                task.cancel()
            await asyncio.gather(*workers, recording, return_exceptions=True)
        self.recorder.record()

    async def _until_done(self, workers: Sequence[asyncio.Future[None]], recording: asyncio.Future[None]) -> None:
        """Wait for the workers; when told to stop, only a little longer. An error of any of them ends the wait."""
        stop: asyncio.Future[Any] = asyncio.ensure_future(self.stopping.wait())
        left: set[asyncio.Future[Any]] = set(workers)
        try:
            while left and not self.stopping.is_set():
                everyone = left | {recording, stop}
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
        self.recorder.add(Arrived(result, record, keeps_body, feeds))

    def _old_text(self, copy: Copy) -> str:
        """Return the main text of the copy we hold, as far as its body was kept."""
        place = self.store.last_body(copy.page)
        return "" if place is None else see_page(self.bodies.read(place), copy.url).main_text
