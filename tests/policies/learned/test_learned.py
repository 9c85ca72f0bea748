"""The learned policy's prior and calibration by hand, and what it finds where changes are contagious."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.cycle import EveryPage, run_cycle
from recrawl.policies.catalogue import make_policy
from recrawl.policies.learned.calibration import Calibration, logit, sigmoid
from recrawl.policies.learned.evidence import Evidence
from recrawl.policies.learned.page_history import RATES, History
from recrawl.policies.learned.places import Places, group_names
from recrawl.policies.learned.prior import Prior
from recrawl.policy import Setting
from recrawl.simulate.recorded import RecordedWorld
from recrawl.simulate.synthetic.synthesis import synthesize

PAGE = np.zeros(1, dtype=np.int64)


def one_page() -> tuple[Places, Evidence, History]:
    places, evidence, history = Places(), Evidence(), History()
    places.place(PAGE, np.zeros(1, dtype=np.int64), np.array(["a/b/c.html"], dtype=object), 1)
    evidence.make_room(len(places), 1)
    history.make_room(1)
    history.begin(PAGE, 0)
    places.regroup(PAGE, history)
    return places, evidence, history


def test_the_prior_is_the_posterior_over_rates() -> None:
    """A change after 2 cycles, none after 3 more: weights r^a exp(-a r / m) (1 - exp(-2r)) exp(-3r), 4 cycles on."""
    places, evidence, history = one_page()
    evidence.base = 0.1
    history.update(PAGE, np.array([True]), 2)
    history.update(PAGE, np.array([False]), 5)
    prior = Prior()
    a = prior.shape
    weight = RATES**a * np.exp(-a * RATES / 0.1) * (1.0 - np.exp(-2.0 * RATES)) * np.exp(-3.0 * RATES)
    expected = 1.0 - (weight * np.exp(-4.0 * RATES)).sum() / weight.sum()
    assert prior.chance(PAGE, places, evidence, history, 9)[0] == pytest.approx(expected, rel=1e-5)


def test_the_pace_of_the_surroundings_shrinks_from_the_site_down() -> None:
    """A page never visited takes the pace of its directory: more where its neighbours changed."""
    places, evidence, history = Places(), Evidence(), History()
    paths = np.array(["a/x.md", "a/y.md", "b/x.md", "b/y.md"], dtype=object)
    places.place(np.arange(4), np.zeros(4, dtype=np.int64), paths, 4)
    evidence.make_room(len(places), 4)
    history.make_room(4)
    history.begin(np.arange(4), 0)
    pages, found = np.array([0, 2]), np.array([True, False])
    for cycle in range(1, 9):
        evidence.begin_cycle(np.unique(places.ids[:, 0]), cycle)
        evidence.update(pages, places.ids, found, np.ones(2), cycle)
        history.update(pages, found, cycle)
    history.last[:] = 8
    busy, beside, still, quiet = Prior().chance(np.arange(4), places, evidence, history, 9)
    assert busy > beside > quiet > still


def test_strengths_are_those_that_surprise_least() -> None:
    """Where some pages always change and others never do, a page's own past soon decides."""
    pages = np.arange(200)
    places, evidence, history = Places(), Evidence(), History()
    places.place(pages, np.zeros(200, dtype=np.int64), np.array(["x.md"] * 200, dtype=object), 200)
    evidence.make_room(len(places), 200)
    history.make_room(200)
    history.begin(pages, 0)
    prior, found = Prior(), pages % 2 == 0
    for cycle in range(1, 12):
        evidence.begin_cycle(np.unique(places.ids[:, 0]), cycle)
        prior.refit(places, evidence, history, cycle)
        prior.fit(pages, found, places, evidence, history, cycle)
        evidence.update(pages, places.ids, found, np.ones(200), cycle)
        history.update(pages, found, cycle)
    assert prior.shape < 0.6
    chance = prior.chance(pages, places, evidence, history, 12)
    assert chance[found].min() > 0.8
    assert chance[~found].max() < 0.1


@given(st.floats(-1.0, 1.0), st.floats(0.4, 2.0), st.integers(0, 99))
def test_calibration_finds_the_odds_that_visits_followed(shift: float, slope: float, seed: int) -> None:
    """Outcomes drawn from a + b logit p0 with trees that say nothing: a and b come back, the trees do not matter."""
    draw = np.random.default_rng(seed)
    p0, noise = draw.uniform(0.05, 0.95, 20_000), draw.normal(0.0, 1.0, 20_000)
    truth = sigmoid(shift + slope * logit(p0))
    found = Calibration()
    found.learn(p0, noise, draw.random(20_000) < truth, np.ones(20_000))
    found.fit()
    assert abs(found.chance(p0, noise) - truth).max() < 0.1
    assert found.slope * found.trust < 0.09  # six standard errors


def test_calibration_starts_neutral() -> None:
    """Before any outcome, p is what the prior and the trees say."""
    p = Calibration().chance(np.array([0.2]), np.array([0.7]))
    assert p[0] == pytest.approx(1.0 / (1.0 + math.exp(-(math.log(0.25) + 0.7))))


def test_groups_have_names_for_people() -> None:
    """A page's groups are said as its site, directories and file name."""
    assert group_names("docs/en/release-1.md") == [
        "this site", "/docs/en/", "/docs/", "/docs/en/", "pages named release-1.md",
        "pages with addresses like word/word/word.md",
        "pages on this site that last changed when it did",
        "pages on this site about the same",
    ]  # fmt: skip


def test_it_finds_more_changes_than_age_where_changes_are_contagious() -> None:
    """On a mixed synthetic web with site-wide edits it finds more changes than the longest unvisited first."""
    recording = synthesize("mixed", 1500, 84, seed=3)
    found = {}
    for name in ("age", "learned"):
        world = RecordedWorld(recording)
        memory = world.memory(cycle_days=7.0, seed=1)
        policy = make_policy(name, Setting(seed=1))
        visits = [
            visit
            for cycle in range(12)
            for visit in run_cycle(
                world,
                memory,
                EveryPage(policy) if cycle < 2 else policy,
                len(memory) if cycle < 2 else 75,
                recording.start + 7.0 * (cycle + 1),
            )
            if cycle >= 2
        ]
        found[name] = sum(int(visit.changed.sum()) for visit in visits)
    assert found["learned"] > 1.1 * found["age"]
