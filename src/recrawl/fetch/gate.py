"""The politeness gate: when each host may get the next request.

All waiting is measured with the monotonic clock. A host's delay counts from the end of its last answer, so the gap
between two requests in the host's own log is never shorter than the delay. It is the longest of the configured delay,
the host's Crawl-delay, and a multiple of the host's recent latency. Hosts that say 429 or 503 are left alone as long as
they ask for (clamped), hosts that fail again and again for longer and longer (a circuit breaker: after the wait one
request tries, and opens or closes it).

The state of every host can be exported and restored. A restored host waits at least its whole delay, counted from the
restart: whatever was asked just before a crash, known or not, is thereby paid for. So does a host that was not known.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime

from recrawl.clock import DAY_S, Clock
from recrawl.fetch.settings import GateSettings

_SMOOTHING = 0.3  # weight of the newest latency
_QUEUE_FORGET = 10_000  # idle hosts are forgotten beyond this many


@dataclass(frozen=True, slots=True)
class HostState:
    """What must survive a restart, for one host."""

    host: str
    saved_at: float  # our calendar, days
    wait_s: float  # how long the host was still to be left alone when this was saved
    delay_s: float
    latency_s: float = 0.0
    crawl_delay_s: float = 0.0
    failures: int = 0
    backoffs: int = 0


@dataclass(slots=True)
class _Host:
    ready_s: float  # on the monotonic clock
    slots: asyncio.Semaphore
    latency_s: float = 0.0
    crawl_delay_s: float = 0.0
    own_delay_s: float = 0.0
    failures: int = 0
    backoffs: int = 0
    busy: int = 0
    waiting: int = 0


@dataclass
class Gate:
    """One gate for all hosts."""

    clock: Clock
    settings: GateSettings = field(default_factory=GateSettings)

    def __post_init__(self) -> None:
        self._hosts: dict[str, _Host] = {}
        self._changed: set[str] = set()
        self.own_delay_s: Callable[[str], float] = lambda _: 0.0  # what the user wants of a host
        self._resumed_s = float("-inf")  # with restore: strangers wait, too, counted from here

    def delay_s(self, host: str) -> float:
        """The pause after an answer of this host."""
        state = self._hosts.get(host)
        return self.settings.min_delay_s if state is None else self._delay_s(state)

    def pace_s(self, host: str) -> float:
        """Seconds from one request to the next, as far as is known: the delay and the host's latency."""
        state = self._hosts.get(host)
        return self.delay_s(host) + (state.latency_s if state else 0.0)

    def _delay_s(self, state: _Host) -> float:
        settings = self.settings
        adaptive = min(settings.latency_factor * state.latency_s, settings.max_delay_s)
        return max(settings.min_delay_s, adaptive, state.crawl_delay_s, state.own_delay_s)

    def ready_in_s(self, host: str) -> float:
        """Seconds until this host may get a request (0: now), busy connections apart."""
        state = self._hosts.get(host)
        ready_s = state.ready_s if state else self._resumed_s + self.settings.min_delay_s
        return max(0.0, ready_s - self.clock.monotonic_s())

    async def enter(self, host: str, max_wait_s: float) -> bool:
        """Wait for this host's turn; False if that would take longer than `max_wait_s`. Pair with `leave`."""
        state = self._state(host)
        state.waiting += 1
        try:
            ahead_s = (state.waiting - 1) * self._delay_s(state) / self.settings.connections
            if state.ready_s - self.clock.monotonic_s() + ahead_s > max_wait_s:
                return False
            await state.slots.acquire()
            try:
                while (wait_s := state.ready_s - self.clock.monotonic_s()) > 0:
                    if wait_s > max_wait_s:
                        state.slots.release()
                        return False
                    await self.clock.sleep(wait_s)
            except BaseException:
                state.slots.release()
                raise
        finally:
            state.waiting -= 1
        state.busy += 1
        state.ready_s = self.clock.monotonic_s() + self._delay_s(state)
        self._changed.add(host)
        return True

    def leave(self, host: str, *, latency_s: float | None = None, failed: bool = False, well: bool = True) -> None:
        """Note that a request to this host has ended: how long the host took to answer, whether it failed.

        A host that answers `well` is forgiven its failures; one that says "later" is neither failing nor well.
        """
        state = self._hosts[host]
        state.busy -= 1
        if latency_s is not None:
            known = state.latency_s or latency_s
            state.latency_s = (1 - _SMOOTHING) * known + _SMOOTHING * latency_s
        self._postpone(host, state, self._delay_s(state))
        if failed:
            self.note_failure(host)
        elif well:
            state.failures = state.backoffs = 0
        state.slots.release()

    def note_failure(self, host: str) -> None:
        """Circuit breaker: count a failure of the host; from the fifth in a row on, pause it, doubling each time."""
        state = self._state(host)
        state.failures += 1
        beyond = state.failures - self.settings.breaker_failures
        if beyond >= 0:
            self._postpone(
                host, state, min(self.settings.breaker_s * 2.0 ** min(beyond, 30), self.settings.max_backoff_s)
            )

    def back_off(self, host: str, retry_after: str) -> float:
        """Pause a host that answered 429 or 503, by its Retry-After; return for how many seconds."""
        state = self._state(host)
        asked_s = parse_retry_after(retry_after, self.clock.now())
        if asked_s is None:
            asked_s = self.settings.default_backoff_s * 2.0 ** min(state.backoffs, 30)
        state.backoffs += 1
        wait_s = min(max(asked_s, self._delay_s(state)), self.settings.max_backoff_s)
        self._postpone(host, state, wait_s)
        return wait_s

    def set_crawl_delay(self, host: str, crawl_delay_s: float) -> None:
        """Set the Crawl-delay of the host's robots.txt."""
        state = self._state(host)
        if state.crawl_delay_s != crawl_delay_s:
            before_s = self._delay_s(state)
            state.crawl_delay_s = crawl_delay_s
            longer_s = self._delay_s(state) - before_s
            waits_s = state.ready_s - self.clock.monotonic_s()
            if longer_s < 0 and 0 < waits_s <= before_s and not (state.backoffs or state.failures):
                state.ready_s += longer_s  # the host no longer asks for the wait that is on
            elif longer_s > 0 and state.ready_s > self.clock.monotonic_s() - self._delay_s(state):
                state.ready_s += longer_s  # the request before was made under the old delay
            self._changed.add(host)

    def export_changed(self) -> list[HostState]:
        """Return the state of every host that changed since the last call, for the store."""
        now_s, at = self.clock.monotonic_s(), self.clock.now()
        states = [
            self._export(name, self._hosts[name], now_s, at) for name in sorted(self._changed) if name in self._hosts
        ]
        self._changed.clear()
        return states

    def _export(self, name: str, state: _Host, now_s: float, at: float) -> HostState:
        return HostState(
            host=name,
            saved_at=at,
            wait_s=max(0.0, state.ready_s - now_s),
            delay_s=self._delay_s(state),
            latency_s=state.latency_s,
            crawl_delay_s=state.crawl_delay_s,
            failures=state.failures,
            backoffs=state.backoffs,
        )

    def take_over(self, owned: Callable[[str], bool], states: Iterable[HostState]) -> None:
        """Ask the hosts that are `owned` from now on instead of another process, which left these states."""
        for host in [host for host, state in self._hosts.items() if owned(host) and not (state.busy or state.waiting)]:
            del self._hosts[host]
        self.restore(states)

    def restore(self, states: Iterable[HostState]) -> None:
        """Take over the states of an earlier run. Call before the first request, even with no states."""
        self._resumed_s = self.clock.monotonic_s()
        for saved in states:
            state = self._state(saved.host)
            state.latency_s, state.crawl_delay_s = saved.latency_s, saved.crawl_delay_s
            state.failures, state.backoffs = saved.failures, saved.backoffs
            # The calendar may have been set back or forth meanwhile: time that did not pass is not counted, and
            # never is the wait shorter than the whole delay.
            passed_s = max(0.0, (self.clock.now() - saved.saved_at) * DAY_S)
            wait_s = max(min(saved.wait_s, self.settings.max_backoff_s) - passed_s, saved.delay_s, self._delay_s(state))
            state.ready_s = self._resumed_s + wait_s

    def _state(self, host: str) -> _Host:
        state = self._hosts.get(host)
        if state is None:
            if len(self._hosts) >= _QUEUE_FORGET and len(self._hosts) % _QUEUE_FORGET == 0:
                self._forget_idle()
            ready_s = self._resumed_s + self.settings.min_delay_s
            state = self._hosts[host] = _Host(ready_s, asyncio.Semaphore(self.settings.connections))
            state.own_delay_s = self.own_delay_s(host)
        return state

    def _forget_idle(self) -> None:
        """Drop hosts without any state beyond being ready for a request."""
        now_s = self.clock.monotonic_s()
        idle = [
            name
            for name, state in self._hosts.items()
            if state.ready_s < now_s
            and not (state.busy or state.waiting or state.failures or state.backoffs or state.crawl_delay_s)
            and name not in self._changed
        ]
        for name in idle:
            del self._hosts[name]

    def _postpone(self, host: str, state: _Host, wait_s: float) -> None:
        state.ready_s = max(state.ready_s, self.clock.monotonic_s() + wait_s)
        self._changed.add(host)


def parse_retry_after(text: str, now: float) -> float | None:
    """Read Retry-After (seconds or a date) into seconds from `now` by our own clock; None if it is neither.

    A date in the past, like a negative number, is not an answer to "how long": None.
    """
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:12])
    try:
        seconds = (parsedate_to_datetime(text).timestamp() / DAY_S - now) * DAY_S
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return seconds if seconds >= 0 else None
