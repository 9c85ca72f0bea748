"""Learners of new links, and how rankings are judged."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from recrawl.errors import InputError, UnknownNameError
from recrawl.features.link_learners import Options, _staged, classify, cross_validate, grid, regress
from recrawl.papers.outlinks.agreement import POINTS, area, precision_curve, ranks, share_found, spearman
from recrawl.policies.links.linkmean import LinkMean

FEW = Options(trees=30, leaf=5, rate=0.1)


def rows(seed: int = 0, size: int = 600) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    made = draw.normal(size=(size, 4)).astype(np.float32)
    made[::50, 3] = np.nan
    return made, draw.poisson(np.exp(made[:, 1])).astype(np.float64)


# -- learners ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "learner",
    [
        "extratrees",
        "histgb",
        "poisson",
        "ngboost",
    ],
)
def test_numbers_are_learnt(learner: str) -> None:
    """Each regressor finds the feature that the mean depends on, also with values that are not known."""
    made, target = rows()
    more, _ = rows(1)
    model = regress(learner, made, target, FEW, seed=0)
    assert spearman(np.exp(more[:, 1].astype(np.float64)), model.predict(more)) > 0.8
    assert np.array_equal(regress(learner, made, target, FEW, seed=0).predict(more), model.predict(more))


@pytest.mark.parametrize("learner", ["extratrees", "lightgbm"])
def test_rare_classes_are_learnt(learner: str) -> None:
    """With classes weighted against their frequency most of a class of 4% is recalled."""
    made, _ = rows(size=2000)
    rare = made[:, 1] > 1.75
    model = classify(learner, made, rare, FEW, seed=0)
    more, _ = rows(3, size=2000)
    assert 0.02 < rare.mean() < 0.06
    assert (model.predict(more[more[:, 1] > 2.0]) > 0.5).mean() > 0.8


def test_nothing_to_learn() -> None:
    """Where all targets are the same, that is what is predicted."""
    made, _ = rows()
    assert (regress("poisson", made, np.zeros(len(made)), FEW, 0).predict(made) == 0).all()
    assert (classify("extratrees", made, np.ones(len(made), dtype=np.bool_), FEW, 0).predict(made) == 1).all()


def test_bad_learners(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unknown learners, rows without targets and packages that are not there are said in one line."""
    made, target = rows()
    with pytest.raises(UnknownNameError, match="unknown learner"):
        regress("magic", made, target, FEW, 0)
    with pytest.raises(UnknownNameError, match="unknown learner"):
        classify("poisson", made, target > 0, FEW, 0)
    with pytest.raises(InputError, match="a target for each row"):
        regress("poisson", made, target[:5], FEW, 0)
    with pytest.raises(InputError, match="some rows"):
        regress("poisson", made[:0], target[:0], FEW, 0)
    monkeypatch.setitem(sys.modules, "ngboost", None)
    with pytest.raises(InputError, match="ngboost, which is not installed"):
        regress("ngboost", made, target, FEW, 0)


@pytest.mark.parametrize("learner", ["extratrees", "histgb"])
def test_tuning_takes_the_best_by_cross_validation(learner: str) -> None:
    """Of the settings the one with the highest mean score over the folds is taken: leaves of 500 rows learn nothing."""
    made, target = rows()
    choices = [Options(5, 500, 0.1), Options(20, 2, 0.1)]
    best, score = cross_validate(learner, made, target, choices, lambda t, p: -float(((p - t) ** 2).mean()))
    assert best == choices[1]
    assert score > -float(target.var())


@pytest.mark.parametrize("learner", ["extratrees", "histgb", "poisson"])
def test_tuning_bears_a_feature_that_nobody_knows(learner: str) -> None:
    """A column of NaN, such as text quality without texts, is no reason to stop: settings are tuned all the same."""
    made, target = rows()
    made[:, 0] = np.nan
    choices = [Options(5, 500, 0.1), Options(20, 2, 0.1)]
    best, _ = cross_validate(learner, made, target, choices, lambda t, p: -float(((p - t) ** 2).mean()))
    assert best == choices[1]


def test_the_grid_is_the_papers() -> None:
    """Leaves, rates and 200 to 500 trees are tuned; natural gradient boosting is at its package's defaults."""
    assert {options.leaf for options in grid("extratrees")} == {2, 10, 25}
    assert {options.rate for options in grid("histgb")} == {0.02, 0.04, 0.1}
    assert {options.trees for options in grid("lightgbm")} == {200, 300, 400, 500}
    assert grid("ngboost") == [Options(500, 1, 0.01)]
    assert len(grid("histgb", tune=False)) == 1


