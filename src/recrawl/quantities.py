"""Spans of time and budgets as people write them: 12h, 7d, 2w; 5%, 200."""

from __future__ import annotations

import math

from recrawl.errors import InputError

UNIT_DAYS = {"w": 7.0, "d": 1.0, "h": 1 / 24, "m": 1 / 1440, "s": 1 / 86400}


def span_days(text: str | float) -> float:
    """Read a span of time as days: 60s, 90m, 1h, 1d, 2w; a bare number is days.

    >>> span_days("12h"), span_days("2w"), span_days(3)
    (0.5, 14.0, 3.0)
    """
    text = str(text)
    unit = text[-1:].lower()
    number, scale = (text[:-1], UNIT_DAYS[unit]) if unit in UNIT_DAYS else (text, 1.0)
    value = _number(number, text) * scale
    if not value > 0:
        raise InputError(f"{text!r} is not a positive span of time such as 1h, 1d or 2w")
    return value


def share_or_count(text: str | float) -> float | int:
    """Read a budget: `5%` is the share 0.05 (a float), `200` is a number of pages (an int).

    >>> share_or_count("5%"), share_or_count("200")
    (0.05, 200)
    """
    whole = str(text)
    if isinstance(text, float) or whole.endswith("%"):
        share = text if isinstance(text, float) else _number(whole[:-1], whole) / 100
        if not 0 < share <= 1:
            raise InputError(f"{whole!r} must be above 0% and at most 100%")
        return share
    count = _number(whole, whole)
    if count != int(count) or count <= 0:
        raise InputError(f"{whole!r} must be a positive whole number of pages, or a share such as 5%")
    return int(count)


def _number(text: str, whole: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"{whole!r} is not a number") from None
    if not math.isfinite(value):
        raise InputError(f"{whole!r} is not a finite number")
    return value
