"""Samples of groups of pages: enough visits to know how much of a group has changed, and no more.

A sample of m pages whose chances of change have mean phi and standard deviation s is sufficient when the group's mean
lies within phi +- delta at the confidence level by Student's t (Tan et al. 2007, section 4.1):

    t((1 + confidence) / 2, m - 1) * s / sqrt(m) <= delta

or when it has reached its bound: the cycle's budget over the number of groups. Samples grow by doubling, from FIRST.
"""

from __future__ import annotations

import numpy as np

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds
from recrawl.compiled import kernel

FIRST = 4  # pages of a group that are visited before the first test


def means(values: FloatArray, group: IntArray, groups: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the count, mean and standard deviation (n - 1) of the values of each group; 0 where there are none."""
    count = np.bincount(group, minlength=groups)
    total = np.bincount(group, values, minlength=groups)
    mean = np.divide(total, count, out=np.zeros(groups), where=count > 0)
    square = np.bincount(group, (values - mean[group]) ** 2, minlength=groups)
    return count, mean, np.sqrt(np.divide(square, count - 1, out=np.zeros(groups), where=count > 1))


def sufficient(count: IntArray, deviation: FloatArray, confidence: float, delta: float) -> BoolArray:
    """Whether the samples are large enough; one of fewer than two pages never is."""
    from scipy.special import stdtrit  # half a second to import, which every crawl would wait for

    degrees = np.maximum(count - 1, 1)
    half = stdtrit(degrees, (1.0 + confidence) / 2.0) * deviation / np.sqrt(np.maximum(count, 1))
    return np.asarray((count >= 2) & (half <= delta))


@kernel
def first_of_groups(order: PageIds, group: IntArray, want: IntArray) -> PageIds:
    """Return the first `want[g]` pages of every group g, in the given order of pages; -1 is no group."""
    left = want.copy()
    taken = np.empty(len(order), dtype=np.int64)
    n = 0
    for page in order:
        g = group[page]
        if g >= 0 and left[g] > 0:
            left[g] -= 1
            taken[n] = page
            n += 1
    return taken[:n]
