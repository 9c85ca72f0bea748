"""Optimal visit rates per page under a budget: the published optima, as functions of columns.

mu is a page's importance, D its change rate and rho its visit rate, both per unit of time; R = sum rho is the budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from recrawl.columns import FloatArray, PageIds, TieArray
from recrawl.compiled import kernel, ufunc
from recrawl.hashing import GOLDEN

Allocation = Callable[[FloatArray, FloatArray, float], FloatArray]  # mu, D, R -> rho
TOLERANCE = 1e-12  # relative, of the multiplier lambda


def harmonic_rates(mu: FloatArray, D: FloatArray, R: float) -> FloatArray:
    """Minimise sum -mu ln(rho / (rho + D)), the cost of LambdaCrawl (Kolobov et al. 2019).

    rho = (-D + sqrt(D^2 + 4 mu D / lambda)) / 2, with lambda such that sum rho = R.
    """
    # sqrt(mu D / lambda) - D/2 <= rho <= sqrt(mu D / lambda) brackets lambda
    root, half = float(np.sqrt(mu * D).sum()), float(D.sum()) / 2
    if root == 0 or R <= 0:
        return np.zeros(len(D))
    low, high = (root / (R + half)) ** 2, (root / R) ** 2
    multiplier = _multiplier(lambda x: _sum_harmonic(mu, D, x), R, low * (1 - 1e-9), high * (1 + 1e-9))
    return np.asarray(_harmonic(mu, D, multiplier))


def poisson_rates(mu: FloatArray, D: FloatArray, R: float) -> FloatArray:
    """Maximise sum mu rho / (rho + D), the freshness of visits at random times (Azar et al. 2018).

    rho = sqrt(mu D) (R + s) / r - D over the pages that get any, r = sum sqrt(mu D), s = sum D. These are the pages
    with the largest mu / D: one sort, O(n log n).
    """
    rho = np.zeros(len(D))
    pages = np.flatnonzero((D > 0) & (mu > 0))
    if not len(pages) or R <= 0:
        return rho
    pages = pages[np.argsort(-(mu[pages] / D[pages]), kind="stable")]
    root = np.sqrt(mu[pages] * D[pages])
    r, s = np.cumsum(root), np.cumsum(D[pages])
    gets_any = root * (R + s) > r * D[pages]  # true for a prefix of the order
    count = len(pages) if gets_any.all() else int(np.argmin(gets_any))
    rho[pages[:count]] = root[:count] * (R + s[count - 1]) / r[count - 1] - D[pages[:count]]
    return rho


def periodic_rates(mu: FloatArray, D: FloatArray, R: float) -> FloatArray:
    """Maximise sum mu (rho/D)(1 - exp(-D/rho)), the freshness of evenly spaced visits (Cho & Garcia-Molina 2003).

    At the optimum mu dF/drho = lambda for all pages that get any: 1 - (1 + x) exp(-x) = lambda D / mu with x = D / rho.
    Pages with mu / D <= lambda get nothing.
    """
    pays = (D > 0) & (mu > 0)
    if not pays.any() or R <= 0:
        return np.zeros(len(D))
    high = float((mu[pays] / D[pays]).max())
    low = high / 2
    while _sum_periodic(mu, D, low) < R:
        low /= 4
    multiplier = _multiplier(lambda x: _sum_periodic(mu, D, x), R, low, high)
    # where lambda all but equals mu / D, rho rises too steeply from 0 to be resolved by lambda: interpolate
    most = np.asarray(_periodic(mu, D, multiplier * (1 - 2 * TOLERANCE)))
    least = np.asarray(_periodic(mu, D, multiplier * (1 + 2 * TOLERANCE)))
    between = (R - least.sum()) / max(most.sum() - least.sum(), 1e-300)
    return np.asarray(least + min(max(between, 0.0), 1.0) * (most - least))


def plan_states(plan: Allocation, D: FloatArray, R: float) -> FloatArray:
    """Plan pages of equal importance with one row per distinct D: thousands of rows instead of millions.

    All plans here are homogeneous: c pages with the same mu and D get together what one page with c mu and c D gets.
    """
    first, state = _states(np.ascontiguousarray(D).view(np.uint64))
    pages = np.bincount(state, minlength=len(first)).astype(np.float64)
    return np.asarray((plan(pages, pages * D[first], R) / pages)[state])


def proportional(cap: FloatArray, weight: FloatArray, total: float) -> FloatArray:
    """Share `total` in proportion to the weights, no page above its cap: min(cap, c weight), the sum being `total`.

    Those that reach their cap are removed and the rest is shared again. Where all reach it, the sum is less.
    """
    share = np.zeros(len(weight))
    open_ = weight > 0
    while total > 0 and open_.any():
        share[open_] = weight[open_] * (total / weight[open_].sum())
        full = open_ & (share >= cap)
        if not full.any():
            break
        share[full] = cap[full]
        total -= float(cap[full].sum())
        open_ &= ~full
        share[open_] = 0.0
    return share


@kernel
def _states(values: TieArray) -> tuple[PageIds, PageIds]:
    """Number the distinct values as they appear; return where each appears first, and every row's number.

    A hash table: ten times as fast as sorting.
    """
    size = 16
    while size < 2 * len(values):
        size *= 2
    slots = np.full(size, -1, dtype=np.int64)
    state = np.empty(len(values), dtype=np.int64)
    first = np.empty(len(values), dtype=np.int64)
    count = 0
    for i in range(len(values)):
        slot = (values[i] * GOLDEN >> np.uint64(32)) & np.uint64(size - 1)
        while slots[slot] >= 0 and values[first[slots[slot]]] != values[i]:
            slot = (slot + np.uint64(1)) & np.uint64(size - 1)
        if slots[slot] < 0:
            slots[slot], first[count] = count, i
            count += 1
        state[i] = slots[slot]
    return first[:count].copy(), state


def _multiplier(spent: Callable[[float], float], R: float, low: float, high: float) -> float:
    """Find the lambda between low and high at which R is spent; the more lambda, the less is spent.

    Bisection, with a second, exponentially interpolated point in every step: Ridders 1979.
    """
    above, below = spent(low) - R, spent(high) - R
    if above <= 0 or below >= 0:
        return low if above <= 0 else high
    while high - low > TOLERANCE * high:
        middle = (low + high) / 2
        value = spent(middle) - R
        guess = middle + (middle - low) * value / math.sqrt(value * value - above * below)
        points = sorted([(middle, value), (guess, spent(guess) - R)])
        for point, value in points:
            if abs(value) <= TOLERANCE * R:
                return point
            if value < 0:
                high, below = point, value
                break
            low, above = point, value
    return (low + high) / 2


@ufunc
def _harmonic(mu: float, D: float, multiplier: float) -> float:
    # the formula of `harmonic_rates`, written without the difference of nearly equal numbers
    if mu <= 0.0 or D <= 0.0:
        return 0.0
    return 2.0 * mu / multiplier / (1.0 + math.sqrt(1.0 + 4.0 * mu / (multiplier * D)))


@kernel
def _sum_harmonic(mu: FloatArray, D: FloatArray, multiplier: float) -> float:
    total = 0.0
    for i in range(len(D)):
        total += _harmonic(mu[i], D[i], multiplier)
    return total


@ufunc
def _periodic(mu: float, D: float, multiplier: float) -> float:
    """Solve 1 - (1 + x) exp(-x) = y for x, y = lambda D / mu, and return rho = D / x.

    Written x - ln(1 + x) = c, c = -ln(1 - y), the left side rises and is convex, so Newton's steps from
    x = c + sqrt(2c), which is never left of the root, approach it without crossing it.
    """
    if mu <= 0.0 or D <= 0.0:
        return 0.0
    y = multiplier * D / mu
    if y >= 1.0:
        return 0.0
    c = -math.log1p(-y)
    x = c + math.sqrt(2.0 * c)
    while True:
        step = (x - math.log1p(x) - c) * (1.0 + x) / x
        x -= step
        if step <= 1e-13 * x:
            return D / x


@kernel
def _sum_periodic(mu: FloatArray, D: FloatArray, multiplier: float) -> float:
    total = 0.0
    for i in range(len(D)):
        total += _periodic(mu[i], D[i], multiplier)
    return total
