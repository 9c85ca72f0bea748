"""The classical estimators of a page's change rate, and the probability that it has changed by now.

Santos et al. 2014, section 5.1 (after Cho & Garcia-Molina 2003 and Tan & Mitra 2010):

    CG     lambda = -ln((n - X + .5) / (n + .5))                                   eq. 4
    others lambda = sum_i w_i I_i, I_i = 1 if the i-th visit found a change
    NAD    w_i = 1/n                SAD  w_n = 1, all others 0
    AAD    w_i = 2i / (n(n+1))      GAD  w_i = 2**(i-1) / (2**n - 1)
    phi = 1 - exp(-lambda t), t = cycles since the last visit                      eq. 5

The weights run over the page's own visits (the paper; default) or over all cycles so far, visited or not (the
authors' released program): there i is the number of the cycle and n the number of cycles that have ended.
A page that was never compared with a copy has n = 0 and rate 0.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, vectorize

from recrawl.columns import FloatArray, IntArray
from recrawl.remember.memory import Memory


@vectorize(cache=True, nopython=True)
def _cg(n: int, X: int) -> float:
    return -math.log((n - X + 0.5) / (n + 0.5))


@vectorize(cache=True, nopython=True)
def probability(rate: float, t: float) -> float:
    """phi = 1 - exp(-rate * t)."""
    return -math.expm1(-rate * t)


def cg(memory: Memory) -> FloatArray:
    """Return Cho & Garcia-Molina's rate, eq. 4."""
    return np.asarray(_cg(memory.n, memory.changes))


def nad(memory: Memory, over: str = "visits") -> FloatArray:
    """Return the non-adaptive rate: all changes count the same."""
    return np.asarray(memory.changes / _ended(memory, over))


def sad(memory: Memory, over: str = "visits") -> FloatArray:
    """Return the short-sighted rate: 1 if the last visit (the last cycle) found a change."""
    last = (memory.ring & 1).astype(np.float64)
    if over == "cycles":
        last *= memory.last_cycle == memory.cycle - 1
    return last


def aad(memory: Memory, over: str = "visits") -> FloatArray:
    """Return the arithmetically adaptive rate: the i-th change weighs i."""
    ended = _ended(memory, over)
    ranks = memory.rank_sum if over == "visits" else memory.cycle_sum
    return np.asarray(2.0 * ranks / (ended * (ended + 1.0)))


def gad(memory: Memory, over: str = "visits") -> FloatArray:
    """Return the geometrically adaptive rate: the i-th change weighs 2**(i-1)."""
    if over == "visits":
        return np.asarray(_gad(memory.rank_decay, memory.n))
    # bring the decayed sum from the last visited cycle to the last cycle that has ended
    idle = np.maximum(memory.cycle - 1 - memory.last_cycle, 0)
    return np.asarray(np.ldexp(memory.cycle_decay, -idle) / -np.expm1(-np.log(2.0) * max(memory.cycle - 1, 1)))


def _ended(memory: Memory, over: str) -> FloatArray:
    count = memory.n if over == "visits" else np.full(len(memory), memory.cycle - 1)
    return np.maximum(count, 1).astype(np.float64)


@njit(cache=True, nogil=True)
def _gad(decay: FloatArray, n: IntArray) -> FloatArray:
    out = np.empty(len(decay))
    for i in range(len(decay)):
        # sum 2**(i-1) I_i / (2**n - 1) with decay = sum 2**(i-1-n) I_i
        out[i] = decay[i] / (1.0 - 0.5 ** max(n[i], 1))
    return out
