"""The directions in which pages differ by their words (TF-IDF and latent semantic analysis), also of a growing crawl.

    tfidf(p, w) = (1 + ln tf) * (1 + ln((1 + N) / (1 + df)))      rows scaled to length 1
    vector(p)   = the first right-singular directions' coordinates of tfidf(p), scaled to length 1 (LSA)

N, df and the directions are learnt from some pages; others are projected on them. A crawl learns them anew whenever
its copies have doubled. The new directions are turned so that the pages placed before move as little as possible
(orthogonal Procrustes), so that what was learnt from earlier vectors keeps its meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, IntArray, PageIds, TieArray, grown
from recrawl.copies import PageBags
from recrawl.features.semantic import directions_of, idf_of, unit, weighted, word_matrix
from recrawl.see.words import stop_buckets

Vectors = npt.NDArray[np.float32]

BATCH = 4096  # pages that are projected at a time
LEARNT_FROM = 20_000  # pages of a crawl that directions are learnt from, at most
DOUBLED = 2  # times the copies: directions are learnt anew


@dataclass(frozen=True)
class WordSpace:
    """Directions learnt from some pages; words that none of them had have none."""

    words: IntArray  # buckets, ascending
    idf: Vectors
    directions: Vectors | None  # words x dimensions; None: a single page or word, there is nothing to tell apart

    @classmethod
    def learn(cls, bags: PageBags, dimensions: int, seed: int = 0) -> WordSpace:
        """Learn from pages with these words; where they have fewer directions than asked for, the others are zero."""
        words = np.setdiff1d(bags.bucket, stop_buckets())
        counts = _matrix_of(bags, words)
        idf = idf_of(counts)
        found = directions_of(weighted(counts, idf), dimensions, seed)
        if found is None:
            return cls(words, idf, None)
        directions = np.zeros((len(words), dimensions), dtype=np.float32)
        directions[:, : found.shape[1]] = found
        return cls(words, idf, directions)

    def place(self, bags: PageBags, dimensions: int) -> Vectors:
        """Return unit vectors of pages with these words; zero for a page without words."""
        weights = weighted(_matrix_of(bags, self.words), self.idf)
        if self.directions is not None:
            return unit(weights @ self.directions)
        vectors = np.zeros((weights.shape[0], dimensions), dtype=np.float32)
        vectors[:, 0] = np.diff(weights.indptr) > 0
        return vectors

    def turned(self, turn: Vectors) -> WordSpace:
        """Return the same space with its directions turned."""
        return WordSpace(self.words, self.idf, None if self.directions is None else self.directions @ turn)


def _matrix_of(bags: PageBags, words: IntArray) -> Any:
    """Return pages x words, sparse."""
    row = np.repeat(np.arange(len(bags.start) - 1), np.diff(bags.start))
    return word_matrix(row, bags.bucket, bags.counts, words, len(bags.start) - 1)


class GrowingSpace:
    """Word vectors of a crawl's pages as their number grows; `bags_of` returns the words of pages, by their number."""

    def __init__(self, bags_of: Callable[[PageIds], PageBags], dimensions: int, seed: int = 0) -> None:
        self._bags_of = bags_of
        self._dimensions = dimensions
        self._seed = seed
        self._space: WordSpace | None = None
        self._learnt_from = 0  # copies at hand when the directions were learnt
        self._vectors: Vectors = np.zeros((0, dimensions), dtype=np.float32)
        self._placed: BoolArray = np.zeros(0, dtype=np.bool_)

    def vectors(self, worded: BoolArray, tie: TieArray) -> Vectors | None:
        """Return pages x dimensions for the pages that have words now, zeros for others; None where none has."""
        pages = np.flatnonzero(worded)
        if not len(pages):
            return None
        self._vectors = grown(self._vectors, len(worded), 0.0)
        self._placed = grown(self._placed, len(worded), False)
        pages = pages[np.argsort(tie[pages])]  # the result must not depend on how pages are numbered
        if self._space is None or len(pages) >= DOUBLED * self._learnt_from:
            self._learn(pages)
        else:
            self._place(self._space, pages[~self._placed[pages]])
        return self._vectors[: len(worded)]

    def _learn(self, pages: PageIds) -> None:
        space = WordSpace.learn(self._bags_of(pages[:LEARNT_FROM]), self._dimensions, self._seed)
        before = pages[self._placed[pages]]
        old = self._vectors[before].astype(np.float64)
        self._place(space, pages)
        if len(before) and space.directions is not None:
            left, _, right = np.linalg.svd(self._vectors[before].astype(np.float64).T @ old)
            turn = (left @ right).astype(np.float32)
            space = space.turned(turn)
            self._vectors[pages] = self._vectors[pages] @ turn
        self._space, self._learnt_from = space, len(pages)

    def _place(self, space: WordSpace, pages: PageIds) -> None:
        for first in range(0, len(pages), BATCH):
            part = pages[first : first + BATCH]
            self._vectors[part] = space.place(self._bags_of(part), self._dimensions)
            self._placed[part] = True
