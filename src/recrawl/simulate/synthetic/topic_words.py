"""The words of a synthetic web's pages as hashed buckets, by topic.

Each topic has its own vocabulary, and all share some common words. A page holds up to 64 of its topic's words with
Zipf counts, so pages of one topic have about two fifths of their words in common, pages of two topics far fewer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recrawl.compiled import kernel
from recrawl.see.words import bucket_of
from recrawl.simulate.synthetic.edits import EditHistory
from recrawl.simulate.synthetic.inhabitants import TOPICS, Pages
from recrawl.simulate.synthetic.versions import Edits, FirstVersions

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]

WORDS_KEPT = 64
OWN_WORDS, COMMON_WORDS = 120, 40


@dataclass(frozen=True)
class TopicWords:
    """Rows of the terms table; row i's buckets and counts are `start[i]` to `start[i + 1]`."""

    page: Ints
    last: npt.NDArray[np.bool_]  # False: the first version, True: the last
    total: Ints
    start: Ints
    bucket: Ints
    count: npt.NDArray[np.uint16]


def vocabulary() -> Ints:
    """Return the ascending buckets of each topic's words: CRC-32 of the word, mod 2**18."""
    rows = [_hashed("common", COMMON_WORDS, set()) for _ in TOPICS]
    for topic, row in zip(TOPICS, rows, strict=True):
        row |= _hashed(topic, OWN_WORDS, row)
    return np.array([sorted(row) for row in rows], dtype=np.int32)


def _hashed(stem: str, count: int, taken: set[int]) -> set[int]:
    """Hash stem0, stem1, ... into `count` buckets that are not taken."""
    found: set[int] = set()
    number = 0
    while len(found) < count:
        bucket = bucket_of(f"{stem}{number}")
        number += 1
        if bucket not in taken:
            found.add(bucket)
    return found


def draw_terms(
    pages: Pages, first: FirstVersions, history: EditHistory, edits: Edits, rng: np.random.Generator
) -> TopicWords:
    """Draw the words of every page's first version, and of its last where it changed."""
    count = len(pages)
    changed = history.start[1:] > history.start[:-1]
    closing = np.maximum(history.start[1:] - 1, 0)
    final = np.where(changed, edits.words[closing], first.words) if len(edits.words) else first.words
    churn = np.bincount(history.page, edits.added.astype(np.float64) + edits.removed, minlength=count)
    replaced = np.minimum(churn / (2.0 * first.words), 0.9).astype(np.float32)
    rows = np.ones(count, dtype=np.int32) + changed
    page = np.repeat(np.arange(count, dtype=np.int32), rows)
    last = np.zeros(len(page), dtype=np.bool_)
    last[1:] = page[1:] == page[:-1]
    total = np.where(last, final[page], first.words[page]).astype(np.int32)
    kept = np.minimum(total, WORDS_KEPT)
    start = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
    bucket, number = _choose(rng, page, last, total, start, pages.topic, replaced, vocabulary())
    return TopicWords(page, last, total, start, bucket, number)


@kernel
def _choose(
    rng: np.random.Generator,
    page: Ints,
    last: npt.NDArray[np.bool_],
    total: Ints,
    start: Ints,
    topic: npt.NDArray[np.int8],
    replaced: Floats,
    words: Ints,
) -> tuple[Ints, npt.NDArray[np.uint16]]:
    width = words.shape[1]
    bucket = np.empty(start[-1], np.int32)
    count = np.empty(start[-1], np.uint16)
    chosen = np.zeros(width, np.bool_)
    # a word's place in the vocabulary is as good as random: it stands for its frequency
    harmonic = np.log(width + 1.0)
    for i in range(len(page)):
        wanted = start[i + 1] - start[i]
        have = 0
        if last[i]:
            for j in range(width):
                chosen[j] = chosen[j] and rng.random() >= replaced[page[i]]
                have += chosen[j]
        else:
            chosen[:] = False
        j = int(rng.random() * width)
        while have < wanted:
            j = (j + 1 + int(rng.random() * 4)) % width
            if not chosen[j]:
                chosen[j] = True
                have += 1
        while have > wanted:
            j = (j + 1) % width
            if chosen[j]:
                chosen[j] = False
                have -= 1
        at = start[i]
        for j in range(width):
            if chosen[j]:
                rank = (j * 37) % width + 1
                bucket[at] = words[topic[page[i]], j]
                count[at] = min(1 + total[i] / (rank * harmonic * 1.5), 60000.0)
                at += 1
    return bucket, count
