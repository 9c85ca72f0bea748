"""Words of the command line as argparse takes them: spans of time and budgets."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

from recrawl.errors import InputError
from recrawl.spans import budget_of, days_of

T = TypeVar("T")


def span(text: str) -> float:
    """Parse a span of time into days: 30min, 1h, 1d, 2w; a bare number is days."""
    return _told(days_of, text)


def share_or_count(text: str) -> float | int:
    """Parse a budget: `5%` is the share 0.05 (a float), `200` is a number of pages (an int)."""
    return _told(budget_of, text)


def _told(read: Callable[[str], T], text: str) -> T:
    """Read a word; argparse names the option in front of what is wrong."""
    try:
        return read(text)
    except InputError as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None
