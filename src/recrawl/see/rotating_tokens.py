"""Rotating tokens: long runs of letters and digits, such as hashes and session ids; most are cut out here."""

from __future__ import annotations

from recrawl.columns import ByteArray
from recrawl.compiled import borrowing
from recrawl.see.rotating_marks import Places, is_ascii_letter, put

_MOST_BOUNDARIES = 32  # places tried in one run of letters beyond ASCII, digits and dashes
_UUID = (8, 4, 4, 4, 12)  # hexadecimal digits between dashes
_LEAST_HEXADECIMAL, _LEAST_TOKEN = 16, 24


@borrowing
def token_starts(line: ByteArray, start: int, end: int, wide: bool, letters: bool, found: Places, count: int) -> int:
    """Add the places where a token can begin in a run of letters, digits and dashes."""
    while start < end and line[start] == 45:
        start += 1
    tried, i = 0, start
    while i < end and tried < _MOST_BOUNDARIES:
        part, hexadecimal = i, True
        while i < end and line[i] != 45:
            hexadecimal &= 48 <= line[i] <= 57 or 97 <= line[i] | 32 <= 102
            i += 1
        long = end - part >= 24 and (wide or letters)
        if long or (i - part >= 16 and hexadecimal) or (end - part >= 36 and i - part == 8):
            count = put(found, count, part, start)
            tried += 1
        if long and i < end:
            count = put(found, count, i, start)
        while i < end and line[i] == 45:
            i += 1
    return count


@borrowing
def cut_tokens(line: ByteArray, start: int, end: int, found: Places, first: int, count: int) -> int:
    """Cut the tokens at these places out of a line in ASCII; return where it ends then, -1 if there are none.

    What is left is joined by single spaces; an empty line ends at its start.
    """
    at, o, cut = start, start, False
    for k in range(first, count):
        place = found[k]
        stop = _token_end(line, start, place, end) if place >= at else -1
        if stop >= 0:
            o = _join(line, at, place, start, o)
            at, cut = stop, True
    if not cut:
        return -1
    o = _join(line, at, end, start, o)
    return o - 1 if o > start and line[o - 1] == 32 else o


@borrowing
def _join(line: ByteArray, i: int, end: int, start: int, o: int) -> int:
    """Move a piece of the line to o, its white space as single spaces, and one more space behind it."""
    for k in range(i, end + 1):
        c = line[k] if k < end else 32
        if c == 32 or 9 <= c <= 13 or 28 <= c <= 31:
            if o > start and line[o - 1] != 32:
                line[o] = 32
                o += 1
        else:
            line[o] = c
            o += 1
    return o


@borrowing
def _token_end(line: ByteArray, start: int, i: int, end: int) -> int:
    """Return where the token that begins at i ends, by the three patterns of ROTATING for tokens; -1 if none does."""
    if (i > start and _in_word(line, i - 1, end)) == _in_word(line, i, end):
        return -1
    stop = _uuid_end(line, i, end)
    if stop >= 0:
        return stop
    stop, digits, letters = i, 0, 0
    while stop < end and _is_hexadecimal(line[stop]):
        digits += 48 <= line[stop] <= 57
        stop += 1
    if stop - i >= _LEAST_HEXADECIMAL and digits and not _in_word(line, stop, end):
        return stop
    while stop < end and (line[stop] == 45 or _in_word(line, stop, end)):
        stop += 1
    while stop > i and line[stop - 1] == 45:
        stop -= 1
    if stop - i < _LEAST_TOKEN:
        return -1
    digits = 0
    for k in range(i, stop):
        digits += 48 <= line[k] <= 57
        letters += is_ascii_letter(line[k])
    return stop if digits and letters else -1


@borrowing
def _uuid_end(line: ByteArray, i: int, end: int) -> int:
    for size in _UUID:
        for _ in range(size):
            if i >= end or not _is_hexadecimal(line[i]):
                return -1
            i += 1
        if size < _UUID[4]:
            if i >= end or line[i] != 45:
                return -1
            i += 1
    return -1 if _in_word(line, i, end) else i


@borrowing
def _is_hexadecimal(c: int) -> bool:
    return 48 <= c <= 57 or 97 <= c | 32 <= 102


@borrowing
def _in_word(line: ByteArray, i: int, end: int) -> bool:
    """Whether a letter, a digit or a low line stands at i."""
    return i < end and (48 <= line[i] <= 57 or line[i] == 95 or is_ascii_letter(line[i]))
