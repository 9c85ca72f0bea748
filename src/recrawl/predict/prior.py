"""The chance of a change in closed form, from the first cycle on: a Bayes estimate of each page's own rate.

Changes of a page come at a constant rate r a cycle. A visit after a gap of g cycles finds a change with chance
1 - exp(-r g), whatever the number of changes, so visits at irregular intervals give the likelihood (describe.history)

    L(r) = product over visits of 1 - exp(-r g) where it found a change, exp(-r g) where not

The prior of r is a gamma distribution of shape a with mean m, the pace of the page's surroundings: density proportional
to r^(a-1) exp(-b r) with b = a / m. If no gap held two changes this would make the posterior mean (X + a) / (E + b).
The mean comes from the places above the page, each shrunk to the one above it, C being the changes found there in E
cycles of exposure:

    m(crawl) = (C + 1) / (E + 30)        m(g) = (C + s m(above)) / (E + s)     for site, parent directory, directory

and the chance that the page has changed t cycles after its last visit is p0 = 1 - E[exp(-r t)] under the posterior, a
sum over a grid of rates. a and s, and with a also b, are those under which the visits so far were the least surprising
(log-loss, older visits counting less), each visit judged before it was taken in.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds
from recrawl.describe.evidence import CHANGES, EXPOSURE, Evidence
from recrawl.describe.history import RATES, History
from recrawl.describe.places import DIRECTORY, PARENT, SITE, Places

GRID = [(a, s) for a in (0.1, 0.2, 0.35, 0.6, 1.0, 2.0, 4.0) for s in (3.0, 10.0, 30.0)]
START = (0.6, 10.0)
FADE = 0.98  # of the losses so far, with each round of visits
SAMPLE = 500  # visits of a round that are enough to judge by
_LOG_RATES = np.log(RATES)


class Prior:
    """The closed form and its fitted parameters."""

    def __init__(self) -> None:
        self.shape, self.strength = START
        self._loss: FloatArray = np.zeros(len(GRID))

    def chance(self, pages: PageIds, places: Places, evidence: Evidence, history: History, cycle: int) -> FloatArray:
        """Return p0 of each page."""
        return _given(self.shape, self.strength, pages, places, evidence, history, cycle)

    def fit(
        self, pages: PageIds, changed: BoolArray, places: Places, evidence: Evidence, history: History, cycle: int
    ) -> None:
        """Judge the parameters by visits that are not yet taken in, and keep the best."""
        self._loss *= FADE
        for i, (shape, strength) in enumerate(GRID):
            p = np.clip(_given(shape, strength, pages, places, evidence, history, cycle), 1e-6, 1.0 - 1e-6)
            self._loss[i] -= math.fsum(np.log(np.where(changed, p, 1.0 - p)))  # exact: the order of pages is no matter
        self.shape, self.strength = GRID[int(np.argmin(self._loss))]


def _given(
    shape: float, strength: float, pages: PageIds, places: Places, evidence: Evidence, history: History, cycle: int
) -> FloatArray:
    mean = _paces(pages, places.ids, evidence.groups, evidence.base, strength)
    return np.asarray(_chances(pages, mean, shape, cycle, history.last, history.likelihood))


@njit(cache=True, nogil=True)
def _paces(pages: PageIds, ids: IntArray, groups: FloatArray, base: float, strength: float) -> FloatArray:
    out = np.empty(len(pages))
    for i in range(len(pages)):
        rate = base
        for level in (SITE, PARENT, DIRECTORY):
            g = groups[ids[pages[i], level]]
            rate = (g[CHANGES] + strength * rate) / (g[EXPOSURE] + strength)
        out[i] = rate
    return out


@njit(cache=True, nogil=True)
def _chances(
    pages: PageIds, mean: FloatArray, shape: float, cycle: int, last: IntArray, likelihood: npt.NDArray[np.float32]
) -> FloatArray:
    out = np.empty(len(pages))
    log_weight = np.empty(len(RATES))
    for i in range(len(pages)):
        p, t = pages[i], cycle - last[pages[i]]
        top = -np.inf
        for k in range(len(RATES)):  # the grid is even in log r, so the density there is r^a exp(-b r)
            log_weight[k] = likelihood[p, k] + shape * (_LOG_RATES[k] - RATES[k] / mean[i])
            top = max(top, log_weight[k])
        total = still = 0.0
        for k in range(len(RATES)):
            weight = np.exp(log_weight[k] - top)
            total += weight
            still += weight * np.exp(-RATES[k] * t)
        out[i] = 1.0 - still / total
    return out
