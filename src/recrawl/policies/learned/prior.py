"""The chance of a change in closed form, from the first cycle on: a Bayes estimate of each page's own rate.

Changes of a page come at a constant rate r per cycle. A visit after a gap of g cycles finds a change with chance
1 - exp(-r g), whatever the number of changes, so visits at irregular intervals give the likelihood (page_history.py)

    L(r) = product over visits of 1 - exp(-r g) where it found a change, exp(-r g) where not

The prior of r follows m, the pace of the page's surroundings. It comes from the places above the page, each shrunk to
the one above it, C being the changes found there in E cycles of exposure:

    m(crawl) = (C + 1) / (E + 30)        m(g) = (C + s m(above)) / (E + s)     for site, shape, parent, directory

It is a gamma distribution with the mean m and the shape a, its density proportional to r^(a-1) exp(-b r) with b = a / m
(if no gap held two changes this would make the posterior mean (X + a) / (E + b)), or the distribution of rates that the
pages themselves have shown (rates.py). The chance that the page has changed t cycles after its last visit is
p0 = 1 - E[exp(-r t)] under the posterior, a sum over a grid of rates.

The kind of prior, a (and with it b) and s are those with the least log-loss on the visits so far, each visit
judged before it was taken in, older ones counting less; a gamma has to be better than the fitted distribution by
HANDICAP. A busy or a quiet day moves and stretches all chances at once and changes the order of none, so a round's
log-loss is taken after the shift d and the stretch e^c of all its log-odds that suit it best (by Fisher's scoring), v
being how much a stretch may usually vary:

    loss = min over d, c of d^2 / 2 + c^2 / (2 v) - sum over visits of log P(outcome | e^c logit p0 + d)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds
from recrawl.compiled import kernel
from recrawl.policies.learned.evidence import Evidence, pace
from recrawl.policies.learned.page_history import RATES, History
from recrawl.policies.learned.places import DIRECTORY, PARENT, SHAPE, SITE, Places
from recrawl.policies.learned.rates import LOG_RATES, Rates, tilted

FITTED = 0.0  # in place of a gamma's shape: the fitted distribution
GRID = [(a, s) for a in (0.1, 0.2, 0.35, 0.6, 1.0, 2.0, 4.0, FITTED) for s in (3.0, 10.0, 30.0)]
GRID.append((FITTED, 1e4))  # so strong that the places say nothing: pages of no site are alike
START = (0.6, 10.0)
FADE = 0.98  # of the losses so far, with each round of visits
SAMPLE = 500  # visits of a round that suffice to judge by
PAGES = 3_000  # that are enough to fit the distribution of rates to
HANDICAP = 15.0  # of the gammas, in the loss: they cannot say that pages are of two kinds
STRETCH_VARIANCE = 0.25  # v: log-odds of .6 to 1.6 times what was expected are nothing unusual
_SCORING_STEPS = 12


class Prior:
    """The closed form and its fitted parameters."""

    def __init__(self) -> None:
        self.shape, self.strength = START
        self.rates = Rates()
        self._loss: FloatArray = np.zeros(len(GRID))
        self._handicap = np.array([0.0 if shape == FITTED else HANDICAP for shape, _ in GRID])

    def chance(self, pages: PageIds, places: Places, evidence: Evidence, history: History, cycle: int) -> FloatArray:
        """Return p0 of each page."""
        return self._given((self.shape, self.strength), pages, places, evidence, history, cycle)

    def refit(self, places: Places, evidence: Evidence, history: History, cycle: int) -> None:
        """Fit the distribution of rates to all visits so far, before a cycle chooses."""
        visited = np.flatnonzero(history.visits)
        if not len(visited):
            return
        sample = visited[:: max(1, len(visited) // PAGES)]
        strength = min((loss, s) for loss, (a, s) in zip(self._loss, GRID, strict=True) if a == FITTED)[1]
        means = paces(sample, places.ids, evidence.groups, evidence.base, strength, cycle)
        self.rates.fit(sample, means, history.likelihood)

    def fit(
        self, pages: PageIds, changed: BoolArray, places: Places, evidence: Evidence, history: History, cycle: int
    ) -> None:
        """Score the parameters on visits before they are learnt from (prequential), and keep the best.

        Pages come in an order that does not depend on when they answered, so that sums have the same last digits.
        """
        if not len(pages) or not self.rates.pace:
            return  # without any difference between pages, all parameters are equal
        self._loss *= FADE
        for i, options in enumerate(GRID):
            self._loss[i] += loss_of_order(self._given(options, pages, places, evidence, history, cycle), changed)
        self.shape, self.strength = GRID[int(np.argmin(self._loss + self._handicap))]

    def _given(
        self,
        options: tuple[float, float],
        pages: PageIds,
        places: Places,
        evidence: Evidence,
        history: History,
        cycle: int,
    ) -> FloatArray:
        surroundings = self._surroundings(options, pages, places, evidence, cycle)
        return np.asarray(chances(pages, *surroundings, cycle, history.last, history.likelihood))

    def surroundings(
        self, pages: PageIds, places: Places, evidence: Evidence, cycle: int
    ) -> tuple[FloatArray, float, FloatArray, FloatArray]:
        """Return what decides the prior of each page's rate: the pace around it, and the form (`posterior`)."""
        return self._surroundings((self.shape, self.strength), pages, places, evidence, cycle)

    def _surroundings(
        self, options: tuple[float, float], pages: PageIds, places: Places, evidence: Evidence, cycle: int
    ) -> tuple[FloatArray, float, FloatArray, FloatArray]:
        shape, strength = options
        mean = paces(pages, places.ids, evidence.groups, evidence.base, strength, cycle)
        if shape == FITTED:
            mean = self.rates.scaled(mean)
        return mean, shape, self.rates.tilts, self.rates.log_means


