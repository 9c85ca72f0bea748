"""Queries: from a file, or drawn from the words of a recording's pages.

A drawn query asks for a page as a reader would who knows some of its words: a page is drawn at random, then one of the
versions whose words are recorded, then one, two or three of its words, each with a chance in proportion to the weight
that a search gives it: sqrt(tf) * idf**2.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recrawl.columns import FloatArray
from recrawl.errors import InputError, RecordingError
from recrawl.recording.contents import Terms
from recrawl.recording.recording import Recording
from recrawl.see.words import bucket_of, split_words

COUNT = 100
LENGTHS = (0.3, 0.4, 0.3)  # chances of one, two, three words


@dataclass(frozen=True)
class Query:
    """Hashed words, each once, and where they are known the words themselves."""

    words: tuple[int, ...]
    text: str = ""


def read_queries(path: str | Path) -> list[Query]:
    """Read one query per line; lines without a word are skipped."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"queries {path}: {getattr(error, 'strerror', None) or 'not UTF-8 text'}") from None
    queries = [query_of(line) for line in lines if split_words(line)]
    if not queries:
        raise InputError(f"queries {path}: there is no query in it; write one per line")
    return queries


def query_of(text: str) -> Query:
    """Return the query of a line of words."""
    return Query(tuple(dict.fromkeys(bucket_of(word) for word in split_words(text))), text.strip())


def draw_queries(recording: Recording, count: int = COUNT, seed: int = 0) -> list[Query]:
    """Draw queries from the words of the pages; the same seed draws the same."""
    terms = recording.terms
    rows = np.flatnonzero(np.diff(terms.start) > 0)
    if not len(rows):
        raise RecordingError(f"{recording.name} has no words to draw queries from")
    draw = np.random.default_rng(seed)
    idf = _rarity(terms)
    pages, first = np.unique(terms.page[rows], return_index=True)
    ends = np.append(first[1:], len(rows))
    queries = []
    for at in draw.integers(0, len(pages), count).tolist():
        row = rows[int(draw.integers(first[at], ends[at]))]
        held = slice(int(terms.start[row]), int(terms.start[row + 1]))
        bucket = terms.bucket[held]
        weight = np.sqrt(terms.count[held]) * idf[bucket] ** 2
        size = min(int(draw.choice(len(LENGTHS), p=LENGTHS)) + 1, len(bucket))
        chosen = draw.choice(len(bucket), size, replace=False, p=weight / weight.sum())
        queries.append(Query(tuple(int(word) for word in bucket[chosen])))
    return queries


def _rarity(terms: Terms) -> FloatArray:
    """ln(1 + N / df) of every bucket, over all versions whose words are recorded."""
    frequency = np.bincount(terms.bucket)
    return np.log1p(len(terms) / np.maximum(frequency, 1))
