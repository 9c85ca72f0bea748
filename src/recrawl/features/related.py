"""Related pages: the k nearest neighbours of every page by cosine similarity.

Few pages are compared all with all. Beyond that, pages are put into cells around centres (spherical k-means on a
sample), and the pages of a cell are compared with those of the cells that its pages are nearest to, one matrix product
for each pair of cells. How many cells is not guessed: the exact neighbours of a few hundred pages say how far their
cells lie, and as many are taken as reach the asked recall. The recall of the result is then measured with other pages.

Pages with a zero vector (without text) have no related pages and are related to none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, IntArray, PageIds
from recrawl.compiled import kernel
from recrawl.errors import InputError
from recrawl.features.cells import Cells, find_cells
from recrawl.features.one_thread import one_thread
from recrawl.progress import Advance, silent

Vectors = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int32]

NEIGHBOURS = 30
EXACT_UP_TO = 20_000  # pages that are compared all with all
RECALL = 0.97  # asked of the approximation; what comes out is measured
PROBED = 500  # pages whose exact neighbours settle how many cells are compared, and as many to measure
BLOCK = 1024  # rows of a matrix product
NONE = -1


@dataclass(frozen=True)
class Related:
    """Row p: page p's related pages, the most similar first, padded with NONE and similarity 0."""

    pages: Numbers
    similarity: Vectors
    recall: float  # share of the true neighbours that are there; 1 where all were compared with all
    compared: float  # share of all pairs that were compared

    def __len__(self) -> int:
        return len(self.pages)

    def average(self, values: npt.NDArray[np.floating]) -> FloatArray:
        """Return the related pages' mean of `values` (pages, or pages x columns), weighted by similarity.

        NaN values count as not there. Without any related page the mean is NaN: nothing is known.
        """
        table = np.asarray(values, dtype=np.float64)
        out = _average(self.pages, self.similarity, table.reshape(len(table), -1))
        return out.reshape(table.shape)


PairsFound = tuple[Numbers, Vectors, int]  # neighbours of some pages, their similarity, pairs that were compared
Run = Callable[["NeighbourSearch", Sequence[int]], Iterable[tuple[int, PairsFound]]]


@dataclass(frozen=True)
class NeighbourSearch:
    """A search in parts that do not depend on each other: each finds the neighbours of some pages."""

    vectors: Vectors  # in the order of the parts
    start: PageIds  # part p is of the vectors start[p] to start[p + 1]
    near: Numbers | None  # parts that each part is compared with; None: with all vectors
    k: int

    def find(self, part: int) -> PairsFound:
        """Return the neighbours of a part's vectors, by their places in the order."""
        first, last = int(self.start[part]), int(self.start[part + 1])
        best, compared = _nothing(last - first, self.k), 0
        spans = [(0, len(self.vectors))] if self.near is None else self._spans(part)
        for at in range(first, last, BLOCK):
            rows = slice(at, min(at + BLOCK, last))
            own = best[0][at - first : rows.stop - first], best[1][at - first : rows.stop - first]
            numbers = np.arange(rows.start, rows.stop)
            # A copy or not decides whether numpy multiplies a block with itself by another kernel, and the last digits.
            mine = self.vectors[numbers] if self.near is None else self.vectors[rows]
            for begin, end in spans:
                for start in range(begin, end, BLOCK):
                    others = self.vectors[start : min(start + BLOCK, end)]
                    _keep(mine @ others.T, numbers, start, *own)
                    compared += len(mine) * len(others)
        return *best, compared

    def _spans(self, part: int) -> list[tuple[int, int]]:
        assert self.near is not None, "not of all with all"
        return [(int(self.start[other]), int(self.start[other + 1])) for other in self.near[part].tolist()]


def related(
    vectors: Vectors,
    k: int = NEIGHBOURS,
    *,
    recall: float = RECALL,
    exact: bool | None = None,
    threads: int | None = None,
    seed: int = 0,
    advance: Advance = silent,
    run: Run | None = None,
) -> Related:
    """Return the k nearest other pages of each page, by unit (or zero) vectors; `exact` None: where they are few.

    The result depends neither on `threads` (None: OMP_NUM_THREADS, or the cores at hand) nor on `run`, which runs the
    parts of the search elsewhere.
    """
    if vectors.ndim != 2 or k < 1:
        raise InputError(f"related pages need a table of vectors and at least 1 neighbour, not {vectors.shape} and {k}")
    if not np.isfinite(vectors).all():
        raise InputError("a vector contains NaN or infinity")
    there = np.flatnonzero(np.any(vectors, axis=1))
    known = np.ascontiguousarray(vectors[there], dtype=np.float32)
    workers = threads or int(os.environ.get("OMP_NUM_THREADS") or len(os.sched_getaffinity(0)))
    all_pairs = len(known) <= EXACT_UP_TO if exact is None else exact
    with one_thread(openmp=False), ThreadPoolExecutor(workers) as pool:  # each thread its own products
        if run is None:
            run = partial(_in_threads, pool)
        if all_pairs or len(known) <= k:
            start = np.append(np.arange(0, len(known), BLOCK), len(known))
            search = NeighbourSearch(known, start, None, k)
            found, quality, share = _found(search, range(len(start) - 1), run, advance)[:2], 1.0, 1.0
        else:
            cells = find_cells(known, seed, pool)
            found, quality, share = _by_cells(known, cells, k, recall, pool, seed, run, advance)
    numbers = np.full((len(vectors), k), NONE, dtype=np.int32)
    similarity = np.zeros((len(vectors), k), dtype=np.float32)
    numbers[there] = np.where(found[0] == NONE, NONE, there[found[0]]) if len(there) else NONE
    similarity[there] = np.where(found[0] == NONE, 0.0, found[1])
    return Related(numbers, similarity, quality, share)