def test_fewer_trees_are_the_first_of_more() -> None:
    """One ensemble serves every number of trees: its first trees predict as an ensemble of that size."""
    made, target = rows()
    for learner in ("extratrees", "histgb", "poisson"):
        few = regress(learner, made, target, Options(5, 10, 0.1), 0).predict(made)
        staged = _staged(learner, made, target, Options(20, 10, 0.1), 0)
        assert staged(made, [20, 5])[1] == pytest.approx(few)
    present = target > np.median(target)
    for learner in ("extratrees", "lightgbm"):
        few = classify(learner, made, present, Options(5, 10, 0.1), 0).predict(made)
        assert _staged(learner, made, present, Options(20, 10, 0.1), 0)(made, [5])[0] == pytest.approx(few)


def test_the_mean_of_links_starts_from_its_prior() -> None:
    """Without visits the prior is what is expected; with them the model learns where the prior is wrong."""
    made, target = rows(size=3000)
    prior = np.full(len(made), 0.5)
    model = LinkMean(trees=30)
    assert np.array_equal(model.expected(made, prior), prior)
    model.learn(made, prior, target, np.ones(len(made)), 1)
    model.fit(2)
    told = model.expected(made, prior)
    assert spearman(made[:, 1].astype(np.float64), told) > 0.9
    assert told.mean() == pytest.approx(target.mean(), rel=0.2)


def test_a_learner_that_fails_leaves_the_prior() -> None:
    """A model that cannot score does not stop a crawl: the prior takes over, and the fault is kept."""
    made, target = rows()
    prior = np.full(len(made), 0.5)
    model = LinkMean(trees=5)
    model.learn(made, prior, target, np.ones(len(made)), 1)
    model.fit(2)
    assert np.array_equal(model.expected(made[:, :2], prior), prior)
    assert model.fault


# -- agreement of rankings --------------------------------------------------------------------------------------------

numbers = st.lists(st.integers(0, 4), min_size=3, max_size=40)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=40))
def test_spearman_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    """With any ties, rho is that of an independent implementation; NaN where one side is all the same."""
    first, second = np.array(pairs, dtype=np.float64).T
    told = spearman(first, second)
    if len(set(first)) < 2 or len(set(second)) < 2:
        assert np.isnan(told)
    else:
        assert told == pytest.approx(spearmanr(first, second).statistic, abs=1e-12)


def test_equals_share_their_mean_rank() -> None:
    """Of 1, 3, 3, 9 the two in the middle have rank 2.5."""
    assert ranks(np.array([9.0, 3.0, 3.0, 1.0])).tolist() == [4.0, 2.5, 2.5, 1.0]


def test_precision_by_hand() -> None:
    """Two rankings of four pages that swap the first two: nothing at 25%, all at 50%, 2 of 3 or more after it."""
    curve = precision_curve(np.array([4.0, 3.0, 2.0, 1.0]), np.array([3.0, 4.0, 2.0, 1.0]))
    assert curve[[25, 50, 75, 100]].tolist() == [0.0, 1.0, 1.0, 1.0]


@given(numbers, st.integers(0, 9))
def test_precision_is_a_share_and_ends_at_one(values: list[int], seed: int) -> None:
    """A curve lies between 0 and 1 and ends at 1; a ranking without ties agrees with itself everywhere."""
    held = np.array(values, dtype=np.float64)
    curve = precision_curve(held, held[::-1], seed=seed)
    assert len(curve) == POINTS
    assert ((curve >= 0) & (curve <= 1)).all()
    assert curve[-1] == 1.0
    distinct = np.arange(len(held), dtype=np.float64)
    assert area(precision_curve(distinct, distinct)) == pytest.approx(1.0)


def test_a_random_ranking_has_half_the_area() -> None:
    """Of many pages, a ranking that knows nothing has an area near 1/2: Precision@k% is k%."""
    draw = np.random.default_rng(0)
    assert area(precision_curve(draw.random(4000), draw.random(4000))) == pytest.approx(0.5, abs=0.02)
    assert np.isnan(precision_curve(np.empty(0), np.empty(0))).all()


def test_share_found_by_hand() -> None:
    """The first half by the score holds 7 of 10 links; of no links there is no share."""
    assert share_found(np.array([7.0, 3.0]), np.array([1.0, 0.0]), 0.5) == pytest.approx(0.7)
    assert np.isnan(share_found(np.zeros(3), np.ones(3), 0.5))
