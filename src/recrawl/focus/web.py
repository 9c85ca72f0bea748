"""A web with words to crawl for a topic: of a recording, or synthetic.

Both are the same to the simulator: a link graph, the words of every page, of its address and, where known, of the
anchors of its links. Words and their buckets are those of recrawl.see.words and of the `terms` table of a recording,
so that pages, addresses, anchors and keywords share one vocabulary. A bi-gram is hashed as its two words with a space
between.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import numpy as np
from scipy.sparse import csr_matrix, diags

from recrawl.columns import BoolArray, IntArray, PageIds, spans
from recrawl.errors import InputError
from recrawl.focus.crawl_graph import CrawlGraph, graph_of
from recrawl.recording.recording import Recording
from recrawl.see.words import BUCKETS, bucket_of, split_words


@dataclass(frozen=True)
class WordLists:
    """Words (as buckets) of things 0..n-1: those of thing i are `word[start[i]:start[i + 1]]`."""

    start: IntArray
    word: IntArray


@dataclass(frozen=True)
class TopicalWeb:
    """Pages with links and words; `labels` are topics that are known beforehand, by name."""

    name: str
    graph: CrawlGraph
    bags: Bags
    addresses: WordLists  # the words of each page's address
    anchors: WordLists | None = None  # the words of each link's anchor
    labels: Mapping[str, BoolArray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.graph)


def open_web(data: str, *, seed: int = 0, pages: int = 0, features: str = "auto") -> TopicalWeb:
    """Open a web by name: the folder of a recording, or `synthetic`; `features` as in `bags_of`."""
    if data == "synthetic" and not Path(data).exists():
        from recrawl.focus.topical_web import DEFAULT_PAGES, synthetic_web

        return synthetic_web(pages or DEFAULT_PAGES, seed)
    if pages:
        raise InputError("--web-pages is for synthetic webs; a recording has the pages that it has")
    return web_of(Recording.open(data), features=features)


def web_of(recording: Recording, at: float | None = None, features: str = "auto") -> TopicalWeb:
    """Take the pages that live at day `at` (default: the end of the recording), with their links and words."""
    when = recording.end if at is None else at
    if not recording.has_links:
        raise InputError(f"{recording.name} has no table of links: there is no graph to crawl")
    alive = recording.keep((recording.born <= when) & (recording.died > when))
    if not len(alive):
        raise InputError(f"{recording.name}: no page is alive at day {when:g}")
    graph = graph_of(alive, when)
    if not graph.links:
        raise InputError(f"{recording.name}: no link of day {when:g} leads to a recorded page")
    lists = [[bucket_of(word) for word in address_words(url)] for url in graph.urls]
    start = np.concatenate([[0], np.cumsum([len(words) for words in lists])]).astype(np.int64)
    words = np.array([word for words in lists for word in words], dtype=np.int32)
    return TopicalWeb(recording.name, graph, bags_of(alive, features), WordLists(start, words))


TEXT_SHARE = 0.95  # of the pages with words, those that must have a text before texts are read by default
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Bags(Protocol):
    """The words of every page."""

    def rows(self, pages: PageIds) -> csr_matrix:
        """Counts of the words of these pages: one row per page, BUCKETS columns."""


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


def bags_of(recording: Recording, features: str = "auto") -> CountedBags:
    """Read the words of the pages' last versions: words and bi-grams of their `texts`, or their `terms`.

    The paper's features are words and bi-grams, which hashed `terms` do not hold. `auto` takes texts where nearly all
    pages that have words have a text, so that all are judged alike; `bigrams` asks for texts, `words` for terms. With
    texts, a page that has none is described by its terms.
    """
    has_terms, has_texts = recording.tables.has("terms"), recording.tables.has("texts")
    if not has_terms and not has_texts:
        raise InputError(f"{recording.name} has neither terms nor texts: there are no words to judge a topic by")
    if features == "bigrams" and not has_texts:
        raise InputError(f"{recording.name} has no texts: bi-grams cannot be read off hashed terms; use words")
    if features == "words" and has_terms:
        return CountedBags(_term_counts(recording))
    if not has_texts:
        return CountedBags(_term_counts(recording))
    texts = recording.texts()
    has_text = np.zeros(len(recording), dtype=np.bool_)
    has_text[texts.page] = True
    counts = _term_counts(recording) if has_terms else None
    worded = has_text if counts is None else has_text | (np.diff(counts.indptr) > 0)
    if features == "auto" and counts is not None and has_text.sum() < TEXT_SHARE * worded.sum():
        return CountedBags(counts)
    found: list[list[str]] = [[] for _ in range(len(recording))]
    for i in _latest(texts.page):
        found[texts.page[i]] = words_and_bigrams(texts.text[i]) if features != "words" else split_words(texts.text[i])
    read = count_words(found)
    if counts is not None:
        read = read + diags((~has_text).astype(np.float32)) @ counts
    return CountedBags(csr_matrix(read))


def _term_counts(recording: Recording) -> csr_matrix:
    """The hashed words of each page's last version."""
    terms = recording.terms
    latest = _latest(terms.page)
    places = spans(terms.start[latest], terms.start[latest + 1])
    sizes = np.zeros(len(recording), dtype=np.int64)
    sizes[terms.page[latest]] = terms.start[latest + 1] - terms.start[latest]
    start = np.concatenate([[0], np.cumsum(sizes)])
    values = terms.count[places].astype(np.float32)
    return csr_matrix((values, terms.bucket[places].astype(np.int32), start), shape=(len(recording), BUCKETS))


def _latest(page: PageIds) -> PageIds:
    """The last row of each page in rows ordered by page and time."""
    return np.flatnonzero(np.append(np.diff(page) != 0, True)) if len(page) else np.empty(0, dtype=np.int64)
