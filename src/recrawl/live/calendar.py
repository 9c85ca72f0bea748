"""A monotonic clock for a crawl; its waits end when the crawl is asked to stop."""

from __future__ import annotations

import asyncio

from recrawl.clock import Clock


def year_of(at: float) -> int:
    """Return the year of a day since 1970-01-01."""
    return 1970 + int(at / 365.2425)


class Calendar:
    """Another clock, whose `now` continues from the latest time it has shown when the machine's clock is set back.

    Visits are ordered by time, and gaps between them must not be negative. `not_before` is the latest time in the
    store, so that a clock that was set back between two runs is noticed, too.
    """

    def __init__(self, clock: Clock, not_before: float = float("-inf")) -> None:
        self._clock = clock
        self._latest = not_before
        self._shift = 0.0
        self.stopping = asyncio.Event()
        self.monotonic_s = clock.monotonic_s  # asked a dozen times per visit

    def now(self) -> float:
        """Return the days since 1970-01-01 (UTC), never fewer than before."""
        now = self._clock.now() + self._shift
        if now < self._latest:
            self._shift += self._latest - now
            now = self._latest
        self._latest = now
        return now

    async def sleep(self, seconds: float) -> None:
        """Sleep; raise CancelledError as soon as the crawl is asked to stop."""
        if self.stopping.is_set():
            raise asyncio.CancelledError
        sleeper = asyncio.ensure_future(self._clock.sleep(seconds))
        stop = asyncio.ensure_future(self.stopping.wait())
        try:
            await asyncio.wait({sleeper, stop}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeper.cancel()
            stop.cancel()
        if self.stopping.is_set():
            raise asyncio.CancelledError
