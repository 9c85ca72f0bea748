"""Bars of hosts and pages: which are not visited, for how long, and when a host that was down is probed.

Before a cycle the reasons that do not outlast one are forgotten, and a host that was down is probed: its robots.txt is
asked for, once a cycle, and further apart the longer the host is down (the gate's circuit breaker). When it answers,
its pages may be visited again in the same cycle. A host whose robots.txt disallows pages has it read again when a day
is over; where it was, those pages are tried again, which costs no request if they are still disallowed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import numpy as np

from recrawl.eligibility import Bar
from recrawl.fetch.fetcher import Fetcher
from recrawl.fetch.guard import private_network_in
from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.live.store import Store
from recrawl.live.store_bars import LASTING
from recrawl.memory import Memory
from recrawl.urls.url import host_of, parse
from recrawl.visits import Outcome

PROBE_S = 3.0  # how long a cycle's first visits wait for probes; those that take longer go on beside them

PAGE_BARS = {
    Kind.ROBOTS_DISALLOWED: Bar.DISALLOWED,
    Kind.OUT_OF_SCOPE: Bar.OUT_OF_SCOPE,
    Kind.INVALID_URL: Bar.REFUSED,
    Kind.REFUSED_PORT: Bar.REFUSED,
}
HOST_BARS = {
    Kind.REFUSED_ADDRESS: Bar.REFUSED,
    Kind.HOST_PAUSED: Bar.LEFT_ALONE,
    Kind.CRAWL_DELAY_ABSURD: Bar.LEFT_ALONE,
    Kind.ROBOTS_UNREACHABLE: Bar.HOST_DOWN,
    Kind.DNS_FAILED: Bar.HOST_DOWN,
}
HINTS = {
    Kind.OUT_OF_SCOPE: "; see [scope] in recrawl.toml",
    Kind.CRAWL_DELAY_ABSURD: "; see max_crawl_delay_s in recrawl.toml",
}
_OK = Kind.OK  # quick to look up
_ASKED = (int(Bar.OPEN), int(Bar.HOST_FULL))
NO_ANSWER = frozenset({Kind.CONNECT_FAILED, Kind.CONNECT_TIMEOUT, Kind.TLS_FAILED, Kind.DNS_FAILED})


def hint_for(kind: Kind, reason: str) -> str:
    """Return which setting lets be asked for what was refused; empty where none does."""
    if kind is not Kind.REFUSED_ADDRESS:
        return HINTS.get(kind, "")
    network = private_network_in(reason)
    return f'; to crawl a private network: allow_networks = ["{network}"] in [fetch] of recrawl.toml' if network else ""


def why_unread(result: FetchResult) -> str:
    """Say why a sitemap or feed could not be read, and which setting allows it."""
    why = f"{result.kind} {result.reason or result.status}".strip()
    return f"{why}{hint_for(result.kind, result.reason)}"


class Standing:
    """Keeps the memory's bars and the store's in step. What is noted is written by `write`."""

    def __init__(self, store: Store, fetcher: Fetcher, memory: Memory) -> None:
        self.store = store
        self.fetcher = fetcher
        self.memory = memory
        self.reasons: dict[Kind, str] = {}  # the last refusal of each kind, for people
        self._pages: list[tuple[int, int]] = []  # not written yet
        self._hosts: dict[int, int] = {}
        self._probes: dict[int, asyncio.Task[None]] = {}

    def begin(self) -> None:
        """Open a cycle: forget what does not outlast one, and take over what the user paused, resumed or removed."""
        lasting = {host: bar for host, bar in self.store.hosts_barred().items() if bar in LASTING}
        with self.store.transaction():
            self.store.forget_hosts_barred()
        self.look()
        self.reasons.clear()
        self.memory.bars.site[:] = Bar.OPEN
        for host, bar in lasting.items():
            if host < len(self.memory.bars.site):
                self.memory.bars.site[host] = bar

    def look(self) -> None:
        """Take over which pages are barred by themselves."""
        bars = self.memory.bars.page
        bars[bars != Bar.UNDER_WAY] = Bar.OPEN
        rows = np.array(self.store.barred(), dtype=np.int64).reshape(-1, 2)
        rows = rows[rows[:, 0] < len(bars)]
        bars[rows[:, 0]] = rows[:, 1]

    async def probe(self) -> int:
        """Fetch robots.txt of hosts that are down or disallow pages; return how many are fetched."""
        down = [host for host, bar in self.store.hosts_barred().items() if bar is Bar.HOST_DOWN]
        shut = [host for host in self.store.hosts_of_disallowed() if host not in down]
        urls = self.store.first_pages([*down, *shut])
        for host in shut:
            self._start(host, self._reread(host, urls[host]))
        ready = [host for host in down if self._is_ready(urls[host])]
        for host in ready:
            self._start(host, self._knock(host, urls[host]))
        if self._probes:
            await asyncio.wait(self._probes.values(), timeout=PROBE_S)
        return len(ready)

    def _start(self, host: int, probing: Coroutine[Any, Any, None]) -> None:
        if host in self._probes:
            probing.close()
            return
        task = self._probes[host] = asyncio.ensure_future(probing)
        task.add_done_callback(lambda _: self._probes.pop(host, None))

    async def close(self) -> None:
        """Cancel probes under way."""
        probes = list(self._probes.values())
        for probe in probes:
            probe.cancel()
        await asyncio.gather(*probes, return_exceptions=True)

    def _is_ready(self, url: str) -> bool:
        return self.fetcher.gate.ready_in_s(host_of(url)) <= self.fetcher.settings.max_wait_s

    async def _knock(self, host: int, url: str) -> None:
        parsed = parse(url)
        if parsed is not None and await self.fetcher.robots.ask_again(parsed):
            self._bar_host(host, Bar.OPEN)
        else:
            self.reasons[Kind.ROBOTS_UNREACHABLE] = f"{host_of(url)} did not answer when asked again"

    async def _reread(self, host: int, url: str) -> None:
        """Read a robots.txt again if it is due, and then let the pages that it disallowed be tried."""
        parsed = parse(url)
        if parsed is None:
            return
        before = self.fetcher.robots.asked_at(parsed.origin)
        await self.fetcher.robots.verdict(parsed)
        if self.fetcher.robots.asked_at(parsed.origin) != before:
            with self.store.transaction():
                self.store.unbar(Bar.DISALLOWED, host)
            self.look()

    # -- what fetches show ------------------------------------------------------------------------------------------

    def turned_away(self, page: int, result: FetchResult) -> bool:
        """Bar a page, or its host, that was not even asked; False where the fetch was a visit."""
        if result.attempts:
            return False
        page_bar, host_bar = PAGE_BARS.get(result.kind), HOST_BARS.get(result.kind)
        if page_bar is None and host_bar is None:
            return False
        self.reasons[result.kind] = result.reason
        if page_bar is not None:
            self._pages.append((page, int(page_bar)))
        elif host_bar is not None:
            self._bar_host(int(self.memory.site[page]), host_bar)
        return True

    def note_visit(self, page: int, result: FetchResult) -> None:
        """Bar the host of a visit that got no answer at all."""
        if result.kind is _OK:
            return
        if result.outcome is Outcome.FAILED:
            self.reasons[result.kind] = result.reason or f"status {result.status}"
        if result.kind in NO_ANSWER and host_of(result.final_url or result.url) == host_of(result.url):
            self._bar_host(int(self.memory.site[page]), Bar.HOST_DOWN)

    def fill_up(self, page: int) -> None:
        """Note that a page's host can take no more in this cycle."""
        self._bar_host(int(self.memory.site[page]), Bar.HOST_FULL)

    def hints(self) -> list[str]:
        """Return why pages were not visited in this cycle, or in vain, and which setting allows it."""
        said = [f"note: {kind}: {reason}{hint_for(kind, reason)}" for kind, reason in self.reasons.items()]
        barred = ", ".join(f"{count:,} {reason}" for reason, count in self.store.count_barred().items())
        return [*said, f"note: pages not visited now, by reason: {barred}"] if barred else said

    def is_open(self, page: int) -> bool:
        """Whether a page that was chosen may be asked for: a host that is full still gets what was chosen before."""
        return int(self.memory.bars.site[self.memory.site[page]]) in _ASKED

    def _bar_host(self, host: int, bar: Bar) -> None:
        self.memory.bars.site[host] = bar
        self._hosts[host] = int(bar)

    def write(self, cycle: int, released: list[int]) -> None:
        """Keep what was noted, and take pages out of the plan that are not visited after all."""
        if not (self._pages or self._hosts or released):
            return
        with self.store.transaction():
            self.store.bar_pages(self._pages)
            self.store.bar_hosts(self._hosts.items())
            self.store.unplan(cycle, released)
        for page, bar in self._pages:
            self.memory.bars.page[page] = bar
        self._pages, self._hosts = [], {}
