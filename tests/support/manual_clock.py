"""A clock that a test moves."""

from __future__ import annotations

import asyncio

from recrawl.clock import DAY_S


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
