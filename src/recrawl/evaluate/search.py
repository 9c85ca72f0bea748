"""A small search engine over copies of pages: TF-IDF and PageRank, half and half.

    tfidf(q, p) = share of q's words on p * sum over those words w of sqrt(tf) * idf(w)**2 / sqrt(words of p)
    idf(w)      = 1 + ln(N / (df + 1))                                                 (Lucene's classic similarity)
    score(q, p) = alpha * tfidf / its largest value + beta * PageRank / its largest value, over the pages found
                                                                                       (Tan et al. 2007, eq. 7)

The index is a sparse matrix by columns: a column is a word's postings. It is made anew for each policy and cycle, and
SciPy's compressed columns hold the postings and multiply all queries at once; no search library was measured beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_matrix

from recrawl.columns import FloatArray, IntArray, PageIds
from recrawl.evaluate.queries import Query

TOP = 10
ALPHA = BETA = 0.5


@dataclass(frozen=True)
class Hits:
    """The pages that answer a query, best first, and how many of its words each holds."""

    pages: PageIds
    matched: IntArray


class Index:
    """The copies of one moment, ready to be asked."""

    def __init__(
        self, page: PageIds, word: IntArray, count: FloatArray, words: int, length: FloatArray, documents: int
    ) -> None:
        size = len(length)
        frequency = np.bincount(word, minlength=words)
        idf = 1.0 + np.log(max(documents, 1) / (frequency + 1.0))
        weight = np.sqrt(count) * idf[word] ** 2 / np.sqrt(np.maximum(length[page], 1.0))
        self.weights = csc_matrix((weight, (page, word)), shape=(size, words))
        self.there = csc_matrix((np.ones(len(page)), (page, word)), shape=(size, words))

    def ask(self, questions: csc_matrix) -> tuple[csc_matrix, csc_matrix]:
        """Return pages x queries: sums of weights, and how many of the words are there; a query is a column."""
        return csc_matrix(self.weights @ questions), csc_matrix(self.there @ questions)


def questions_of(queries: Sequence[Query], words: IntArray) -> csc_matrix:
    """Return words x queries of ones; `words` are the buckets, ascending, that the index knows."""
    rows = [int(np.searchsorted(words, word)) for query in queries for word in query.words]
    columns = [at for at, query in enumerate(queries) for _ in query.words]
    return csc_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(words), len(queries)))


def search(
    index: Index, queries: Sequence[Query], questions: csc_matrix, rank: FloatArray, tie: IntArray, top: int = TOP
) -> list[Hits]:
    """Answer every query with at most `top` pages; `rank` is PageRank, equal scores go by `tie`."""
    sums, matches = index.ask(questions)
    sums.sort_indices()
    matches.sort_indices()
    answers = []
    for at, query in enumerate(queries):
        part = slice(int(sums.indptr[at]), int(sums.indptr[at + 1]))
        pages = sums.indices[part].astype(np.int64)
        matched = matches.data[part].astype(np.int64)
        content = sums.data[part] * matched / max(len(query.words), 1)
        score = ALPHA * _of_largest(content) + BETA * _of_largest(rank[pages])
        order = np.lexsort((tie[pages], -score))[:top]
        answers.append(Hits(pages[order], matched[order]))
    return answers


def _of_largest(values: FloatArray) -> FloatArray:
    largest = values.max(initial=0.0)
    return values / largest if largest > 0 else values
