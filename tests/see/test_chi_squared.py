"""The tail of the chi-squared distribution is scipy's, which a plain crawl does not have."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from recrawl.see.chi_squared import chi_squared_tail


def test_known_values() -> None:
    """Two degrees of freedom: e^(-x/2). The 5% point of one is 3.841; the edges are 1, 0 and NaN."""
    assert chi_squared_tail(2.0, 6.0) == pytest.approx(math.exp(-3.0), rel=1e-15)
    assert chi_squared_tail(1.0, 3.841458820694124) == pytest.approx(0.05, rel=1e-14)
    assert chi_squared_tail(3.0, 0.0) == 1.0
    assert chi_squared_tail(3.0, math.inf) == 0.0
    assert math.isnan(chi_squared_tail(0.0, 1.0))
    assert math.isnan(chi_squared_tail(3.0, math.nan))


@given(st.floats(0.5, 200_000.0), st.floats(-40.0, 40.0))
def test_it_is_scipys_tail(degrees: float, deviations: float) -> None:
    """Within 40 standard deviations of the mean, for any degrees of freedom, to 1e-12."""
    chi2 = max(0.0, degrees + deviations * math.sqrt(2.0 * degrees))
    assert chi_squared_tail(degrees, chi2) == pytest.approx(float(special.chdtrc(degrees, chi2)), rel=1e-9, abs=1e-12)


def test_over_a_grid() -> None:
    """Degrees of 1 to 1000 at every statistic from 0 to 2000: absolutely to 1e-12."""
    for degrees in (1.0, 2.0, 3.0, 7.0, 30.0, 31.0, 32.0, 33.0, 100.0, 1000.0):
        chi2 = np.linspace(0.0, 2000.0, 401)
        ours = np.array([chi_squared_tail(degrees, float(x)) for x in chi2])
        np.testing.assert_allclose(ours, special.chdtrc(degrees, chi2), rtol=1e-11, atol=1e-12)
