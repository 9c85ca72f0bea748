"""A small support vector machine for many small problems, and Platt's calibration.

The experts of Radinsky & Bennett 2013 are SVMs with a polynomial kernel of degree 3, trained anew for each page, expert
and day on some fifty examples: hundreds of thousands of small problems. `solve` is sequential minimal optimisation
with second-order selection (Fan, Chen & Lin 2005), as in LIBSVM and so in scikit-learn's SVC, whose decision values it
gives within the tolerance; compiled, a problem of fifty examples takes tens of microseconds.

    max over a of  sum a_i - 1/2 sum a_i a_j y_i y_j K_ij,    0 <= a_i <= C_i,  sum a_i y_i = 0
    f(x) = sum a_i y_i K(x_i, x) + b

Platt (1999): P(y = 1 | f) = 1 / (1 + exp(A f + B)), fitted by Newton's method with Platt's smoothed targets
(Lin, Lin & Weng 2007).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.columns import BoolArray, FloatArray
from recrawl.compiled import kernel

TOLERANCE = 1e-3
MOST_ITERATIONS = 20_000
PRIOR = 5.0  # examples
_TINY = 1e-12


@kernel
def solve(K: FloatArray, y: FloatArray, C: FloatArray, tolerance: float = TOLERANCE) -> tuple[FloatArray, float]:
    """Return the products a_i y_i and the offset b; y is +1 or -1, C the largest weight of each example.

    With examples of one class only, all weights are 0 and b is that class.
    """
    n = len(y)
    a = np.zeros(n)
    G = -np.ones(n)  # gradient of the dual, as LIBSVM keeps it
    if n == 0 or np.all(y == y[0]):
        return a, y[0] if n else 0.0
    for _ in range(MOST_ITERATIONS):
        i, j = _working_set(K, y, C, a, G, tolerance)
        if j < 0:
            break
        _step(K, y, C, a, G, i, j)
    return a * y, _offset(y, C, a, G)


@kernel
def _working_set(
    K: FloatArray, y: FloatArray, C: FloatArray, a: FloatArray, G: FloatArray, tolerance: float
) -> tuple[int, int]:
    i, top = -1, -np.inf
    for t in range(len(y)):
        up = a[t] < C[t] if y[t] > 0 else a[t] > 0
        if up and -y[t] * G[t] > top:
            i, top = t, -y[t] * G[t]
    j, bottom, best = -1, np.inf, np.inf
    if i < 0:
        return i, j
    for t in range(len(y)):
        down = a[t] > 0 if y[t] > 0 else a[t] < C[t]
        if not down:
            continue
        value = -y[t] * G[t]
        bottom = min(bottom, value)
        gap = top - value
        if gap > 0:
            curve = max(K[i, i] + K[t, t] - 2.0 * K[i, t], _TINY)
            if -(gap * gap) / curve < best:
                j, best = t, -(gap * gap) / curve
    return (i, j) if top - bottom >= tolerance else (i, -1)


@kernel
def _step(K: FloatArray, y: FloatArray, C: FloatArray, a: FloatArray, G: FloatArray, i: int, j: int) -> None:
    """Move a_i and a_j along y_i a_i + y_j a_j = constant to the optimum within the box."""
    curve = max(K[i, i] + K[j, j] - 2.0 * K[i, j], _TINY)
    move = (-y[i] * G[i] + y[j] * G[j]) / curve
    room_i = C[i] - a[i] if y[i] > 0 else a[i]
    room_j = a[j] if y[j] > 0 else C[j] - a[j]
    move = min(move, room_i, room_j)
    a[i] += y[i] * move
    a[j] -= y[j] * move
    a[i], a[j] = min(max(a[i], 0.0), C[i]), min(max(a[j], 0.0), C[j])
    for t in range(len(y)):
        G[t] += y[t] * move * (K[t, i] - K[t, j])


@kernel
def _offset(y: FloatArray, C: FloatArray, a: FloatArray, G: FloatArray) -> float:
    """b such that examples with 0 < a < C lie on the margin; the middle of the feasible interval without any."""
    total, free, low, high = 0.0, 0, -np.inf, np.inf
    for t in range(len(y)):
        value = -y[t] * G[t]
        if 0 < a[t] < C[t]:
            total += value
            free += 1
        elif (a[t] <= 0) == (y[t] > 0):
            low = max(low, value)
        else:
            high = min(high, value)
    if free:
        return total / free
    if np.isinf(low) or np.isinf(high):
        return high if np.isinf(low) else low
    return (low + high) / 2.0


@kernel
def polynomial(linear: FloatArray, out: FloatArray) -> None:
    """The kernel of degree 3 from scalar products: (x . y + 1)^3."""
    for i in range(linear.shape[0]):
        for j in range(linear.shape[1]):
            v = linear[i, j] + 1.0
            out[i, j] = v * v * v


@dataclass(frozen=True)
class Sigmoid:
    """P(y = 1 | f) = 1 / (1 + exp(slope f + offset - trust known)); the slope is negative where f is informative."""

    slope: float
    offset: float
    trust: float = 0.0  # in the log-odds that were known without f

    def probability(self, f: FloatArray, known: FloatArray | float = 0.0) -> FloatArray:
        """Return the calibrated probability of decision values."""
        z = self.slope * f + self.offset - self.trust * known
        return np.asarray(1.0 / (1.0 + np.exp(np.clip(z, -500.0, 500.0))))


def platt(f: FloatArray, y: BoolArray, known: FloatArray | None = None) -> Sigmoid:
    """Fit Platt's sigmoid to decision values and outcomes; without an example the chance is 1/2.

    With `known` log-odds, such as those that follow from the time since the last visit, the sigmoid adds what the
    decision values contribute; a prior worth PRIOR examples keeps it at `known` where they contribute nothing.
    """
    positive, negative = float(y.sum()), float((~y).sum())
    target = np.where(y, (positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0))
    columns = [f, np.ones(len(f))] + ([] if known is None else [-known])
    x = np.stack(columns, axis=1)
    middle = np.array([0.0, 0.0, 1.0])[: x.shape[1]]
    prior = 0.0 if known is None else PRIOR
    weights = middle.copy()
    if known is None:
        weights[1] = np.log((negative + 1.0) / (positive + 1.0))
        if not len(f) or np.ptp(f) == 0.0:
            return Sigmoid(0.0, float(weights[1]))
    weights = _newton(x, target, weights, middle, prior)
    return Sigmoid(*weights.tolist())


def _newton(x: FloatArray, target: FloatArray, w: FloatArray, middle: FloatArray, prior: float) -> FloatArray:
    """Minimise the loss with steps that are halved until they help enough."""
    loss = _loss(x, target, w, middle, prior)
    for _ in range(100):
        p = 1.0 / (1.0 + np.exp(np.clip(x @ w, -500.0, 500.0)))
        g = x.T @ (target - p) + prior * (w - middle)
        if np.abs(g).max() < 1e-8 * max(len(x), 1):
            break
        H = (x * (p * (1.0 - p))[:, None]).T @ x + (prior + 1e-12) * np.eye(len(w))
        step, size = -np.linalg.solve(H, g), 1.0
        while size > 1e-10 and _loss(x, target, w + size * step, middle, prior) >= loss + 1e-4 * size * (g @ step):
            size /= 2.0
        if size <= 1e-10:
            break
        w = w + size * step
        loss = _loss(x, target, w, middle, prior)
    return w


def _loss(x: FloatArray, target: FloatArray, w: FloatArray, middle: FloatArray, prior: float) -> float:
    z = x @ w
    return float((target * z + np.logaddexp(0.0, -z)).sum() + prior / 2.0 * ((w - middle) ** 2).sum())
