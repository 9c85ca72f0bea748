"""Tail of the chi-squared distribution, without scipy, which a plain crawl does not install.

    P(chi-squared with k degrees of freedom >= x) = Q(k / 2, x / 2)

Q is the regularised upper incomplete gamma function: by its series below a + 1, by its continued fraction (modified
Lentz) above (Abramowitz & Stegun 6.5.29 and 6.5.31). Their common factor x^a e^-x / Gamma(a) is written with the
deviance of x from a, as in Loader (2000), so that hundreds of thousands of degrees of freedom lose no digits.
"""

from __future__ import annotations

import math

from recrawl.compiled import kernel

EPSILON = 1e-16
SMALLEST = 1e-300
STIRLING_FROM = 16.0  # the series below is exact to a rounding error from here on


@kernel
def chi_squared_tail(degrees: float, chi2: float) -> float:
    """Return P(a chi-squared variable with these degrees of freedom >= chi2)."""
    a, x = 0.5 * degrees, 0.5 * chi2
    if math.isnan(a) or math.isnan(x) or a <= 0.0:
        return math.nan
    if x <= 0.0:
        return 1.0
    if math.isinf(x):
        return 0.0
    return 1.0 - _factor(a, x) * _series(a, x) if x < a + 1.0 else _factor(a, x) * _fraction(a, x)


@kernel
def _factor(a: float, x: float) -> float:
    """Return x^a e^-x / Gamma(a)."""
    if a < STIRLING_FROM:
        return math.exp(a * math.log(x) - x - math.lgamma(a))
    away = (x - a) / a
    deviance = away - math.log1p(away) if abs(away) < 0.5 else away - math.log(x / a)
    square = a * a
    rest = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / a
    return math.sqrt(a / (2.0 * math.pi)) * math.exp(-a * deviance - rest)


@kernel
def _series(a: float, x: float) -> float:
    """Return the sum over n of x^n / (a (a + 1) ... (a + n))."""
    term = total = 1.0 / a
    n = a
    while term > EPSILON * total:
        n += 1.0
        term *= x / n
        total += term
    return total


@kernel
def _fraction(a: float, x: float) -> float:
    """Return 1/(x+1-a- 1(1-a)/(x+3-a- 2(2-a)/(x+5-a- ...)))."""
    b = x + 1.0 - a
    c = 1.0 / SMALLEST
    d = value = 1.0 / b
    n, step = 0.0, 0.0
    while abs(step - 1.0) > EPSILON and n < 1e6:
        n += 1.0
        top = -n * (n - a)
        b += 2.0
        d = top * d + b
        d = 1.0 / (d if abs(d) > SMALLEST else SMALLEST)
        c = b + top / c
        c = c if abs(c) > SMALLEST else SMALLEST
        step = c * d
        value *= step
    return value