def _in_threads(
    pool: ThreadPoolExecutor, search: NeighbourSearch, parts: Sequence[int]
) -> Iterable[tuple[int, PairsFound]]:
    return zip(parts, pool.map(search.find, parts), strict=True)


def _found(search: NeighbourSearch, parts: Sequence[int], run: Run, advance: Advance) -> PairsFound:
    """Put together what the parts found, in the order of the vectors."""
    best, compared = _nothing(len(search.vectors), search.k), 0
    for done, (part, (numbers, similarity, pairs)) in enumerate(run(search, parts), 1):
        rows = slice(int(search.start[part]), int(search.start[part + 1]))
        best[0][rows], best[1][rows] = numbers, similarity
        compared += pairs
        if done % 50 == 0 or done == len(parts):
            advance(done, len(parts), "related pages")
    return *best, compared


def _nearest(vectors: Vectors, queries: PageIds, k: int, pool: ThreadPoolExecutor) -> tuple[Numbers, Vectors]:
    """Return the exact neighbours of some pages: compared with all."""
    best = _nothing(len(queries), k)

    def one(first: int) -> None:
        rows = queries[first : first + BLOCK]
        own = best[0][first : first + BLOCK], best[1][first : first + BLOCK]
        mine = vectors[rows]
        for start in range(0, len(vectors), BLOCK):
            _keep(mine @ vectors[start : start + BLOCK].T, rows, start, *own)

    list(pool.map(one, range(0, len(queries), BLOCK)))
    return best


def _by_cells(
    vectors: Vectors,
    cells: Cells,
    k: int,
    recall: float,
    pool: ThreadPoolExecutor,
    seed: int,
    run: Run,
    advance: Advance,
) -> tuple[tuple[Numbers, Vectors], float, float]:
    draw = np.random.default_rng(seed).permutation(len(vectors))[: 2 * PROBED]
    settle, judge = np.sort(draw[: len(draw) // 2]), np.sort(draw[len(draw) // 2 :])
    truth = _nearest(vectors, settle, k, pool)
    reach = cells.reach(settle, truth[0], recall)
    search = NeighbourSearch(np.ascontiguousarray(vectors[cells.order]), cells.start, cells.near[:, :reach].copy(), k)
    largest_first = np.argsort(-np.diff(cells.start), kind="stable").tolist()
    numbers, similarity, compared = _found(search, largest_first, run, advance)
    found = _nothing(len(vectors), k)
    found[0][cells.order] = np.where(numbers == NONE, NONE, cells.order[numbers])
    found[1][cells.order] = similarity
    share = float(compared / len(vectors) ** 2)
    return found, recall_of(found[1][judge], _nearest(vectors, judge, k, pool)[1]), share


def recall_of(found: Vectors, true: Vectors, slack: float = 1e-5) -> float:
    """Return the share of the true neighbours that were found; by similarity, as equals can stand for each other."""
    return float((found >= true[:, -1:] - slack).mean()) if found.size else 1.0


def _nothing(rows: int, k: int) -> tuple[Numbers, Vectors]:
    return np.full((rows, k), NONE, dtype=np.int32), np.full((rows, k), -2.0, dtype=np.float32)


@kernel
def _keep(products: Vectors, rows: IntArray, start: int, numbers: Numbers, similarity: Vectors) -> None:
    """Keep the best of these products; row i is page `rows[i]`, column j is page `start + j`."""
    k = numbers.shape[1]
    for i in range(products.shape[0]):
        least = similarity[i, k - 1]
        for j in range(products.shape[1]):
            value = products[i, j]
            if value <= least or start + j == rows[i]:
                continue
            place = k - 1
            while place > 0 and similarity[i, place - 1] < value:
                similarity[i, place] = similarity[i, place - 1]
                numbers[i, place] = numbers[i, place - 1]
                place -= 1
            similarity[i, place] = value
            numbers[i, place] = start + j
            least = similarity[i, k - 1]


@kernel
def _average(pages: Numbers, similarity: Vectors, values: FloatArray) -> FloatArray:
    out = np.full(values.shape, np.nan)
    for p in range(len(pages)):
        for c in range(values.shape[1]):
            total, weight = 0.0, 0.0
            for i in range(pages.shape[1]):
                if pages[p, i] < 0:
                    break
                value = values[pages[p, i], c]
                if similarity[p, i] > 0 and not np.isnan(value):
                    total += similarity[p, i] * value
                    weight += similarity[p, i]
            if weight > 0:
                out[p, c] = total / weight
    return out
