"""Copies of a recording's pages in a simulated crawl: which version of each page, and its counts, words and links.

The recorded world says which version of a page the crawler has (`seen`: the first change it has not seen) and which it
had before its last visit (`before`). Only those versions are read here, never later ones. What a recording tells of the
first version alone (e-mail addresses, and the words of pages without texts) is taken for all versions of it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, IntArray, PageIds, spans
from recrawl.compiled import kernel
from recrawl.copies import PageBags
from recrawl.features.semantic import SemanticSpace, Vectors

if TYPE_CHECKING:
    from recrawl.recording.recording import Recording

WORD_DIMENSIONS = 64
_meanings: WeakKeyDictionary[Recording, VersionVectors] = WeakKeyDictionary()  # costly, and the same for every crawl


class VersionVectors:
    """Word vectors of a recording's versions: of each version where it has a text, else of the page's first one."""

    def __init__(self, recording: Recording, dimensions: int = WORD_DIMENSIONS, seed: int = 0) -> None:
        space = SemanticSpace(recording, dimensions, seed)
        self.first = space.first()
        self._row: IntArray = np.full(len(recording.change_day), -1, dtype=np.int64)  # by change, of the vectors
        self._vectors: Vectors = np.empty((0, dimensions), dtype=np.float32)
        if not recording.tables.has("texts"):
            return
        texts = recording.texts()
        page, day = recording.change_page, recording.change_day
        key = np.searchsorted(_places(texts.page, texts.day, recording.end), _places(page, day, recording.end))
        key = np.minimum(key, max(len(texts) - 1, 0))
        found = np.flatnonzero((texts.page[key] == page) & (texts.day[key] == day)) if len(texts) else key[:0]
        self._row[found] = np.arange(len(found))
        self._vectors = space.of_texts(texts.text[key[found]])
        pages, at = np.unique(texts.page, return_index=True)  # the kept terms of a first version are not all its words
        visible = np.maximum(recording.born[pages], recording.start)
        early = np.flatnonzero(texts.day[at] <= visible + 1e-6) if recording.start <= 0 else at[:0]
        self.first[pages[early]] = space.of_texts(texts.text[at[early]])

    def held(self, seen: IntArray, start: IntArray) -> Vectors:
        """Vectors of the versions before the changes `seen`; `start` is where each page's changes begin."""
        if not len(self._vectors):
            return self.first
        row = np.where(seen > start, self._row[np.maximum(seen - 1, 0)], -1)
        out = self.first.copy()
        there = row >= 0
        out[there] = self._vectors[row[there]]
        return out


def _places(page: PageIds, day: FloatArray, end: float) -> FloatArray:
    """One ascending number for a page and a day."""
    return np.asarray(page * (2.0 * end + 2.0) + day)


def version_vectors(recording: Recording) -> VersionVectors:
    """Return the word vectors of a recording's versions, worked out once."""
    if recording not in _meanings:
        _meanings[recording] = VersionVectors(recording)
    return _meanings[recording]


