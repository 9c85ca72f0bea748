"""What a found change is worth: how much fresher or younger the copy will be because of the visit.

Freshness: a page visited every t cycles is stale for c(t) = integral over (0, t) of 1 - exp(-r s) ds per visit. To
visit it a little sooner gains t c'(t) - c(t) per visit given up; taking the pages with the largest gain equalises it
over all of them, which is optimal for independent pages under a budget (the argument of Cho & Garcia-Molina 2003, with
the multiplier as the threshold). Age: a visit t cycles after the last one makes the copy younger; over the next t
cycles by the integral of a(t + u) - a(u), where a(s) = s - (1 - exp(-r s)) / r is the expected age s cycles after a
visit.

    freshness   (1 - (1 + r t) exp(-r t)) / r
    age         t^2 - ((1 - exp(-r t)) / r)^2

A page that changes faster than it can be followed is soon stale again and gains next to no freshness. The rate is not
known: both are taken in the mean over its posterior (prior.py), and divided by the chance of a change under it, so that
they count per change that is found; the chance itself then comes from all that is known (objectives.py).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, PageIds
from recrawl.compiled import kernel
from recrawl.policies.learned.page_history import RATES
from recrawl.policies.learned.prior import posterior


def gains_by_chance(p: FloatArray, t: FloatArray) -> FloatArray:
    """Return the gains of freshness and age per change where nothing but the chance is known: r = -ln(1 - p) / t."""
    p = np.clip(p, 1e-9, 1.0 - 1e-12)
    rate = -np.log1p(-p) / t
    fresh = np.maximum(1.0 / rate - t * (1.0 - p) / p, 0.0)
    return np.stack([fresh, np.maximum(t * t / p - p / rate**2, 0.0)], axis=1)


@kernel
def gains(
    pages: PageIds,
    t: FloatArray,
    mean: FloatArray,
    shape: float,
    tilts: FloatArray,
    log_means: FloatArray,
    likelihood: npt.NDArray[np.float32],
) -> FloatArray:
    """Return the gains of freshness and age per change of pages whose surroundings have the paces `mean`."""
    out = np.empty((len(pages), 2))
    weight = np.empty(len(RATES))
    for i in range(len(pages)):
        posterior(mean[i], shape, tilts, log_means, likelihood[pages[i]], weight)
        changed = fresh = age = 0.0
        for k in range(len(RATES)):
            r = RATES[k]
            stale = -np.expm1(-r * t[i])
            changed += weight[k] * stale
            fresh += weight[k] * (stale / r - t[i] * np.exp(-r * t[i]))
            age += weight[k] * (t[i] ** 2 - (stale / r) ** 2)
        out[i, 0] = max(fresh / changed, 0.0)
        out[i, 1] = max(age / changed, 0.0)
    return out
