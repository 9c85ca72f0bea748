"""How well one ranking of pages agrees with another (Dang et al. 2022, section 7).

Spearman's rho    the correlation of the ranks; ties share their mean rank
Precision@k%      of the first k% by the truth, the share that is in the first k% by the score; ties are put in
                  random order, and the curve is the mean over five draws
area              under that curve, k from 0 to 100%: 1 if the rankings are the same, 1/2 for a random one
"""

from __future__ import annotations

import numpy as np

from recrawl.columns import FloatArray

DRAWS = 5
POINTS = 101  # of the curve: 0%, 1%, ..., 100%


def spearman(truth: FloatArray, score: FloatArray) -> float:
    """Return Spearman's rho; NaN where one of them is constant."""
    if len(truth) < 2:
        return float("nan")
    a, b = ranks(truth), ranks(score)
    a, b = a - a.mean(), b - b.mean()
    length = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum() / length) if length > 0 else float("nan")


def ranks(values: FloatArray) -> FloatArray:
    """Return the rank of each value from 1 up; ties share the mean of their ranks."""
    _, at, count = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((last - (count - 1) / 2.0)[at])


def precision_curve(truth: FloatArray, score: FloatArray, *, draws: int = DRAWS, seed: int = 0) -> FloatArray:
    """Return Precision@k% for k = 0, 1, ..., 100%, the mean over the draws; at 0% it is that of the first page."""
    size = len(truth)
    if not size:
        return np.full(POINTS, np.nan)
    random = np.random.default_rng(seed)
    k = np.maximum(np.round(np.linspace(0.0, 1.0, POINTS) * size).astype(np.int64), 1)
    total = np.zeros(POINTS)
    for _ in range(draws):
        both = np.maximum(_places(truth, random), _places(score, random))  # from this k on a page is in both
        total += np.cumsum(np.bincount(both, minlength=size))[k - 1] / k
    return total / draws


def _places(values: FloatArray, random: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return each page's place, 0 for the highest value, ties in random order."""
    order = np.lexsort((random.random(len(values)), -values))
    place = np.empty(len(values), dtype=np.int64)
    place[order] = np.arange(len(values))
    return place


def area(curve: FloatArray) -> float:
    """Return the area under a curve of Precision@k%, as a share."""
    return float(np.trapezoid(curve, dx=1.0 / (len(curve) - 1)))


def share_found(truth: FloatArray, score: FloatArray, share: float, *, draws: int = DRAWS, seed: int = 0) -> float:
    """Share of the target's total that lies in the top `share` of the pages by score; NaN if the total is 0."""
    total = float(truth.sum())
    if total <= 0:
        return float("nan")
    random = np.random.default_rng(seed)
    k = max(round(share * len(truth)), 1)
    return float(np.mean([truth[_places(score, random) < k].sum() for _ in range(draws)])) / total
