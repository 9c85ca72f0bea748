"""One lane per host: its pages are asked for one after the other, all hosts at once, across the rounds of a cycle.

A round does not wait for its slowest host. It ends when every lane is done; when half of its pages are, and the others
are of hosts that must be left alone for longer than the round has lasted, or that have not answered since an earlier
round; or when it has taken twice as long as half of its pages did, and `patience_s` at least. What is left goes on in
its lane while the next rounds run beside it. A host only gets as many pages as it can take before the cycle ends, by
its delay and latency; the others are released, so that the budget goes to other hosts.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

HOSTS_AT_ONCE = 256
DRAIN_S = 8.0  # how long visits under way may take when the crawl is asked to stop
PATIENCE_S = 10.0


class Lanes:
    """Runs `ask` for every page; what will not be asked is in `released`."""

    def __init__(
        self,
        ask: Callable[[int], Awaitable[None]],
        room: Callable[[str], int],  # how many more pages a host can take before the cycle ends
        is_open: Callable[[int], bool],  # whether a page's host may be asked
        stopping: asyncio.Event,
        slow_s: Callable[[str], float] = lambda _: 0.0,  # how long a host slower than most must be left alone yet
    ) -> None:
        self.patience_s = PATIENCE_S
        self.released: list[int] = []
        self.shut: list[int] = []  # a page of each host that could take no more
        self._ask = ask
        self._room = room
        self._is_open = is_open
        self._stopping = stopping
        self._slow_s = slow_s
        self._asked_s: dict[str, float] = {}  # when the request under way in a lane began
        self._queues: dict[str, deque[int]] = defaultdict(deque)
        self._tasks: dict[str, asyncio.Future[None]] = {}
        self._slots = asyncio.Semaphore(HOSTS_AT_ONCE)
        self._answered = 0

    def add(self, pages: Iterable[tuple[int, str]]) -> None:
        """Put pages (page, host) at the end of their lanes."""
        for page, host in pages:
            self._queues[host].append(page)
        for host in list(self._queues):
            self._trim(host)
            if not self._queues[host] and host not in self._tasks:
                del self._queues[host]

    async def run(self, beside: asyncio.Future[Any], new: int) -> None:
        """Go on until the round is over (see the module); `new` pages of it were added. Errors of a task are raised."""
        loop = asyncio.get_running_loop()
        stop = asyncio.ensure_future(self._stopping.wait())
        self._collect([task for task in self._tasks.values() if task.done()])  # while the last round was recorded
        for host in [host for host, queue in self._queues.items() if queue and host not in self._tasks]:
            self._tasks[host] = asyncio.ensure_future(self._work(host))
        begun_s, half_s, goal = loop.time(), float("inf"), self._answered + max(1, new // 2)
        try:
            while self._tasks and not self._stopping.is_set():
                if half_s == float("inf") and self._answered >= goal:
                    half_s = loop.time() - begun_s
                end_s = begun_s + max(self.patience_s, 2 * half_s)
                if new and (loop.time() >= end_s or (half_s < float("inf") and self._all_slow(begun_s, loop.time()))):
                    return
                waited = {*self._tasks.values(), beside, stop}
                timeout = min(0.5, max(0.01, end_s - loop.time())) if new else None
                done, _ = await asyncio.wait(waited, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
                self._collect(done)
            if self._tasks:  # asked to stop
                await asyncio.wait(self._tasks.values(), timeout=DRAIN_S)
        finally:
            stop.cancel()

    def _all_slow(self, begun_s: float, now_s: float) -> bool:
        """Whether a round that began then would wait for hosts alone that hold up all others."""
        return all(
            self._slow_s(host) > now_s - begun_s or self._asked_s.get(host, now_s) < begun_s for host in self._tasks
        )

    def _collect(self, done: Iterable[asyncio.Future[Any]]) -> None:
        for task in done:
            if not task.cancelled():
                task.result()
        self._tasks = {host: task for host, task in self._tasks.items() if not task.done()}

    async def close(self) -> None:
        """Cancel what is under way."""
        tasks: Sequence[asyncio.Future[None]] = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._tasks.clear()

    async def _work(self, host: str) -> None:
        queue = self._queues[host]
        async with self._slots:
            while queue and not self._stopping.is_set():
                if not self._is_open(queue[0]):
                    self.released += queue
                    queue.clear()
                    break
                self._asked_s[host] = asyncio.get_running_loop().time()
                await self._ask(queue.popleft())
                self._answered += 1
                self._trim(host)
        self._asked_s.pop(host, None)
        if not queue:
            del self._queues[host]

    def _trim(self, host: str) -> None:
        """Release what a host cannot take before the cycle ends."""
        queue = self._queues[host]
        room = max(0, self._room(host))  # a cap may be lower than what was asked for before a restart
        if len(queue) > room:
            self.shut.append(queue[-1])
            while len(queue) > room:
                self.released.append(queue.pop())
