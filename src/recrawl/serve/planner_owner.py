"""The one thread that holds the planner of a served crawl: what is asked of it is done one after the other.

The planner is opened when it is first needed. A crawl that another process holds (`recrawl run`) has no planner here:
that process fetches by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from aiohttp import web

from recrawl.clock import DAY_S, Clock
from recrawl.errors import HeldError
from recrawl.live.facade import Crawl
from recrawl.live.planner import Planner

T = TypeVar("T")


class PlannerOwner:
    """Runs functions of the planner in its own thread, and wakes those who wait for something to become due."""

    def __init__(self, crawl: Crawl, clock: Clock) -> None:
        self._crawl = crawl
        self._clock = clock
        self._planner: Planner | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="planner")
        self._news = asyncio.Event()

    @property
    def is_open(self) -> bool:
        """Whether this process holds the crawl."""
        return self._planner is not None

    async def ask(self, question: Callable[[Planner], T]) -> T:
        """Run a function of the planner; 409 where another process holds the crawl."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._asked, question)

    async def tell(self, change: Callable[[Planner], T]) -> T:
        """Run a function that may make pages due, and wake those who wait for some."""
        try:
            return await self.ask(change)
        finally:
            self._news.set()
            self._news = asyncio.Event()

    def _asked(self, question: Callable[[Planner], T]) -> T:
        if self._planner is None:
            try:
                self._planner = Planner(self._crawl, *self._crawl.steering(), clock=self._clock)
            except HeldError as error:
                raise web.HTTPConflict(text=f"{error}: it fetches by itself, nothing is leased or reported") from None
        return question(self._planner)

    async def news(self, seconds: float, stopping: asyncio.Event) -> None:
        """Wait until something may have become due, so many seconds at most, or the server stops."""
        tasks = [asyncio.ensure_future(event.wait()) for event in (self._news, stopping)]
        try:
            await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()

    def close(self) -> None:
        """Wait for what is under way, and let go of the crawl; leases go on."""
        self._thread.submit(self._close).result()
        self._thread.shutdown(wait=True)

    def _close(self) -> None:
        if self._planner is not None:
            self._planner.close()
            self._planner = None


def seconds_until_due(planner: Planner) -> float:
    """Return the seconds until a lease ends or the cycle's time is over: nothing becomes due by itself before."""
    now, at = planner.now(), planner.next_change_at()
    return max(0.0, (at - now) * DAY_S)
