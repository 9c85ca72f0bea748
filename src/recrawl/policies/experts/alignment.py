"""Similarity of two time series of which one may lag: cross-correlation and dynamic time warping.

Radinsky & Bennett 2013, section 6.3. The cross-correlation with delay d of two series of N points is

    sum over i of (x[i] - mean x) (y[i - d] - mean y) / (N sd(x) sd(y)),      best over d = 1 ... N - 1

so that y, the expert, leads by d steps. A constant series correlates with nothing: 0. Dynamic time warping is the
least sum of |x[i] - y[j]| over all alignments that begin and end together and never go back.
"""

from __future__ import annotations

import math

import numpy as np

from recrawl.columns import FloatArray
from recrawl.compiled import kernel


@kernel
def standardise(series: FloatArray, out: FloatArray) -> bool:
    """Write the series with mean 0 and the sum of squares 1; returns False, and zeros, where it is constant."""
    n = len(series)
    mean, square = 0.0, 0.0
    for v in series:
        mean += v
    mean /= max(n, 1)
    for v in series:
        square += (v - mean) ** 2
    if square <= 1e-18 * max(1.0, mean * mean) * n:
        out[:] = 0.0
        return False
    scale = 1.0 / math.sqrt(square)
    for i in range(n):
        out[i] = (series[i] - mean) * scale
    return True


@kernel(fastmath=True)
def best_lag(x: FloatArray, y: FloatArray, first_lag: int, last_lag: int) -> tuple[float, int]:
    """Return the greatest cross-correlation of standardised series, and its delay of x behind y."""
    n = min(len(x), len(y))
    best, at = -np.inf, first_lag
    for d in range(first_lag, min(last_lag, n - 1) + 1):
        total = 0.0
        for i in range(d, n):
            total += x[i] * y[i - d]
        if total > best:
            best, at = total, d
    return (best, at) if best > -np.inf else (0.0, 0)


@kernel
def warp_rows(x: FloatArray, y: FloatArray, row: FloatArray) -> float:
    """Dynamic time warping with a row of the table to work in, one longer than y.

    The minimum with the left neighbour comes last: it alone depends on the step before.
    """
    m = len(y)
    row[:] = np.inf
    row[0] = 0.0
    for i in range(len(x)):
        diagonal, left = row[0], np.inf
        row[0] = np.inf
        v = x[i]
        for j in range(m):
            above = row[j + 1]
            least = diagonal if diagonal < above else above
            if left < least:
                least = left
            left = abs(v - y[j]) + least
            row[j + 1] = left
            diagonal = above
    return row[m]
