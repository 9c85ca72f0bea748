"""The rankings of Dang et al. 2022 (Table 4) in a crawl: predicted link change rate, presence or number of new links.

    lcr   the chance that an interval brings a new link, from the related pages alone: the page's own rate would give it
          away (LCR-ET with the features LBLA)
    nl    whether the visit will find a new link; equals go by the longest wait (NL-ET)
    pnl   the probability that it will (PNL-ET)
    nnl   how many it will find (NNL-ET, NNL-NGB)

Each visit is an example, described by what was known before it. The features are the paper's look back and look around:
new links per cycle at the last visits, their mean, and the link change rate and new links of the related pages; and the
cycles since the last visit, since visits of a crawl are irregular where the paper crawls every page each week.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray
from recrawl.errors import InputError
from recrawl.extras import extra_of, note_without_trees
from recrawl.features.link_learners import Model, grid, train
from recrawl.policies.links.linkhistory import FEATURES

log = logging.getLogger(__name__)

Rows = npt.NDArray[np.float32]
Target = Literal["lcr", "nl", "pnl", "nnl"]
Learner = Literal["et", "ngb", "lgbm", "poisson"]

LEARNERS = {"et": "extratrees", "ngb": "ngboost", "poisson": "poisson"}
AROUND = [i for i, name in enumerate(FEATURES) if name.startswith("related:") and "content" not in name]
BACK = [i for i, name in enumerate(FEATURES) if not name.startswith("related:") and name != "content change rate"]
MAX_ROWS = 20_000
SLOW_ROWS = 4_000  # of natural gradient boosting
WAITED = FEATURES.index("waited")


@dataclass
class LinkForecast:
    """A learner of one target, and the visits that it learns from; takes the place of `LinkMean` in `Lbla`."""

    target: Target
    learner: Learner
    seed: int = 0
    model: Model | None = None
    fault: str | None = None
    _rows: list[tuple[Rows, FloatArray]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.target != "nnl" and self.learner in ("ngb", "poisson"):
            raise ValueError(f"the learner {self.learner} predicts the number of new links alone: target=nnl")

    @property
    def columns(self) -> list[int]:
        """The features that the target may be predicted from."""
        return AROUND if self.target == "lcr" else [*BACK, *AROUND]

    @property
    def package(self) -> str:
        """The learner in `link_learners`; gradient boosting is LightGBM's of classes and scikit-learn's of numbers."""
        return LEARNERS.get(self.learner) or ("lightgbm" if self.target in ("nl", "pnl") else "histgb")

    def learn(self, rows: Rows, prior: FloatArray, links: FloatArray, weight: FloatArray, cycle: int) -> None:
        """Keep visits to learn from; the oldest are given up beyond MAX_ROWS."""
        self._rows.append((rows[:, self.columns], links))
        most = SLOW_ROWS if self.learner == "ngb" else MAX_ROWS
        while sum(len(links) for _, links in self._rows[1:]) > most:
            self._rows.pop(0)

    def fit(self, cycle: int) -> None:
        """Train anew on the visits kept; with no new link among them, or after a failure, the prior decides."""
        links = np.concatenate([found for _, found in self._rows]) if self._rows else np.zeros(0)
        if not links.any():
            return
        rows = np.concatenate([kept for kept, _ in self._rows])
        target: FloatArray | BoolArray = links
        if self.target == "lcr":
            target = (links > 0).astype(np.float64)
        elif self.target != "nnl":
            target = links > 0
        try:
            self.model = train(self.package, rows, target, grid(self.package, tune=False)[0], self.seed)
        except Exception as error:
            self._fail(error)

    def expected(self, rows: Rows, prior: FloatArray) -> FloatArray:
        """Return the score of each row; the prior where there is no model."""
        if self.model is None or not len(rows):
            return prior
        scores = self.model.predict(rows[:, self.columns])
        if self.target == "nl":
            waited = np.nan_to_num(rows[:, WAITED].astype(np.float64))
            return np.asarray((scores > 0.5) + 0.5 * waited / (1.0 + waited.max()))
        return scores

    def _fail(self, error: Exception) -> None:
        self.model = None
        if isinstance(error, InputError):  # a learner that is not installed: no other may take its place in silence
            raise error
        before, self.fault = self.fault, extra_of(error) or f"{type(error).__name__}: {error}"
        if extra_of(error):
            note_without_trees(self.fault)
        elif self.fault != before:
            log.warning("the learner failed (%s); the prior takes over until it is trained again", self.fault)
