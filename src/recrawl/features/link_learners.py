"""Learners that predict new links from features: point predictions, chances of a class, and the mean of a Poisson law.

    extratrees   extremely randomised trees (scikit-learn); classes weighted against their frequency
    histgb       histogram gradient boosting (scikit-learn), least squares
    lightgbm     gradient boosting (LightGBM); classes weighted against their frequency
    ngboost      natural gradient boosting of a Poisson law's mean (Duan et al. 2020; the package ngboost)
    poisson      gradient boosting with the Poisson loss (LightGBM): the same mean, ten times faster

The settings that Dang et al. 2022 (section 5.3) tune are `trees`, `leaf` and `rate`; all else is left at the packages'
defaults, but that boosted trees have no bound on their leaves, as the paper has it. ngboost is at its defaults
altogether (500 rounds, rate 0.01). NaN is a value like others to the trees; ngboost gets -1 in its place.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from typing import Any

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray
from recrawl.errors import InputError, UnknownNameError

Rows = npt.NDArray[np.float32]

REGRESSORS = ("extratrees", "histgb", "ngboost", "poisson")
CLASSIFIERS = ("extratrees", "lightgbm")


@dataclass(frozen=True)
class Options:
    """The hyperparameters that are tuned."""

    trees: int = 200  # of the ensemble, or rounds of boosting
    leaf: int = 10  # fewest samples on a leaf
    rate: float = 0.05  # learning rate of boosting


@dataclass(frozen=True)
class Model:
    """A trained learner: one prediction per row; of a classifier, the chance of class 1."""

    predict: Callable[[Rows], FloatArray]
    learner: str
    options: Options


TREES = (200, 300, 400, 500)
TUNED_LEAVES = {"extratrees": (2, 10, 25)}
TUNED_RATES = (0.02, 0.04, 0.1)


def grid(learner: str, trees: int = 0, *, tune: bool = True) -> list[Options]:
    """The settings that the paper tunes between; with `trees` that many, and without `tune` one setting for all."""
    if learner == "ngboost":
        return [Options(trees or 500, 1, 0.01)]
    leaves = TUNED_LEAVES.get(learner, (10, 25))
    if not tune:
        return [Options(trees or 200, 10 if learner == "extratrees" else 25, 0.05)]
    rates = (0.05,) if learner == "extratrees" else TUNED_RATES
    return [Options(*choice) for choice in product((trees,) if trees else TREES, leaves, rates)]


def train(learner: str, rows: Rows, target: npt.NDArray[Any], options: Options, seed: int) -> Model:
    """Train a learner: of a class where the target is true or false, else of a number."""
    if target.dtype == np.bool_:
        return classify(learner, rows, target, options, seed)
    return regress(learner, rows, target, options, seed)


def cross_validate(
    learner: str,
    rows: Rows,
    target: npt.NDArray[Any],
    choices: Sequence[Options],
    score: Callable[[FloatArray, FloatArray], float],
    folds: int = 3,
    seed: int = 0,
) -> tuple[Options, float]:
    """Return the setting of the highest mean score over the folds, and that score; the first of equals.

    Settings that differ in the number of trees only share one ensemble, whose first trees are the smaller one.
    """
    fold = np.random.default_rng(seed).permutation(len(rows)) % folds
    scores: dict[Options, list[float]] = {options: [] for options in choices}
    for (leaf, rate), same in _by_ensemble(choices).items():
        for number in range(folds):
            known, asked = fold != number, fold == number
            largest = Options(max(same), leaf, rate)
            staged = _staged(learner, rows[known], target[known], largest, seed)
            truth = target[asked].astype(np.float64)
            for trees, predicted in zip(same, staged(rows[asked], same), strict=True):
                scores[Options(trees, leaf, rate)].append(score(truth, predicted))
    means = [_mean(scores[options]) for options in choices]
    best = int(np.argmax(means))
    return choices[best], means[best]


def _by_ensemble(choices: Sequence[Options]) -> dict[tuple[int, float], list[int]]:
    found: dict[tuple[int, float], list[int]] = {}
    for options in choices:
        found.setdefault((options.leaf, options.rate), []).append(options.trees)
    return found


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else -np.inf


def _staged(
    learner: str, rows: Rows, target: npt.NDArray[Any], options: Options, seed: int
) -> Callable[[Rows, Sequence[int]], list[FloatArray]]:
    """Train once, and predict by the first so many trees, for several numbers of trees in one pass."""
    if (target == target[0]).all():
        return lambda more, counts: [np.full(len(more), float(target[0])) for _ in counts]
    a_class = target.dtype == np.bool_
    make = _classifier if a_class else _regressor
    made = make(learner, options, seed, len(rows)).fit(_without_unknown(rows), target)
    if learner == "histgb":
        return lambda more, counts: _at(made.staged_predict(more), counts)
    if learner == "extratrees":

        def by_trees(more: Rows, counts: Sequence[int]) -> list[FloatArray]:
            parts = (t.predict_proba(more)[:, 1] if a_class else t.predict(more) for t in made.estimators_)
            return [total / trees for total, trees in zip(_at(accumulate(parts), counts), counts, strict=True)]

        return by_trees
    if a_class:
        return lambda more, counts: [made.predict_proba(more, num_iteration=trees)[:, 1] for trees in counts]
    return lambda more, counts: [made.predict(more, num_iteration=trees) for trees in counts]


def _at(stages: Iterable[FloatArray], counts: Sequence[int]) -> list[FloatArray]:
    """The predictions after so many trees, out of those after each tree."""
    wanted = set(counts)
    found = {trees: np.asarray(stage) for trees, stage in enumerate(stages, 1) if trees in wanted}
    return [found[trees] for trees in counts]


def regress(learner: str, rows: Rows, target: FloatArray, options: Options, seed: int) -> Model:
    """Train a learner to predict a number."""
    _check(rows, target)
    if learner not in REGRESSORS:
        raise UnknownNameError(f"unknown learner {learner!r}; for numbers there are {', '.join(REGRESSORS)}")
    if (target == target[0]).all():  # some learners refuse it
        return Model(lambda more: np.full(len(more), float(target[0])), learner, options)
    if learner == "ngboost":
        return Model(_ngboost(rows, target, options, seed), learner, options)
    made = _regressor(learner, options, seed, len(rows)).fit(_without_unknown(rows), target)
    return Model(lambda more: np.asarray(made.predict(more), dtype=np.float64), learner, options)


def classify(learner: str, rows: Rows, target: npt.NDArray[np.bool_], options: Options, seed: int) -> Model:
    """Train a classifier of class 1 against class 0."""
    _check(rows, target)
    if learner not in CLASSIFIERS:
        raise UnknownNameError(f"unknown learner {learner!r}; for classes there are {', '.join(CLASSIFIERS)}")
    if target.all() or not target.any():
        return Model(lambda more: np.full(len(more), float(target[0])), learner, options)
    made = _classifier(learner, options, seed, len(rows)).fit(_without_unknown(rows), target)
    return Model(lambda more: np.asarray(made.predict_proba(more)[:, 1], dtype=np.float64), learner, options)


def has_ngboost() -> bool:
    """Whether the package ngboost is installed."""
    from importlib.util import find_spec

    return find_spec("ngboost") is not None


def _check(rows: Rows, target: npt.NDArray[Any]) -> None:
    if len(rows) != len(target) or not len(rows):
        raise InputError(
            f"a learner needs a target for each row, and some rows: {len(rows)} rows, {len(target)} targets"
        )


def _without_unknown(rows: Rows) -> Rows:
    """Return the rows with 0 in columns that are NaN throughout, which some learners refuse."""
    unknown = np.isnan(rows).all(axis=0)
    return np.where(unknown, np.float32(0), rows) if unknown.any() else rows


def _regressor(learner: str, options: Options, seed: int, rows: int) -> Any:
    if learner == "extratrees":
        from sklearn.ensemble import ExtraTreesRegressor

        return ExtraTreesRegressor(options.trees, min_samples_leaf=options.leaf, random_state=seed, n_jobs=1)
    if learner == "histgb":
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(
            learning_rate=options.rate,
            max_iter=options.trees,
            max_leaf_nodes=None,
            min_samples_leaf=options.leaf,
            random_state=seed,
        )
    from lightgbm import LGBMRegressor

    return LGBMRegressor(objective="poisson", **_boosting(options, seed, rows))


def _classifier(learner: str, options: Options, seed: int, rows: int) -> Any:
    if learner == "extratrees":
        from sklearn.ensemble import ExtraTreesClassifier

        return ExtraTreesClassifier(
            options.trees, min_samples_leaf=options.leaf, class_weight="balanced", random_state=seed, n_jobs=1
        )
    from lightgbm import LGBMClassifier

    return LGBMClassifier(class_weight="balanced", **_boosting(options, seed, rows))


def _boosting(options: Options, seed: int, rows: int) -> dict[str, Any]:
    return {
        "n_estimators": options.trees,
        "learning_rate": options.rate,
        "min_child_samples": options.leaf,
        "num_leaves": max(2, rows // max(options.leaf, 1)),  # no more can be filled: as good as no bound
        "random_state": seed,
        "n_jobs": 1,
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
    }


def _ngboost(rows: Rows, target: FloatArray, options: Options, seed: int) -> Callable[[Rows], FloatArray]:
    try:
        from ngboost import NGBRegressor
        from ngboost.distns import Poisson
        from ngboost.learners import default_tree_learner
        from sklearn.base import clone
    except ImportError:
        why = "natural gradient boosting needs the package ngboost, which is not installed"
        raise InputError(f"{why}; the learner 'poisson' predicts the same mean") from None
    tree = clone(default_tree_learner).set_params(random_state=seed)  # else the order of features is drawn unseeded
    made = NGBRegressor(
        Base=tree,
        Dist=Poisson,
        n_estimators=options.trees,
        learning_rate=options.rate,
        random_state=seed,
        verbose=False,
    )  # what is not said is at the package's defaults
    with warnings.catch_warnings():  # steps of its line search may overflow, and are not taken then
        warnings.simplefilter("ignore", RuntimeWarning)
        made.fit(np.nan_to_num(rows, nan=-1.0), target.astype(np.int64))

    def predict(more: Rows) -> FloatArray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            mean = np.asarray(made.predict(np.nan_to_num(more, nan=-1.0)), dtype=np.float64)
        return np.minimum(np.nan_to_num(mean, nan=0.0), float(target.max()))

    return predict
