"""Selection of a page's experts: the k nearest pages by links, by content, or by how their words move (section 6).

A page's temporal similarity to an expert e is the weighted mean over the page's words of Q(Dyn(w, p), Dyn(w, e)), the
weights being the words' tf-idf in the page's last snapshot:

    cross-correlation   Q is the best cross-correlation with the expert ahead by 1 ... N - 1 steps
    dtw                 Q is 1 - D(x, y) / D(x, constant), D by dynamic time warping of standardised series: 1 where the
                        series are the same up to warping, 0 where the expert's word does not move. It orders experts
                        as the paper's weighted sum of distances does. The nearest k that move some word of the page
                        are kept, however far they are.

Pruning. Q is at most 1 and is 0 for words that do not move in the expert, so an expert's similarity is at most the
weight of the words that move in both pages. Experts are found by an index of moving words and examined in the order of
that bound until it falls below the k-th best similarity found: what is then left out cannot be among the k best, so
nothing is lost (Fagin, Lotem & Naor 2003). `most` caps the experts that are examined; what that can cost is at most the
bound of the first expert left out, which `Choice.bound` reports.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from recrawl.columns import FloatArray, IntArray
from recrawl.compiled import kernel
from recrawl.errors import InputError
from recrawl.papers.experts.dynamics import WORDS, Dynamics, DynamicsArrays, document_frequency
from recrawl.papers.experts.snapshots import Snapshots
from recrawl.policies.experts.alignment import best_lag, warp_rows
from recrawl.recording.recording import Recording
from recrawl.see.words import BUCKETS

METHODS = ("graph", "content", "cross-correlation", "dtw")
NO_LINKS = "no links are recorded"
CORRELATION, WARPING = 0, 1
LEAST = 0.01  # weight of an expert chosen by warping
WordIndex = tuple[IntArray, IntArray, FloatArray]  # pages by word, where each word's begin, zeros to work in
Asked = tuple[IntArray, FloatArray, int, int]  # rows of the page's words, their shares, the way to compare, last lag


@dataclass(frozen=True)
class Choice:
    """Experts of one page, best first, without the page itself; `weight` is their similarity, at most 1."""

    experts: IntArray
    weight: FloatArray
    examined: int = 0  # experts whose similarity was worked out
    bound: float = 0.0  # no expert that was left out for the cap is more similar than this


NO_CHOICE = Choice(np.empty(0, dtype=np.int64), np.empty(0))


class Movement:
    """The index of moving words of a window, to ask for a page's nearest."""

    def __init__(self, dynamics: Dynamics, *, words: int = WORDS, last_lag: int = 1 << 30) -> None:
        self.dynamics, self.words, self.last_lag = dynamics, words, last_lag
        page = np.repeat(np.arange(len(dynamics)), np.diff(dynamics.start))
        order = np.argsort(dynamics.word, kind="stable")
        self._page = page[order]
        ends = np.append(0, np.cumsum(np.bincount(dynamics.word, minlength=BUCKETS)))
        self._first = ends.astype(np.int64)
        self._weight = np.zeros(len(dynamics))

    def nearest(self, page: int, k: int, method: str, most: int = 0) -> Choice:
        """Return the k pages whose words move most like the page's; with `most`, of so many candidates at most."""
        rows, share, way = self._compared(page, method)
        if not len(rows) or k < 1:
            return NO_CHOICE
        asked, index = (rows, share, way, self.last_lag), (self._page, self._first, self._weight)
        most = most or len(self.dynamics)
        chosen, score, examined, bound = _nearest(page, asked, self.dynamics.arrays, index, k, most)
        if way == WARPING:  # the nearest, however far: a vote counts for little where the similarity is below 0
            return Choice(chosen[chosen >= 0], np.maximum(score[chosen >= 0], LEAST), examined, bound)
        kept = score > 0
        return Choice(chosen[kept], score[kept], examined, bound)

    def _compared(self, page: int, method: str) -> tuple[IntArray, FloatArray, int]:
        """The words that a page is compared by, those of greatest weight among the ones that moved; their shares."""
        rows = np.arange(self.dynamics.start[page], self.dynamics.start[page + 1])
        rows = rows[self.dynamics.weight[rows] > 0]
        best = rows[np.argsort(-self.dynamics.weight[rows], kind="stable")[: self.words]]
        rows, way = np.sort(best), _way(method)
        share = self.dynamics.weight[rows] * (self.dynamics.length[rows] if way == WARPING else 1.0)
        return rows, share / share.sum() if len(rows) else share, way


