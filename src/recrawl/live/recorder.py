"""Put visits on disk as they come in, in small groups: each is recorded before it counts.

Bodies come first, then one transaction with the visits, their links, newly found pages and the hosts' politeness. A
page whose visit was not recorded is still in the plan, and is asked again after a restart.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, filterfalse
from typing import NamedTuple

import numpy as np

from recrawl.columns import PageIds
from recrawl.fetch.fetcher import Fetcher
from recrawl.fetch.gate import HostState
from recrawl.fetch.outcome import FetchResult
from recrawl.fetch.robots import RobotsRecord
from recrawl.live.bodies import Bodies, Place
from recrawl.live.compared_versions import compared_contents
from recrawl.live.met_urls import MetUrls
from recrawl.live.packed_links import NOBODY, FoundLinks, LinkLookup, PackedLinks
from recrawl.live.store import Store
from recrawl.live.store_visits import NOT_TOLD, SeenLinks, VisitRecord
from recrawl.see.page import see_page
from recrawl.see.words import Bag, bag_of, unpack_bag
from recrawl.urls.traps import DiscoveryBudget, template_of
from recrawl.urls.url import host_of
from recrawl.urls.urlindex import UrlIndex, url_hashes
from recrawl.visits import Outcome

GROUP = 500  # visits per transaction, at most
GROUP_LINKS = 4_000  # links to be compared with a copy's, at most: as much work as 600 first visits
GROUP_S = 0.25  # how long a visit waits for others before it is recorded
KNOWN = 200_000  # URLs whose pages are kept at hand
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
        self.scope = scope
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
        self._in_scope: dict[str, bool] = {}  # of URLs of visits that are not recorded yet, where there are many
        # Pages of URLs met lately, as a site's pages link to the same ones over and over; NOBODY of those that are no
        # pages, and that `_known_in` does not admit.
        self._known: dict[str, int] = {}
        self._known_in = scope
        self._met = MetUrls()  # the same of links of first visits
        self._outside_index = UrlIndex()  # those that are not admitted, by their hashes

    def begin(self, cycle: int) -> None:
        """Begin the visits of this cycle."""
        self._cycle, self.rows, self.found, self._in_scope = cycle, {}, [], {}

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
            for url in urls[start : start + PIECE]:
                if url not in self._known:
                    self._in_scope[url] = self.scope(url)
                    template_of(url)
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
            pages, discovered = self._pages_of(records)
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
        feeds = {url: host_of(each.result.url) for each in arrived for url in each.feeds if self.scope(url)}
        self.store.add_feeds([(host, url, None) for url, host in feeds.items()])
        self.store.keep_templates(self.discovery.export_grown())

    def _made_ready(self, arrived: Arrived) -> Arrived:
        """Write the body, compare the version and pack its links: what it says is still in the processor's caches."""
        record = self.compared(arrived.record, self._place_of(arrived))
        if record.outcome == Outcome.FIRST and isinstance(record.links, SeenLinks):
            self._known_now()
            record = record._replace(links=FoundLinks(record.links, self._met))
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

    def _pages_of(self, records: Sequence[VisitRecord]) -> tuple[Mapping[str, int], dict[int, list[int]]]:
        """Return the page of every URL that these visits show, and the pages that each visit was the first to show.

        Pages are made of URLs that are new, in scope, and within the budgets. What is none is missing, or NOBODY.
        """
        pages = self._known_now()
        packed = [record.links for record in records if type(record.links) is PackedLinks]
        lookup = LinkLookup(packed, self.store.index) if packed else None
        unknown = iter(lookup.strange(self._outside_index) if lookup else ())
        shown_by = [_shown_by(record, unknown) for record in records]
        strange = self._find(list(dict.fromkeys(filterfalse(pages.__contains__, chain.from_iterable(shown_by)))))
        discovered = self._add_strange(strange, records, shown_by) if strange else {}
        self._meet(records)
        if lookup:
            lookup.settle()
            if beyond := [url for url in strange if pages.get(url) == NOBODY]:
                self._outside_index.add(url_hashes(beyond))
        return pages, discovered

    def _meet(self, records: Sequence[VisitRecord]) -> None:
        """Keep the pages of links of first visits that were not known when these visits arrived."""
        found = [record.links.strange for record in records if isinstance(record.links, FoundLinks)]
        urls = [url for url in dict.fromkeys(url for _, url in chain.from_iterable(found)) if url in self._known]
        if urls:
            self._met.add(urls, [self._known[url] for url in urls])

    def _add_strange(
        self,
        strange: Sequence[str],
        records: Sequence[VisitRecord],
        shown_by: Sequence[Sequence[str]],
    ) -> dict[int, list[int]]:
        """Make pages of those of these URLs that may be; return the pages that each visit was the first to show."""
        fresh = [url for url in strange if self._may_add(url)]
        self._in_scope = {}
        wanted, first = set(fresh), dict[str, VisitRecord]()
        for record, urls in zip(reversed(records), reversed(shown_by), strict=True):  # the first that shows a URL stays
            first.update(dict.fromkeys(wanted.intersection(urls), record))
        parents = [first[url] for url in fresh]
        known = len(self.store.index)
        made = self.store.add_pages(
            fresh, [host_of(url) for url in fresh], [r.at for r in parents], [r.page for r in parents]
        ).tolist()
        self._known.update(zip(fresh, made, strict=True))
        discovered: dict[int, list[int]] = defaultdict(list)
        for page, parent in zip(made, parents, strict=True):
            if page >= known:
                discovered[parent.page].append(page)
        return discovered

    def forget_scope(self) -> None:
        """Ask anew which URLs are in the scope: the one who answers has changed."""
        self._in_scope = {}
        self._forget_known()

    def _known_now(self) -> dict[str, int]:
        """Return what is known of URLs in the scope as it is now: that of a crawl is another when pages are added."""
        if self._known_in is not self.scope or len(self._known) > KNOWN:
            self._forget_known()
        return self._known

    def _forget_known(self) -> None:
        self._known, self._met, self._outside_index, self._known_in = {}, MetUrls(), UrlIndex(), self.scope

    def _may_add(self, url: str) -> bool:
        known = self._in_scope.get(url)
        if self.scope(url) if known is None else known:
            return self.discovery.admit(url)
        self._known[url] = NOBODY
        return False

    def _find(self, urls: Sequence[str]) -> list[str]:
        """Look up the pages of these URLs; return those that are no pages."""
        if not urls:
            return []
        numbers = self.store.index.find(url_hashes(urls))
        self._known.update({urls[i]: int(numbers[i]) for i in np.flatnonzero(numbers >= 0).tolist()})
        return [urls[i] for i in np.flatnonzero(numbers < 0).tolist()]


def _shown_by(record: VisitRecord, unknown: Iterator[Sequence[str]]) -> Sequence[str]:
    """Return the URLs that a visit shows: its links, and the page's own address as it names it.

    Of links that were looked up before, those that are `unknown`.
    """
    links = record.links
    urls: Sequence[str] = ()
    if isinstance(links, FoundLinks):
        urls = [url for _, url in links.strange]
    elif isinstance(links, PackedLinks):
        urls = next(unknown)
    elif links is not None:
        urls = links.urls
    return urls if record.canonical is None else [*urls, record.canonical]


def keep_manners(store: Store, fetcher: Fetcher | None) -> None:
    """Record the politeness state within a transaction: every host's gate and robots.txt."""
    if fetcher is None:  # another crawler fetches
        return
    store.keep_gates((state.host, state_json(state)) for state in fetcher.gate.export_changed())
    store.keep_robots((record.origin, state_json(record)) for record in fetcher.robots.export_changed())


def state_json(state: HostState | RobotsRecord) -> str:
    """Return a flat state as JSON; `asdict` copies deeply, and there is one of these for each visit."""
    return json.dumps({name: getattr(state, name) for name in state.__slots__})
