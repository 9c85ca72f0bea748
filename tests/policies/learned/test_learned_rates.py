"""The fitted distribution of rates: its tilts by hand, what visits teach it, and how priors are judged."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from recrawl.columns import FloatArray
from recrawl.policies.learned.evidence import Evidence
from recrawl.policies.learned.page_history import RATES, History
from recrawl.policies.learned.places import Places
from recrawl.policies.learned.prior import FITTED, STRETCH_VARIANCE, Prior, loss_of_order
from recrawl.policies.learned.rates import Rates, tilted

SLOW, FAST = 2, 9  # places on the grid of rates


def weights_for(rates: Rates, mean: float) -> np.ndarray:
    out = np.empty(len(RATES))
    tilted(mean, rates.tilts, rates.log_means, out)
    return np.exp(out)


def test_a_tilt_of_two_rates_by_hand() -> None:
    """Half slow and half fast, tilted to a mean m: the fast share f has slow (1 - f) + fast f = m."""
    rates = Rates()
    half = np.zeros(len(RATES))
    half[[SLOW, FAST]] = 0.5
    rates.set(half)
    mean = 0.2
    share = (mean - RATES[SLOW]) / (RATES[FAST] - RATES[SLOW])
    assert weights_for(rates, mean)[FAST] == pytest.approx(share, abs=0.003)
    assert weights_for(rates, mean)[SLOW] == pytest.approx(1.0 - share, abs=0.003)


@given(st.lists(st.floats(0.0, 1.0), min_size=len(RATES), max_size=len(RATES)).filter(any), st.floats(0.01, 1.0))
def test_tilts_are_distributions_with_the_mean_asked_for(weights: list[float], mean: float) -> None:
    """Whatever the weights, a tilt sums to 1, and its mean is the one asked for where the tilts reach that far."""
    rates = Rates()
    rates.set(np.array(weights))
    found = weights_for(rates, mean)
    assert found.sum() == pytest.approx(1.0, abs=0.05)  # between two tilts logarithms are interpolated
    reached = min(max(mean, math.exp(rates.log_means[0])), math.exp(rates.log_means[-1]))
    assert found @ RATES == pytest.approx(reached, rel=0.1)


def visited(rate: np.ndarray, cycles: int, seed: int) -> tuple[Places, Evidence, History]:
    """Pages of one directory with these rates, each visited in every cycle."""
    pages, draw = np.arange(len(rate)), np.random.default_rng(seed)
    places, evidence, history = Places(), Evidence(), History()
    places.place(pages, np.zeros(len(rate), dtype=np.int64), np.array(["x.md"] * len(rate), dtype=object), len(rate))
    evidence.make_room(len(places), len(rate))
    history.make_room(len(rate))
    history.begin(pages, 0)
    for cycle in range(1, cycles + 1):
        evidence.begin_cycle(np.unique(places.ids[:, 0]), cycle)
        found = draw.random(len(rate)) < -np.expm1(-rate)
        evidence.update(pages, places.ids, found, np.ones(len(rate)), cycle)
        history.update(pages, found, cycle)
    return places, evidence, history


def test_two_kinds_of_pages_are_told_apart() -> None:
    """A quarter changes at .6 a cycle, the rest never: nearly no weight is left between, and a quarter is fast."""
    rate = np.where(np.arange(2_000) % 4 == 0, 0.6, 0.0)
    places, evidence, history = visited(rate, 6, seed=1)
    prior = Prior()
    for _ in range(5):
        prior.refit(places, evidence, history, 7)
    weights = prior.rates.weights
    assert weights[4:8].sum() < 0.03  # .02 to .2 a cycle
    assert weights[8:10].sum() == pytest.approx(0.25, abs=0.03)  # .42 and .88


def test_the_average_page_has_the_weights_themselves() -> None:
    """A visit finds one change however many there were, so paces are too low; only their ratios count."""
    places, evidence, history = visited(np.full(500, 1.5), 4, seed=6)
    prior = Prior()
    for _ in range(5):
        prior.refit(places, evidence, history, 5)
    paces = np.array([prior.rates.pace, prior.rates.pace / 2.0])
    assert prior.rates.pace < 0.8  # of every visit, whether it found a change
    average, slower = prior.rates.scaled(paces)
    assert average == pytest.approx(prior.rates.weights @ RATES)
    assert average == pytest.approx(1.5, rel=0.2)
    assert slower == pytest.approx(average / 2.0)


@pytest.mark.filterwarnings("error")
def test_a_web_that_stands_still_has_a_chance_all_the_same() -> None:
    """Where thousands of visits found nothing, the chance is small, and a number."""
    places, evidence, history = visited(np.zeros(2_000), 60, seed=7)
    prior, pages = Prior(), np.arange(2_000)
    for _ in range(3):
        prior.refit(places, evidence, history, 61)
        prior.fit(pages, pages == 0, places, evidence, history, 61)
    chance = prior.chance(pages, places, evidence, history, 61)
    assert ((chance > 0.0) & (chance < 0.01)).all()


def test_one_visit_a_page_leaves_the_weights_smooth() -> None:
    """A change may be luck or a fast page: no rate of the middle is ruled out."""
    places, evidence, history = visited(np.full(2_000, 0.3), 1, seed=2)
    prior = Prior()
    prior.refit(places, evidence, history, 2)
    assert prior.rates.weights[2:10].min() > 0.005


def sigmoid(x: FloatArray) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))


@given(st.floats(-2.0, 2.0), st.floats(0.5, 2.0), st.integers(0, 99))
def test_a_shift_and_a_stretch_of_all_chances_are_hardly_a_loss(shift: float, slope: float, seed: int) -> None:
    """A quiet day changes no order; its price is that of the shift and of the stretch, and no more."""
    draw = np.random.default_rng(seed)
    log_odds = draw.normal(0.0, 1.0, 500)
    changed = draw.random(500) < sigmoid(log_odds)
    straight = loss_of_order(sigmoid(log_odds), changed)
    moved = loss_of_order(sigmoid(slope * log_odds + shift), changed)
    assert abs(moved - straight) < (abs(shift) / min(slope, 1.0) + 0.7) ** 2 / 2.0 + 8.0
    reverse = loss_of_order(sigmoid(-log_odds), changed)
    assert reverse > straight + 10.0


@given(st.lists(st.tuples(st.floats(0.01, 0.99), st.booleans()), min_size=1, max_size=40))
def test_theloss_of_order_is_the_least_over_shift_and_stretch(visits: list[tuple[float, bool]]) -> None:
    """The formula of predict.prior, minimised by SciPy, for any visits: never less, and hardly more.

    An order that is upside down, whose best stretch is near none, is stopped a little early; it has lost anyhow.
    """
    p, changed = np.array([each[0] for each in visits]), np.array([each[1] for each in visits])
    log_odds = np.log(p / (1.0 - p))

    def loss(x: FloatArray) -> float:
        likely = np.exp(x[1]) * log_odds + x[0]
        surprise = np.logaddexp(0.0, np.where(changed, -likely, likely)).sum()
        return float(x[0] ** 2 / 2.0 + x[1] ** 2 / (2.0 * STRETCH_VARIANCE) + surprise)

    best = minimize(loss, np.zeros(2))
    assert best.fun - 1e-3 < loss_of_order(p, changed) < 1.03 * best.fun + 0.02


def test_the_fitted_distribution_is_taken_where_pages_are_of_two_kinds() -> None:
    """Pages that change every other cycle or never: after the first visits the prior is the fitted one."""
    rate = np.where(np.arange(1_000) % 4 == 0, 0.7, 0.0)
    places, evidence, history = visited(rate, 6, seed=3)
    prior, draw = Prior(), np.random.default_rng(4)
    for _ in range(6):
        prior.refit(places, evidence, history, 7)
    prior.fit(np.arange(1_000), draw.random(1_000) < -np.expm1(-rate), places, evidence, history, 7)
    assert prior.shape == FITTED
    chance = prior.chance(np.arange(1_000), places, evidence, history, 11)
    assert chance[history.changes > 1].min() > 0.85  # two changes in six visits are enough to know a fast page
    assert chance[history.changes == 0].max() < 0.1
