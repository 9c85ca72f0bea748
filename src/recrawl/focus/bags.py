"""Bags of words of pages, and of the addresses and anchors of links, for the topic classifier.

Words and their buckets are those of recrawl.see.words and of the `terms` table of a recording, so that pages,
addresses, anchors and keywords share one vocabulary. A bi-gram is hashed as its two words with a space between.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
from scipy.sparse import csr_matrix

from recrawl.columns import PageIds
from recrawl.errors import InputError
from recrawl.recording.recording import Recording
from recrawl.recording.whole import spans
from recrawl.see.words import BUCKETS, bucket_of, split_words

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Bags(Protocol):
    """The words of every page."""

    def rows(self, pages: PageIds) -> csr_matrix:
        """Counts of the words of these pages: one row per page, BUCKETS columns."""
        ...


class CountedBags:
    """Words that were counted beforehand, all pages in one matrix."""

    def __init__(self, counts: csr_matrix) -> None:
        self.counts = counts

    def rows(self, pages: PageIds) -> csr_matrix:
        """Take the rows of these pages."""
        return self.counts[pages]


def address_words(address: str) -> list[str]:
    """Split an address into words: `sqlDocs/t-sql/create-table.md` is sql, docs, t, sql, create, table, md."""
    return split_words(_CAMEL.sub(" ", address))


def words_and_bigrams(text: str) -> list[str]:
    """Return the words of a text and its pairs of neighbouring words (the paper's features)."""
    found = split_words(text)
    return found + [f"{a} {b}" for a, b in pairwise(found)]


def count_words(lists: Iterable[Sequence[str]]) -> csr_matrix:
    """Count the words of each list into one row of hashed buckets."""
    columns: list[int] = []
    starts = [0]
    for found in lists:
        columns.extend(map(bucket_of, found))
        starts.append(len(columns))
    ones = np.ones(len(columns), dtype=np.float32)
    counts = csr_matrix((ones, np.array(columns, dtype=np.int32), np.array(starts)), shape=(len(starts) - 1, BUCKETS))
    counts.sum_duplicates()
    return counts


def bags_of(recording: Recording) -> CountedBags:
    """Read the words of the pages: their `terms`, or else words and bi-grams of their `texts`.

    The last version counts. A page without either has no words.
    """
    if recording.tables.has("terms"):
        terms = recording.terms
        latest = _latest(terms.page)
        places = spans(terms.start[latest], terms.start[latest + 1])
        sizes = np.zeros(len(recording), dtype=np.int64)
        sizes[terms.page[latest]] = terms.start[latest + 1] - terms.start[latest]
        start = np.concatenate([[0], np.cumsum(sizes)])
        values = terms.count[places].astype(np.float32)
        counts = csr_matrix((values, terms.bucket[places].astype(np.int32), start), shape=(len(recording), BUCKETS))
        return CountedBags(counts)
    if recording.tables.has("texts"):
        texts = recording.texts()
        found: list[list[str]] = [[] for _ in range(len(recording))]
        for i in _latest(texts.page):
            found[texts.page[i]] = words_and_bigrams(texts.text[i])
        return CountedBags(count_words(found))
    raise InputError(f"{recording.name} has neither terms nor texts: there are no words to judge a topic by")


def _latest(page: PageIds) -> PageIds:
    """The last row of each page in rows ordered by page and time."""
    return np.flatnonzero(np.append(np.diff(page) != 0, True)) if len(page) else np.empty(0, dtype=np.int64)
