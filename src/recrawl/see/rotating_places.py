"""Candidate positions of rotating content in a line: a compiled linear scan that rules out nearly all positions.

For every alternative of ROTATING it looks for what that needs: a word such as "views" with a number beside it, the
colon of a clock and a date before it, a long run of letters and digits. It may name a place in vain, never miss one.
"""

from __future__ import annotations

from recrawl.columns import BoolArray, ByteArray
from recrawl.compiled import borrowing, nth
from recrawl.see.rotating_marks import Places, is_ascii_letter, is_digit, past_space, put, wide_at
from recrawl.see.rotating_numbers import number_starts
from recrawl.see.rotating_tokens import token_starts
from recrawl.see.rotating_words import word_starts


@borrowing
def rotating_starts(line: ByteArray, start: int, end: int, wordlike: BoolArray, found: Places, count: int) -> int:
    """Add to `found` the places between start and end where ROTATING can match: never one too few.

    `wordlike` says which code points are letters or digits. The places are in order, each once. Where nothing but a
    token can begin, the place p is given as ~p. They count bytes, as start and end do.
    """
    first = count
    run, digits, letters, wide = (
        -1,
        False,
        False,
        False,
    )  # the run of letters, digits and dashes before i: what it holds
    seen = start  # how far dates have been looked for
    before = False  # whether a letter, digit or low line stands before i
    i = start
    while i < end:
        at, c = i, line[nth(i)]
        if is_ascii_letter(c):
            while i < end and is_ascii_letter(line[nth(i)]):
                i += 1
            count = word_starts(line, start, at, i, end, not before, found, count)
            letters, inside = True, True
        elif 48 <= c <= 57:
            while i < end and 48 <= line[nth(i)] <= 57:
                i += 1
            count = number_starts(line, start, at, i, end, seen, found, count)
            seen = i if i < end and line[nth(i)] == 58 else seen
            digits, inside = True, True
        elif c >= 128:
            code, size = wide_at(line, i, end)
            i += size
            inside = wordlike[nth(code)]
            wide |= inside
            if code == 0xA9 and is_digit(line, past_space(line, i, end), end):
                count = put(found, count, at, start)
        else:
            i += 1
            inside = c == 95
            copyrighted = (
                c == 41 and at >= start + 2 and line[nth(at - 2)] == 40 and line[nth(at - 1)] | 32 == 99
            )  # (c)
            if copyrighted and is_digit(line, past_space(line, i, end), end):
                count = put(found, count, at - 2, start)
        before = inside
        if inside or c == 45:
            run = at if run < 0 else run
            if i < end:
                continue
            at = end
        if run >= 0 and at - run >= 16 and digits:
            before_tokens = count
            count = token_starts(line, run, at, wide, letters, found, count)
            for k in range(before_tokens, count):
                found[k] = ~found[k]
        run, digits, letters, wide = -1, False, False, False
    return _in_order(found, first, count)


@borrowing
def _in_order(found: Places, first: int, count: int) -> int:
    """Sort the places and drop what is there twice; return how many there are."""
    for k in range(first + 1, count):  # by insertion: no place is far from where it belongs
        place, j = found[k], k
        while j > first and max(found[j - 1], ~found[j - 1]) > max(place, ~place):
            found[j] = found[j - 1]
            j -= 1
        found[j] = place
    kept = first
    for k in range(first, count):
        place = found[k]
        if kept > first and max(found[kept - 1], ~found[kept - 1]) == max(place, ~place):
            found[kept - 1] = max(found[kept - 1], place)
        else:
            found[kept] = place
            kept += 1
    return kept


@borrowing
def only_tokens(line: ByteArray, start: int, end: int, found: Places, first: int, count: int) -> bool:
    """Whether only tokens can begin in this line, and it is ASCII; the places are then made plain."""
    for k in range(first, count):
        if found[k] >= 0:
            return False
    for i in range(start, end):
        if line[nth(i)] >= 128:
            return False
    for k in range(first, count):
        found[k] = ~found[k]
    return True


@borrowing
def in_characters(line: ByteArray, start: int, found: Places, first: int, count: int) -> None:
    """Turn places into numbers of characters from the start of the line."""
    chars, i = 0, start
    for k in range(first, count):
        place = max(found[k], ~found[k])
        while i < place:
            chars += line[nth(i)] < 128 or line[nth(i)] >= 192
            i += 1
        found[k] = chars
