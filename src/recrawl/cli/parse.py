"""Words of the command line: spans of time, budgets, lists."""

from __future__ import annotations

import argparse
import math

DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0}


def span(text: str) -> float:
    """Parse a span of time into days: 1h, 1d, 2w; a bare number is days."""
    unit = text[-1:].lower()
    number, scale = (text[:-1], DAYS[unit]) if unit in DAYS else (text, 1.0)
    value = _number(number, text) * scale
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive span of time such as 1h, 1d or 2w")
    return value


def share_or_count(text: str) -> float | int:
    """Parse a budget: `5%` is the share 0.05 (a float), `200` is a number of pages (an int)."""
    if text.endswith("%"):
        share = _number(text[:-1], text) / 100
        if not 0 < share <= 1:
            raise argparse.ArgumentTypeError(f"{text!r} must be above 0% and at most 100%")
        return share
    count = _number(text, text)
    if count != int(count) or count <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} must be a positive whole number of pages, or a share such as 5%")
    return int(count)


def _number(text: str, whole: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{whole!r} is not a number") from None
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{whole!r} is not a finite number")
    return value