def _way(method: str) -> int:
    if method not in METHODS[2:]:
        raise InputError(f"words move alike by {' or '.join(METHODS[2:])}, not {method!r}")
    return CORRELATION if method == "cross-correlation" else WARPING


def by_content(snapshots: Snapshots, step: int, k: int, rows: IntArray, *, words: int = 128) -> list[Choice]:
    """The k pages of greatest cosine similarity of tf-idf at a step, by each page's `words` words of most weight."""
    df, pages = document_frequency(snapshots, step)
    matrix = _tf_idf(snapshots, step, np.log((1.0 + pages) / (1.0 + df)), words)
    near = np.asarray((matrix[rows] @ matrix.T).todense())
    return [_best(near[i], int(row), k) for i, row in enumerate(rows)]


def by_links(links: tuple[IntArray, IntArray], pages: int, k: int, rows: IntArray) -> list[Choice]:
    """Up to k pages one step away in the undirected graph of (from, to), all of weight 1; ties by number."""
    source, target = links
    keep = (source >= 0) & (target >= 0) & (source != target)
    ones = np.ones(int(keep.sum()) * 2, dtype=np.int32)
    ends = np.concatenate([source[keep], target[keep]]), np.concatenate([target[keep], source[keep]])
    graph = csr_matrix((ones, ends), shape=(pages, pages))
    found = []
    for row in rows:
        near = np.sort(graph.indices[graph.indptr[row] : graph.indptr[row + 1]])[:k].astype(np.int64)
        found.append(Choice(near, np.ones(len(near))))
    return found


def by_shared_targets(incidence: csr_matrix, k: int, rows: IntArray) -> list[Choice]:
    """Up to k pages that link to the same addresses (two steps), the more shared ones first, all of weight 1.

    For recordings in which no link joins two of the pages, so that one step leads nowhere.
    """
    shared = np.asarray((incidence[rows] @ incidence.T).todense(), dtype=np.float64)
    chosen = [_best(shared[i], int(row), k) for i, row in enumerate(rows)]
    return [Choice(choice.experts, np.ones(len(choice.experts))) for choice in chosen]


def _best(near: FloatArray, row: int, k: int) -> Choice:
    near = near.copy()
    near[row] = -1.0
    best = np.lexsort((np.arange(len(near)), -near))[:k]
    best = best[near[best] > 0]
    return Choice(best, np.minimum(near[best], 1.0), len(near) - 1)


def _tf_idf(snapshots: Snapshots, step: int, idf: FloatArray, words: int) -> csr_matrix:
    """Unit vectors of tf-idf of every page at a step; an absent or empty page has none."""
    bags, parts, start = snapshots.bags, [], [0]
    for v in snapshots.version[:, step]:
        place = slice(int(bags.start[v]), int(bags.start[v + 1])) if v >= 0 else slice(0, 0)
        bucket, value = bags.bucket[place], bags.count[place] * idf[bags.bucket[place]]
        kept = np.sort(np.argsort(-value, kind="stable")[:words])
        length = np.sqrt((value[kept] ** 2).sum())
        parts.append((bucket[kept], value[kept] / length if length > 0 else value[kept]))
        start.append(start[-1] + len(kept))
    columns = np.concatenate([bucket for bucket, _ in parts])
    values = np.concatenate([value for _, value in parts])
    return csr_matrix((values, columns, start), shape=(len(snapshots), BUCKETS))


