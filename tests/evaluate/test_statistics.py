"""Intervals, paired tests and victories, against values that can be computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from recrawl.evaluate.statistics import cycle_score, equivalence_test, interval, paired_test

T_2 = 4.302652729911275  # 97.5% point of Student's t with 2 degrees of freedom


def test_interval_is_students() -> None:
    """1, 2, 3 have the mean 2 and the half-width t * 1/sqrt(3)."""
    found = interval(np.array([1.0, 2.0, 3.0]))
    assert (found.mean, found.runs) == (2.0, 3)
    assert found.half == pytest.approx(T_2 / math.sqrt(3))


def test_interval_needs_two_runs_and_leaves_out_missing_ones() -> None:
    """One run has a mean without a width; runs without a value do not count; no runs have no mean."""
    one = interval(np.array([np.nan, 5.0]))
    assert (one.mean, one.runs) == (5.0, 1)
    assert math.isnan(one.half)
    assert math.isnan(interval(np.array([np.nan])).mean)


def test_paired_test_by_hand() -> None:
    """Differences 2, 3, 1: t = 2 sqrt(3), and with 2 degrees of freedom p = 1 - t/sqrt(t^2 + 2)."""
    found = paired_test(np.array([3.0, 5.0, 4.0]), np.array([1.0, 2.0, 3.0]))
    assert found.difference == 2.0
    assert found.p == pytest.approx(1 - math.sqrt(12) / math.sqrt(14))
    assert not found.significant


def test_equal_differences_are_certain() -> None:
    """Runs that all differ by the same are as sure as can be; equal runs do not differ; a single run tells nothing."""
    assert paired_test(np.array([1.5, 2.5]), np.array([1.0, 2.0])).p == 0.0
    assert paired_test(np.array([1.0, 2.0]), np.array([1.0, 2.0])).p == 1.0
    assert math.isnan(paired_test(np.array([1.0]), np.array([2.0])).p)
    assert not paired_test(np.array([1.0]), np.array([2.0])).significant


VALUES = arrays(np.float64, 6, elements=st.floats(-100, 100).map(lambda x: round(x, 3)))


@given(a=VALUES, b=VALUES)
def test_paired_test_agrees_with_scipy(a: np.ndarray, b: np.ndarray) -> None:
    """The p-value is scipy's."""
    if np.ptp(a - b) < 1e-9:
        return
    assert paired_test(a, b).p == pytest.approx(float(stats.ttest_rel(a, b).pvalue), rel=1e-6, abs=1e-12)


def test_victories_and_losses_by_cycle() -> None:
    """Santos et al. 2014, Table 3: cycles with a significant difference, and the mean relative difference in them."""
    ours = np.array([[1.1, 0.50, 0.9, 2.0], [1.1, 0.60, 0.9, 2.0], [1.1, 0.40, 0.9, 2.0]])
    theirs = np.array([[1.0, 0.45, 1.0, 1.0], [1.0, 0.70, 1.0, 1.0], [1.0, 0.30, 1.0, 1.0]])
    score = cycle_score(ours, theirs)
    assert (score.victories, score.losses, score.cycles) == (2, 1, 4)
    assert score.gain_pct == pytest.approx((10 + 100) / 2)
    assert score.loss_pct == pytest.approx(-10)
    assert (score.ahead, score.behind) == (3, 1)
    reverse = cycle_score(ours, theirs, lower_is_better=True)
    assert (reverse.victories, reverse.losses) == (1, 2)


def test_one_run_has_no_victories_but_leads() -> None:
    """Without a second run nothing is significant; cycles ahead are still counted."""
    score = cycle_score(np.array([[1.0, 2.0, np.nan]]), np.array([[0.0, 3.0, 1.0]]))
    assert (score.victories, score.losses, score.ahead, score.behind) == (0, 0, 1, 1)


def test_equivalence_by_hand() -> None:
    """Differences 2, 3, 1 have the error 1/sqrt(3): t of -1 and of 5 is 3 sqrt(3) on either side, p of one tail."""
    gaps = np.array([2.0, 3.0, 1.0])
    found = equivalence_test(gaps, 0 * gaps, -1.0, 5.0)
    tail = (1 - math.sqrt(27 / 29)) / 2  # Student's t with 2 degrees of freedom
    assert found.difference == 2.0
    assert found.p == pytest.approx(tail)
    assert found.within
    assert not found.apart
    assert equivalence_test(gaps, 0 * gaps, -1.0, 3.0).p == pytest.approx((1 - math.sqrt(3 / 5)) / 2)  # t = sqrt(3)
    assert equivalence_test(gaps, 0 * gaps, -math.inf, 5.0).p == pytest.approx(tail)  # one margin alone
    assert equivalence_test(gaps, 0 * gaps, -1.0, 1.0).p > 0.5  # the mean is outside


def test_no_difference_is_not_equality() -> None:
    """What no t-test can tell apart is within its margins or not known, by how sure the mean is; few runs never are."""
    noise = np.array([0.3, -0.3, 0.2, -0.2])
    narrow, wide = (equivalence_test(noise, 0 * noise, -margin, margin) for margin in (0.1, 0.5))
    assert (narrow.within, narrow.apart) == (False, False)
    assert (wide.within, wide.apart) == (True, False)
    one = equivalence_test(np.array([1.0]), np.array([1.0]), -1.0, 1.0)
    assert (one.within, one.apart) == (False, False)
    far = equivalence_test(5 + noise, 0 * noise, -1.0, 1.0)
    assert (far.within, far.apart) == (False, True)
    small = equivalence_test(5 + noise, 0 * noise, -9.0, 9.0)  # a sure difference that is smaller than the margin
    assert (small.within, small.apart) == (True, False)
    better = equivalence_test(5 + noise, 0 * noise, -1.0, math.inf)  # only "not worse" is asked
    assert (better.within, better.apart) == (True, False)
    worse = equivalence_test(noise - 5, 0 * noise, -1.0, math.inf)
    assert (worse.within, worse.apart) == (False, True)


@given(arrays(np.float64, 6, elements=st.floats(-4, 4)), st.floats(0.1, 3), st.floats(0.1, 3))
def test_equivalence_agrees_with_scipy(gaps: np.ndarray, below: float, above: float) -> None:
    """The larger of two one-sided t-tests of scipy."""
    gaps = gaps + np.array([0, 0.5, 1, 0, 0.25, 0])  # never all the same
    if gaps.std() < 1e-3:
        return
    low = stats.ttest_1samp(gaps, -below, alternative="greater").pvalue
    high = stats.ttest_1samp(gaps, above, alternative="less").pvalue
    assert equivalence_test(gaps, 0 * gaps, -below, above).p == pytest.approx(max(low, high), abs=1e-9)
