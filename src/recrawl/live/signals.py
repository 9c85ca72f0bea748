"""Sitemaps and feeds of a live crawl: changes that sites announce, read politely and within the budget.

Before a cycle's visits, the sitemaps and feeds that are due are read: those that robots.txt or pages name, at most a
tenth of the budget. Pages that they name become known; pages that changed after our last visit by them are noted as
announced, until a visit shows whether it was true. A file that brings nothing new is read less and less often. One that
takes long to come holds up nobody: it is taken in when the next cycle begins.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from recrawl.columns import FloatArray
from recrawl.fetch.fetcher import Fetcher, Request
from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.fetch.validators import Validators
from recrawl.live.standing import why_unread
from recrawl.live.store import Store
from recrawl.see.feeds import MAX_FEED_BYTES, Feed, FeedEntry, read_feed
from recrawl.urls.scope import Scope
from recrawl.urls.traps import DiscoveryBudget
from recrawl.urls.url import Base, host_of, normalise
from recrawl.urls.urlindex import url_hashes

SHARE = 0.1  # of a cycle's budget, at most, for sitemaps and feeds
MAX_WAIT_CYCLES = 32
PATIENCE_S = 10.0  # how long a cycle's visits wait for sitemaps and feeds
_READ = frozenset({Kind.OK, Kind.NOT_MODIFIED})

DueFeed = tuple[str, str, str, int]  # URL, host on which it was found, validators, cycles to wait


@dataclass(frozen=True, slots=True)
class Heard:
    """What a cycle's sitemaps and feeds brought."""

    visits: int  # files asked for
    found: int  # pages that were not known
    announced: int  # pages announced as changed since our last visit
    partial: tuple[tuple[str, str], ...] = ()  # files of which only a part was read: URL and why
    unread: tuple[tuple[str, str], ...] = ()  # files that could not be read: URL and why
    problems: tuple[str, ...] = ()  # with sitemaps that the user added, in whole lines


class Signals:
    """Reads sitemaps and feeds into the store."""

    def __init__(self, store: Store, fetcher: Fetcher, scope: Scope, discovery: DiscoveryBudget) -> None:
        self.store = store
        self.fetcher = fetcher
        self.scope = scope
        self.discovery = discovery
        self.patience_s: float | None = PATIENCE_S  # None: wait for all
        self._under_way: dict[str, tuple[DueFeed, asyncio.Task[FetchResult]]] = {}

    async def close(self) -> None:
        """Cancel what is under way."""
        tasks = [task for _, task in self._under_way.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._under_way.clear()

    async def hear(self, cycle: int, at: float, budget: int, last_visit: FloatArray) -> Heard:
        """Read the sitemaps and feeds that are due in this cycle, and record what they announce."""
        with self.store.transaction():
            base = [(host_of(f"{origin}/"), normalise(url, Base(f"{origin}/"))) for origin, url in self._named()]
            self.store.add_feeds([(host, url, None) for host, url in base if url])
        asked = await self._ask_due(cycle, budget)
        found, announced, partial, unread = 0, 0, list[tuple[str, str]](), list[tuple[str, str]]()
        with self.store.transaction():
            for (url, host, before, wait), result in self._answers():
                new, changed, validators, why = self._take(host, at, before, result, last_visit)
                partial += [(url, why)] if why else []
                unread += [] if result.kind in _READ else [(url, why_unread(result))]
                found, announced = found + new, announced + changed
                wait = 1 if new or changed else min(2 * wait, MAX_WAIT_CYCLES)
                self.store.feed_read(url, cycle, wait, validators)
                self.store.note_feed(url, unread[-1][1] if unread and unread[-1][0] == url else why)
            self.store.keep_templates(self.discovery.export_grown())
            self.store.note_heard(cycle, asked)
        return Heard(asked, found, announced, tuple(partial), tuple(unread))

    async def _ask_due(self, cycle: int, budget: int) -> int:
        """Ask for the files that are due and wait for them, up to `patience_s`; return how many were asked for."""
        most = max(1, int(SHARE * budget)) if budget > 1 else 0
        due = [feed for feed in self.store.due_feeds(cycle, most) if feed[0] not in self._under_way]
        for feed in due:
            self._under_way[feed[0]] = feed, asyncio.ensure_future(self._ask(feed[0], feed[2]))
        if self._under_way:
            await asyncio.wait([task for _, task in self._under_way.values()], timeout=self.patience_s)
        return len(due)

    def _answers(self) -> list[tuple[DueFeed, FetchResult]]:
        """Return the files that have come, in the order in which they were asked for."""
        done = [url for url, (_, task) in self._under_way.items() if task.done()]
        pairs = [self._under_way.pop(url) for url in done]
        return [(feed, task.result()) for feed, task in pairs]

    def _named(self) -> list[tuple[str, str]]:
        return self.fetcher.robots.known_sitemaps()

    async def _ask(self, url: str, validators: str) -> FetchResult:
        request = Request(url, Validators(**json.loads(validators)), max_body_bytes=MAX_FEED_BYTES)
        return await self.fetcher.fetch(request, scoped=False)

    def _take(
        self, host: str, at: float, before: str, result: FetchResult, last_visit: FloatArray
    ) -> tuple[int, int, str, str]:
        """Record one answer; return pages found, pages announced, the validators to keep, and why a part was left."""
        if result.kind is not Kind.OK:
            return 0, 0, before, ""
        feed = read_feed(result.body, result.final_url)
        validators = json.dumps(asdict(Validators(**json.loads(before)).after(result, changed=True)))
        if feed.kind == "index":
            self.store.add_feeds([(host, entry.url, entry.changed_at) for entry in feed.entries])
            return 0, 0, validators, feed.why_partial
        return (*self._take_pages(feed, at, last_visit), validators, feed.why_partial)

    def _take_pages(self, feed: Feed, at: float, last_visit: FloatArray) -> tuple[int, int]:
        entries = list({entry.url: entry for entry in feed.entries if self.scope(entry.url)}.values())
        if not entries:
            return 0, 0
        numbers = self.store.index.find(url_hashes([entry.url for entry in entries]))
        known = [(page, entry) for page, entry in zip(numbers.tolist(), entries, strict=True) if page >= 0]
        strange = [e.url for page, e in zip(numbers.tolist(), entries, strict=True) if page < 0]
        fresh = [url for url in strange if self.discovery.admit(url)]
        self.store.add_pages(fresh, [host_of(url) for url in fresh], at, announced=True)
        return len(fresh), self._announce(known, at, last_visit)

    def _announce(self, known: Sequence[tuple[int, FeedEntry]], at: float, last_visit: FloatArray) -> int:
        """Record when pages changed by their site's account; count those that changed after our last visit."""
        rows = []
        for page, entry in known:
            said_at = entry.changed_at
            if said_at is None or said_at > at + 1 or page >= len(last_visit):
                continue  # times in the future are ignored
            if self.store.announced_at(page) == said_at:
                continue
            latest_at = said_at + 1 if said_at.is_integer() else said_at  # a bare date: any time of that day
            rows.append((page, said_at, int(latest_at > last_visit[page])))
        self.store.announce(rows)
        return sum(pending for _, _, pending in rows)
