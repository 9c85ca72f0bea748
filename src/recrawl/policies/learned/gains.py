"""What a found change is worth: how much fresher or younger the copy will be because of the visit.

With a(s) what we mind at s cycles after a visit, a visit t cycles after the last one gains over the next T cycles

    integral over u in (0, T) of a(t + u) - a(u)

For a page that changes at the rate r, with a(s) = 1 - exp(-r s), the chance of being stale, and a(s) = s - (1 -
exp(-r s)) / r, the expected age, that is

    freshness   (1 - exp(-r t)) (1 - exp(-r T)) / r
    age         t T - (1 - exp(-r t)) (1 - exp(-r T)) / r^2

A page that changes faster than it can be followed is soon stale again and gains next to no freshness. The rate is not
known: both are taken in the mean over its posterior (prior.py), and divided by the chance of a change under it, so that
they count per change that is found; the chance itself then comes from all that is known (objectives.py).

T is how long a visit matters. For freshness it is the mean wait, pages / budget, but at most AHEAD cycles, since what
is known of rates does not last longer. For age it is the page's own wait: with a longer one, fast pages would have
nearly all visits.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, PageIds
from recrawl.compiled import kernel
from recrawl.policies.learned.evidence import MEMORY
from recrawl.policies.learned.page_history import RATES
from recrawl.policies.learned.prior import posterior

AHEAD = 2.0 * MEMORY  # cycles


def gains_by_chance(p: FloatArray, t: FloatArray, ahead: float = AHEAD) -> FloatArray:
    """Return the gains of freshness and age per change where nothing but the chance is known: r = -ln(1 - p) / t."""
    p = np.clip(p, 1e-9, 1.0 - 1e-12)
    rate = -np.log1p(-p) / t
    return np.stack([-np.expm1(-rate * ahead) / rate, np.maximum(t * t / p - p / rate**2, 0.0)], axis=1)


@kernel
def gains(
    pages: PageIds,
    t: FloatArray,
    ahead: float,
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
            fresh += weight[k] * stale * -np.expm1(-r * ahead) / r
            age += weight[k] * (t[i] ** 2 - (stale / r) ** 2)
        out[i, 0] = fresh / changed
        out[i, 1] = max(age / changed, 0.0)
    return out
