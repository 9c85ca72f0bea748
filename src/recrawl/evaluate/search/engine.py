"""A small search engine over copies of pages: TF-IDF and PageRank, half and half.

    tfidf(q, p) = share of q's words on p * sum over those words w of sqrt(tf) * idf(w)**2 / sqrt(words of p)
    idf(w)      = 1 + ln(N / (df + 1))                                                 (Lucene's classic similarity)
    score(q, p) = alpha * tfidf / its largest value + beta * PageRank / its largest value, over the pages found
                                                                                       (Tan et al. 2007, eq. 7)

The postings are columns sorted by word and page. A cycle that replaces some copies merges theirs into the others';
python -m benchmarks.search measures it beside SQLite's full-text index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, IntArray, PageIds
from recrawl.evaluate.search.queries import Query

TOP = 10
ALPHA = BETA = 0.5
_PAGE = (1 << 32) - 1


@dataclass(frozen=True)
class Hits:
    """The pages that answer a query, best first, and how many of its words each holds."""

    pages: PageIds
    matched: IntArray


@dataclass(frozen=True)
class IndexedCopies:
    """What a score takes of the copies besides the postings; columns by page."""

    number: int  # N: how many copies there are
    length: FloatArray  # words of the copy
    rank: FloatArray  # PageRank
    tie: IntArray  # of equal scores the smaller goes first


class Index:
    """Which words the copies hold, and how often: an entry's key is word * 2**32 + page, and the keys are sorted."""

    def __init__(self) -> None:
        self._key, self._count = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)

    def replace(self, pages: PageIds, page: PageIds, word: IntArray, count: IntArray) -> None:
        """Forget the copies of `pages` and take these instead: an entry is a word of a copy and how often it is there.

        Pages without an entry are forgotten only.
        """
        if not len(pages):
            return
        kept = ~np.isin(self._key & _PAGE, pages)
        self._key, self._count = self._key[kept], self._count[kept]
        new = (word << 32) + page
        order = np.argsort(new)
        places = np.searchsorted(self._key, new[order])
        self._key = np.insert(self._key, places, new[order])
        self._count = np.insert(self._count, places, count[order])

    def postings(self, word: int) -> tuple[PageIds, IntArray]:
        """Return the pages that hold a word, and how often each does; none for a word that no copy holds."""
        part = slice(*np.searchsorted(self._key, (word << 32, (word + 1) << 32)).tolist())
        return self._key[part] & _PAGE, self._count[part]


def search(index: Index, queries: Sequence[Query], copies: IndexedCopies, top: int = TOP) -> list[Hits]:
    """Answer every query with at most `top` pages; a query that no copy holds a word of has no hits."""
    words = sorted({word for query in queries for word in query.words})
    weights = {word: _weigh(*index.postings(word), copies) for word in words}
    board = np.zeros(len(copies.tie)), np.zeros(len(copies.tie), dtype=np.int32)
    return [_answer(query, weights, copies, top, board) for query in queries]


def _weigh(pages: PageIds, counts: IntArray, copies: IndexedCopies) -> tuple[PageIds, FloatArray]:
    """Return the pages that hold a word, and what the word adds to the score of each."""
    idf = 1.0 + np.log(max(copies.number, 1) / (len(pages) + 1.0))
    return pages, np.sqrt(counts) * (idf * idf) / np.sqrt(np.maximum(copies.length[pages], 1.0))


def _answer(
    query: Query,
    weights: dict[int, tuple[PageIds, FloatArray]],
    copies: IndexedCopies,
    top: int,
    board: tuple[FloatArray, npt.NDArray[np.int32]],
) -> Hits:
    """Answer a query; `board` has a score and a count for every page, all 0, and is left so."""
    total, there = board
    for word in sorted(query.words):  # in a fixed order: sums of floats depend on it
        pages, weight = weights[word]
        total[pages] += weight
        there[pages] += 1
    found = np.flatnonzero(there)
    matched = there[found].astype(np.int64)
    content = total[found] * matched / max(len(query.words), 1)
    total[found], there[found] = 0.0, 0
    score = ALPHA * _of_largest(content) + BETA * _of_largest(copies.rank[found])
    first = _highest(score, top)
    order = first[np.lexsort((copies.tie[found[first]], -score[first]))[:top]]
    return Hits(found[order], matched[order])


def _highest(score: FloatArray, top: int) -> IntArray:
    """Places of the `top` highest scores, and of all that equal the last of them."""
    if len(score) <= top:
        return np.arange(len(score))
    last = np.partition(score, len(score) - top)[len(score) - top] if top else np.inf
    return np.flatnonzero(score >= last)


def _of_largest(values: FloatArray) -> FloatArray:
    largest = values.max(initial=0.0)
    return values / largest if largest > 0 else values
