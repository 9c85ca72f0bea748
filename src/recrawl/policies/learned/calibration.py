"""Calibration: the weight of the trees beside the prior (stacking), and a logistic correction of the odds.

    logit p = a + b (logit p0 + w trees),  0 <= w <= 1

a, b and b w maximise the likelihood of the latest predictions, each made before the visit that it is about, with a
normal prior around a = 0, b = w = 1 that is worth some visits (stacking, Wolpert 1992, with the logistic correction of
Platt 1999). Trees that add nothing get a weight w near 0. w is capped at 1, because visited pages are selected for a
high sum, which biases the regression towards the trees. a and b do not change the order.

Where the prior is a good model already (base_model.py) the trees have to earn their weight: visits of one cycle are
correlated, so after c cycles with predictions w is c / (c + doubt) of what these say.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from recrawl.columns import BoolArray, FloatArray

KEPT = 60_000  # predictions
STEPS = 12  # of Newton's method
HALVINGS = 12  # of one step
PRIOR = 20.0  # weight of a = 0, b = w = 1
SLOPES = (0.2, 3.0)
SMALLEST = 1e-4  # of p0, so that its log-odds stay finite


@dataclass
class Calibration:
    """The three numbers and the predictions that they are fitted to."""

    shift: float = 0.0
    slope: float = 1.0
    trust: float = 1.0  # in the trees
    doubt: float = 0.0  # cycles
    _cycles: int = 0  # with predictions
    _latest: int = -1
    _seen: list[tuple[FloatArray, FloatArray, BoolArray, FloatArray]] = field(default_factory=list)

    def learn(
        self, prior: FloatArray, trees: FloatArray, changed: BoolArray, weight: FloatArray, cycle: int = 0
    ) -> None:
        """Keep the log-odds of the prior and of the trees, and the outcomes."""
        self._cycles += cycle != self._latest
        self._latest = cycle
        self._seen.append((logit(prior), trees, changed, weight))
        while sum(len(seen[0]) for seen in self._seen[1:]) > KEPT:
            self._seen.pop(0)

    def __bool__(self) -> bool:
        """Whether there is any prediction with a known outcome."""
        return bool(self._seen)

    def fit(self) -> None:
        """Fit the three numbers anew."""
        if not self._seen:
            return
        prior, trees, found, weight = (np.concatenate(column) for column in zip(*self._seen, strict=True))
        _, slope, part = _logistic(np.stack([np.ones_like(prior), prior, trees], axis=1), found, weight)
        trust = float(np.clip(part / slope, 0.0, 1.0)) if slope > 0.0 else 1.0
        trust *= self._cycles / (self._cycles + self.doubt)
        shift, slope = _logistic(np.stack([np.ones_like(prior), prior + trust * trees], axis=1), found, weight)
        if np.isfinite([trust, shift, slope]).all():
            self.trust, self.shift, self.slope = trust, float(shift), float(np.clip(slope, *SLOPES))

    def chance(self, prior: FloatArray, trees: FloatArray) -> FloatArray:
        """Return p."""
        return sigmoid(self.shift + self.slope * (logit(prior) + self.trust * trees))


def _logistic(rows: FloatArray, found: BoolArray, weight: FloatArray) -> FloatArray:
    """Return the weights of a logistic regression with a normal prior around 0, 1, 1, ...

    Newton's method, a step halved until it does not lose likelihood: a whole step may overshoot so far that every
    chance becomes 0 or 1, and stay there.
    """
    neutral = np.ones(rows.shape[1])
    neutral[0] = 0.0

    def loss(at: FloatArray) -> float:
        x = rows @ at
        return float(weight @ (np.logaddexp(0.0, x) - found * x)) + 0.5 * PRIOR * float(np.sum((at - neutral) ** 2))

    best, lost = neutral, loss(neutral)
    for _ in range(STEPS):
        p = sigmoid(rows @ best)
        slope = rows.T @ (weight * (found - p)) - PRIOR * (best - neutral)
        bend = (rows * (weight * p * (1.0 - p))[:, None]).T @ rows + PRIOR * np.eye(len(neutral))
        step = np.linalg.solve(bend, slope)
        for _ in range(HALVINGS):
            if (now := loss(best + step)) <= lost:
                best, lost = best + step, now
                break
            step = step / 2.0
    return best.round(6)  # so that the order of the rows, which shows in the last digits, does not matter


def logit(p: FloatArray) -> FloatArray:
    """Return the log-odds, kept finite."""
    p = np.clip(p, SMALLEST, 1.0 - SMALLEST)
    return np.asarray(np.log(p / (1.0 - p)))


def sigmoid(x: FloatArray) -> FloatArray:
    """Return the chance with these log-odds."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.maximum(x, -700.0))))  # below it, exp would overflow
