"""The learned policy's numbers: objectives by hand, the model and its fallback, explanations in words."""

from __future__ import annotations

import logging
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.columns import BoolArray, FloatArray
from recrawl.errors import InputError
from recrawl.policies.learned.calibration import Calibration, sigmoid
from recrawl.policies.learned.explain import causes_of, next_visit, words
from recrawl.policies.learned.gains import gains, gains_by_chance
from recrawl.policies.learned.hazard import Hazard
from recrawl.policies.learned.objectives import parse_objective
from recrawl.policies.learned.page_history import RATES
from recrawl.policies.learned.prior import FITTED

ONE = np.ones(1)


def index(objective: str, p: float, t: float, links: float = 1.0) -> float:
    """Return the index of one page of which nothing but the chance of a change is known."""
    gains = gains_by_chance(np.array([p]), np.array([t]))
    return float(parse_objective(objective).index(np.array([p]), np.array([links]), gains)[0])


def test_objectives_by_hand() -> None:
    """With x = ln 2, p = 1/2: freshness gains (1 - (1 + ln 2) / 2) / r, and t = 2 makes r = ln 2 / 2.

    The age that a visit takes off in as long as the page has waited is t^2 - (1/2)^2 / r^2.
    """
    r = math.log(2.0) / 2.0
    assert index("changes", 0.5, 2.0) == 0.5
    assert index("links", 0.5, 2.0, links=3.0) == 3.0
    assert math.isclose(index("freshness", 0.5, 2.0), (1.0 - (1.0 + math.log(2.0)) / 2.0) / r)
    assert math.isclose(index("age", 0.5, 2.0), 4.0 - 0.25 / r**2)
    assert math.isclose(index("changes+0.1*links", 0.5, 2.0, links=3.0), 0.8)


def test_balanced_lies_between_changes_and_freshness() -> None:
    """The index is p + .05 that of freshness: a slow page that has waited gains on a fast one."""
    assert index("balanced", 0.5, 4.0) == pytest.approx(0.5 + 0.05 * index("freshness", 0.5, 4.0))
    assert index("balanced", 0.5, 4.0) == pytest.approx(index("changes+0.05*freshness", 0.5, 4.0))
    fast, slow = (0.5, 1.0), (0.45, 20.0)  # chance, cycles waited
    assert index("changes", *fast) > index("changes", *slow)
    assert index("balanced", *fast) < index("balanced", *slow)
    assert index("balanced", 0.0, 5.0) == 0.0


@given(st.floats(0.01, 5.0), st.floats(0.5, 50.0))
def test_gains_are_the_integrals_they_stand_for(rate: float, t: float) -> None:
    """Freshness: of s a'(s), a(s) the chance of being stale; age: how much younger the copy is, for as long as t."""
    p = -math.expm1(-rate * t)
    if p > 1.0 - 1e-9:  # beyond that the rate cannot be told from the chance
        return
    u = np.linspace(0.0, t, 20_001)
    fresher = np.trapezoid(u * rate * np.exp(-rate * u), u)
    assert math.isclose(index("freshness", p, t), fresher, rel_tol=1e-3)
    younger = np.trapezoid(t - (np.exp(-rate * u) - np.exp(-rate * (t + u))) / rate, u)
    assert math.isclose(index("age", p, t), younger, rel_tol=1e-3, abs_tol=1e-6)


