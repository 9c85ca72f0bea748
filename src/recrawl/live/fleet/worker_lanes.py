"""A worker's tasks: one lane per host, its tasks one after the other, all hosts at once."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable

from recrawl.live.fleet.store_fleet import FleetTask
from recrawl.live.lanes import HOSTS_AT_ONCE
from recrawl.urls.url import registrable_domain


class WorkerLanes:
    """Runs `ask` for every task; what was not asked when a site is given up is forgotten: another asks it."""

    def __init__(self, ask: Callable[[str, FleetTask], Awaitable[None]]) -> None:
        self._ask = ask
        self._queues: dict[str, deque[FleetTask]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(HOSTS_AT_ONCE)
        self._known: set[int] = set()
        self._given_up: set[str] = set()
        self.fault: Exception | None = None  # the first that a task met: nobody awaits it there

    def add(self, tasks: Iterable[tuple[str, FleetTask]]) -> int:
        """Queue tasks of hosts that are new here; return how many."""
        new = 0
        for host, task in tasks:
            if task.task in self._known or task.site in self._given_up:
                continue
            new += 1
            self._known.add(task.task)
            self._queues.setdefault(host, deque()).append(task)
        for host in self._queues:
            if host not in self._tasks:
                self._tasks[host] = asyncio.ensure_future(self._work(host))
        return new

    def queued(self, host: str) -> deque[FleetTask]:
        """Return what waits behind a host's task under way; may be emptied."""
        return self._queues.get(host, deque())

    def put_back(self, host: str, task: FleetTask) -> None:
        """Ask a task again, before the others of its host."""
        self._queues.setdefault(host, deque()).appendleft(task)

    def sites(self) -> set[str]:
        """Return the sites that have something queued or under way."""
        return {registrable_domain(host) for host in self._tasks}

    def give_up(self, site: str) -> None:
        """Ask nothing more of a site; its tasks under way end."""
        self._given_up.add(site)
        for host, queue in self._queues.items():
            if registrable_domain(host) == site:
                self._known.difference_update(task.task for task in queue)
                queue.clear()

    def is_given_up(self, site: str) -> bool:
        """Whether a site is being given up."""
        return site in self._given_up

    def forget(self, site: str) -> None:
        """Let a site that was given up be claimed again."""
        self._given_up.discard(site)

    def forget_tasks(self) -> None:
        """Forget everything that is not under way: another cycle begins."""
        for queue in self._queues.values():
            queue.clear()
        self._known.clear()

    async def _work(self, host: str) -> None:
        try:
            async with self._slots:
                queue = self._queues[host]
                while queue:
                    await self._ask(host, queue.popleft())
        except Exception as error:
            self.fault = self.fault or error
        finally:
            self._queues.pop(host, None)
            self._tasks.pop(host, None)

    async def drain(self, wait_s: float) -> None:
        """Let what is under way end, then cancel what does not."""
        for queue in self._queues.values():
            queue.clear()
        if self._tasks:
            await asyncio.wait(list(self._tasks.values()), timeout=wait_s)
        await self.close()

    async def close(self) -> None:
        """Cancel what is under way."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
