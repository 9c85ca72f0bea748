"""The only place that reads the clock or sleeps.

Two clocks answer two questions. `now` says what time it is: float days since 1970 (UTC); it may jump when the machine's
clock is set, so it only ever dates things. `monotonic_s` says how long something took or must wait; it never goes
back, so politeness is measured with it alone. Code that needs either takes a `Clock`, so tests bring their own.
"""

from __future__ import annotations

import time
from typing import Protocol

DAY_S = 86_400.0


class Clock(Protocol):
    """Tells the time, measures spans, and waits."""

    def now(self) -> float:
        """Return the days since 1970-01-01 (UTC)."""

    def monotonic_s(self) -> float:
        """Return seconds since some fixed moment; never goes back."""

    async def sleep(self, seconds: float) -> None:
        """Wait; other work goes on meanwhile."""


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
        import asyncio  # here, since verbs that only tell the time need no event loop

        await asyncio.sleep(max(0.0, seconds))
