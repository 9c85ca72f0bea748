"""Discrete-time hazard model: the chance that a page has changed since its last visit, learnt online.

A prior is there from the first cycle: p0 (prior.py), or p1 (base_model.py). Gradient boosting (LightGBM) learns an
offset on its log-odds, and the outcomes of earlier predictions set the weight of that offset
(calibration.py):

    logit p = a + b (logit p0 + w trees(features))

Without trees, or where they fail, p = p0. Rows are visits with what was known just before them; older rows weigh less.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.columns import BoolArray, FloatArray
from recrawl.extras import extra_of, note_without_trees
from recrawl.policies.learned.calibration import Calibration, logit
from recrawl.policies.learned.forest import Forest, Rows, Trees, plant

if TYPE_CHECKING:
    import lightgbm

log = logging.getLogger(__name__)

Kept = tuple[Rows, FloatArray, BoolArray, FloatArray, int]  # features, prior, outcome and weight of visits in a cycle

MAX_ROWS = 400_000


@dataclass
class Hazard:
    """The model and the rows it learns from."""

    names: tuple[str, ...]
    seed: int = 0
    trees: int = 50
    leaves: int = 31
    learning_rate: float = 0.15
    half_life: float = 40.0  # cycles until a row weighs half
    model: lightgbm.Booster | None = None
    forest: Forest | None = None  # the model's trees, for scoring
    calibration: Calibration = field(default_factory=Calibration)
    fault: str | None = None  # why the prior took over
    _rows: list[Kept] = field(default_factory=list)

    def learn(self, rows: Rows, prior: FloatArray, changed: BoolArray, weight: FloatArray, cycle: int) -> None:
        """Keep visits to learn from: features and prior from before them, and whether they found a change."""
        self._rows.append((rows, prior, changed, weight, cycle))
        while sum(len(row[1]) for row in self._rows[1:]) > MAX_ROWS:
            self._rows.pop(0)

    def fit(self, cycle: int) -> None:
        """Train anew on the kept visits; a failure leaves the prior in charge.

        Before any prediction has an outcome, trees trained without the latest cycle are judged by it.
        """
        try:
            latest = max((row[4] for row in self._rows), default=0)
            if not self.calibration:
                self._train([row for row in self._rows if row[4] < latest], cycle)
                for rows, prior, changed, weight, of in self._rows:
                    if of == latest:
                        self.judge(rows, prior, changed, weight, of)
            self._train(self._rows, cycle)
            self.calibration.fit()
        except Exception as error:
            self._fail(error)

    def _train(self, kept: list[Kept], cycle: int) -> None:
        changed = np.concatenate([row[2] for row in kept]) if kept else np.zeros(0, dtype=np.bool_)
        if not changed.any() or changed.all():
            return
        import lightgbm  # here, since it takes a second to import and most verbs never train

        data = lightgbm.Dataset(
            [row[0] for row in kept],  # LightGBM reads them one by one: no copy of all rows
            changed.astype(np.float32),
            weight=np.concatenate([row[3] * 0.5 ** ((cycle - row[4]) / self.half_life) for row in kept]),
            init_score=logit(np.concatenate([row[1] for row in kept])),
        )
        self.model = lightgbm.train(self._settings(), data, self.trees)
        self.forest = plant(**vars(Trees.of(self.model)))

    def _settings(self) -> dict[str, Any]:
        return {
            "objective": "binary",
            "num_leaves": self.leaves,
            "learning_rate": self.learning_rate,
            "min_data_in_leaf": 40,
            "feature_fraction": 0.7,
            "bagging_fraction": 0.7,
            "bagging_freq": 1,
            "lambda_l2": 5.0,
            "max_bin": 31,
            "verbosity": -1,
            "deterministic": True,  # the same seed gives the same bytes, ...
            "force_row_wise": True,
            "num_threads": 1,  # ... whatever the machine
            "seed": self.seed,
        }

    def probability(self, rows: Rows, prior: FloatArray) -> FloatArray:
        """Return the chance of a change for each row; the prior where there is no model or it fails."""
        if self.forest is None:
            return prior
        trees = self._trees(rows)
        return prior if trees is None else self.calibration.chance(prior, trees)

    def judge(self, rows: Rows, prior: FloatArray, changed: BoolArray, weight: FloatArray, cycle: int) -> None:
        """Keep predictions and outcomes of visits that the model was not trained on, for the next calibration."""
        trees = None if self.forest is None else self._trees(rows)
        if trees is not None:
            self.calibration.learn(prior, trees, changed, weight, cycle)

    def _trees(self, rows: Rows) -> FloatArray | None:
        """Return what the trees add to the log-odds; None if they fail."""
        try:
            assert self.forest is not None
            trees = self.forest.total(rows)
            if not np.isfinite(trees).all():
                raise FloatingPointError("the model returned NaN or infinity")
        except Exception as error:
            self._fail(error)
            return None
        return trees

    def _fail(self, error: Exception) -> None:
        self.model = self.forest = None
        before, self.fault = self.fault, extra_of(error) or f"{type(error).__name__}: {error}"
        if extra_of(error):
            note_without_trees(self.fault)
        elif self.fault != before:
            log.warning("the learner failed (%s); the prior takes over until it is trained again", self.fault)
