"""The texts of pages at the times of equal crawls: how rich their words are, and what they are about.

A recording may hold the texts of some pages only. For the others the terms of the first version stand for all later
ones, and how rich they are is known only where these terms are all the words of the page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, IntArray
from recrawl.features.semantic import SemanticSpace, Vectors
from recrawl.recording.recording import Recording
from recrawl.see.words import bag_of

Merge = Callable[[npt.NDArray[np.floating[Any]]], Vectors]


class CrawledTexts:
    """Which text stands on each page at each crawl, with its vector and the richness of its words."""

    def __init__(self, recording: Recording, times: FloatArray, space: SemanticSpace | None) -> None:
        texts = recording.texts()
        pages = np.unique(texts.page)
        first, last = np.searchsorted(texts.page, pages), np.searchsorted(texts.page, pages, side="right")
        self._pages = pages
        self._row: IntArray = np.stack([
            first + np.maximum(np.array([
                np.searchsorted(texts.day[a:b], at, side="right") for a, b in zip(first, last, strict=True)
            ], dtype=np.int64) - 1, 0) for at in times
        ])  # fmt: skip
        used, self._row = np.unique(self._row, return_inverse=True)
        self._row = self._row.reshape(len(times), len(pages))
        used_texts = [str(text or "") for text in texts.text[used]]
        bags = [bag_of(text) for text in used_texts]
        self._quality = np.array([richness(len(bag.bucket), bag.total) for bag in bags])
        self.whole: Vectors | None = None if space is None else space.of_texts(used_texts)
        self.merge: Merge | None = None  # to the dimensions that learners see

    def overwrite(self, values: npt.NDArray[Any], by_text: npt.NDArray[Any], crawl: int) -> npt.NDArray[Any]:
        """Return the values of all pages, of those with texts by the text at the crawl."""
        out = values.copy()
        out[self._pages] = by_text[self._row[crawl]]
        return out

    def quality(self, first: FloatArray, crawl: int) -> FloatArray:
        """Richness of the words at the crawl; `first` for pages without texts."""
        return self.overwrite(first, self._quality, crawl)

    def vectors(self, first: Vectors, crawl: int) -> Vectors:
        """Vectors for the learners at the crawl; `first` for pages without texts."""
        if self.whole is None or self.merge is None:
            return first
        return np.asarray(self.overwrite(first, self.merge(self.whole), crawl), dtype=np.float32)


def richness(vocabulary: float, words: float) -> float:
    """Return Herdan's C, ln(1 + distinct words) / ln(1 + words); 0 without words."""
    return float(np.log1p(vocabulary) / np.log1p(words)) if words > 0 else 0.0


def quality_of_terms(recording: Recording) -> FloatArray:
    """Return Herdan's C of first versions whose terms are all their words; NaN where some were not kept."""
    out = np.full(len(recording), np.nan)
    if not recording.tables.has("terms"):
        return out
    terms = recording.terms
    rows = np.flatnonzero(~terms.last)
    distinct = np.diff(terms.start)
    words = np.add.reduceat(np.append(terms.count, 0), terms.start[:-1]) * (distinct > 0)
    whole = rows[words[rows] == terms.total[rows]]
    out[terms.page[whole]] = [richness(distinct[row], words[row]) for row in whole.tolist()]
    return out
