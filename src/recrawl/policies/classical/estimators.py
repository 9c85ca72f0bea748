"""The classical estimators of a page's change rate, and the probability that it has changed by now.

Santos et al. 2014, section 5.1 (after Cho & Garcia-Molina 2003 and Tan & Mitra 2010):

    CG     lambda = -ln((n - X + .5) / (n + .5))                                   eq. 4
    others lambda = sum_i w_i I_i, I_i = 1 if the i-th visit found a change
    NAD    w_i = 1/n                SAD  w_n = 1, all others 0
    AAD    w_i = 2i / (n(n+1))      GAD  w_i = 2**(i-1) / (2**n - 1)
    phi = 1 - exp(-lambda t), t = cycles since the last visit                      eq. 5

The weights run over the page's own visits (the paper; default) or over all cycles so far, visited or not (the
authors' released program): there i is the number of the cycle and n the number of cycles that have ended; "open
cycles" counts the open one too, for pages that were visited in it.
A page that was never compared with a copy has n = 0 and rate 0.

    Bayes  lambda = (X + a) / (n + b)

the mean of a Beta(a, b - a) belief about the chance of a change between two visits, updated by X of n; with
a = 1/2, b = 1 Jeffreys' prior. It is the only one of these whose rate never becomes 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from recrawl.columns import FloatArray
from recrawl.compiled import ufunc
from recrawl.memory import Memory

RateName = Literal["cg", "nad", "sad", "aad", "gad", "bayes"]


@ufunc
def probability(rate: float, t: float) -> float:
    """phi = 1 - exp(-rate * t), eq. 5."""
    return -math.expm1(-rate * t) if rate else 0.0  # most rates are 0: skip exp there


def cg(memory: Memory) -> FloatArray:
    """Return Cho & Garcia-Molina's rate, eq. 4."""
    return np.asarray(_cg(memory.n, memory.changes))


def nad(memory: Memory, over: str = "visits") -> FloatArray:
    """Return the non-adaptive rate: all changes count the same."""
    if over != "visits":
        return np.asarray(memory.changes / float(_cycles(memory, over)))
    return np.asarray(_nad(memory.changes, memory.n))


def sad(memory: Memory, over: str = "visits") -> FloatArray:
    """Return the short-sighted rate: 1 if the last visit (the last cycle) found a change."""
    last = (memory.ring & 1).astype(np.float64)
    if over != "visits":
        last *= memory.last_cycle == memory.cycle - (over == "cycles")
    return last


def aad(memory: Memory, over: str = "visits") -> FloatArray:
    """Return the arithmetically adaptive rate: the i-th change weighs i."""
    if over != "visits":
        ended = _cycles(memory, over)
        return np.asarray(memory.cycle_sum * (2.0 / (ended * (ended + 1))))
    return np.asarray(_aad(memory.rank_sum, memory.n))


def gad(memory: Memory, over: str = "visits") -> FloatArray:
    """Return the geometrically adaptive rate: the i-th change weighs 2**(i-1)."""
    if over == "visits":
        return np.asarray(_gad(memory.rank_decay, memory.n))
    # bring the decayed sum from the last visited cycle to the last cycle that has ended
    idle = np.maximum(memory.cycle - (over == "cycles") - memory.last_cycle, 0)
    return np.asarray(np.ldexp(memory.cycle_decay, -idle) / (1.0 - 0.5 ** _cycles(memory, over)))


def bayes(memory: Memory, a: float = 0.5, b: float = 1.0) -> FloatArray:
    """Return the mean of the updated belief: (X + a) / (n + b)."""
    return np.asarray(_bayes(memory.changes, memory.n, a, b))


RATES: dict[RateName, Callable[[Memory], FloatArray]] = {
    "cg": cg,
    "nad": nad,
    "sad": sad,
    "aad": aad,
    "gad": gad,
    "bayes": bayes,
}
"""The rate estimators that policies take by name: changes per cycle."""


def _cycles(memory: Memory, over: str) -> int:
    """The cycles so far, with or without the open one; at least 1."""
    return max(memory.cycle - (over == "cycles"), 1)


@ufunc
def _cg(n: int, X: int) -> float:
    return -math.log((n - X + 0.5) / (n + 0.5)) if X else 0.0


@ufunc
def _nad(X: int, n: int) -> float:
    return X / max(n, 1)


@ufunc
def _aad(rank_sum: float, n: int) -> float:
    return 2.0 * rank_sum / (max(n, 1) * (n + 1.0))


@ufunc
def _gad(rank_decay: float, n: int) -> float:
    # sum 2**(i-1) I_i / (2**n - 1), with rank_decay = sum 2**(i-1-n) I_i
    return rank_decay / (1.0 - 0.5 ** max(n, 1))


@ufunc
def _bayes(X: int, n: int, a: float, b: float) -> float:
    return (X + a) / (n + b)
