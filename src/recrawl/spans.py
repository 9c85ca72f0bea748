"""Spans of time, shares and budgets as people write them: in commands, recrawl.toml, policies and measures."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

from recrawl.errors import InputError

UNIT_DAYS = {"w": 7.0, "d": 1.0, "h": 1 / 24, "m": 1 / 1440, "min": 1 / 1440, "s": 1 / 86400}
UNIT_BYTES = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
MAX_DAYS = 1e6  # some 2,700 years
MAX_VISITS = 2**31 - 1  # of a cycle
_BY_LENGTH = sorted(UNIT_DAYS, key=len, reverse=True)


def days_of(span: str | float) -> float:
    """Read a span of time in days: 60s, 30min (or 30m), 1h, 1d, 2w; a bare number is days.

    >>> days_of("12h"), days_of("2w"), days_of(3)
    (0.5, 14.0, 3.0)
    """
    text = str(span)
    unit = next((unit for unit in _BY_LENGTH if text.lower().endswith(unit)), "")
    days = _number(text[: len(text) - len(unit)], text, "a span of time such as 30min, 1h, 1d or 2w")
    days *= UNIT_DAYS.get(unit, 1.0)
    if not days > 0:
        raise InputError(f"{text!r} is not a positive span of time such as 30min, 1h, 1d or 2w")
    if days > MAX_DAYS:
        raise InputError(f"{text!r} is longer than the {MAX_DAYS:,.0f} days that a span may have")
    return days


def span_of(days: float) -> str:
    """Write a span of time as `days_of` reads it, in the largest unit (up to days) that it is a multiple of."""
    whole = (u for u, unit in UNIT_DAYS.items() if u != "w" and abs(days / unit - round(days / unit)) < 1e-9)
    unit = next(whole, "d")
    return f"{days / UNIT_DAYS[unit]:.10g}{unit}"


def share_of(text: str) -> float:
    """Read a share from 0 to 1: 0.1 or 10%."""
    share = _number(text[:-1], text) / 100 if text.endswith("%") else _number(text, text)
    if not 0 <= share <= 1:
        raise InputError(f"{text!r} is not a share from 0 to 1 such as 0.05 or 5%")
    return share


def budget_of(budget: str | float) -> float | int:
    """Read a budget: `5%` is the share 0.05 (a float), `200` is a number of pages (an int); a float is a share.

    >>> budget_of("5%"), budget_of("200"), budget_of(0.05)
    (0.05, 200, 0.05)
    """
    text = f"{budget * 100:.12g}%" if isinstance(budget, float) else str(budget)
    value = _number(text.removesuffix("%"), text, "a number of pages such as 200, or a share such as 5%")
    if text.endswith("%"):
        if not 0 < value <= 100:
            raise InputError(f"{text!r} must be above 0% and at most 100%")
        return value / 100
    if value != int(value) or value <= 0:
        raise InputError(f"{text!r} must be a positive whole number of pages, or a share such as 5%")
    if value > MAX_VISITS:
        raise InputError(f"{text!r} is more than the {MAX_VISITS:,} pages that a budget can be")
    return int(value)


def bytes_of(size: str | float) -> int:
    """Read a number of bytes: 500MB, 10GB, 1.5TB, or a bare number.

    >>> bytes_of("10GB"), bytes_of(512)
    (10000000000, 512)
    """
    text = str(size).strip()
    unit = next((unit for unit in UNIT_BYTES if text.upper().endswith(unit)), "")
    value = _number(text[: len(text) - len(unit)], text, "a size such as 500MB or 10GB") * UNIT_BYTES.get(unit, 1)
    if value < 0:
        raise InputError(f"{text!r} is no size such as 500MB or 10GB")
    return int(value)


def iso_of(at: float | None) -> str | None:
    """Write a time in days since 1970 as ISO 8601 in UTC: 2026-11-16T12:00:00.000Z; None stays None.

    >>> iso_of(0.5)
    '1970-01-01T12:00:00.000Z'
    """
    if at is None or not math.isfinite(at):
        return None
    try:
        moment = dt.datetime(1970, 1, 1) + dt.timedelta(days=at)
    except OverflowError:
        return None
    return moment.isoformat(timespec="milliseconds") + "Z"


def local_of(at: float, form: str = "%Y-%m-%d %H:%M %Z") -> str:
    """Write a time in days since 1970 as people read it, in the local zone, which is named."""
    try:
        return _local(at).strftime(form)
    except (OverflowError, ValueError):
        return f"day {at:g}"


def local_offset_s(at: float) -> float:
    """Return how far the local zone's clocks are ahead of UTC at a time in days since 1970."""
    ahead = _local(at).utcoffset()
    return 0.0 if ahead is None else ahead.total_seconds()


def _local(at: float) -> dt.datetime:
    return (dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(days=at)).astimezone()


def at_of(text: str) -> float:
    """Read a time as days since 1970: an ISO 8601 date or time, UTC where it names no zone.

    >>> at_of("1970-01-02"), at_of("1970-01-01T13:00+01:00")
    (1.0, 0.5)
    """
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"{text!r} is no time such as 2026-11-16 or 2026-11-16T12:00") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    return moment.timestamp() / 86_400.0


def dated(value: Any) -> Any:
    """Return JSON-like data with its times (`at`, `..._at`, in days since 1970) as ISO 8601."""
    if isinstance(value, dict):
        return {
            key: iso_of(each)
            if (key == "at" or key.endswith("_at")) and isinstance(each, (int, float))
            else dated(each)
            for key, each in value.items()
        }
    return [dated(each) for each in value] if isinstance(value, (list, tuple)) else value


def _number(text: str, whole: str, what: str = "a number") -> float:
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"{whole!r} is not {what}") from None
    if not math.isfinite(value):
        raise InputError(f"{whole!r} is not a finite number")
    return value