@kernel
def paces(pages: PageIds, ids: IntArray, groups: FloatArray, base: float, strength: float, cycle: int) -> FloatArray:
    """Return the pace of each page's surroundings: m of the module, shrunk from place to place."""
    out = np.empty(len(pages))
    for i in range(len(pages)):
        rate = base
        for level in (SITE, SHAPE, PARENT, DIRECTORY):
            rate = pace(groups[ids[pages[i], level]], cycle, rate, strength)
        out[i] = rate
    return out


@kernel
def chances(
    pages: PageIds,
    mean: FloatArray,
    shape: float,
    tilts: FloatArray,
    log_means: FloatArray,
    cycle: int,
    last: IntArray,
    likelihood: npt.NDArray[np.float32],
) -> FloatArray:
    """Return p0 of pages whose surroundings have these paces; `shape` 0 is the fitted distribution."""
    out = np.empty(len(pages))
    weight = np.empty(len(RATES))
    for i in range(len(pages)):
        posterior(mean[i], shape, tilts, log_means, likelihood[pages[i]], weight)
        t = cycle - last[pages[i]]
        total = still = 0.0
        for k in range(len(RATES)):
            total += weight[k]
            still += weight[k] * np.exp(-RATES[k] * t)
        out[i] = 1.0 - still / total
    return out


@kernel
def posterior(
    mean: float,
    shape: float,
    tilts: FloatArray,
    log_means: FloatArray,
    likelihood: npt.NDArray[np.float32],
    weight: FloatArray,
) -> None:
    """Fill `weight` with what is proportional to the posterior of a page's rate; `mean` is the pace around it."""
    if shape == FITTED:
        tilted(mean, tilts, log_means, weight)
    else:
        for k in range(len(RATES)):  # the grid is even in log r, so the density there is r^a exp(-b r)
            weight[k] = shape * (LOG_RATES[k] - RATES[k] / mean)
    top = -np.inf
    for k in range(len(RATES)):
        weight[k] += likelihood[k]
        top = max(top, weight[k])
    for k in range(len(RATES)):
        weight[k] = np.exp(weight[k] - top)


@kernel
def loss_of_order(p: FloatArray, changed: BoolArray) -> float:
    """Return the log-loss of a round after the shift and stretch that suit it best."""
    p = np.minimum(np.maximum(p, 1e-6), 1.0 - 1e-6)
    log_odds = np.log(p / (1.0 - p))
    shift = stretch = 0.0
    for _ in range(_SCORING_STEPS):
        slope = np.exp(stretch)
        q = 1.0 / (1.0 + np.exp(-slope * log_odds - shift))
        left, spread, lever = changed - q, q * (1.0 - q), slope * log_odds
        along, across = left.sum() - shift, (left * lever).sum() - stretch / STRETCH_VARIANCE
        a, b, c = spread.sum() + 1.0, (spread * lever).sum(), (spread * lever**2).sum() + 1.0 / STRETCH_VARIANCE
        step, turn = (c * along - b * across) / (a * c - b * b), (a * across - b * along) / (a * c - b * b)
        short = 1.0 / max(1.0, abs(step), 2.0 * abs(turn))  # far from the best, a whole step may overshoot
        shift, stretch = shift + short * step, stretch + short * turn
    likely = np.exp(stretch) * log_odds + shift
    surprise = np.log1p(np.exp(np.where(changed, -likely, likely)))
    return float(shift**2 / 2.0 + stretch**2 / (2.0 * STRETCH_VARIANCE) + surprise.sum())