def test_gains_under_a_posterior_by_hand() -> None:
    """A page that may have either of two rates: both gains are means over them, per change expected.

    A change that was found a cycle after the visit before makes the fast rate likelier, and a change worth less.
    """
    slow, fast = 4, 10
    log_weights = np.full((1, len(RATES)), -200.0)
    log_weights[0, [slow, fast]] = math.log(0.5)
    tilts, log_means = np.repeat(log_weights, 2, axis=0), np.array([0.0, 1.0])
    likelihood = np.zeros((2, len(RATES)), dtype=np.float32)
    likelihood[1] = np.log(-np.expm1(-RATES))
    t, rates = 3.0, RATES[[slow, fast]]
    found = gains(np.arange(2), np.full(2, t), np.ones(2), FITTED, tilts, log_means, likelihood)
    stale = -np.expm1(-rates * t)
    for page, weight in enumerate((np.ones(2), -np.expm1(-rates))):
        chance = weight @ stale
        assert found[page, 0] == pytest.approx(weight @ (stale / rates - t * np.exp(-rates * t)) / chance, rel=1e-5)
        assert found[page, 1] == pytest.approx(weight @ (t**2 - (stale / rates) ** 2) / chance, rel=1e-5)
    assert found[1, 0] < found[0, 0]


@pytest.mark.parametrize("wrong", ["", "fresh", "changes+", "-1*changes", "changes*2"])
def test_unknown_objectives_are_one_clear_line(wrong: str) -> None:
    """What is not a sum of known names is refused with the names."""
    with pytest.raises(InputError, match="take a sum of changes"):
        parse_objective(wrong)


def taught(seed: int = 0) -> tuple[Hazard, np.ndarray, np.ndarray]:
    """Return a model of one feature that decides everything, and rows."""
    draw = np.random.default_rng(1)
    rows = draw.random((2000, 2)).astype(np.float32)
    prior = np.full(2000, 0.5)
    hazard = Hazard(("decides", "noise"), seed)
    hazard.learn(rows, prior, rows[:, 0] > 0.5, np.ones(2000), 1)
    hazard.fit(2)
    return hazard, rows, prior


def test_the_model_learns_what_the_prior_does_not_know() -> None:
    """Where the prior says one half, a feature that decides moves the chance to either end."""
    hazard, rows, prior = taught()
    p = hazard.probability(rows, prior)
    assert p[rows[:, 0] > 0.6].min() > 0.9
    assert p[rows[:, 0] < 0.4].max() < 0.1


def test_without_a_model_the_prior_rules() -> None:
    """Before the first training, and where all visits had one outcome, p is the prior."""
    hazard = Hazard(("a",))
    hazard.learn(np.zeros((3, 1), dtype=np.float32), np.full(3, 0.2), np.zeros(3, dtype=np.bool_), np.ones(3), 1)
    hazard.fit(2)
    assert hazard.probability(np.zeros((2, 1), dtype=np.float32), np.array([0.1, 0.7])).tolist() == [0.1, 0.7]


class Broken:
    """A model that returns no numbers, or raises."""

    def __init__(self, value: float | None) -> None:
        self.value = value

    def total(self, rows: np.ndarray) -> np.ndarray:
        if self.value is None:
            raise RuntimeError("out of trees")
        return np.full(len(rows), self.value)


@pytest.mark.parametrize("value", [math.nan, math.inf * 0, None])
def test_a_model_that_fails_hands_over_to_the_prior_and_says_so(
    value: float | None, caplog: pytest.LogCaptureFixture
) -> None:
    """NaN or an exception of the model leaves the prior in charge, with one warning."""
    hazard, rows, prior = taught()
    hazard.forest = Broken(value)  # type: ignore[assignment]
    with caplog.at_level(logging.WARNING):
        assert (hazard.probability(rows, prior) == prior).all()
        assert (hazard.probability(rows, prior) == prior).all()
    assert hazard.fault
    assert sum("the prior takes over" in record.message for record in caplog.records) == 1


def test_the_same_seed_gives_the_same_bytes() -> None:
    """Two trainings on the same rows give the same model text and the same chances."""
    (a, rows, prior), (b, _, _) = taught(3), taught(3)
    assert a.model is not None
    assert b.model is not None
    assert a.model.model_to_string() == b.model.model_to_string()
    assert a.probability(rows, prior).tobytes() == b.probability(rows, prior).tobytes()


GROUPS = ["this site", "/blog/", "/", "/blog/", "pages named a.md", "pages on this site that last changed when it did"]


