"""Clustering by repeated bisection on the unit sphere: maximise I2, the sum of cosines to the cluster centres.

With unit vectors x, clusters S_r and their sums D_r the criterion (I2; Tan et al. 2007, eq. 3) is

    I2 = sum over r, x in S_r of cos(x, C_r) = sum over r of |D_r|        C_r = D_r / |D_r|

The cluster whose best cut gains most is cut next (Zhao & Karypis 2004). A cut begins with two pages that differ, tried
on a sample; then all pages go to the nearer of the two centres until few move, and at last single pages move while
that makes |D_1| + |D_2| larger. Pages that are all alike are never cut, so no cluster is empty, and there may be fewer
clusters than asked for. The same rows in the same order with the same seed give the same clusters, so the last few
clusterings are kept: the crawls of a comparison begin with the same pages.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray
from recrawl.compiled import kernel
from recrawl.errors import InputError
from recrawl.features.semantic import unit

Vectors = npt.NDArray[np.float32]

SAMPLE = 2_000  # pages on which beginnings of a cut are tried
MOVING = 0.002  # pages go to the nearer centre until fewer than this share of them move
CHUNK = 65_536  # pages that are compared with all centres at a time
KEPT = 8  # clusterings


@dataclass(frozen=True)
class Clusters:
    """A clustering: the largest cluster is number 0."""

    label: IntArray  # of every row
    centres: Vectors  # unit, clusters x dimensions
    value: float  # the criterion I2

    def __len__(self) -> int:
        return len(self.centres)

    def sizes(self) -> IntArray:
        """Count the rows of every cluster."""
        return np.bincount(self.label, minlength=len(self))


def bisect(
    vectors: npt.NDArray[np.floating[Any]], k: int, *, seed: int = 0, trials: int = 8, refine: int = 0
) -> Clusters:
    """Cluster the rows into at most `k`; rows need not have length 1, rows of zeros go where most are.

    `refine` passes move pages between all clusters afterwards: a better criterion, but no tree of cuts any more.
    """
    made_of = repr((vectors.shape, vectors.dtype, k, seed, trials, refine))
    key = hashlib.blake2b(np.ascontiguousarray(vectors).data, key=hashlib.blake2b(made_of.encode()).digest())
    found = _kept.pop(key.digest(), None)
    if found is None:
        tree = Tree(vectors, seed, trials)
        for _ in tree.cuts(k):
            pass
        found = tree.clusters(refine)
        found.label.flags.writeable = found.centres.flags.writeable = False
    _kept[key.digest()] = found
    if len(_kept) > KEPT:
        _kept.pop(next(iter(_kept)), None)
    return found


_kept: dict[bytes, Clusters] = {}  # by a digest of what they were made of, the one asked for last at the end


class Tree:
    """State of the bisection: rows in the order of their clusters, and the best cut of every cluster."""

    def __init__(self, vectors: npt.NDArray[np.floating[Any]], seed: int = 0, trials: int = 8) -> None:
        if vectors.ndim != 2 or not len(vectors):
            raise InputError("there is nothing to cluster: give at least one row of features")
        if not np.isfinite(vectors).all():
            raise InputError("features to cluster must be finite numbers")
        self.rows = np.ascontiguousarray(unit(vectors))
        self.order = np.arange(len(vectors))
        self.ends = [(0, len(vectors))]  # of every cluster
        self.trials = trials
        self._draw = np.random.default_rng(seed)
        self._sums = [self.rows.sum(axis=0, dtype=np.float64)]
        self._unprepared = [0]  # clusters whose best cut has yet to be found
        self._waiting: list[tuple[float, int, BoolArray]] = []  # (minus the gain, cluster, who goes right)

    @property
    def value(self) -> float:
        """The criterion now."""
        return float(sum(np.linalg.norm(total) for total in self._sums))

    def cuts(self, k: int) -> Iterator[float]:
        """Cut until there are `k` clusters, or nothing is left that can be cut; yields the criterion after each."""
        if k < 1:
            raise InputError(f"the number of clusters must be at least 1, not {k}")
        while len(self.ends) < k:
            for cluster in self._unprepared:
                self._prepare(cluster)
            self._unprepared = []
            if not self._waiting:
                return
            _, cluster, right = heapq.heappop(self._waiting)
            self._cut(cluster, right)
            self._unprepared = [cluster, len(self.ends) - 1]
            yield self.value

    def clusters(self, refine: int = 0) -> Clusters:
        """Return the clusters as they are now, the largest first."""
        label: IntArray = np.empty(len(self.rows), dtype=np.int64)
        for cluster, (first, last) in enumerate(self.ends):
            label[self.order[first:last]] = cluster
        sums = np.stack(self._sums)
        if refine and len(sums) > 1:
            rows = np.empty_like(self.rows)
            rows[self.order] = self.rows
            label, sums = _refined(rows, label, sums, refine)
        by_size = np.argsort(-np.bincount(label, minlength=len(sums)), kind="stable")
        place = np.empty(len(sums), dtype=np.int64)
        place[by_size] = np.arange(len(sums))
        centres = np.stack([_direction(sums[c]) for c in by_size])
        return Clusters(place[label], centres, float(np.linalg.norm(sums, axis=1).sum()))

    def _prepare(self, cluster: int) -> None:
        """Find the best cut of a cluster, if it has one."""
        first, last = self.ends[cluster]
        if last - first < 2:
            return
        right, gain = _best_cut(self.rows[first:last], self._sums[cluster], self.trials, self._draw)
        if gain > 1e-9 * (last - first) and 0 < right.sum() < len(right):
            heapq.heappush(self._waiting, (-gain, cluster, right))

    def _cut(self, cluster: int, right: BoolArray) -> None:
        first, last = self.ends[cluster]
        inner = np.concatenate([np.flatnonzero(~right), np.flatnonzero(right)])
        self.order[first:last] = self.order[first:last][inner]
        self.rows[first:last] = self.rows[first:last][inner]
        middle = last - int(right.sum())
        self.ends[cluster] = (first, middle)
        self.ends.append((middle, last))
        self._sums[cluster] = self.rows[first:middle].sum(axis=0, dtype=np.float64)
        self._sums.append(self.rows[middle:last].sum(axis=0, dtype=np.float64))


def nearest(vectors: npt.NDArray[np.floating[Any]], centres: Vectors) -> tuple[IntArray, FloatArray]:
    """Return for every row the centre with the largest cosine, and that cosine; rows of zeros go to centre 0."""
    label = np.empty(len(vectors), dtype=np.int64)
    cosine = np.empty(len(vectors))
    for first in range(0, len(vectors), CHUNK):
        near = unit(vectors[first : first + CHUNK]) @ centres.T
        best = near.argmax(axis=1)
        label[first : first + CHUNK] = best
        cosine[first : first + CHUNK] = near[np.arange(len(best)), best]
    return label, cosine


def criterion(vectors: npt.NDArray[np.floating[Any]], label: IntArray) -> float:
    """Return I2 of any clustering of these rows: the sum over the clusters of the length of their sum."""
    rows = unit(vectors)
    sums = np.zeros((int(label.max(initial=-1)) + 1, rows.shape[1]))
    np.add.at(sums, label, rows)
    return float(np.linalg.norm(sums, axis=1).sum())


def _direction(total: FloatArray) -> Vectors:
    length = float(np.linalg.norm(total))
    return np.asarray(total / length if length > 0 else total, dtype=np.float32)


def _best_cut(rows: Vectors, total: FloatArray, trials: int, draw: np.random.Generator) -> tuple[BoolArray, float]:
    """Pick the best initial split on a sample, refine it on all rows; return the right-hand mask and the gain in I2."""
    few = rows if len(rows) <= SAMPLE else rows[np.sort(draw.choice(len(rows), SAMPLE, replace=False))]
    whole = _direction(total)
    starts = [int((few @ whole).argmin()), *draw.integers(0, len(few), max(trials - 1, 0)).tolist()]
    best, towards = -1.0, np.zeros(rows.shape[1], dtype=np.float32)
    for start in starts:
        other = int((few @ few[start]).argmin())  # the page that differs most
        value, direction, _, _ = _settle(few, few[start] - few[other], 8, MOVING)
        if value > best:
            best, towards = value, direction
    value, _, right, sums = _settle(rows, towards, 30, MOVING)
    value = _polish(rows, right, sums, 3)
    return right, value - float(np.linalg.norm(total))


@kernel(fastmath=True)
def _dot(a: Vectors, b: Vectors) -> np.float32:
    total = np.float32(0.0)
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@kernel
def _settle(
    rows: Vectors, direction: Vectors, most: int, moving: float
) -> tuple[float, Vectors, BoolArray, FloatArray]:
    """Spherical 2-means: a row goes left if x . (C_left - C_right) >= 0; then the centres are updated."""
    right = np.zeros(len(rows), dtype=np.bool_)
    sums = np.zeros((2, rows.shape[1]))
    direction = direction.copy()
    value = 0.0
    for step in range(most):
        moved = 0
        sums[:] = 0.0
        for i in range(len(rows)):
            side = _dot(rows[i], direction) < 0.0
            moved += side != right[i]
            right[i] = side
            into = sums[1 if side else 0]
            for j in range(len(into)):
                into[j] += rows[i, j]
        length = np.sqrt((sums * sums).sum(axis=1))
        value = length.sum()
        if length[0] == 0.0 or length[1] == 0.0 or (step and moved <= moving * len(rows)):
            break
        for j in range(len(direction)):
            direction[j] = sums[0, j] / length[0] - sums[1, j] / length[1]
    return value, direction, right, sums


@kernel
def _polish(rows: Vectors, right: BoolArray, sums: FloatArray, passes: int) -> float:
    """Move single rows while |D_1| + |D_2| grows; |D - x|^2 = |D|^2 - 2 D.x + |x|^2."""
    square = (sums * sums).sum(axis=1)
    count = np.zeros(2, dtype=np.int64)
    for i in range(len(rows)):
        count[1 if right[i] else 0] += 1
    for _ in range(passes):
        moved = 0
        for i in range(len(rows)):
            here = 1 if right[i] else 0
            there = 1 - here
            if count[here] < 2:
                continue
            mine, other, own = 0.0, 0.0, 0.0
            for j in range(rows.shape[1]):
                mine += rows[i, j] * sums[here, j]
                other += rows[i, j] * sums[there, j]
                own += rows[i, j] * rows[i, j]
            left = max(square[here] - 2.0 * mine + own, 0.0)
            grown = square[there] + 2.0 * other + own
            if np.sqrt(left) + np.sqrt(grown) > np.sqrt(square[here]) + np.sqrt(square[there]) + 1e-9:
                for j in range(rows.shape[1]):
                    sums[here, j] -= rows[i, j]
                    sums[there, j] += rows[i, j]
                square[here], square[there] = left, grown
                count[here] -= 1
                count[there] += 1
                right[i] = there == 1
                moved += 1
        if moved <= 1e-4 * len(rows):
            break
    return np.sqrt(square[0]) + np.sqrt(square[1])


def _refined(rows: Vectors, label: IntArray, sums: FloatArray, passes: int) -> tuple[IntArray, FloatArray]:
    """Refine by k-means: reassign every row to its nearest centre while I2 grows and no cluster becomes empty."""
    value = float(np.linalg.norm(sums, axis=1).sum())
    for _ in range(passes):
        moved, _ = nearest(rows, np.stack([_direction(total) for total in sums]))
        after = np.zeros_like(sums)
        np.add.at(after, moved, rows)
        grown = float(np.linalg.norm(after, axis=1).sum())
        if grown <= value or np.bincount(moved, minlength=len(sums)).min() == 0:
            break
        label, sums, value = moved, after, grown
    return label, sums
