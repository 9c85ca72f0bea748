"""Poisson regression: how many new links a visit will find, learnt online from the crawl's own visits.

A prior is there from the first cycle: new links come at the page's own mean rate, shrunk to that of its related pages
(of all pages, where it has none), for the t cycles since the last visit. Gradient boosting with the Poisson loss
(LightGBM) learns a factor on the prior:

    ln mu = ln mu0 + trees(features)

so without trees, or where they fail, mu = mu0. Rows are visits with what was known before them; older rows weigh less.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray
from recrawl.extras import extra_of, note_without_trees

if TYPE_CHECKING:
    import lightgbm

log = logging.getLogger(__name__)

Rows = npt.NDArray[np.float32]

MAX_ROWS = 300_000
CHUNK = 200_000
SMALLEST = 1e-4  # of mu0, so that its logarithm stays finite
MOST = 100.0  # links of a visit that count: a page with thousands must not dominate all others
REACH = 5.0  # the trees' factor is kept within exp(+-5)


@dataclass
class LinkMean:
    """The model and the rows it learns from."""

    seed: int = 0
    trees: int = 60
    leaves: int = 31
    learning_rate: float = 0.1
    half_life: float = 40.0  # cycles until a row weighs half
    model: lightgbm.Booster | None = None
    fault: str | None = None
    _rows: list[tuple[Rows, FloatArray, FloatArray, FloatArray, int]] = field(default_factory=list)

    def learn(self, rows: Rows, prior: FloatArray, links: FloatArray, weight: FloatArray, cycle: int) -> None:
        """Keep visits to learn from: features and prior from before them, and the new links they found."""
        self._rows.append((rows, prior, links, weight, cycle))
        while sum(len(rows[1]) for rows in self._rows[1:]) > MAX_ROWS:
            self._rows.pop(0)

    def fit(self, cycle: int) -> None:
        """Train anew on the kept visits; a failure leaves the prior in charge."""
        links = np.concatenate([rows[2] for rows in self._rows]) if self._rows else np.zeros(0)
        if not links.any():
            return
        weight = np.concatenate([rows[3] * 0.5 ** ((cycle - rows[4]) / self.half_life) for rows in self._rows])
        try:
            import lightgbm  # here, since it takes a second to import and most verbs never train

            data = lightgbm.Dataset(
                np.concatenate([rows[0] for rows in self._rows]),
                np.minimum(links, MOST),
                weight=weight,
                init_score=_log(np.concatenate([rows[1] for rows in self._rows])),
            )
            self.model = lightgbm.train(self._settings(), data, self.trees)
        except Exception as error:
            self._fail(error)

    def _settings(self) -> dict[str, Any]:
        return {
            "objective": "poisson",
            "num_leaves": self.leaves,
            "learning_rate": self.learning_rate,
            "min_data_in_leaf": 40,
            "feature_fraction": 0.8,
            "lambda_l2": 5.0,
            "max_bin": 63,
            "verbosity": -1,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": 1,
            "seed": self.seed,
        }

    def expected(self, rows: Rows, prior: FloatArray) -> FloatArray:
        """Return the new links to expect of each row; the prior where there is no model or it fails."""
        if self.model is None or not len(rows):
            return prior
        try:
            parts = [
                self.model.predict(rows[first : first + CHUNK], raw_score=True, num_threads=1)
                for first in range(0, len(rows), CHUNK)
            ]
            learnt = np.exp(_log(prior) + np.clip(np.concatenate(parts), -REACH, REACH))
            if not np.isfinite(learnt).all():
                raise FloatingPointError("the model returned NaN or infinity")
        except Exception as error:
            self._fail(error)
            return prior
        return np.asarray(learnt)

    def _fail(self, error: Exception) -> None:
        self.model = None
        before, self.fault = self.fault, extra_of(error) or f"{type(error).__name__}: {error}"
        if extra_of(error):
            note_without_trees(self.fault)
        elif self.fault != before:
            log.warning("the learner failed (%s); the prior takes over until it is trained again", self.fault)


def _log(mean: FloatArray) -> FloatArray:
    return np.asarray(np.log(np.maximum(mean, SMALLEST)))
