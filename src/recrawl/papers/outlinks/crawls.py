"""What a crawler that fetches all pages at fixed times knows at each of those times.

Crawl i shows a page's version at `times[i]` and its links; nothing later is read. A page that was not there at a crawl
has NaN. Everything is computed when first asked for, and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, IntArray, PageIds
from recrawl.compiled import kernel
from recrawl.errors import InputError
from recrawl.features.newlinks import WHERE, new_links
from recrawl.features.pagerank import pagerank, trusted
from recrawl.features.recorded_copies import first_versions
from recrawl.features.related import Related, Vectors
from recrawl.papers.outlinks.crawled_texts import CrawledTexts, quality_of_terms
from recrawl.recording.recording import Recording


class Crawls:
    """A recording's pages at the times of equal crawls."""

    def __init__(
        self,
        recording: Recording,
        times: FloatArray,
        *,
        related: Related | None = None,
        vectors: Vectors | None = None,
        texts: CrawledTexts | None = None,
        trusted_sites: Sequence[str] = (),
    ) -> None:
        """`vectors` are the pages' semantic vectors for the learners, at the first crawl.

        `texts` are the texts of the versions at the crawls. `trusted_sites` names the sites whose pages TrustRank
        starts from; all sites where none is named.
        """
        if len(times) < 2 or times[0] < recording.start or times[-1] > recording.end + 1e-6:
            raise InputError(
                f"crawls from day {times[0]:g} to {times[-1]:g} are not within the recording's "
                f"{recording.start:g} to {recording.end:g}" if len(times) > 1 else "one crawl shows nothing new"
            )  # fmt: skip
        self.recording = recording
        self.times = times
        self.related = related
        self.vectors = vectors
        self.texts = texts
        self.trusted_sites = tuple(trusted_sites)
        self._kept: dict[tuple[str, int], FloatArray] = {}

    def __len__(self) -> int:
        return len(self.times)

    def kept(self, name: str, crawl: int, make: Callable[[], FloatArray]) -> FloatArray:
        """Return what was made under this name for this crawl, or make it."""
        if (name, crawl) not in self._kept:
            self._kept[name, crawl] = make()
        return self._kept[name, crawl]

    @cached_property
    def new(self) -> npt.NDArray[np.int32]:
        """Where x intervals x pages: interval i lies between crawls i and i + 1."""
        return new_links(self.recording, self.times)

    def new_at(self, where: str, crawl: int) -> FloatArray:
        """Links that the crawl shows and the one before did not; NaN where one of them did not see the page."""
        if crawl < 1:
            return np.full(len(self.recording), np.nan)
        counts = self.new[WHERE.index(where), crawl - 1].astype(np.float64)
        return np.where(self.there(crawl - 1) & self.there(crawl), counts, np.nan)

    def there(self, crawl: int) -> npt.NDArray[np.bool_]:
        """Which pages exist at the crawl."""
        at = self.times[crawl]
        return np.asarray((self.recording.born <= at) & (self.recording.died > at))

    def version(self, name: str, crawl: int) -> FloatArray:
        """A count (bytes, words, ...) of the pages' versions at the crawl; NaN where it is not recorded."""

        def make() -> FloatArray:
            if not self.recording.has_page(name):
                return np.full(len(self.recording), np.nan)
            first = self.kept(f"first {name}", 0, lambda: first_versions(self.recording, name))
            values = first
            if self.recording.has_change(name) and len(self.recording.change_day):
                row = self._last_change(crawl)
                values = np.where(row >= 0, self.recording.change_counts(name)[np.maximum(row, 0)], first)
            return np.where(self.there(crawl), values.astype(np.float64), np.nan)

        return self.kept(name, crawl, make)

    @property
    def moving_vectors(self) -> bool:
        """Whether pages have other semantic vectors at other crawls."""
        return self.texts is not None and self.texts.merge is not None

    def vectors_at(self, crawl: int) -> Vectors:
        """The semantic vectors of the versions at the crawl; of pages without texts those of their first version."""
        if self.vectors is None:
            raise InputError("there are no semantic vectors")
        return self.vectors if self.texts is None else self.texts.vectors(self.vectors, crawl)

    def quality(self, crawl: int) -> FloatArray:
        """Herdan's C = ln(1 + vocabulary) / ln(1 + words) of the version at the crawl; 0 for a version without words.

        Counted from the text where there is one; else from the terms of the page's first version, where they are all
        its words; NaN where neither is known.
        """

        def make() -> FloatArray:
            first = self.kept("first quality", 0, lambda: quality_of_terms(self.recording))
            now = first if self.texts is None else self.texts.quality(first, crawl)
            return np.where(self.there(crawl), now, np.nan)

        return self.kept("text quality", crawl, make)

    def changed(self, crawl: int) -> FloatArray:
        """1 where the content changed since the crawl before: some change that touched more than links, if known."""
        if crawl < 1:
            return np.full(len(self.recording), np.nan)
        day, page = self.recording.change_day, self.recording.change_page
        counts = (day > self.times[crawl - 1]) & (day <= self.times[crawl])
        words = [name for name in ("d_words_added", "d_words_removed") if self.recording.has_change(name)]
        if words:
            counts &= np.any([self.recording.change_counts(name) > 0 for name in words], axis=0)
        found = np.zeros(len(self.recording))
        found[page[counts]] = 1.0
        return np.where(self.there(crawl - 1) & self.there(crawl), found, np.nan)

    def inlinks(self, where: str, crawl: int) -> FloatArray:
        """Other pages of the recording that link to the page at the crawl, from its own site or from elsewhere."""

        def make() -> FloatArray:
            _, target, internal = self._edges(crawl)
            counts = np.bincount(target[internal == (where == "internal")], minlength=len(self.recording))
            return np.where(self.there(crawl), counts.astype(np.float64), np.nan)

        return self.kept(f"inlinks {where}", crawl, make)

    def rank(self, crawl: int) -> FloatArray:
        """PageRank times the number of pages, so that 1 is average."""
        return self.kept("PageRank", crawl, lambda: self._walk(crawl, None))

    def trust(self, crawl: int) -> FloatArray:
        """TrustRank from each trusted site's page of the highest PageRank at the first crawl, times the pages."""
        return self.kept("TrustRank", crawl, lambda: self._walk(crawl, trusted(self._trusted, len(self.recording))))

    @cached_property
    def _trusted(self) -> PageIds:
        site = self.recording.site
        order = np.lexsort((-np.nan_to_num(self.rank(0)), site))
        first = np.ones(len(order), dtype=np.bool_)
        first[1:] = site[order][1:] != site[order][:-1]
        if self.trusted_sites:
            number = {name: at for at, name in enumerate(self.recording.site_names)}
            unknown = [name for name in self.trusted_sites if name not in number]
            if unknown:
                raise InputError(f"no site is called {unknown[0]!r}; the trusted ones must be sites of the recording")
            first &= np.isin(site[order], [number[name] for name in self.trusted_sites])
        return order[first]

    def _walk(self, crawl: int, restart: FloatArray | None) -> FloatArray:
        page, target, _ = self._edges(crawl)
        return pagerank(page, target, len(self.recording), restart=restart) * len(self.recording)

    def _edges(self, crawl: int) -> tuple[PageIds, PageIds, npt.NDArray[np.bool_]]:
        if not self.recording.has_links:
            none = np.empty(0, dtype=np.int64)
            return none, none, np.empty(0, dtype=np.bool_)
        links = self.recording.links
        page = links.page
        rows = np.flatnonzero(links.at(self.times[crawl]) & (links.target_page >= 0) & (links.target_page != page))
        return page[rows], links.target_page[rows].astype(np.int64), links.internal[rows]

    def _last_change(self, crawl: int) -> IntArray:
        """The row of each page's last change at or before the crawl; -1 where it still is as it was first."""
        rows: IntArray = np.asarray(
            _last(self.recording.change_start, self.recording.change_day, float(self.times[crawl]))
        )
        return rows


@kernel
def _last(start: IntArray, day: FloatArray, at: float) -> IntArray:
    out = np.full(len(start) - 1, -1, dtype=np.int64)
    for page in range(len(out)):
        row = start[page]
        while row < start[page + 1] and day[row] <= at:
            out[page] = row
            row += 1
    return out