class RecordedCopies:
    """The copies of one crawl; `seen` and `before` are the world's own columns, which it goes on writing."""

    def __init__(self, recording: Recording, seen: IntArray, before: IntArray) -> None:
        self._recording = recording
        self._seen = seen
        self._before = before
        self._firsts: dict[str, FloatArray] = {}

    def column(self, name: str) -> FloatArray | None:
        """Return a count of the copies; None where it is not recorded."""
        return self._version(name, self._seen)

    def of_pages(self, name: str, pages: PageIds) -> FloatArray | None:
        """Return the count for these pages only."""
        return self._version(name, self._seen[pages], pages)

    def moved(self, name: str) -> FloatArray | None:
        """Return by how much the count differs from that of the copy before."""
        now, then = self._version(name, self._seen), self._version(name, self._before)
        return None if now is None or then is None else now - then

    def similarity(self) -> FloatArray | None:
        """Return the cosine similarity of copy and copy before: the product over the changes between them.

        Exact for one change; for several, what is expected of edits that have nothing to do with each other.
        """
        if not self._recording.has_change("cosine"):
            return None
        cosine = np.nan_to_num(self._recording.change("cosine").astype(np.float64), nan=1.0)
        return _products(cosine, self._before, self._seen)

    def links(self, taken_at: FloatArray) -> tuple[PageIds, PageIds] | None:
        """Return source and target of the links that the copies show, to other pages of the recording."""
        if self._links is None:
            return None
        page, target, day_from, day_to = self._links
        when = taken_at[page]
        there = (day_from <= when) & (when < day_to)  # False for NaN: no copy
        return page[there], target[there]

    def word_vectors(self) -> Vectors | None:
        """Return unit vectors of the words of the copies."""
        if not self._recording.tables.has("terms"):
            return None
        return version_vectors(self._recording).held(self._seen, self._recording.change_start[:-1])

    def bags(self, pages: PageIds) -> PageBags | None:
        """Return the words of these pages' versions when the window opens, or at their birth, as far as recorded."""
        if not self._recording.tables.has("terms"):
            return None
        terms, row = self._recording.terms, self._first_terms[pages]
        first = np.where(row >= 0, terms.start[row], 0)
        last = np.where(row >= 0, terms.start[row + 1], 0)
        words = spans(first, last)
        start = np.append(0, np.cumsum(last - first)).astype(np.int64)
        return PageBags(start, terms.bucket[words], terms.count[words])

    def hosts(self) -> npt.NDArray[np.object_]:
        """Return the name of each page's site."""
        names = np.array(self._recording.site_names, dtype=np.object_)
        return np.asarray(names[self._recording.site])

    def endings(self) -> npt.NDArray[np.object_] | None:
        """Return the ending of each page's address."""
        return self._recording.page("ext") if self._recording.has_page("ext") else None

    @cached_property
    def _first_terms(self) -> IntArray:
        """Where the terms of each page's first version are, -1 where there are none."""
        terms = self._recording.terms
        rows = np.flatnonzero(~terms.last)
        found = np.full(len(self._recording), -1, dtype=np.int64)
        found[terms.page[rows]] = rows
        return found

    @cached_property
    def _links(self) -> tuple[PageIds, PageIds, FloatArray, FloatArray] | None:
        if not self._recording.has_links:
            return None
        links = self._recording.links
        page = links.page
        rows = np.flatnonzero((links.target_page >= 0) & (links.target_page != page))
        return page[rows], links.target_page[rows].astype(np.int64), links.day_from[rows], links.day_to[rows]

    def _version(self, name: str, seen: IntArray, pages: PageIds | slice = slice(None)) -> FloatArray | None:
        if not self._recording.has_page(name):
            return None
        if name not in self._firsts:
            self._firsts[name] = first_versions(self._recording, name)
        first = self._firsts[name][pages]
        if not self._recording.has_change(name) or not len(self._recording.change_day):
            return first
        row = seen - 1
        later = row >= self._recording.change_start[:-1][pages]
        return np.where(later, self._recording.change_counts(name)[np.maximum(row, 0)], first)


def first_versions(recording: Recording, name: str) -> FloatArray:
    """Return a count of each page's version when the window opens, or at its birth."""
    first = recording.page(name).astype(np.float64)
    if recording.start <= 0 or not recording.has_change(name):
        return first
    changes = recording.whole.changes
    day = changes.take(recording.tables.column("changes", "day"), slice(None))
    earlier = np.append(0, np.cumsum(day <= recording.start))
    begin = changes.start[recording.rows]
    count = earlier[changes.start[recording.rows + 1]] - earlier[begin]
    values = changes.take(recording.tables.column("changes", name), slice(None)).astype(np.float64)
    row = np.minimum(begin + count - 1, max(len(values) - 1, 0))
    return np.where(count > 0, values[row] if len(values) else first, first)


@kernel
def _products(values: FloatArray, first: IntArray, last: IntArray) -> FloatArray:
    out = np.ones(len(first))
    for p in range(len(first)):
        for row in range(first[p], last[p]):
            out[p] *= values[row]
    return out
