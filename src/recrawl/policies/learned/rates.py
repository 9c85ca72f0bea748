"""Distribution of the pages' change rates, fitted to their visits (empirical Bayes).

A distribution on the grid of rates (page_history.py), w_k for the rate r_k, has the tilts

    w_k(theta) proportional to w_k r_k^theta        with the mean m(theta) = sum of w_k(theta) r_k

A page's prior is the tilt with the mean m(0) * pace of its surroundings / average pace: a busy place has more of the
fast pages, and pages that are either fast or still stay so, which no gamma distribution can represent. Paces count
changes found, of which a visit finds one at most, so only their ratios are used. The weights follow by steps of
expectation and maximisation (Laird 1978, the nonparametric maximum likelihood of mixtures), with L_ik the likelihood of
page i's visits under the rate r_k and theta_i its tilt,

    after_k = sum over i of w_k(theta_i) L_ik / (sum over j of w_j(theta_i) L_ij)
    before_k = sum over i of w_k(theta_i)        w_k <- w_k (after_k + h v_k) / (before_k + h w_k)

h pages being fixed at the gamma distribution v that the weights start from: where one visit per page cannot tell a
fast page from luck, the weights stay smooth.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, PageIds
from recrawl.compiled import kernel
from recrawl.policies.learned.page_history import RATES

LOG_RATES = np.log(RATES)
START_SHAPE = 0.35  # of the gamma distribution v
STEPS = 20  # a cycle
HELD = 3.0  # pages, beside those that the weights are fitted to
LEAST = 1e-6  # weight of a rate, so that none is ruled out for good
_TILTS = np.linspace(-3.0, 3.0, 121)


class Rates:
    """The weights and, for the kernels, the logarithms of their tilts and of the tilts' means."""

    def __init__(self) -> None:
        self.set(np.ones(len(RATES)))
        self.pace = 0.0  # of the average page's surroundings; 0 before the first fit

    def set(self, weights: FloatArray) -> None:
        """Take these weights, or what is proportional to them."""
        weights = np.maximum(weights / weights.sum(), LEAST)
        self.weights: FloatArray = weights / weights.sum()
        log_weights = np.log(self.weights) + _TILTS[:, None] * LOG_RATES
        log_weights -= log_weights.max(axis=1, keepdims=True)
        self.tilts: FloatArray = log_weights - np.log(np.exp(log_weights).sum(axis=1, keepdims=True))
        self.log_means: FloatArray = np.log(np.exp(self.tilts) @ RATES)
        self.mean = float(self.weights @ RATES)

    def fit(self, pages: PageIds, means: FloatArray, likelihood: npt.NDArray[np.float32]) -> None:
        """Take STEPS of EM on these pages' visits, `means` being the paces of their surroundings."""
        mean = max(float(means.mean()), RATES[0])  # below the grid all weights would vanish
        start = np.exp(START_SHAPE * (LOG_RATES - RATES / mean))
        start /= start.sum()
        if not self.pace:
            self.set(start)
        self.pace = float(means.mean())
        for _ in range(STEPS):
            after, before = _expected(pages, self.scaled(means), self.tilts, self.log_means, likelihood)
            self.set(self.weights * (after + HELD * start) / (before + HELD * self.weights))

    def scaled(self, paces: FloatArray) -> FloatArray:
        """Return the mean rates for these paces, such that the average page has the weights themselves."""
        return paces * (self.mean / self.pace) if self.pace else paces


@kernel
def tilted(mean: float, tilts: FloatArray, log_means: FloatArray, out: FloatArray) -> None:
    """Fill `out` with the logarithms of the weights whose mean is `mean`."""
    at = math.log(mean)
    j = min(max(int(np.searchsorted(log_means, at)), 1), len(log_means) - 1)
    part = (at - log_means[j - 1]) / max(log_means[j] - log_means[j - 1], 1e-12)
    part = min(max(part, 0.0), 1.0)
    for k in range(len(out)):
        out[k] = (1.0 - part) * tilts[j - 1, k] + part * tilts[j, k]


@kernel
def _expected(
    pages: PageIds,
    means: FloatArray,
    tilts: FloatArray,
    log_means: FloatArray,
    likelihood: npt.NDArray[np.float32],
) -> tuple[FloatArray, FloatArray]:
    """Return how many of the pages are expected at each rate: given their visits, and by their surroundings alone."""
    after, before = np.zeros(tilts.shape[1]), np.zeros(tilts.shape[1])
    log_weight = np.empty(tilts.shape[1])
    for i in range(len(pages)):
        tilted(means[i], tilts, log_means, log_weight)
        before += np.exp(log_weight)
        log_weight += likelihood[pages[i]]
        weight = np.exp(log_weight - log_weight.max())
        after += weight / weight.sum()
    return after, before
