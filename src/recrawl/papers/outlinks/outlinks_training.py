"""How the learners of the outlinks experiment are tuned and trained (Dang et al. 2022, section 5.3).

A third of the training set is the development set. On it every setting is tried by cross-validation: fewest samples on
a leaf, number of trees, learning rate. The best setting, and where two learners compete the better of them, is then
trained on the whole training set. The test set has no part in it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, PageIds
from recrawl.features.link_learners import Model, Options, cross_validate, grid, train
from recrawl.papers.outlinks.taxonomy import Feature, matrix

if TYPE_CHECKING:
    from recrawl.papers.outlinks.outlinks_protocol import OutlinkData, Split

Rows = npt.NDArray[np.float32]
REGRESSORS = ("histgb", "extratrees")  # that compete for numbers
CLASSIFIERS = ("extratrees", "lightgbm")  # that compete for classes
SHELVED = 3  # tables of features in memory


@dataclass(frozen=True)
class Tuned:
    """A trained model, and the scores that its learner and settings were chosen by."""

    model: Model
    scores: dict[str, float]  # learner -> best score of the cross-validation; empty where nothing was tuned
    options: dict[str, Options]  # learner -> its best settings

    def predict(self, rows: Rows) -> FloatArray:
        """Predict by the chosen learner."""
        return self.model.predict(rows)


class FeatureTable:
    """The features of the pages at a crawl; a row is found by the page's number."""

    def __init__(
        self, ground: OutlinkData, chosen: Sequence[Feature], crawl: int, *, semantic: bool = False, history: int = 0
    ) -> None:
        full, self.names = matrix(ground.crawls, chosen, crawl, semantic=semantic, history=history)
        past = ["DP" if "ago" in name else "SP" for name in self.names[len(chosen) :]]
        self.kinds = [feature.kind for feature in chosen] + past
        self._full = full

    def __getitem__(self, pages: PageIds) -> Rows:
        return self._full[pages]


class TableShelf:
    """The tables that were used last; the next piece of work is likely to use one of them.

    And the best settings of each learner, with their score, on every development set that it was tuned on: rankings and
    importances take models that other parts have tuned.
    """

    def __init__(self) -> None:
        self._tables: dict[Hashable, FeatureTable] = {}
        self.settings: dict[Hashable, tuple[Options, float]] = {}

    def table(self, key: Hashable, make: Callable[[], FeatureTable]) -> FeatureTable:
        """Return the table of this key, or make it."""
        self._tables[key] = found = self._tables.pop(key, None) or make()
        if len(self._tables) > SHELVED:
            self._tables.pop(next(iter(self._tables)))
        return found


def number(
    ground: OutlinkData, split: Split, table: FeatureTable, target: FloatArray, learners: Sequence[str], repeat: int
) -> Tuned:
    """Train a regressor, tuned by R2."""
    return _tuned(r_squared, ground, split, table, target, learners, repeat)


def chance(
    ground: OutlinkData, split: Split, table: FeatureTable, target: BoolArray, learners: Sequence[str], repeat: int
) -> Tuned:
    """Train a classifier, tuned by balanced accuracy."""

    def accuracy(truth: FloatArray, predicted: FloatArray) -> float:
        return class_scores(truth > 0.5, predicted > 0.5)["accuracy (b)"]

    return _tuned(accuracy, ground, split, table, target, learners, repeat)


def _tuned(
    score: Callable[[FloatArray, FloatArray], float],
    ground: OutlinkData,
    split: Split,
    table: FeatureTable,
    target: FloatArray | BoolArray,
    learners: Sequence[str],
    repeat: int,
) -> Tuned:
    protocol = ground.protocol
    scores: dict[str, float] = {}
    options: dict[str, Options] = {}
    for learner in learners:
        choices = grid(learner, protocol.trees, tune=protocol.tune)
        options[learner] = choices[0]
        if len(choices) > 1 and len(split.develop) >= 4 * protocol.folds:
            rows, wanted = table[split.develop], target[split.develop]
            key = learner, repeat, hashlib.blake2b(rows.data).digest(), wanted.dtype.str, wanted.tobytes()
            found = ground.shelf.settings.get(key) or cross_validate(
                learner, rows, wanted, choices, score, protocol.folds, repeat
            )
            options[learner], scores[learner] = ground.shelf.settings[key] = found
    best = max(learners, key=lambda learner: (scores.get(learner, 0.0), -learners.index(learner)))
    model = train(best, table[split.train], target[split.train], options[best], repeat)
    return Tuned(model, scores, options)


def r_squared(truth: FloatArray, predicted: FloatArray) -> float:
    """Return the share of the variance that is explained; NaN where there is none."""
    spread = float(((truth - truth.mean()) ** 2).sum())
    return 1.0 - float(((truth - predicted) ** 2).sum()) / spread if spread > 0 else float("nan")


def class_scores(truth: BoolArray, predicted: BoolArray) -> dict[str, float]:
    """Return balanced accuracy, recall, precision and F1 of class 1; NaN where a class is missing."""
    hits = float((truth & predicted).sum())
    recall = hits / truth.sum() if truth.any() else float("nan")
    other = float((~truth & ~predicted).sum()) / (~truth).sum() if not truth.all() else float("nan")
    precision = hits / predicted.sum() if predicted.any() else 0.0
    f1 = 2 * hits / (truth.sum() + predicted.sum()) if truth.any() or predicted.any() else float("nan")
    return {"accuracy (b)": (recall + other) / 2, "recall": recall, "precision": precision, "F1": f1}


def errors(truth: FloatArray, predicted: FloatArray) -> dict[str, float]:
    """Return R2, and the mean and median absolute error."""
    off = np.abs(truth - predicted)
    return {"R2": r_squared(truth, predicted), "MAE": float(off.mean()), "MedAE": float(np.median(off))}
