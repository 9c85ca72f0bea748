"""Numbers that rotate: clocks with their dates, seconds since 1970, lines that are nothing but a clock."""

from __future__ import annotations

import numpy as np

from recrawl.columns import ByteArray
from recrawl.compiled import borrowing, nth
from recrawl.see.rotating_marks import (
    Places,
    before_space,
    is_ascii_letter,
    is_day_or_month,
    is_digit,
    past_space,
    put,
)

_WINDOW_BYTES = 96  # a date and its time are not longer


@borrowing
def number_starts(line: ByteArray, start: int, at: int, i: int, end: int, seen: int, found: Places, count: int) -> int:
    """Add the places that the number at..i gives: seconds since 1970, a date and time without marks, a clock."""
    c = line[nth(i)] if i < end else np.uint8(32)
    if 10 <= i - at <= 19 and line[nth(at)] == 49 and (i - at) % 3 == 1:
        return _epoch(line, start, at, found, count)
    if i - at == 8 and c | 32 == 116 and is_digit(line, i + 6, end):
        return put(found, count, at, start)
    if c == 58 and is_digit(line, i + 1, end) and is_digit(line, i + 2, end):
        return _dates(line, max(seen, i - _WINDOW_BYTES), i, end, found, count)
    return count


@borrowing
def _dates(line: ByteArray, start: int, i: int, end: int, found: Places, count: int) -> int:
    """Add the places before a clock's colon at i where it, or a date before it, can begin."""
    clock = i + 3 < end and line[i + 3] == 58  # with seconds: a time of its own
    for p in range(start, i):
        if 48 <= line[p] <= 57:
            stop = p
            while stop - p <= 4 and is_digit(line, stop, end):
                stop += 1
            if stop - p <= 4 and ((stop == i and clock) or _goes_on(line, stop, i)):
                count = put(found, count, p, start)
        elif is_ascii_letter(line[p]) and is_day_or_month(line, p, end):
            stop = p
            while stop < i and is_ascii_letter(line[stop]):
                stop += 1
            stop = past_space(line, stop + (line[stop] == 44 or line[stop] == 46), i)
            if is_digit(line, stop, end) or is_day_or_month(line, stop, i):
                count = put(found, count, p, start)
    return count


@borrowing
def _goes_on(line: ByteArray, i: int, end: int) -> bool:
    """Whether a date goes on at i, after its first number: with a mark and a digit, or a month."""
    if i < end and 45 <= line[i] <= 47 and is_digit(line, i + 1, end):
        return True
    i += 2 if i < end and is_ascii_letter(line[i]) else 0  # "st", "th"
    while i < end and (line[i] <= 32 or line[i] >= 128 or line[i] == 45):
        i += 1
    return is_day_or_month(line, i, end)


@borrowing
def _epoch(line: ByteArray, start: int, i: int, found: Places, count: int) -> int:
    """Add the places where the label of a number of seconds can begin; the number begins at i."""
    i -= i > start and (line[i - 1] == 34 or line[i - 1] == 39)
    i = before_space(line, i, start)
    i -= i > start and (line[i - 1] == 58 or line[i - 1] == 61)
    i = before_space(line, i, start)
    i -= i > start and (line[i - 1] == 34 or line[i - 1] == 39)
    label = i
    while i > start and (is_ascii_letter(line[i - 1]) or line[i - 1] == 95) and label - i < 32:
        i -= 1
    return put(found, count, i, start) if i < label else count


@borrowing
def is_bare_number(line: ByteArray, start: int, end: int) -> bool:
    """Whether a line in ASCII is nothing but a number and marks, as CLOCK_LINE says in its second half."""
    i = start
    while i < end and _is_mark(line[nth(i)]):
        i += 1
    if not is_digit(line, i, end):
        return False
    while i < end and (48 <= line[nth(i)] <= 57 or line[nth(i)] == 44 or line[nth(i)] == 46):
        i += 1
    i += i < end and (line[nth(i)] | 32 == 107 or line[nth(i)] | 32 == 109)  # k, m
    while i < end and _is_mark(line[nth(i)]):
        i += 1
    return i == end


@borrowing
def _is_mark(c: int) -> bool:
    """Whether a byte of ASCII is neither a letter nor a digit nor a low line."""
    return c < 128 and not (48 <= c <= 57 or c == 95 or is_ascii_letter(c))


@borrowing
def may_be_clock(line: ByteArray, start: int, end: int) -> bool:
    """Whether CLOCK_LINE could match: all words are numbers, days, months or as short as the name of a time zone."""
    first, i = True, start
    while i < end:
        at, c = i, line[nth(i)]
        i += 1
        first &= not 48 <= c <= 57
        if not is_ascii_letter(c):
            continue
        while i < end and is_ascii_letter(line[nth(i)]):
            i += 1
        if not is_day_or_month(line, at, i) and (first or i - at > 5 or (i - at > 3 and line[nth(i - 1)] | 32 != 116)):
            return False
        first = False
    return True
