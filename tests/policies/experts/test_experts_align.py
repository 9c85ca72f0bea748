"""Series that lag behind each other: cross-correlation and time warping."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.columns import FloatArray
from recrawl.policies.experts.alignment import best_lag, standardise, warp_rows

SERIES = st.lists(st.integers(-4, 4).map(float), min_size=2, max_size=12).map(np.array)


def slow_warp(x: FloatArray, y: FloatArray) -> float:
    """Figure 5 of the paper, with the borders that its recursion needs."""
    table = np.full((len(x) + 1, len(y) + 1), np.inf)
    table[0, 0] = 0.0
    for i in range(len(x)):
        for j in range(len(y)):
            table[i + 1, j + 1] = abs(x[i] - y[j]) + min(table[i, j + 1], table[i + 1, j], table[i, j])
    return float(table[-1, -1])


def warp(x: FloatArray, y: FloatArray) -> float:
    """The distance by the kernel that keeps one row of the table."""
    return float(warp_rows(x, y, np.empty(len(y) + 1)))


def cross_correlation(x: FloatArray, y: FloatArray) -> tuple[float, int]:
    """The best cross-correlation of two series as they are, and its delay of x behind y."""
    a, b = np.empty(len(x)), np.empty(len(y))
    if not (standardise(x, a) and standardise(y, b)):
        return 0.0, 0
    found, delay = best_lag(a, b, 1, len(x))
    return float(found), int(delay)


@given(SERIES, SERIES)
def test_warping_is_the_papers_table(x: FloatArray, y: FloatArray) -> None:
    """Dynamic time warping with one row gives what the whole table gives; it is symmetric, and 0 for equal series."""
    assert warp(x, y) == pytest.approx(slow_warp(x, y))
    assert warp(x, y) == pytest.approx(warp(y, x))
    assert warp(x, x) == 0.0


@given(SERIES, st.integers(1, 5))
def test_cross_correlation_is_the_papers_formula(x: FloatArray, shift: int) -> None:
    """The best over the delays of sum (x[i] - mean)(y[i-d] - mean) / (N sd sd); a constant correlates with nothing."""
    y = np.roll(x, -shift)
    found, delay = cross_correlation(x, y)
    if np.ptp(x) == 0:
        assert (found, delay) == (0.0, 0)
        return
    n, a, b = len(x), x - x.mean(), y - y.mean()
    scale = n * x.std() * y.std()
    values = [float((a[d:] * b[: n - d]).sum() / scale) for d in range(1, n)]
    assert found == pytest.approx(max(values))
    assert values[delay - 1] == pytest.approx(found)


def test_a_leader_is_found_with_its_lag() -> None:
    """A series that does three steps earlier what another does is ahead by three."""
    leader = np.array([0.0, 5, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0])
    follower = np.roll(leader, 3)
    found, delay = cross_correlation(follower, leader)
    assert found == pytest.approx(1.0, abs=0.2)
    assert delay == 3


def test_series_without_points() -> None:
    """Empty and single-point series have no correlation; warping one to an empty series is impossible."""
    none, one = np.empty(0), np.ones(1)
    assert cross_correlation(none, none) == (0.0, 0)
    assert cross_correlation(one, one) == (0.0, 0)
    assert warp(one, none) == np.inf
