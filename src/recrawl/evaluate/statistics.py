"""Uncertainty of comparisons: means with 95% intervals, paired t-tests, tests of equivalence, and cycles won.

A run is one crawl of one part of the pages (a fold) with one seed. Runs that share pages (repeats) are not
independent, so their intervals say how much the seed matters, not how other pages would behave.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from recrawl.columns import FloatArray

LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean and the half-width of its Student-t interval; NaN half-width for a single run."""

    mean: float
    half: float
    runs: int


def interval(values: FloatArray, level: float = LEVEL) -> Interval:
    """Return the mean of the runs with its t-interval; runs without a value (NaN) are left out."""
    values = values[~np.isnan(values)]
    if not len(values):
        return Interval(math.nan, math.nan, 0)
    if len(values) == 1:
        return Interval(float(values[0]), math.nan, 1)
    error = values.std(ddof=1) / math.sqrt(len(values))
    return Interval(float(values.mean()), float(special.stdtrit(len(values) - 1, (1 + level) / 2) * error), len(values))


@dataclass(frozen=True)
class PairedTest:
    """Mean difference over the runs, and the two-sided p-value of Student's paired t-test (NaN below two runs)."""

    difference: float
    p: float

    @property
    def significant(self) -> bool:
        """Whether the difference is significant at 95%."""
        return self.p < 1 - LEVEL


def paired_test(a: FloatArray, b: FloatArray) -> PairedTest:
    """Test a - b, run by run."""
    difference, p = _paired((a - b)[:, None])
    return PairedTest(float(difference[0]), float(p[0]))


@dataclass(frozen=True)
class EquivalenceTest:
    """Whether a mean difference lies between two margins: two one-sided paired t-tests (TOST, Schuirmann 1987).

    `p` is the larger p-value of "not above `low`" and "not below `high`"; an infinite margin is not tested. A test
    that finds no difference shows no equality, since too few runs find none either: hence three outcomes.
    """

    difference: float
    p: float
    low: float
    high: float
    p_zero: float  # of the ordinary paired t-test

    @property
    def within(self) -> bool:
        """Whether the difference lies between the margins, at 95%."""
        return self.p < 1 - LEVEL

    @property
    def apart(self) -> bool:
        """Whether there is a difference at 95%, on a side that has a margin, and not shown to be within it."""
        margin = self.low if self.difference < 0 else self.high
        return self.p_zero < 1 - LEVEL and math.isfinite(margin) and not self.within


def equivalence_test(a: FloatArray, b: FloatArray, low: float, high: float) -> EquivalenceTest:
    """Test low < a - b < high, run by run."""
    (difference,), (p_zero,) = _paired((a - b)[:, None])
    larger = max(_one_sided(a - b - low), _one_sided(high - (a - b)))
    return EquivalenceTest(float(difference), larger, low, high, float(p_zero))


def _one_sided(differences: FloatArray) -> float:
    """The p-value of "the mean is not above 0" by Student's t-test; 0 where the mean is infinite."""
    if np.isposinf(differences).any():
        return 0.0 if (~np.isnan(differences)).sum() > 1 else math.nan
    (mean,), (p,) = _paired(differences[:, None])
    return float(p / 2 if mean > 0 else 1 - p / 2)


@dataclass(frozen=True)
class CycleScore:
    """In how many cycles one policy beats another (Santos et al. 2014, Table 3).

    A victory or loss is a cycle whose paired t-test over the runs is significant at 95%; gain and loss are the mean
    relative differences over those cycles, in percent. `ahead` and `behind` count cycles by the means alone.
    """

    victories: int
    losses: int
    cycles: int
    gain_pct: float
    loss_pct: float
    ahead: int
    behind: int


def cycle_score(a: FloatArray, b: FloatArray, *, lower_is_better: bool = False) -> CycleScore:
    """Score a against b, both runs x cycles."""
    difference, p = _paired(a - b)
    difference = np.nan_to_num(difference)
    better = -difference if lower_is_better else difference
    significant = p < 1 - LEVEL
    base = _mean(b)
    relative = 100 * np.divide(difference, np.abs(base), out=np.full(len(base), np.nan), where=np.abs(base) > 0)
    won, lost = significant & (better > 0), significant & (better < 0)
    return CycleScore(
        victories=int(won.sum()),
        losses=int(lost.sum()),
        cycles=a.shape[1],
        gain_pct=mean_of(relative[won]),
        loss_pct=mean_of(relative[lost]),
        ahead=int((better > 0).sum()),
        behind=int((better < 0).sum()),
    )


def _paired(differences: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and p-value of every column (runs x columns), leaving out NaN; p is NaN with fewer than two runs.

    Differences that are all the same are certain: p is 1 if they are all 0, else 0.
    """
    there = ~np.isnan(differences)
    runs = there.sum(axis=0)
    mean = _mean(differences)
    spread = np.where(there, differences - mean, 0.0)
    variance = np.divide((spread**2).sum(axis=0), runs - 1, out=np.full(len(mean), np.nan), where=runs > 1)
    error = np.sqrt(variance / np.maximum(runs, 1))
    certain = error <= 1e-15 * np.abs(np.nan_to_num(mean))
    t = np.divide(np.abs(mean), error, out=np.full(len(mean), np.nan), where=(error > 0) & ~certain)
    p = 2 * special.stdtr(np.maximum(runs - 1, 1), -t)
    p = np.where(certain & (runs > 1), np.where(mean == 0, 1.0, 0.0), p)
    return mean, np.where(runs > 1, p, np.nan)


def _mean(values: FloatArray) -> FloatArray:
    """Mean of every column without NaN; NaN for an empty column."""
    there = ~np.isnan(values)
    runs = there.sum(axis=0)
    return np.divide(
        np.where(there, values, 0.0).sum(axis=0), runs, out=np.full(values.shape[1], np.nan), where=runs > 0
    )


def mean_of(values: FloatArray) -> float:
    """Mean without NaN; NaN where nothing is left."""
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else math.nan
