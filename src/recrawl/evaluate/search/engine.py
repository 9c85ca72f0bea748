"""A small search engine over copies of pages: TF-IDF and PageRank, half and half.

    tfidf(q, p) = share of q's words on p * sum over those words w of sqrt(tf) * idf(w)**2 / sqrt(words of p)
    idf(w)      = 1 + ln(N / (df + 1))                                                 (Lucene's classic similarity)
    score(q, p) = alpha * tfidf / its largest value + beta * PageRank / its largest value, over the pages found
                                                                                       (Tan et al. 2007, eq. 7)

The inverted index is tantivy's. Its own score is BM25 only and it gives out no counts of words, so a word is posted
together with its count: the term `3f2:4` has the pages that hold the word 3f2 four times. The terms that begin with
`3f2:` are then all postings of that word, with exact tf and df. New copies replace old ones in the same index.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import tantivy

from recrawl.columns import FloatArray, IntArray, PageIds
from recrawl.evaluate.search.queries import Query

TOP = 10
ALPHA = BETA = 0.5
WRITER_BYTES = 64_000_000  # what is held in memory before a segment is written; tantivy takes no less than 15 MB


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
    """Which words the copies hold, and how often."""

    def __init__(self) -> None:
        builder = tantivy.SchemaBuilder()
        builder.add_integer_field("page", indexed=True, fast=True)  # deletes by term miss unsigned fields
        builder.add_text_field("words", tokenizer_name="raw", index_option="basic")
        self._schema = builder.build()
        self._index = tantivy.Index(self._schema)

    def replace(self, pages: PageIds, page: PageIds, word: IntArray, count: IntArray) -> None:
        """Forget the copies of `pages` and take these instead: an entry is a word of a copy and how often it is there.

        Pages without an entry are forgotten only.
        """
        if not len(pages):
            return
        with self._index.writer(heap_size=WRITER_BYTES, num_threads=1) as writer:
            for one in pages.tolist():
                writer.delete_documents_by_term("page", one)
            for one, terms in _documents(page, word, count):
                writer.add_document(tantivy.Document.from_dict({"page": one, "words": terms}, self._schema))
        self._index.reload()

    def postings(self, word: int) -> tuple[PageIds, IntArray]:
        """Return the pages that hold a word, and how often each does; none for a word that no copy holds."""
        searcher = self._index.searcher()
        pages: list[int] = []
        counts: list[int] = []
        for term, most in searcher.terms_with_prefix("words", f"{word:x}:"):
            query = tantivy.Query.term_query(self._schema, "words", term, index_option="basic")
            # by page, as scores mean nothing here; `most` counts replaced copies too, which are not found
            found = searcher.search(query, limit=most, count=False, order_by_field="page", order=tantivy.Order.Asc)
            hits = [page for page, _ in found.hits]
            pages += hits
            counts += [int(term.partition(":")[2])] * len(hits)
        return np.array(pages, dtype=np.int64), np.array(counts, dtype=np.int64)


def _documents(page: PageIds, word: IntArray, count: IntArray) -> Iterator[tuple[int, list[str]]]:
    order = np.argsort(page, kind="stable")
    terms = [f"{w:x}:{c}" for w, c in zip(word[order].tolist(), count[order].tolist(), strict=True)]
    owners, sizes = np.unique(page, return_counts=True)
    for owner, end, size in zip(owners.tolist(), np.cumsum(sizes).tolist(), sizes.tolist(), strict=True):
        yield owner, terms[end - size : end]


def search(index: Index, queries: Sequence[Query], copies: IndexedCopies, top: int = TOP) -> list[Hits]:
    """Answer every query with at most `top` pages; a query that no copy holds a word of has no hits."""
    words = sorted({word for query in queries for word in query.words})
    weights = {word: _weigh(*index.postings(word), copies) for word in words}
    return [_answer(query, weights, copies, top) for query in queries]


def _weigh(pages: PageIds, counts: IntArray, copies: IndexedCopies) -> tuple[PageIds, FloatArray]:
    """Return the pages that hold a word, and what the word adds to the score of each."""
    idf = 1.0 + np.log(max(copies.number, 1) / (len(pages) + 1.0))
    return pages, np.sqrt(counts) * (idf * idf) / np.sqrt(np.maximum(copies.length[pages], 1.0))


def _answer(query: Query, weights: dict[int, tuple[PageIds, FloatArray]], copies: IndexedCopies, top: int) -> Hits:
    total, there = np.zeros(len(copies.tie)), np.zeros(len(copies.tie), dtype=np.int64)
    for word in sorted(query.words):  # in a fixed order: sums of floats depend on it
        pages, weight = weights[word]
        total[pages] += weight
        there[pages] += 1
    found = np.flatnonzero(there)
    matched = there[found]
    content = total[found] * matched / max(len(query.words), 1)
    score = ALPHA * _of_largest(content) + BETA * _of_largest(copies.rank[found])
    order = np.lexsort((copies.tie[found], -score))[:top]
    return Hits(found[order], matched[order])


def _of_largest(values: FloatArray) -> FloatArray:
    largest = values.max(initial=0.0)
    return values / largest if largest > 0 else values
