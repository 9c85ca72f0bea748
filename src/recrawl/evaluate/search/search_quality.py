"""What freshness does to search results: freshness@10 and MAP@10, judged in two steps (Tan et al. 2007, section 5).

After a cycle's visits the crawler's copies are searched with the same queries. A result is judged as a reader would:
the copy promises an answer if it holds all words of the query (that is what title and summary show); if it does, the
live page is opened, and gives the answer if it is still there and holds all words now.

    freshness@10  share of the ten results whose copy is the live page
    AP@10         sum over the ranks i <= 10 that promise and give, of the share of such among the first i,
                  over min(10, R), with R the pages of the live web that hold all words, known to the crawler or not;
                  with `relevant` "results", R is how many of the ten promise and give, and AP@10 is 0 without any
    MAP@10        mean AP@10 over the queries
    lucky         promised and given although the copy is stale
    embarrassing  promised and not given: the page no longer says so, or is dead

A query without hits has no freshness, one that no live page answers has no AP; such are left out of the means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds
from recrawl.errors import InputError
from recrawl.evaluate.measures.measure import Measure, measures
from recrawl.evaluate.measures.view import CycleView
from recrawl.evaluate.search.engine import TOP, Hits, Index, IndexedCopies, search
from recrawl.evaluate.search.queries import Query, draw_queries
from recrawl.evaluate.search.wordings import wordings
from recrawl.features.pagerank import pagerank
from recrawl.features.recorded_copies import RecordedCopies
from recrawl.hashing import mix
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld

Relevant = Literal["web", "results"]
MOMENTS = 64  # of the live web that are kept: those of a year of weekly cycles


@dataclass(frozen=True)
class SearchQuality:
    """What the queries gave in one cycle; NaN where a query has no value."""

    fresh: FloatArray  # freshness@10 of every query
    precision: FloatArray  # AP@10 of every query
    results: int
    promised: int
    lucky: int
    embarrassing: int


@dataclass(frozen=True)
class _Live:
    """The live web at a moment."""

    answers: list[npt.NDArray[np.int64]]  # of every query: the pages that hold all its words, ascending
    seen: IntArray
    alive: BoolArray


class Searcher:
    """Searches the copies of crawls of one recording with a fixed set of queries."""

    def __init__(
        self,
        recording: Recording,
        queries: Sequence[Query] | None = None,
        top: int = TOP,
        relevant: Relevant = "web",
    ) -> None:
        """`relevant` says what AP@10 divides by, see the module."""
        self.recording = recording
        self.relevant = relevant
        self.queries = list(queries) if queries is not None else draw_queries(recording)
        self.top = top
        asked = sorted({word for query in self.queries for word in query.words})
        self.words: IntArray = np.array(asked, dtype=np.int64)
        self.held = wordings(recording, self.words)
        self._tie = np.argsort(np.argsort(mix(recording.page_ids, 0)))
        self._live: dict[float, _Live] = {}  # the last moments that were asked for
        self._index = Index()
        self._indexed = np.zeros(len(self.held.page), dtype=np.bool_)  # the entries of `held` that are in the index
        self._seen = recording.change_start[:-1].copy()  # of the copies that are searched
        self._copies = RecordedCopies(recording, self._seen, self._seen)

    def judge(self, world: RecordedWorld, held: BoolArray, taken_at: FloatArray, at: float) -> SearchQuality:
        """Search the copies of the pages in `held`, taken at these times, and judge the results at `at`."""
        hits = self.search(world.seen, held, taken_at)
        stale = world.stale_since <= at
        live = self.live(at)
        return self._quality(hits, stale, live)

    def ideal(self, at: float) -> SearchQuality:
        """Judge a crawler whose copies are the living pages at `at`."""
        live = self.live(at)
        hits = self.search(live.seen, live.alive, np.where(live.alive, at, np.nan))
        return self._quality(hits, np.zeros(len(self.recording), dtype=np.bool_), live)

    def search(self, seen: IntArray, held: BoolArray, taken_at: FloatArray) -> list[Hits]:
        """Answer all queries from these copies."""
        self._take(self.held.there(seen, held))
        self._seen[:] = seen
        length = self._copies.column("words")
        length = np.ones(len(held)) if length is None else length
        links = self._copies.links(np.where(held, taken_at, np.nan))
        rank = np.zeros(len(held)) if links is None else pagerank(*links, len(held), tolerance=1e-6)
        return search(self._index, self.queries, IndexedCopies(int(held.sum()), length, rank, self._tie), self.top)

    def _take(self, there: BoolArray) -> None:
        """Bring the index to these entries: only copies that differ in some word asked for are replaced."""
        entries = self.held
        differs = np.zeros(len(self.recording), dtype=np.bool_)
        differs[entries.page[there != self._indexed]] = True
        new = there & differs[entries.page]
        word = self.words[entries.word[new]]
        self._index.replace(np.flatnonzero(differs), entries.page[new], word, entries.count[new])
        self._indexed = there

    def live(self, at: float) -> _Live:
        """Return the live web at a moment; the last ones are kept, as all policies ask for the same."""
        if at not in self._live:
            if len(self._live) == MOMENTS:
                self._live.pop(next(iter(self._live)))
            self._live[at] = self._read_live(at)
        return self._live[at]

    def _read_live(self, at: float) -> _Live:
        recording = self.recording
        earlier = np.append(0, np.cumsum(recording.change_day <= at))
        start = recording.change_start
        seen = start[:-1] + earlier[start[1:]] - earlier[start[:-1]]
        alive = (recording.born <= at) & (recording.died > at)
        page, word, _ = self.held.at(seen, alive)
        order = np.argsort(word, kind="stable")
        ends = np.append(0, np.cumsum(np.bincount(word, minlength=len(self.words))))
        by_word = [page[order[ends[w] : ends[w + 1]]] for w in range(len(self.words))]
        answers = []
        for query in self.queries:
            sets = [by_word[int(np.searchsorted(self.words, bucket))] for bucket in query.words]
            both = np.unique(sets[0]) if sets else np.empty(0, dtype=np.int64)
            for other in sets[1:]:
                both = np.intersect1d(both, other)
            answers.append(both)
        return _Live(answers, seen, alive)

    def _quality(self, hits: list[Hits], stale: BoolArray, live: _Live) -> SearchQuality:
        rows = [self._judge(query, hits[i], stale, live, i) for i, query in enumerate(self.queries)]
        table = np.array(rows, dtype=np.float64).reshape(-1, 6)
        return SearchQuality(table[:, 0], table[:, 1], *(int(count) for count in table[:, 2:].sum(axis=0)))

    def _judge(
        self, query: Query, hits: Hits, stale: BoolArray, live: _Live, number: int
    ) -> tuple[float, float, int, int, int, int]:
        """Return freshness, average precision, and the counts of results, promises, lucky and embarrassing ones."""
        promised = hits.matched == len(query.words)
        given = _among(hits.pages, live.answers[number])
        good = promised & given
        old = stale[hits.pages]
        fresh = float(1.0 - old.mean()) if len(hits.pages) else np.nan
        most = min(self.top, len(live.answers[number]))
        if most and self.relevant == "results":
            most = max(int(good.sum()), 1)
        share = np.cumsum(good) / np.arange(1, len(good) + 1)
        precision = float((share * good).sum() / most) if most else np.nan
        return fresh, precision, len(good), int(promised.sum()), int((good & old).sum()), int((promised & ~given).sum())


def _among(pages: PageIds, ascending: PageIds) -> BoolArray:
    """Whether each page is among the others, which ascend; a test of ten pages must not sort thousands."""
    if not len(ascending):
        return np.zeros(len(pages), dtype=np.bool_)
    at = np.minimum(np.searchsorted(ascending, pages), len(ascending) - 1)
    return np.asarray(ascending[at] == pages)


_searchers: WeakKeyDictionary[Recording, Searcher] = WeakKeyDictionary()
_views: WeakKeyDictionary[CycleView, SearchQuality] = WeakKeyDictionary()


def quality_of(view: CycleView, searcher: Searcher | None = None) -> SearchQuality:
    """Judge a cycle once (cached); without a searcher by 100 queries drawn from the recording with seed 0."""
    world, memory = view.stage.truth, view.stage.memory
    if not isinstance(world, RecordedWorld):
        raise InputError("search results can be judged only on a recorded web")
    if view not in _views:
        if searcher is None:
            searcher = _searchers.get(world.recording) or _searchers.setdefault(
                world.recording, Searcher(world.recording)
            )
        held = memory.held()
        _views[view] = searcher.judge(world, held, memory.last_visit, view.at)
    return _views[view]


@dataclass(frozen=True, repr=False)
class SearchFreshness(Measure):
    """Mean over the queries of the share of the ten results whose copy is up to date (Tan et al. 2007, eq. 8)."""

    name = "FreshnessAt10"
    meaning = "share of the first ten search results whose copy is the live page"

    def parts(self, view: CycleView) -> tuple[float, float]:
        """Sum over the queries with hits, and their number."""
        return _known(quality_of(view).fresh)


@dataclass(frozen=True, repr=False)
class SearchPrecision(Measure):
    """Mean average precision of the first ten results, judged in two steps (Tan et al. 2007, eq. 9)."""

    name = "MAPAt10"
    meaning = "mean average precision of the first ten search results"

    def parts(self, view: CycleView) -> tuple[float, float]:
        """Sum over the queries that some live page answers, and their number."""
        return _known(quality_of(view).precision)


def _known(values: FloatArray) -> tuple[float, float]:
    return float(np.nansum(values)), int((~np.isnan(values)).sum())


measures.add("FreshnessAt10", formula="FreshnessAt10", source="Tan et al. 2007 eq. 8")(SearchFreshness)
measures.add("MAPAt10", formula="MAPAt10", source="Tan et al. 2007 eq. 9")(SearchPrecision)