def test_causes_are_said_in_words() -> None:
    """Shares are said as counts, with the place and the time they are about."""
    values = {"directory:share_now": 2 / 3, "directory:visits_now": 6.0, "name:share_since": math.nan}
    values |= {
        "name:visits_since": 0.0,
        "site:rate": 0.25,
        "visits": 4.0,
        "changes": 0.0,
        "since_change": 999.0,
        "t": 1.0,
        "words": 1234.0,
    }
    assert words("directory:share_now", values, GROUPS) == "4 of 6 pages in /blog/ visited this cycle had changed"
    assert words("name:share_since", values, GROUPS) == "no pages named a.md were visited since its last visit"
    assert words("site:rate", values, GROUPS) == "pages on this site change 0.25 times per cycle"
    assert words("since_change", values, GROUPS) == "no visit has found a change yet"
    assert words("t", values, GROUPS) == "last visited 1 cycle ago"
    assert words("words", values, GROUPS) == "it is 1,234 words long"
    assert words("words", values | {"words": math.nan}, GROUPS) == "its length is not known"


def test_the_largest_causes_come_first() -> None:
    """At most ten causes, by the size of their effect; the prior is one of them, features without effect are none."""
    values = {"visits": 4.0, "changes": 1.0, "t": 3.0}
    causes = causes_of(values, {"t": 0.2, "changes": -0.7, "visits": 0.0}, GROUPS, 0.5, 0.5)
    assert [round(cause.effect, 3) for cause in causes] == [-0.7, 0.2, 0.0]
    assert causes[0].words == "1 of 4 visits found a change"


def test_next_visit() -> None:
    """The first cycle in which the index reaches the threshold, unless the limit on waiting comes before."""
    rising = np.array([0.1, 0.2, 0.3, 0.4])
    assert next_visit(rising, 0.3, 5, 0) == 2
    assert next_visit(rising, 0.3, 5, 6) == 1
    assert next_visit(rising, 0.9, 5, 0) is None
    assert next_visit(rising, 0.9, 7, 6) == 0


def log_likelihood(trust: Calibration, prior: FloatArray, trees: FloatArray, changed: BoolArray) -> float:
    p = np.clip(trust.chance(prior, trees), 1e-12, 1 - 1e-12)
    return float(np.log(np.where(changed, p, 1 - p)).sum())


@given(st.integers(0, 10_000), st.floats(-6.0, 1.0), st.floats(0.0, 4.0))
def test_calibration_never_makes_predictions_less_likely(seed: int, middle: float, spread: float) -> None:
    """However far off the predictions are, the fitted correction explains what came true at least as well."""
    rng = np.random.default_rng(seed)
    prior = sigmoid(rng.normal(middle, spread, 400))
    trees = rng.normal(0.0, 3.0, 400)
    changed = rng.random(400) < sigmoid(rng.normal(-4.0, 2.0, 400))
    trust = Calibration()
    before = log_likelihood(trust, prior, trees, changed)
    trust.learn(prior, trees, changed, np.ones(400))
    trust.fit()
    assert log_likelihood(trust, prior, trees, changed) >= before - 1e-6
    assert 0.0 <= trust.trust <= 1.0


def test_calibration_does_not_overshoot() -> None:
    """Trees that are sure and wrong, on pages that rarely change, are turned down, and chances keep their order."""
    rng = np.random.default_rng(3)
    prior = np.full(5000, 1e-3)
    trees = rng.normal(8.0, 3.0, 5000)
    changed = rng.random(5000) < 0.01
    trust = Calibration()
    trust.learn(prior, trees, changed, np.full(5000, 50.0))
    trust.fit()
    p = trust.chance(np.geomspace(1e-4, 0.9, 50), np.zeros(50))
    assert (np.diff(p) > 0).all()
    assert trust.chance(prior, trees).mean() == pytest.approx(0.01, abs=0.01)
