"""Time limits of exchanges under way: one timer for all of them.

`asyncio.timeout` sets and cancels a timer of its own for each exchange, and again when the answer begins, though hardly
any of them ever goes off. Here a limit is an entry of a table, and the timer is set for the earliest one: when it goes
off it ends what is over and is set again.
"""

from __future__ import annotations

import asyncio

from recrawl.clock import SystemClock


class Limit:
    """The limit of one exchange, on the monotonic clock; may be moved while the exchange is under way."""

    __slots__ = ("at_s", "cancelling", "over", "task")

    def __init__(self, at_s: float, task: asyncio.Task[object]) -> None:
        self.at_s = at_s
        self.task = task
        self.cancelling = task.cancelling()  # requests to cancel the task that are not ours
        self.over = False

    def has_ended(self) -> bool:
        """Whether the cancellation that the task has just met is this limit's and nobody else's."""
        return self.over and self.task.uncancel() <= self.cancelling


class Deadlines:
    """The limits of all exchanges of an event loop."""

    def __init__(self) -> None:
        self._clock = SystemClock()  # timers go off by it, whatever the crawl's own clock is
        self._loop: asyncio.AbstractEventLoop | None = None
        self._limits: dict[Limit, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._looks_at_s = 0.0  # when the timer goes off

    def begin(self, seconds: float) -> Limit:
        """Limit what the running task does from here on; to be ended in any case."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()  # asked for once: it asks the system for the process's number
        task = asyncio.current_task(self._loop)
        assert task is not None, "an exchange runs in a task"
        limit = Limit(self._clock.monotonic_s() + seconds, task)
        self._limits[limit] = None
        if self._timer is None or limit.at_s < self._looks_at_s:
            self._set(limit.at_s)
        return limit

    def end(self, limit: Limit) -> None:
        """Lift a limit."""
        self._limits.pop(limit, None)

    def close(self) -> None:
        """Forget all limits."""
        self._limits.clear()
        self._loop = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set(self, at_s: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._looks_at_s = at_s
        wait_s = max(0.0, at_s - self._clock.monotonic_s())
        self._timer = asyncio.get_running_loop().call_later(wait_s, self._look)

    def _look(self) -> None:
        """End the exchanges whose time is over, and look again when the next one's is."""
        self._timer = None
        now_s = self._clock.monotonic_s()
        for limit in [limit for limit in self._limits if limit.at_s <= now_s]:
            del self._limits[limit]
            limit.over = True
            limit.task.cancel()
        if self._limits:
            self._set(min(limit.at_s for limit in self._limits))
