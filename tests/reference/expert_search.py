"""The nearest pages by words that move alike, without pruning: the similarity to every page is worked out."""

from __future__ import annotations

import numpy as np
from numba import njit

from recrawl.columns import FloatArray
from recrawl.papers.experts.dynamics import DynamicsArrays
from recrawl.papers.experts.expert_selection import LEAST, NO_CHOICE, WARPING, Asked, Choice, Movement, _score


def exhaustive(movement: Movement, page: int, k: int, method: str) -> Choice:
    """What `Movement.nearest` must return, without a cap."""
    rows, share, way = movement._compared(page, method)
    if not len(rows) or k < 1:
        return NO_CHOICE
    score = _all_scores((rows, share, way, movement.last_lag), movement.dynamics.arrays)
    score[page] = -np.inf
    if way == WARPING:  # the nearest of those that move some word of the page, however far
        score[score == 0.0] = -np.inf
    best = np.lexsort((np.arange(len(score)), -score))[:k]
    best = best[np.isfinite(score[best]) if way == WARPING else score[best] > 0]
    return Choice(best, np.maximum(score[best], LEAST) if way == WARPING else score[best], len(score) - 1)


@njit(nogil=True)  # type: ignore[untyped-decorator]
def _all_scores(asked: Asked, dynamics: DynamicsArrays) -> FloatArray:
    start, _, series, _ = dynamics
    out = np.empty(len(start) - 1)
    work = np.empty(series.shape[1] + 1)
    for e in range(len(out)):
        out[e] = _score(asked, start[e], start[e + 1], dynamics, work)
    return out


def reached(exact: Choice, found: Choice) -> float:
    """Share of the exact experts that were found; 1 where there are none to find."""
    if not len(exact.experts):
        return 1.0
    return float(np.isin(exact.experts, found.experts).mean())
