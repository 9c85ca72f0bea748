"""Optimal visit rates, against the papers' own numbers and examples worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.columns import FloatArray
from recrawl.policies.classical.allocation import (
    Allocation,
    harmonic_rates,
    periodic_rates,
    plan_states,
    poisson_rates,
    proportional,
)

ONES = np.ones


def periodic_freshness(mu: FloatArray, D: FloatArray, rho: FloatArray) -> float:
    """Sum mu (rho/D)(1 - exp(-D/rho)): Cho & Garcia-Molina 2003, freshness of evenly spaced visits."""
    with np.errstate(divide="ignore", over="ignore"):
        return float((mu * rho / D * -np.expm1(-D / np.maximum(rho, 1e-300))).sum())


def poisson_freshness(mu: FloatArray, D: FloatArray, rho: FloatArray) -> float:
    """Sum mu rho/(rho + D): Azar et al. 2018, freshness of visits at random times."""
    return float((mu * rho / (rho + D)).sum())


def test_lambdacrawl_rates() -> None:
    """rho = (-D + sqrt(D^2 + 4 mu D / lambda))/2 (Kolobov et al. 2019); lambda = 1/2 for this budget."""
    second = (-2 + math.sqrt(4 + 4 * 3 * 2 / 0.5)) / 2
    rho = harmonic_rates(np.array([1.0, 3.0, 1.0, 0.0]), np.array([1.0, 2.0, 0.0, 5.0]), 1.0 + second)
    assert rho == pytest.approx([1.0, second, 0.0, 0.0])


def test_periodic_rates_of_the_paper() -> None:
    """Pages that change 1 to 5 times a day, 5 visits a day: Table 2 of Cho & Garcia-Molina 2003, row (b)."""
    rho = periodic_rates(ONES(5), np.array([1.0, 2.0, 3.0, 4.0, 5.0]), 5.0)
    assert rho == pytest.approx([1.15, 1.36, 1.35, 1.14, 0.0], abs=0.005)


def test_poisson_rates_by_hand() -> None:
    """rho = sqrt(mu D)(R + s)/r - D (Azar et al. 2018); a page that would get less than nothing is dropped."""
    D = np.array([1.0, 4.0, 0.0])
    assert poisson_rates(ONES(3), D, 2.0) == pytest.approx([7 / 3 - 1, 2 * 7 / 3 - 4, 0.0])
    assert poisson_rates(ONES(3), D, 0.5) == pytest.approx([0.5, 0.0, 0.0])


def test_proportional_by_hand() -> None:
    """Shares of 2 by weights 1, 1, 8 with caps of 1: the third takes 1, the others share what is left."""
    assert proportional(ONES(4), np.array([1.0, 1.0, 8.0, 0.0]), 2.0) == pytest.approx([0.5, 0.5, 1.0, 0.0])
    assert proportional(ONES(2), np.array([1.0, 3.0]), 7.0) == pytest.approx([1.0, 1.0])


def test_nothing_to_share() -> None:
    """No budget, or no page that changes, gives no visits."""
    for plan in (harmonic_rates, periodic_rates, poisson_rates):
        assert plan(ONES(2), np.zeros(2), 3.0).tolist() == [0.0, 0.0]
        assert plan(ONES(2), ONES(2), 0.0).tolist() == [0.0, 0.0]
        assert len(plan(ONES(0), ONES(0), 1.0)) == 0


def harmonic_cost(mu: FloatArray, D: FloatArray, rho: FloatArray) -> float:
    """Return sum -mu ln(rho / (rho + D)); pages that never change cost nothing."""
    pays = (mu > 0) & (D > 0)
    if (rho[pays] <= 0).any():
        return math.inf
    return float((mu[pays] * np.log1p(D[pays] / rho[pays])).sum())


Value = Callable[[FloatArray, FloatArray, FloatArray], float]
PLANS: list[tuple[Allocation, Value]] = [
    (harmonic_rates, lambda mu, D, rho: -harmonic_cost(mu, D, rho)),
    (periodic_rates, periodic_freshness),
    (poisson_rates, poisson_freshness),
]
PAGES = st.lists(st.tuples(st.floats(0.1, 10.0), st.floats(1e-3, 50.0)), min_size=2, max_size=8)


@pytest.mark.parametrize(("plan", "value"), PLANS)
@given(pages=PAGES, R=st.floats(0.01, 100.0), seed=st.integers(0, 99))
def test_no_other_rates_are_better(
    plan: Allocation, value: Value, pages: list[tuple[float, float]], R: float, seed: int
) -> None:
    """The rates spend the budget, and moving some of it from one page to another gains nothing."""
    mu, D = (np.array(column) for column in zip(*pages, strict=True))
    rho = plan(mu, D, R)
    assert (rho >= 0).all()
    assert rho.sum() == pytest.approx(R, rel=1e-6)
    best = value(mu, D, rho)
    draw = np.random.default_rng(seed)
    for share in (1e-3, 0.1, 0.9):
        giver, taker = draw.permutation(len(D))[:2]
        other = rho.copy()
        other[giver], other[taker] = rho[giver] * (1 - share), rho[taker] + rho[giver] * share
        assert value(mu, D, other) <= best + 1e-7 * abs(best)


@pytest.mark.parametrize("plan", [harmonic_rates, periodic_rates, poisson_rates, proportional])
@given(rates=st.lists(st.sampled_from([0.0, 0.1, 0.7, 3.0]), min_size=1, max_size=30), R=st.floats(0.1, 20.0))
def test_equal_pages_are_planned_as_one(plan: Allocation, rates: list[float], R: float) -> None:
    """A plan made once for all pages in the same state is the plan made page by page."""
    D = np.array(rates)
    assert plan_states(plan, D, R) == pytest.approx(plan(ONES(len(D)), D, R), rel=1e-6, abs=1e-12)
