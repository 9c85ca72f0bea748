"""The features of Radinsky & Bennett 2013, section 4.2: of a page alone (2D), and of a page beside another (3D).

With A(t) the unigram distribution of page A at step t, l the window and sigma the interval:

    1D   how often A changed in the window
    2D   besides: the distribution A(t) itself, ||A(t) - A(t-i)||, ||A(t-i) - A(t-i-sigma)|| and whether A changed at
         t-i, for the l + 1 or l steps i of the window
    3D   all that of another page B, and cos(A(t-i), B(t-i)), cos(B(t) - B(t-i), A(t)) and
         cos(B(t) - B(t-i), A(t) - A(t-i))

The distribution has as many features as there are words. It is never written out: a kernel needs only the scalar
products of versions (`version_products`), which are few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from recrawl.columns import BoolArray, FloatArray, IntArray
from recrawl.compiled import kernel
from recrawl.errors import InputError
from recrawl.papers.experts.snapshots import Snapshots, VersionBags, Versions
from recrawl.see.words import Buckets

Shares = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Window:
    """The regression window l and the prediction interval sigma, both in steps."""

    length: int = 1
    interval: int = 1

    def __post_init__(self) -> None:
        if self.length < 1 or self.interval < 1:
            raise InputError("a window and an interval have at least one step")

    @property
    def back(self) -> int:
        """How many steps before t are looked at."""
        return self.length + self.interval

    @property
    def own(self) -> int:
        """Features of a page alone, its words apart."""
        return 1 + 2 * self.length + self.length + 1

    @property
    def related(self) -> int:
        """Features of a page beside another."""
        return 3 * self.length


def own_features(snapshots: Snapshots, changed: BoolArray, row: int, window: Window) -> FloatArray:
    """Return steps x features of a page alone; steps at which it was not long enough there are zeros."""
    bags = snapshots.bags
    return _own(
        bags.start, bags.bucket, bags.share, snapshots.version[row], changed[row], window.length, window.interval
    )


def related_features(snapshots: Snapshots, row: int, other: int, window: Window) -> FloatArray:
    """Return steps x features of page `row` beside page `other`."""
    bags, version = snapshots.bags, snapshots.version
    return _related(bags.start, bags.bucket, bags.share, version[row], version[other], window.length)


def version_products(bags: VersionBags, versions: IntArray) -> npt.NDArray[np.float32]:
    """Scalar products of the unigram distributions of some versions."""
    parts = [slice(int(bags.start[v]), int(bags.start[v + 1])) for v in versions]
    start = np.append(0, np.cumsum([part.stop - part.start for part in parts]))
    none = np.empty(0, dtype=np.int32)
    columns = np.concatenate([none, *(bags.bucket[part] for part in parts)])
    values = np.concatenate([none.astype(np.float32), *(bags.share[part] for part in parts)])
    rows = csr_matrix((values, columns, start), shape=(len(versions), 1 << 18))
    return np.asarray((rows @ rows.T).todense(), dtype=np.float32)


@kernel
def dot(start: IntArray, bucket: Buckets, share: Shares, a: int, b: int) -> float:
    """Scalar product of two versions."""
    i, i_end, j, j_end = start[a], start[a + 1], start[b], start[b + 1]
    total = 0.0
    while i < i_end and j < j_end:
        here, there = bucket[i], bucket[j]
        if here == there:
            total += share[i] * share[j]
        i += here <= there
        j += there <= here
    return total


@kernel
def _length(start: IntArray, bucket: Buckets, share: Shares, a: int, b: int) -> float:
    """Length of the difference of two versions."""
    if a == b:
        return 0.0
    i, i_end, j, j_end = start[a], start[a + 1], start[b], start[b + 1]
    total = 0.0
    while i < i_end or j < j_end:
        here = bucket[i] if i < i_end else 1 << 30
        there = bucket[j] if j < j_end else 1 << 30
        d = (share[i] if here <= there else 0.0) - (share[j] if there <= here else 0.0)
        total += d * d
        i += here <= there
        j += there <= here
    return np.sqrt(total)


@kernel
def _own(
    start: IntArray, bucket: Buckets, share: Shares, version: Versions, changed: BoolArray, length: int, interval: int
) -> FloatArray:
    steps = len(version)
    out = np.zeros((steps, 2 + 3 * length))
    for t in range(steps):
        if t < length + interval or version[t - length - interval] < 0 or version[t] < 0:
            continue
        for i in range(length):
            out[t, 0] += changed[t - i] / length
        for i in range(1, length + 1):
            out[t, i] = _length(start, bucket, share, version[t], version[t - i])
            out[t, length + i] = _length(start, bucket, share, version[t - i], version[t - i - interval])
        for i in range(length + 1):
            out[t, 1 + 2 * length + i] = changed[t - i]
    return out


@kernel
def _related(
    start: IntArray, bucket: Buckets, share: Shares, version: Versions, other: Versions, length: int
) -> FloatArray:
    steps = len(version)
    out = np.zeros((steps, 3 * length))
    seen_a, seen_b, cosine, aa = -1, -1, 0.0, 0.0
    for t in range(steps):
        if t < length or min(version[t], other[t], version[t - length], other[t - length]) < 0:
            continue
        a, b = version[t], other[t]
        aa = dot(start, bucket, share, a, a) if a != seen_a else aa
        if a != seen_a or b != seen_b:
            bb = dot(start, bucket, share, b, b)
            cosine = _cosine(dot(start, bucket, share, a, b), aa, bb)
            seen_a, seen_b = a, b
        out[t, 0] = cosine
        for i in range(1, length):
            out[t, i] = out[t - i, 0]
        for i in range(1, length + 1):
            before, earlier = version[t - i], other[t - i]
            if earlier == b:
                continue
            change = dot(start, bucket, share, b, a) - dot(start, bucket, share, earlier, a)
            size = _length(start, bucket, share, b, earlier) ** 2
            out[t, length + i - 1] = _cosine(change, size, aa)
            if before == a:
                continue
            change -= dot(start, bucket, share, b, before) - dot(start, bucket, share, earlier, before)
            size_a = _length(start, bucket, share, a, before) ** 2
            out[t, 2 * length + i - 1] = _cosine(change, size, size_a)
    return out


@kernel
def _cosine(product: float, aa: float, bb: float) -> float:
    return product / np.sqrt(aa * bb) if aa > 0 and bb > 0 else 0.0