@kernel
def _score(asked: Asked, low: int, high: int, dynamics: DynamicsArrays, work: FloatArray) -> float:
    """Similarity of the page whose words are `rows` to the expert whose words are rows low to high."""
    (rows, share, way, last_lag), (_, word, series, length) = asked, dynamics
    total, j = 0.0, low
    for i in range(len(rows)):
        while j < high and word[j] < word[rows[i]]:
            j += 1
        if j == high:
            break
        if word[j] != word[rows[i]]:
            continue
        if way == CORRELATION:
            total += share[i] * best_lag(series[rows[i]], series[j], 1, last_lag)[0]
        else:
            total += share[i] * (1.0 - warp_rows(series[rows[i]], series[j], work) / length[rows[i]])
    return total


@kernel
def _nearest(
    page: int, asked: Asked, dynamics: DynamicsArrays, index: WordIndex, k: int, most: int
) -> tuple[IntArray, FloatArray, int, float]:
    (rows, share, _, _), (start, word, series, _), (index_page, index_first, weight) = asked, dynamics, index
    room = 0
    for i in range(len(rows)):
        room += index_first[word[rows[i]] + 1] - index_first[word[rows[i]]]
    touched, n = np.empty(room, dtype=np.int64), 0
    for i in range(len(rows)):
        for at in range(index_first[word[rows[i]]], index_first[word[rows[i]] + 1]):
            e = index_page[at]
            if e == page:
                continue
            if weight[e] == 0.0:
                touched[n] = e
                n += 1
            weight[e] += share[i]
    touched = np.sort(touched[:n])
    order = np.argsort(-weight[touched], kind="mergesort")
    chosen, score = np.full(k, -1, dtype=np.int64), np.full(k, -np.inf)
    work = np.empty(series.shape[1] + 1)
    examined, bound = 0, 0.0
    for o in order:
        e = touched[o]
        if weight[e] < score[k - 1] - 1e-12:
            break
        if examined == most:
            bound = weight[e]
            break
        examined += 1
        value = _score(asked, start[e], start[e + 1], dynamics, work)
        if value > score[k - 1] or (value == score[k - 1] and e < chosen[k - 1]):
            at = k - 1
            while at > 0 and (score[at - 1] < value or (score[at - 1] == value and chosen[at - 1] > e)):
                chosen[at], score[at] = chosen[at - 1], score[at - 1]
                at -= 1
            chosen[at], score[at] = e, value
    weight[touched] = 0.0
    return chosen, score, examined, bound


class Neighbours:
    """The link graph of the pages with text at a time: pages one step away, or that link to the same addresses."""

    def __init__(self, recording: Recording, pages: IntArray) -> None:
        self._day: npt.NDArray[np.float64] = np.empty((0, 2))
        self.kind = NO_LINKS
        self._ends = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
        self._target = np.empty(0, dtype=np.int64)
        self.pages = len(pages)
        if not recording.has_links:
            return
        number = np.full(len(recording) + 1, -1, dtype=np.int64)
        number[pages] = np.arange(len(pages))
        links = recording.links
        source = number[links.page]
        kept = source >= 0
        self._ends = source[kept], number[links.target_page[kept]]
        self._target = np.unique(links.key[kept], return_inverse=True)[1]
        self._day = np.stack([links.day_from[kept], links.day_to[kept]], axis=1)
        joined = (self._ends[1] >= 0) & (self._ends[0] != self._ends[1])
        self.kind = "one step in the link graph" if joined.any() else "pages that link to the same address (two steps)"

    def near(self, at: float, k: int, rows: IntArray) -> list[Choice]:
        """Return the neighbours of these pages as the links are at a time."""
        there = (self._day[:, 0] <= at) & (at < self._day[:, 1]) if len(self._day) else np.empty(0, dtype=np.bool_)
        source, target = self._ends[0][there], self._ends[1][there]
        if self.kind.startswith("one") or not len(self._target):
            return by_links((source, target), self.pages, k, rows)
        shape = (self.pages, int(self._target.max()) + 1)
        ones = np.ones(len(source), dtype=np.float32)
        return by_shared_targets(csr_matrix((ones, (source, self._target[there])), shape=shape).sign(), k, rows)
