"""Two-sample tests about means (Tan et al. 2007, Table 3), and the same values tested in pairs.

    t = (mean_1 - mean_2) / sqrt(s_1**2 / n_1 + s_2**2 / n_2)

|t| above 1.960 rejects equal means at the 0.05 level. Values of one query in many cycles hang together, and both
policies answer the same queries, so the pairs say more: per query the mean over the cycles, then a paired t.
"""

from __future__ import annotations

import math

import numpy as np

from recrawl.columns import FloatArray

CRITICAL = 1.960


def two_sample_t(a: FloatArray, b: FloatArray) -> float:
    """Return t of two samples of any shape; values that are NaN are left out; 0 for samples that are the same."""
    a, b = a[~np.isnan(a)], b[~np.isnan(b)]
    if len(a) < 2 or len(b) < 2:
        return math.nan
    error = math.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    gap = float(a.mean() - b.mean())
    return gap / error if error > 0 else (0.0 if gap == 0 else math.copysign(math.inf, gap))


def paired_t(a: FloatArray, b: FloatArray) -> float:
    """Return t of the differences by column (cycles x queries: by query), each the mean over its rows."""
    there = ~np.isnan(a - b)
    count = there.sum(axis=0)
    kept = count > 0
    gaps = np.where(there, a - b, 0.0).sum(axis=0)[kept] / count[kept]
    if len(gaps) < 2:
        return math.nan
    error = float(gaps.std(ddof=1)) / math.sqrt(len(gaps))
    gap = float(gaps.mean())
    return gap / error if error > 0 else (0.0 if gap == 0 else math.copysign(math.inf, gap))
