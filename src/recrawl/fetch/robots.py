"""robots.txt by RFC 9309: what may be requested, how slowly, and where the sitemaps are.

| the host answers | then |
|---|---|
| 2xx | the first 512 KiB are the rules |
| 4xx but 429, or more than 5 redirects | no rules: everything is allowed |
| 5xx, 429, nothing | everything is disallowed; a copy up to 30 days old speaks instead |
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from protego import Protego

from recrawl.clock import DAY_S, Clock
from recrawl.fetch.agent import product_of
from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.fetch.settings import FetchSettings
from recrawl.urls.url import Url, split

MAX_REDIRECTS = 5
_MAX_IN_MEMORY = 20_000
_LARGE_CHARS = 32_768
Verdict = Literal["allowed", "disallowed", "unreachable", "crawl-delay"]
Ask = Callable[[str], Awaitable[FetchResult]]


@dataclass(frozen=True, slots=True)
class RobotsRecord:
    """What is known of one origin's robots.txt, for the store."""

    origin: str
    state: Literal["rules", "none", "unreachable"]
    asked_at: float  # days
    rules_at: float = 0.0  # when `text` was fetched
    text: str = ""


@dataclass(slots=True)
class _Entry:
    record: RobotsRecord
    rules: Protego | None
    product: str = ""
    crawl_delay_s: float = 0.0

    def allows(self, href: str) -> bool:
        return self.rules is None or bool(self.rules.can_fetch(href, self.product))


