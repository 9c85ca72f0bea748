"""Time series of word counts per page in a window of steps, by which pages are compared.

Dyn(w, d) is the series of the word's tf-idf in page d (Radinsky & Bennett 2013, section 6.3), tf its count and idf
ln((1 + N) / (1 + pages with the word)) at the window's last step. A word whose count does not move correlates with
nothing, so only words that move are kept; idf is a factor of both series and drops out when they are standardised.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, IntArray
from recrawl.compiled import kernel
from recrawl.papers.experts.snapshots import Snapshots, Versions
from recrawl.policies.experts.alignment import standardise
from recrawl.see.words import BUCKETS, Buckets, Counts

WORDS = 32  # of a page that is compared: those of greatest weight among the words that moved
MOVING = 512  # of a page that others are compared with
BagArrays = tuple[IntArray, Buckets, Counts]  # start, bucket, count of VersionBags
DynamicsArrays = tuple[IntArray, Buckets, FloatArray, FloatArray]  # start, word, series, length of Dynamics


@dataclass(frozen=True)
class Dynamics:
    """The moving words of every page: page p's are rows `start[p]` to `start[p + 1]`, words ascending."""

    start: npt.NDArray[np.int64]
    word: Buckets
    series: npt.NDArray[np.float64]  # standardised counts by step
    weight: FloatArray  # tf-idf of the word in its page's last snapshot
    length: FloatArray  # sum of the absolute values of the series: its distance from a constant

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def arrays(self) -> DynamicsArrays:
        """What pages are compared by, for the compiled functions."""
        return self.start, self.word, self.series, self.length


def document_frequency(snapshots: Snapshots, step: int) -> tuple[IntArray, int]:
    """In how many pages each word is at a step, and how many pages there are."""
    versions = snapshots.version[:, step]
    versions = versions[versions >= 0].astype(np.int64)
    return _document_frequency(snapshots.bags.start, snapshots.bags.bucket, versions, BUCKETS), len(versions)


def dynamics_of(snapshots: Snapshots, first: int, last: int, *, moving: int = MOVING) -> Dynamics:
    """Follow the words of every page over the steps first to last; a page that was not always there has none."""
    bags = snapshots.bags.start, snapshots.bags.bucket, snapshots.bags.count
    df, pages = document_frequency(snapshots, last)
    idf = np.log((1.0 + pages) / (1.0 + df))
    scratch = np.zeros(BUCKETS, dtype=np.int32)
    parts = [_moving(bags, snapshots.version[p, first : last + 1], idf, moving, scratch) for p in range(len(snapshots))]
    start = np.append(0, np.cumsum([len(word) for word, _, _ in parts])).astype(np.int64)
    none = np.empty(0, dtype=np.int32)
    raw = np.concatenate([np.empty((0, last + 1 - first)), *(series for _, series, _ in parts)])
    series = np.empty_like(raw)
    _standardise_rows(raw, series)
    return Dynamics(
        start,
        np.concatenate([none, *(word for word, _, _ in parts)]),
        series,
        np.concatenate([none.astype(np.float64), *(weight for _, _, weight in parts)]),
        np.abs(series).sum(axis=1),
    )


@kernel
def _document_frequency(start: IntArray, bucket: Buckets, versions: IntArray, buckets: int) -> IntArray:
    out = np.zeros(buckets, dtype=np.int64)
    for v in versions:
        for i in range(start[v], start[v + 1]):
            out[bucket[i]] += 1
    return out


@kernel
def _moving(
    bags: BagArrays, version: Versions, idf: FloatArray, most: int, scratch: Counts
) -> tuple[Buckets, FloatArray, FloatArray]:
    """Return the words whose count moves, their counts by step and their weights; `scratch` is left as zeros."""
    empty = np.empty(0, dtype=np.int32)
    if np.min(version) < 0:
        return empty, np.empty((0, len(version))), np.empty(0)
    found = _moved_words(bags, version, scratch)
    last = version[-1]
    weight = np.empty(len(found))
    for k in range(len(found)):
        weight[k] = _count_in(bags, last, found[k]) * idf[found[k]]
    if len(found) > most:
        kept = np.sort(np.argsort(-weight, kind="mergesort")[:most])
        found, weight = found[kept], weight[kept]
    series = np.empty((len(found), len(version)))
    for k in range(len(found)):
        for s in range(len(version)):
            if s > 0 and version[s] == version[s - 1]:
                series[k, s] = series[k, s - 1]
            else:
                series[k, s] = _count_in(bags, version[s], found[k])
    return found, series, weight


@kernel
def _moved_words(bags: BagArrays, version: Versions, scratch: Counts) -> Buckets:
    """Words that some snapshot has more or less of than the one before it, ascending."""
    start, bucket, count = bags
    room = 0
    for s in range(1, len(version)):
        if version[s] != version[s - 1]:
            room += start[version[s] + 1] - start[version[s]] + start[version[s - 1] + 1] - start[version[s - 1]]
    found = np.empty(room, dtype=np.int32)
    n = 0
    for s in range(1, len(version)):
        if version[s] == version[s - 1]:
            continue
        i, i_end = start[version[s - 1]], start[version[s - 1] + 1]
        j, j_end = start[version[s]], start[version[s] + 1]
        while i < i_end or j < j_end:
            here = bucket[i] if i < i_end else 1 << 30
            there = bucket[j] if j < j_end else 1 << 30
            if here != there or count[i] != count[j]:
                word = min(here, there)
                if scratch[word] == 0:
                    scratch[word] = 1
                    found[n] = word
                    n += 1
            i += here <= there
            j += there <= here
    for k in range(n):
        scratch[found[k]] = 0
    return np.sort(found[:n])


@kernel
def _count_in(bags: BagArrays, version: int, word: int) -> int:
    start, bucket, count = bags
    low, high = start[version], start[version + 1]
    while low < high:
        middle = (low + high) // 2
        if bucket[middle] < word:
            low = middle + 1
        else:
            high = middle
    return count[low] if low < start[version + 1] and bucket[low] == word else 0


@kernel
def _standardise_rows(raw: FloatArray, out: FloatArray) -> None:
    for k in range(len(raw)):
        standardise(raw[k], out[k])
