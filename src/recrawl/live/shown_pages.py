"""The pages of the URLs that visits show: those that are known, and those that are made of new ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, filterfalse

import numpy as np

from recrawl.live.met_urls import MetUrls
from recrawl.live.packed_links import NOBODY, FoundLinks, LinkLookup, PackedLinks
from recrawl.live.store import Store
from recrawl.live.store_visits import SeenLinks, VisitRecord
from recrawl.urls.traps import DiscoveryBudget, template_of
from recrawl.urls.url import host_of
from recrawl.urls.urlindex import UrlIndex, url_hashes

KNOWN = 200_000  # URLs whose pages are kept at hand


class ShownPages:
    """Looks URLs up in the store's index, and adds those that are new, in scope, and within the budgets."""

    def __init__(self, store: Store, scope: Callable[[str], bool], discovery: DiscoveryBudget) -> None:
        self.store = store
        self.scope = scope
        self.discovery = discovery
        self._in_scope: dict[str, bool] = {}  # of URLs of visits that are not recorded yet, where there are many
        # Pages of URLs met lately, as a site's pages link to the same ones over and over; NOBODY of those that are no
        # pages, and that `_known_in` does not admit.
        self._known: dict[str, int] = {}
        self._known_in = scope
        self._met = MetUrls()  # the same of links of first visits
        self._outside_index = UrlIndex()  # those that are not admitted, by their hashes

    def begin(self) -> None:
        """Begin the visits of a cycle."""
        self._in_scope = {}

    def look_at(self, urls: Sequence[str]) -> None:
        """Ask for the scope and templates of URLs before their visit is recorded, as there are many."""
        for url in urls:
            if url not in self._known:
                self._in_scope[url] = self.scope(url)
                template_of(url)

    def found(self, links: SeenLinks) -> FoundLinks:
        """Return the links of a first visit packed, with the pages that are known now."""
        self._known_now()
        return FoundLinks(links, self._met)

    def pages_of(self, records: Sequence[VisitRecord]) -> tuple[Mapping[str, int], dict[int, list[int]]]:
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
        """Begin anew: for another scope, or as there are too many."""
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
