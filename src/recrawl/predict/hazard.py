"""The chance that a page has changed since our last visit, learnt on line from the crawl's own visits.

A Bayes prior is there from the first cycle: changes come at the rate r of the page's surroundings and its own past,
shrunk from the site down to the page (describe.evidence), so p0 = 1 - exp(-r t). Gradient boosting (LightGBM) learns
what the prior does not know, as an offset on its log-odds:

    logit p = logit p0 + trees(features)

so without trees, or where they fail, p = p0. Rows are visits with what was known just before them; older rows weigh
less.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import lightgbm
import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray

log = logging.getLogger(__name__)

Rows = npt.NDArray[np.float32]

CHUNK = 200_000  # rows scored at a time, which bounds the memory
MAX_ROWS = 400_000
SMALLEST = 1e-4  # of p0, so that its log-odds stay finite


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
    fault: str | None = None  # why the prior had to take over
    _rows: list[tuple[Rows, FloatArray, BoolArray, FloatArray, int]] = field(default_factory=list)

    def learn(self, rows: Rows, prior: FloatArray, changed: BoolArray, weight: FloatArray, cycle: int) -> None:
        """Keep visits to learn from: features and prior from before them, and whether they found a change."""
        self._rows.append((rows, prior, changed, weight, cycle))
        while sum(len(row[1]) for row in self._rows[1:]) > MAX_ROWS:
            self._rows.pop(0)

    def fit(self, cycle: int) -> None:
        """Train anew on the kept visits; a failure leaves the prior in charge."""
        changed = np.concatenate([row[2] for row in self._rows]) if self._rows else np.zeros(0, dtype=np.bool_)
        if not changed.any() or changed.all():
            return
        weight = np.concatenate([row[3] * 0.5 ** ((cycle - row[4]) / self.half_life) for row in self._rows])
        data = lightgbm.Dataset(
            np.concatenate([row[0] for row in self._rows]),
            changed.astype(np.float32),
            weight=weight,
            init_score=logit(np.concatenate([row[1] for row in self._rows])),
        )
        try:
            self.model = lightgbm.train(self._settings(), data, self.trees)
        except Exception as wrong:
            self._fail(wrong)

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
        if self.model is None:
            return prior
        try:
            raw = [
                self.model.predict(rows[i : i + CHUNK], raw_score=True, num_threads=1)
                for i in range(0, len(rows), CHUNK)
            ]
            learnt = 1.0 / (1.0 + np.exp(-(logit(prior) + np.concatenate(raw)))) if raw else prior
            if not np.isfinite(learnt).all():
                raise FloatingPointError("the model returned a number that is none")
        except Exception as wrong:
            self._fail(wrong)
            return prior
        return np.asarray(learnt)

    def causes(self, row: Rows) -> FloatArray:
        """Return what each feature adds to the log-odds of one row (Shapley values); zeros without a model."""
        if self.model is None:
            return np.zeros(len(self.names))
        return np.asarray(self.model.predict(row.reshape(1, -1), pred_contrib=True, num_threads=1))[0, :-1]

    def to_json(self) -> dict[str, Any]:
        """Return the model as plain values: LightGBM's own text, never pickle."""
        model = None if self.model is None else self.model.model_to_string()
        return {"names": list(self.names), "seed": self.seed, "trees": self.trees, "model": model}

    def load_json(self, held: dict[str, Any]) -> None:
        """Take over a saved model; the features must be the same."""
        if tuple(held["names"]) != self.names:
            raise ValueError("the saved model has other features")
        self.model = None if held["model"] is None else lightgbm.Booster(model_str=held["model"])

    def _fail(self, wrong: Exception) -> None:
        self.model = None
        before, self.fault = self.fault, f"{type(wrong).__name__}: {wrong}"
        if self.fault != before:
            log.warning("the learner failed (%s); the prior takes over until it is trained again", self.fault)


def logit(p: FloatArray) -> FloatArray:
    """Return the log-odds, kept finite."""
    p = np.clip(p, SMALLEST, 1.0 - SMALLEST)
    return np.asarray(np.log(p / (1.0 - p)))
