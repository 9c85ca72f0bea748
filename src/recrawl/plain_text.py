"""Strangers' texts, made safe to print."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def shown(text: object) -> str:
    """Return a stranger's text with nothing in it that a terminal would obey."""
    return _CONTROL.sub("?", str(text))
