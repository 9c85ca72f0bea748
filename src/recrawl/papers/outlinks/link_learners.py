"""Learners that predict new links from features: point predictions, chances of a class, and the mean of a Poisson law.

    extratrees   extremely randomised trees (scikit-learn); classes weighted against their frequency
    histgb       histogram gradient boosting (scikit-learn), least squares
    lightgbm     gradient boosting (LightGBM); classes weighted against their frequency
    ngboost      natural gradient boosting of a Poisson law's mean (Duan et al. 2020; the package ngboost)
    poisson      gradient boosting with the Poisson loss (LightGBM): the same mean, ten times faster

The settings that Dang et al. 2022 (section 5.3) tune are `trees`, `leaf` and `rate`; all else is left at the packages'
defaults, but that extratrees looks at a third of the features in each split of a regression, which is three times as
fast. NaN is a value like others to the trees; ngboost gets -1 in its place.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
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
    """What is tuned."""

    trees: int = 200  # of the ensemble, or rounds of boosting
    leaf: int = 10  # fewest samples on a leaf
    rate: float = 0.05  # learning rate of boosting


@dataclass(frozen=True)
class Model:
    """A trained learner: one number a row. Of a classifier it is the chance of class 1."""

    predict: Callable[[Rows], FloatArray]
    learner: str
    options: Options


def grid(learner: str, trees: Sequence[int] = (200, 500)) -> Iterator[Options]:
    """The settings that the paper tunes between: fewest samples on a leaf, trees, learning rate."""
    leaves = (2, 10, 25) if learner == "extratrees" else (10, 25)
    rates = (0.05,) if learner == "extratrees" else (0.02, 0.05, 0.1)
    return (Options(*choice) for choice in product(trees, leaves, rates))


def regress(learner: str, rows: Rows, target: FloatArray, options: Options, seed: int, jobs: int = 1) -> Model:
    """Train a learner to predict a number."""
    _check(rows, target)
    if learner not in REGRESSORS:
        raise UnknownNameError(f"unknown learner {learner!r}; of numbers it is one of {', '.join(REGRESSORS)}")
    if (target == target[0]).all():  # some learners refuse it
        return Model(lambda more: np.full(len(more), float(target[0])), learner, options)
    if learner == "ngboost":
        return Model(_ngboost(rows, target, options, seed), learner, options)
    made = _regressor(learner, options, seed, jobs).fit(rows, target)
    return Model(lambda more: np.asarray(made.predict(more), dtype=np.float64), learner, options)


def classify(
    learner: str, rows: Rows, target: npt.NDArray[np.bool_], options: Options, seed: int, jobs: int = 1
) -> Model:
    """Train a learner to tell class 1 from class 0."""
    _check(rows, target)
    if learner not in CLASSIFIERS:
        raise UnknownNameError(f"unknown learner {learner!r}; of classes it is one of {', '.join(CLASSIFIERS)}")
    if target.all() or not target.any():
        return Model(lambda more: np.full(len(more), float(target[0])), learner, options)
    made = _classifier(learner, options, seed, jobs).fit(rows, target)
    return Model(lambda more: np.asarray(made.predict_proba(more)[:, 1], dtype=np.float64), learner, options)


def tune(
    train: Callable[[Options], Model], choices: Sequence[Options], rows: Rows, score: Callable[[FloatArray], float]
) -> Options:
    """Return the choice whose model scores highest on the rows of a development set; the first of equals."""
    if len(choices) == 1:
        return choices[0]
    scores = [score(train(options).predict(rows)) for options in choices]
    return choices[int(np.argmax(scores))]


def has_ngboost() -> bool:
    """Whether the package is there."""
    from importlib.util import find_spec

    return find_spec("ngboost") is not None


def _check(rows: Rows, target: npt.NDArray[Any]) -> None:
    if len(rows) != len(target) or not len(rows):
        raise InputError(
            f"a learner needs a target for each row, and some rows: {len(rows)} rows, {len(target)} targets"
        )


def _regressor(learner: str, options: Options, seed: int, jobs: int) -> Any:
    if learner == "extratrees":
        from sklearn.ensemble import ExtraTreesRegressor

        return ExtraTreesRegressor(
            options.trees, min_samples_leaf=options.leaf, max_features=1 / 3, random_state=seed, n_jobs=jobs
        )
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

    return LGBMRegressor(objective="poisson", **_boosting(options, seed, jobs))


def _classifier(learner: str, options: Options, seed: int, jobs: int) -> Any:
    if learner == "extratrees":
        from sklearn.ensemble import ExtraTreesClassifier

        return ExtraTreesClassifier(
            options.trees, min_samples_leaf=options.leaf, class_weight="balanced", random_state=seed, n_jobs=jobs
        )
    from lightgbm import LGBMClassifier

    return LGBMClassifier(class_weight="balanced", **_boosting(options, seed, jobs))


def _boosting(options: Options, seed: int, jobs: int) -> dict[str, Any]:
    return {
        "n_estimators": options.trees,
        "learning_rate": options.rate,
        "min_child_samples": options.leaf,
        "random_state": seed,
        "n_jobs": jobs,
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
    }


def _ngboost(rows: Rows, target: FloatArray, options: Options, seed: int) -> Callable[[Rows], FloatArray]:
    try:
        from ngboost import NGBRegressor  # type: ignore[import-not-found,unused-ignore]
        from ngboost.distns import Poisson  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        why = "natural gradient boosting needs the package ngboost, which is not installed"
        raise InputError(f"{why}; the learner 'poisson' predicts the same mean") from None
    made = NGBRegressor(
        Dist=Poisson, n_estimators=options.trees, learning_rate=options.rate, random_state=seed, verbose=False
    )
    with warnings.catch_warnings():  # steps of its line search may overflow, and are not taken then
        warnings.simplefilter("ignore", RuntimeWarning)
        made.fit(np.nan_to_num(rows, nan=-1.0), target.astype(np.int64))

    def predict(more: Rows) -> FloatArray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            mean = np.asarray(made.predict(np.nan_to_num(more, nan=-1.0)), dtype=np.float64)
        return np.minimum(np.nan_to_num(mean, nan=0.0), float(target.max()))

    return predict
