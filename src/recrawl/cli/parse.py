"""Words of the command line: spans of time and budgets, whose errors argparse shows with the option."""

from __future__ import annotations

import argparse

from recrawl import quantities
from recrawl.errors import InputError


def span(text: str) -> float:
    """Parse a span of time into days: 1h, 1d, 2w; a bare number is days."""
    try:
        return quantities.span_days(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def share_or_count(text: str) -> float | int:
    """Parse a budget: `5%` is the share 0.05 (a float), `200` is a number of pages (an int)."""
    try:
        return quantities.share_or_count(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