@dataclass
class Robots:
    """The robots.txt of every origin, each fetched at most once per day, by one task at a time."""

    clock: Clock
    settings: FetchSettings
    ask: Ask  # fetches a robots.txt: politely, at most 5 redirects, at most 512 KiB
    changed: Callable[[Url], None] = lambda _: None  # told of every origin whose robots.txt was read anew
    _entries: OrderedDict[str, _Entry] = field(default_factory=OrderedDict)
    _asking: dict[str, asyncio.Task[_Entry]] = field(default_factory=dict)
    _changed: set[str] = field(default_factory=set)
    _asked_for_delay: bool = False  # whether any robots.txt ever read has a Crawl-delay: most have none

    async def verdict(self, url: Url) -> tuple[Verdict, str]:
        """Whether this page may be requested, and if not, why."""
        if not self.settings.obey_robots or url.path == "/robots.txt":
            return "allowed", ""
        entry = await self._current(url.origin)
        if entry.record.state == "unreachable" and entry.rules is None:
            return "unreachable", f"{url.origin}/robots.txt cannot be reached"
        limit_s = self.settings.gate.max_crawl_delay_s
        if entry.crawl_delay_s > limit_s:
            return "crawl-delay", f"{url.host} asks for {entry.crawl_delay_s:g} s between requests, over {limit_s:g} s"
        if not entry.allows(url.href):
            return "disallowed", f"{url.origin}/robots.txt disallows it"
        return "allowed", ""

    def asked_at(self, origin: str) -> float | None:
        """When an origin's robots.txt was last asked for; None: never, as far as is known."""
        entry = self._entries.get(origin)
        return entry.record.asked_at if entry else None

    async def ask_again(self, url: Url) -> bool:
        """Ask for a host's robots.txt now, whatever its age; return whether the host answered."""
        begun_at = self.clock.now()
        record = (await self._asked(url.origin)).record
        return record.state != "unreachable" and record.asked_at >= begun_at

    def crawl_delay_s(self, origin: str) -> float:
        """The Crawl-delay that the origin asks for, 0 if none or unknown."""
        entry = self._entries.get(origin)
        return entry.crawl_delay_s if entry else 0.0

    def host_crawl_delay_s(self, url: Url) -> float:
        """The longest Crawl-delay that a host's robots.txt files, of http and https, ask for now; 0 if none does."""
        if not self._asked_for_delay:
            return 0.0
        origins = {url.origin, f"http://{url.host}", f"https://{url.host}"}
        return max(map(self.crawl_delay_s, origins))

    def known_sitemaps(self) -> list[tuple[str, str]]:
        """Return (origin, sitemap) of every robots.txt that is in memory; no request is made."""
        return [
            (origin, sitemap)
            for origin, entry in self._entries.items()
            if entry.rules is not None
            for sitemap in list(entry.rules.sitemaps)[:100]
        ]

    def export_changed(self) -> list[RobotsRecord]:
        """Return what changed since the last call, for the store."""
        records = [self._entries[origin].record for origin in sorted(self._changed) if origin in self._entries]
        self._changed.clear()
        return records

    def restore(self, records: Iterable[RobotsRecord]) -> None:
        """Take over what an earlier run knew."""
        for record in records:
            self._keep(record.origin, _entry(record, self.settings.user_agent))

    def _keep(self, origin: str, entry: _Entry) -> None:
        self._entries[origin] = entry
        self._asked_for_delay |= entry.crawl_delay_s > 0

    async def _current(self, origin: str) -> _Entry:
        entry = self._entries.get(origin)
        if entry is not None and self._is_fresh(entry.record):
            self._entries.move_to_end(origin)
            return entry
        return await self._asked(origin)

    async def _asked(self, origin: str) -> _Entry:
        task = self._asking.get(origin)
        if task is None:
            task = self._asking[origin] = asyncio.create_task(self._refresh(origin))
            task.add_done_callback(lambda _: self._asking.pop(origin, None))
        return await asyncio.shield(task)

    def _is_fresh(self, record: RobotsRecord) -> bool:
        age = self.clock.now() - record.asked_at
        limit = (
            self.settings.robots_retry_s / DAY_S if record.state == "unreachable" else self.settings.robots_max_age_days
        )
        return -limit <= age <= limit  # a calendar set back makes it negative: no reason to ask again

    async def close(self) -> None:
        """Cancel requests under way."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _refresh(self, origin: str) -> _Entry:
        result = await self.ask(f"{origin}/robots.txt")
        before = self._entries.get(origin)
        if result.kind is Kind.HOST_PAUSED:  # not asked: nothing was learnt
            return before or _Entry(RobotsRecord(origin, "unreachable", self.clock.now()), None)
        record = self._record(origin, result, before.record if before else None)
        large = len(record.text) > _LARGE_CHARS  # parsing these rules takes long: the loop stays free
        agent = self.settings.user_agent
        entry = await asyncio.to_thread(_entry, record, agent) if large else _entry(record, agent)
        self._keep(origin, entry)
        self._entries.move_to_end(origin)
        self._changed.add(origin)
        self.changed(split(f"{origin}/"))
        while len(self._entries) > _MAX_IN_MEMORY:
            self._entries.popitem(last=False)
        return entry

    def _record(self, origin: str, result: FetchResult, before: RobotsRecord | None) -> RobotsRecord:
        now = self.clock.now()
        if result.kind is Kind.OK:
            text = result.body[: self.settings.max_robots_bytes].decode("utf-8-sig", "replace").replace("\0", "")
            return RobotsRecord(origin, "rules", now, now, text)
        none = (Kind.GONE, Kind.BLOCKED, Kind.CLIENT_ERROR, Kind.TOO_MANY_REDIRECTS, Kind.BAD_REDIRECT)
        if result.kind in none or (result.kind is Kind.NOT_A_VERSION and 200 <= result.status < 300):
            return RobotsRecord(origin, "none", now)
        keeps = before is not None and before.text and now - before.rules_at <= self.settings.robots_keep_days
        if keeps and before is not None:
            return RobotsRecord(origin, "unreachable", now, before.rules_at, before.text)
        return RobotsRecord(origin, "unreachable", now)


def _entry(record: RobotsRecord, agent: str) -> _Entry:
    if not record.text:
        return _Entry(record, None)
    rules, product = Protego.parse(record.text), product_of(agent)
    return _Entry(record, rules, product, rules.crawl_delay(product) or 0.0)
