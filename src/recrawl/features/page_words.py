"""The words of a page when it is visited, as a short vector of hashed words.

The square roots of a version's word counts are hashed into DIMENSIONS with a sign each (Weinberger et al. 2009) and
scaled to length 1, so that scalar products are near the similarity of the texts. With full texts every version has its
vector; where a recording has only the terms of first versions, these stand for all later ones; a page of which no words
are recorded has a vector of zeros.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, IntArray, PageIds
from recrawl.see.words import bag_of

if TYPE_CHECKING:
    from recrawl.recording.recording import Recording

DIMENSIONS = 32
Vectors = npt.NDArray[np.float32]
_held: WeakKeyDictionary[Recording, PageWords] = WeakKeyDictionary()  # texts are costly to read, and do not change


class PageWords:
    """The words of a recording's pages, read when first asked for."""

    def __init__(self, recording: Recording) -> None:
        self._day: FloatArray = np.empty(0)
        self._text: npt.NDArray[np.object_] = np.empty(0, dtype=np.object_)
        self._first = np.zeros(len(recording) + 1, dtype=np.int64)
        self._vectors: dict[int, Vectors] = {}
        if recording.tables.has("texts"):
            texts = recording.texts()
            self._day, self._text = texts.day, texts.text
            self._first = np.searchsorted(texts.page, np.arange(len(recording) + 1))
        if not len(self._text) and recording.tables.has("terms"):
            self._take_terms(recording)

    @property
    def known(self) -> bool:
        """Whether any page has words."""
        return bool(self._vectors) or len(self._text) > 0

    def rows(self, pages: PageIds, at: float) -> Vectors:
        """Return the vectors of the words of these pages at a time."""
        out = np.zeros((len(pages), DIMENSIONS), dtype=np.float32)
        for i, page in enumerate(pages.tolist()):
            low, high = int(self._first[page]), int(self._first[page + 1])
            if high > low:
                version = max(int(np.searchsorted(self._day[low:high], at, side="right")) + low - 1, low)
                out[i] = self._vector(version)
        return out

    def _vector(self, version: int) -> Vectors:
        if version not in self._vectors:
            bag = bag_of(self._text[version] or "")
            self._vectors[version] = hashed(bag.bucket, bag.count)
        return self._vectors[version]

    def _take_terms(self, recording: Recording) -> None:
        """Take the terms of first versions as if they stood for good; those of last ones are the future."""
        terms = recording.terms
        rows = np.flatnonzero(~terms.last)
        self._first = np.searchsorted(terms.page[rows], np.arange(len(recording) + 1))
        self._day = np.full(len(rows), -np.inf)
        for i, row in enumerate(rows.tolist()):
            part = slice(int(terms.start[row]), int(terms.start[row + 1]))
            self._vectors[i] = hashed(terms.bucket[part], terms.count[part])


def words_of(recording: Recording) -> PageWords:
    """Return the words of a recording's pages, read once."""
    if recording not in _held:
        _held[recording] = PageWords(recording)
    return _held[recording]


def has_words(recording: Recording) -> bool:
    """Whether a recording holds words of any sort."""
    return recording.tables.has("texts") or recording.tables.has("terms")


def hashed(bucket: IntArray, count: IntArray) -> Vectors:
    """Return the vector of a bag of words; zeros for an empty one."""
    sign = np.where((bucket // DIMENSIONS) % 2 == 0, 1.0, -1.0)
    vector = np.bincount(bucket % DIMENSIONS, sign * np.sqrt(count), minlength=DIMENSIONS)
    length = np.sqrt((vector**2).sum())
    return (vector / length if length > 0 else vector).astype(np.float32)
