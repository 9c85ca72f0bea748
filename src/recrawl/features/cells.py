"""Inverted-file cells of vectors around k-means centres: the coarse part of the search for related pages."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, IntArray, PageIds

Vectors = npt.NDArray[np.float32]

CELLS_PER_ROOT = 2.5  # cells = 2.5 sqrt(pages): assigning pages and comparing cells then cost about the same
SAMPLE_PER_CELL = 40  # vectors that a centre is learnt from
ROUNDS = 6  # of k-means
VOTES = 24  # cells that each page names as its nearest
CHUNK = 2048


@dataclass(frozen=True)
class Cells:
    """A partition; cell c holds `order[start[c]:start[c + 1]]`."""

    order: PageIds  # pages by cell
    start: PageIds
    cell: npt.NDArray[np.int32]  # of each page
    near: npt.NDArray[np.int32]  # row c: all cells, in the order in which c's pages name them; c itself first

    def __len__(self) -> int:
        return len(self.start) - 1

    def reach(self, pages: PageIds, neighbours: IntArray, recall: float) -> int:
        """Return how many near cells must be compared, so that this share of the pages' true neighbours is in them."""
        rank = np.empty(self.near.shape, dtype=np.int32)
        np.put_along_axis(rank, self.near, np.arange(len(self), dtype=np.int32)[None, :], axis=1)
        there = neighbours >= 0
        own = np.broadcast_to(self.cell[pages][:, None], neighbours.shape)[there]
        far = np.sort(rank[own, self.cell[neighbours[there]]])
        return int(far[min(int(np.ceil(recall * len(far))), len(far) - 1)]) + 1 if len(far) else 1


def find_cells(vectors: Vectors, seed: int, pool: ThreadPoolExecutor) -> Cells:
    """Put unit vectors into cells."""
    count = max(2, round(CELLS_PER_ROOT * len(vectors) ** 0.5))
    centres = _centres(vectors, min(count, len(vectors)), seed, pool)
    named = _named(vectors, centres, min(VOTES, len(centres)), pool)
    cell = named[:, 0].copy()
    order = np.argsort(cell, kind="stable")
    start = np.append(0, np.cumsum(np.bincount(cell, minlength=len(centres))))
    return Cells(order, start, cell, _near(named, centres))


def _centres(vectors: Vectors, count: int, seed: int, pool: ThreadPoolExecutor) -> Vectors:
    """Spherical k-means on a sample; a centre that loses all its vectors is put on one that fits worst."""
    draw = np.random.default_rng(seed)
    sample = vectors[np.sort(draw.permutation(len(vectors))[: SAMPLE_PER_CELL * count])]
    centres = sample[np.sort(draw.permutation(len(sample))[:count])]
    for _ in range(ROUNDS):
        cell = np.empty(len(sample), dtype=np.int32)
        fit = np.empty(len(sample), dtype=np.float32)

        def assign(first: int, centres: Vectors = centres, cell: IntArray = cell, fit: Vectors = fit) -> None:
            products = sample[first : first + CHUNK] @ centres.T
            cell[first : first + CHUNK] = products.argmax(axis=1)
            fit[first : first + CHUNK] = products.max(axis=1)

        list(pool.map(assign, range(0, len(sample), CHUNK)))
        centres = _means(sample, cell, fit, count)
    return centres


def _means(sample: Vectors, cell: IntArray, fit: Vectors, count: int) -> Vectors:
    order = np.argsort(cell, kind="stable")
    sizes = np.bincount(cell, minlength=count)
    sums = np.zeros((count, sample.shape[1]), dtype=np.float32)
    full = np.flatnonzero(sizes)
    sums[full] = np.add.reduceat(sample[order], (np.cumsum(sizes) - sizes)[full], axis=0)
    empty = np.flatnonzero(sizes == 0)
    sums[empty] = sample[np.argsort(fit, kind="stable")[: len(empty)]]
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.asarray(sums / np.where(length > 0, length, 1.0), dtype=np.float32)


def _named(vectors: Vectors, centres: Vectors, votes: int, pool: ThreadPoolExecutor) -> npt.NDArray[np.int32]:
    """Return each page's nearest cells, nearest first."""
    named = np.empty((len(vectors), votes), dtype=np.int32)

    def name(first: int) -> None:
        products = vectors[first : first + CHUNK] @ centres.T
        nearest = np.argpartition(-products, votes - 1, axis=1)[:, :votes]
        by_nearness = np.argsort(-np.take_along_axis(products, nearest, axis=1), axis=1, kind="stable")
        named[first : first + CHUNK] = np.take_along_axis(nearest, by_nearness, axis=1)

    list(pool.map(name, range(0, len(vectors), CHUNK)))
    return named


def _near(named: npt.NDArray[np.int32], centres: Vectors) -> npt.NDArray[np.int32]:
    """Rank the cells for each cell: by how many of its pages are near them and how near, then by their centres."""
    count = len(centres)
    weight = 1.0 / (1.0 + np.arange(named.shape[1]))
    pair = named[:, :1].astype(np.int64) * count + named
    named_by: FloatArray = np.bincount(pair.ravel(), np.tile(weight, len(named)), minlength=count**2).astype(np.float64)
    size = np.bincount(named[:, 0], minlength=count)
    votes = named_by.reshape(count, count) / np.maximum(size, 1)[:, None] + 1e-3 * (centres @ centres.T)
    np.fill_diagonal(votes, np.inf)
    return np.argsort(-votes, axis=1, kind="stable").astype(np.int32)
