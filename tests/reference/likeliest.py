"""The likeliest change rate of a Poisson page from the gaps between its visits, by a root finder of another project."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.optimize import brentq


def likeliest_rate(changed: Sequence[float], unchanged: float, pseudo: float = 0.5) -> float:
    """Solve sum over changed gaps of a / (exp(D a) - 1) = sum of unchanged gaps, a pseudo-gap of each kind added."""

    def difference(rate: float) -> float:
        terms = [a / math.expm1(rate * a) if rate * a < 700 else 0.0 for a in (pseudo, *changed)]
        return sum(terms) - unchanged - pseudo

    return float(brentq(difference, 1e-9, 1e4, xtol=1e-15, rtol=1e-14))
