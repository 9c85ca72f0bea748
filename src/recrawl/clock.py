"""The only place that reads the clock or sleeps.

Two clocks answer two questions. `now` says what time it is: float days since 1970 (UTC); it may jump when the machine's
clock is set, so it only ever dates things. `monotonic_s` says how long something took or must wait; it never goes
back, so politeness is measured with it alone. Code that needs either takes a `Clock`, so tests bring their own.
"""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

DAY_S = 86_400.0


class Clock(Protocol):
    """Tells the time, measures spans, and waits."""

    def now(self) -> float:
        """Return the days since 1970-01-01 (UTC)."""
        ...

    def monotonic_s(self) -> float:
        """Return seconds since some fixed moment; never goes back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; other work goes on meanwhile."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Return the days since 1970-01-01 (UTC)."""
        return time.time() / DAY_S

    def monotonic_s(self) -> float:
        """Return seconds since some fixed moment; never goes back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait; other work goes on meanwhile."""
        await asyncio.sleep(max(0.0, seconds))


class ScaledClock(SystemClock):
    """A calendar that runs `speed` times as fast as the machine's, from `start` on; waits stay real."""

    def __init__(self, *, speed: float, start: float) -> None:
        self.speed = speed
        self.start = start
        self._began_s = time.monotonic()

    def now(self) -> float:
        """Return the scaled days since 1970-01-01 (UTC)."""
        return self.start + (time.monotonic() - self._began_s) * self.speed / DAY_S


class ManualClock:
    """Time moves only when someone sleeps or it is told to; a day of waiting takes no time at all."""

    def __init__(self, now: float = 20_000.0) -> None:
        self._wall = now
        self._elapsed_s = 1_000.0
        self.slept_s: list[float] = []

    def now(self) -> float:
        """Return the days since 1970-01-01 (UTC)."""
        return self._wall

    def monotonic_s(self) -> float:
        """Return seconds since some fixed moment; never goes back."""
        return self._elapsed_s

    async def sleep(self, seconds: float) -> None:
        """Move time on to the end of this wait, unless another sleeper has moved it further already."""
        until_s = self._elapsed_s + max(0.0, seconds)
        self.slept_s.append(seconds)
        await asyncio.sleep(0)
        self.advance(max(0.0, until_s - self._elapsed_s))

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._elapsed_s += seconds
        self._wall += seconds / DAY_S

    def set_wall(self, now: float) -> None:
        """Set the calendar as an administrator would; spans are not affected."""
        self._wall = now
