"""Put visits on disk as they come in, in small groups: each is recorded before it counts.

Bodies come first, then one transaction with the visits, their links, newly found pages and the hosts' politeness. A
page whose visit was not recorded is still in the plan, and is asked again after a restart.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recrawl.columns import PageIds
from recrawl.fetch.fetcher import Fetcher
from recrawl.fetch.gate import HostState
from recrawl.fetch.outcome import FetchResult
from recrawl.fetch.robots import RobotsRecord
from recrawl.live.bodies import Bodies, Place
from recrawl.live.compared_versions import compared_contents
from recrawl.live.packed_links import NOBODY
from recrawl.live.shown_pages import ShownPages
from recrawl.live.store import Store
from recrawl.live.store_visits import NOT_TOLD, SeenLinks, VisitRecord
from recrawl.see.page import see_page
from recrawl.see.words import Bag, bag_of, unpack_bag
from recrawl.urls.traps import DiscoveryBudget
from recrawl.urls.url import host_of
from recrawl.visits import Outcome

GROUP = 500  # visits per transaction, at most
GROUP_LINKS = 4_000  # links to be compared with a copy's, at most: as much work as 600 first visits
GROUP_S = 0.25  # how long a visit waits for others before it is recorded
PIECE = 500  # links of a visit that are looked at before other hosts have their turn


@dataclass(frozen=True, slots=True)
class Noted:
    """A recorded visit, for observers of a crawl."""

    url: str
    record: VisitRecord
    new_links: tuple[int, int]
    discovered: int


class Arrived(NamedTuple):
    """A visit that is not on disk yet."""

    result: FetchResult
    record: VisitRecord
    keeps_body: bool
    feeds: tuple[str, ...]
    packed: bytes = b""  # the record of the body, where it was compressed before


class Recorder:
    """Records visits; `rows` and `found` are what they showed, once on disk."""

    def __init__(
        self,
        store: Store,
        bodies: Bodies,
        fetcher: Fetcher | None,
        scope: Callable[[str], bool],
        discovery: DiscoveryBudget,
        watch: Callable[[Noted], None],
    ) -> None:
        self.store = store
        self.bodies = bodies
        self.fetcher = fetcher
        self.shown = ShownPages(store, scope, discovery)
        self.discovery = discovery
        self.watch = watch
        self.group, self.group_links = GROUP, float(GROUP_LINKS)
        self.also: Callable[[], None] = lambda: None  # what else belongs into the transaction of a group of visits
        self.rows: dict[int, tuple[float, ...]] = {}  # by page: what VISIT_COLUMNS say of its visit
        self.found: list[int] = []  # pages discovered
        self.aliases: list[int] = []  # pages that turned out to be other names of pages that we have
        self._cycle = 0
        self._arrived: list[Arrived] = []
        self._links = 0  # of these, to be compared

    def begin(self, cycle: int) -> None:
        """Begin the visits of this cycle."""
        self._cycle, self.rows, self.found = cycle, {}, []
        self.shown.begin()

    def take(self) -> tuple[dict[int, tuple[float, ...]], PageIds]:
        """Return what the visits recorded since the last time showed: rows by page, and the pages discovered."""
        rows, found = self.rows, np.array(self.found, dtype=np.int64)
        self.rows, self.found = {}, []
        return rows, found

    def add(self, arrived: Arrived) -> None:
        """Take a visit, and record the group if it is large enough."""
        self._arrived.append(self._made_ready(arrived))
        if arrived.record.links is not None and arrived.record.outcome != Outcome.FIRST:
            self._links += arrived.record.links.total
        if len(self._arrived) >= self.group or self._links >= self.group_links:
            self.record()

    async def take_in(self, arrived: Arrived) -> None:
        """Do the same with a visit that may have many links, as `prepare` does."""
        if arrived.record.links is not None and len(arrived.record.links.urls) > PIECE:
            await self.prepare(arrived.record.links.urls)
        self.add(arrived)

    async def prepare(self, urls: Sequence[str]) -> None:
        """Look at the links of a visit that has many in pieces, between which the event loop serves other hosts.

        Their scope and templates are kept until the visit is recorded; what arrived before is recorded first, apart.
        """
        for start in range(0, len(urls), PIECE):
            self.shown.look_at(urls[start : start + PIECE])
            await asyncio.sleep(0)
        self.record()
        await asyncio.sleep(0)

    async def record_in_time(self) -> None:
        """Record what has arrived every moment, until cancelled."""
        while True:
            await asyncio.sleep(GROUP_S)
            self.record()

    def record(self) -> None:
        """Put on disk what has arrived: bodies, then the visits that mention them."""
        arrived, self._arrived, self._links = self._arrived, [], 0
        if not arrived:
            return
        records = [each.record for each in arrived]
        self.bodies.sync()
        with self.store.group():
            pages, discovered = self.shown.pages_of(records)
            new_links = self.store.set_links(records, pages)
            for i, record in enumerate(records):
                if record.outcome == Outcome.FIRST:  # nothing to compare with: no link is new
                    new_links[i] = (0, 0)
            first = self.store.add_visits(self._cycle, records, new_links)
            self._follow_canonical(records, pages)
            keep_manners(self.store, self.fetcher)
            self._keep_feeds(arrived)
            self.also()
        self.found += sorted(page for pages in discovered.values() for page in pages)
        for visit, (each, record, new) in enumerate(zip(arrived, records, new_links, strict=True), first):
            length = -1 if record.digest is None else record.words
            told = NOT_TOLD if record.kept is None else int(record.kept.significant)
            size, page = record.change_size, record.page
            self.rows[page] = (visit, self._cycle, page, record.at, record.outcome, *new, size, length, told)
            if record.outcome == Outcome.FIRST and self.fetcher is not None:
                self.discovery.note_first_visit(host_of(each.result.url))
            self.watch(Noted(each.result.url, record, new, len(discovered.get(record.page, ()))))

    def _follow_canonical(self, records: Sequence[VisitRecord], pages: Mapping[str, int]) -> None:
        """Bar pages whose canonical address we have a copy of; free the other names of pages that are gone."""
        named = [(r.page, pages.get(r.canonical, NOBODY)) for r in records if r.canonical is not None]
        known = [(page, canonical) for page, canonical in named if canonical not in (NOBODY, page)]
        self.aliases += self.store.note_aliases(known) if known else []
        self.store.free_aliases([record.page for record in records if record.outcome == Outcome.GONE])

    def keep_manners(self) -> None:
        """Record the politeness state on disk at once, before the next request."""
        with self.store.transaction():
            keep_manners(self.store, self.fetcher)

    def _keep_feeds(self, arrived: Sequence[Arrived]) -> None:
        """Keep the feeds that pages name, and how many pages of each template were discovered."""
        feeds = {url: host_of(each.result.url) for each in arrived for url in each.feeds if self.shown.scope(url)}
        self.store.add_feeds([(host, url, None) for url, host in feeds.items()])
        self.store.keep_templates(self.discovery.export_grown())

    def _made_ready(self, arrived: Arrived) -> Arrived:
        """Write the body, compare the version and pack its links: what it says is still in the processor's caches."""
        record = self.compared(arrived.record, self._place_of(arrived))
        if record.outcome == Outcome.FIRST and isinstance(record.links, SeenLinks):
            record = record._replace(links=self.shown.found(record.links))
        return arrived._replace(record=record, packed=b"")

    def _place_of(self, arrived: Arrived) -> Place | None:
        """Write a body that may be kept; return where it is."""
        if not arrived.keeps_body:
            return None
        result = arrived.result
        return self.bodies.write(result.url, result.status, result.headers, result.body, arrived.packed)

    def compared(self, record: VisitRecord, place: Place | None = None) -> VisitRecord:
        """Return the record of a visit with what the store keeps of its version, compared with the one before.

        `place` is where its body was written.
        """
        contents, place = record.contents, place or record.warc
        if contents is None:
            return record if place is None else record._replace(warc=place)
        kept, size = compared_contents(record, contents, self._old_bag)
        return record._replace(warc=place, kept=kept, change_size=size)

    def _old_bag(self, page: int) -> Bag | None:
        """Return the words of the copy that we hold; None where nothing is known of them."""
        packed = self.store.last_bag(page)
        if packed is not None:
            return unpack_bag(packed)
        place = self.store.last_body(page)  # a store that was upgraded: the body is all that was kept
        if place is None:
            return None
        (copy,) = self.store.copies([page])
        headers, body = self.bodies.answer(place)
        return bag_of(see_page(body, copy.url, headers).main_text)


def keep_manners(store: Store, fetcher: Fetcher | None) -> None:
    """Record the politeness state within a transaction: every host's gate and robots.txt."""
    if fetcher is None:  # another crawler fetches
        return
    store.keep_gates((state.host, state_json(state)) for state in fetcher.gate.export_changed())
    store.keep_robots((record.origin, state_json(record)) for record in fetcher.robots.export_changed())


def state_json(state: HostState | RobotsRecord) -> str:
    """Return a flat state as JSON; `asdict` copies deeply, and there is one of these for each visit."""
    return json.dumps({name: getattr(state, name) for name in state.__slots__})
