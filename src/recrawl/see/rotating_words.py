"""Words that mark rotating content ("updated", "views", "ago", "session"), and where such content can begin."""

from __future__ import annotations

import numpy as np

from recrawl.columns import ByteArray
from recrawl.compiled import borrowing, nth
from recrawl.hashing import FNV_PRIME, FNV_START, fnv1a
from recrawl.see.rotating_marks import (
    Hashes,
    Places,
    before_space,
    has_hash,
    has_triple,
    hashes_of,
    is_ascii_letter,
    is_day_or_month,
    is_digit,
    past_space,
    put,
    triples,
)

_COUNTED_NAMES = (
    "view views visit visits visitor visitors hit hits read reads click clicks download downloads like likes share"
    " shares follower followers user users guest guests member members people"
)
_MADE_NAMES = "generated rendered loaded executed served created built took query queries processed"
_SECRET_NAMES = "session sess sid csrf xsrf token nonce request ray trace correlation build"
_VERBS = hashes_of("update updated modified refreshed generated retrieved rendered printed checked now")
_FIRST_WORDS = hashes_of("as today current server local")  # of "as of", "today is", "server time"
_TIME = fnv1a("time")
_ENDINGS = triples("ate ted ied hed ved red ked now ght")  # of verbs such as "updated", and of "copyright"
_COUNTED_WORDS, _MADE = hashes_of(_COUNTED_NAMES), hashes_of(_MADE_NAMES)
_SECRETS = hashes_of(" ".join(f"{name}{more}" for name in _SECRET_NAMES.split() for more in ("", "id", "token", "key")))
_AGO = fnv1a("ago")
_ON, _AT, _OF, _IS = (ord(word[0]) << 8 | ord(word[1]) for word in ("on", "at", "of", "is"))
_BEGINNINGS = triples(f"{_COUNTED_NAMES} {_MADE_NAMES} {_SECRET_NAMES} ago time")
_SECRET_CHARS = 200  # before the first digit of a secret
_LONGEST_WORD = len("correlationtoken")


@borrowing
def _dated(line: ByteArray, i: int, end: int) -> bool:
    """Whether a date can follow a verb such as "updated" that ends at i."""
    while i < end and (line[nth(i)] <= 32 or line[nth(i)] >= 128 or line[nth(i)] == 58):
        i += 1
    if i + 2 < end and (line[nth(i + 2)] <= 32 or line[nth(i + 2)] >= 128):
        word = int(line[nth(i)] | 32) << 8 | int(line[nth(i + 1)] | 32)
        if word in (_ON, _AT):
            i = past_space(line, i + 2, end)
    return is_digit(line, i, end) or is_day_or_month(line, i, end)


@borrowing
def _verbs(line: ByteArray, start: int, i: int, verbs: Hashes, found: Places, count: int) -> int:
    """Add the places where one of these verbs that ends at i begins, and where "last" before it does."""
    value, letters = FNV_START, 0
    for length in (2, 3, 5, 6, 7, 8, 9):
        at = i - length
        if at < start:
            break
        value, letters = FNV_START, 0
        for k in range(at, i):
            letters += is_ascii_letter(line[k])
            value = (value ^ np.uint64(line[k] | 32)) * FNV_PRIME
        if letters < length or not has_hash(verbs, value):
            continue
        last = before_space(line, at, start) - 4
        if at > start and last >= start and last + 4 < at and line[last] | 32 == 108:
            count = put(found, count, last, start)
        count = put(found, count, at, start)
    return count


@borrowing
def _counter(line: ByteArray, start: int, word_at: int, found: Places, count: int) -> int:
    """Add the places where the number before "views" can begin."""
    i = before_space(line, word_at, start)
    if i == word_at:
        return count
    if i > start and (line[i - 1] | 32 == 107 or line[i - 1] | 32 == 109):
        i -= 1
    stop = max(start, i - 52)
    while i > stop and (48 <= line[i - 1] <= 57 or line[i - 1] == 44 or line[i - 1] == 46 or line[i - 1] >= 128):
        i -= 1
        if 48 <= line[i] <= 57 and not (i > start and 48 <= line[i - 1] <= 57):
            count = put(found, count, i, start)
    return count


@borrowing
def _elapsed(line: ByteArray, start: int, ago_at: int, found: Places, count: int) -> int:
    """Add the place where the number before "minutes ago" begins."""
    i = before_space(line, ago_at, start)
    while i > start and is_ascii_letter(line[i - 1]):
        i -= 1
    i = before_space(line, i, start)
    digits_end = i
    while i > start and 48 <= line[i - 1] <= 57:
        i -= 1
    return put(found, count, i, start) if i < digits_end else count


@borrowing
def _duration_soon(line: ByteArray, i: int, end: int) -> bool:
    """Whether a number of seconds begins within 40 characters and before the next full stop."""
    chars = 0
    while i < end and chars <= 40 and line[i] != 46:
        chars += line[i] < 128 or line[i] >= 192
        i += 1
        if not 48 <= line[i - 1] <= 57 or is_digit(line, i, end):
            continue
        unit = i
        if unit < end and (line[unit] == 44 or line[unit] == 46) and is_digit(line, unit + 1, end):
            unit += 1
            while unit - i <= 24 and is_digit(line, unit, end):
                unit += 1
        unit = past_space(line, unit, min(end, unit + 24))
        if unit < end and (line[unit] | 32 == 115 or line[unit] | 32 == 109):
            return True
    return False


@borrowing
def word_starts(line: ByteArray, start: int, at: int, i: int, end: int, whole: bool, found: Places, count: int) -> int:
    """Add the places that the word at..i gives; `whole`: no letter or digit stands before it."""
    if i - at < 3:
        two = int(line[nth(at)] | 32) << 8 | int(line[nth(i - 1)] | 32)
        if i - at == 2 and two in (_OF, _IS) and _ends(line, i, end) and _dated(line, i, end):
            count = _verbs(line, start, before_space(line, at, start), _FIRST_WORDS, found, count)
        return count
    if i - at <= _LONGEST_WORD and has_triple(_BEGINNINGS, line, at):
        count = _known_word(line, start, at, i, end, whole, found, count)
    if has_triple(_ENDINGS, line, i - 3):
        if _ends(line, i, end) and _dated(line, i, end):
            count = _verbs(line, start, i, _VERBS, found, count)
        if i - at >= 9 and line[nth(i - 9)] | 32 == 99 and is_digit(line, past_space(line, i, end), end):
            count = put(found, count, i - 9, start)
    return count


@borrowing
def _ends(line: ByteArray, i: int, end: int) -> bool:
    """Whether a word ends at i: no digit and no low line follows."""
    return i == end or not (48 <= line[nth(i)] <= 57 or line[nth(i)] == 95)


@borrowing
def _secret_follows(line: ByteArray, i: int, end: int) -> bool:
    """Whether a mark and a value with a digit can follow a word such as "session" that ends at i."""
    while i < end and (line[i] <= 32 or line[i] >= 128 or line[i] == 95 or line[i] == 45):
        i += 1
    while i < end and is_ascii_letter(line[i]):  # "id", "token", "key"
        i += 1
    i = past_space(line, i, end)
    if i == end or not (line[i] == 58 or line[i] == 61 or line[i] == 35):
        return False
    i = past_space(line, i + 1, end)
    chars = 0
    while i < end and chars <= _SECRET_CHARS:
        c = line[i]
        if 48 <= c <= 57:
            return True
        if not (is_ascii_letter(c) or c >= 128 or c == 95 or c == 43 or 45 <= c <= 47 or c == 61):
            return False
        chars += c < 128 or c >= 192
        i += 1
    return False


@borrowing
def _number_follows(line: ByteArray, i: int, end: int) -> bool:
    """Whether a mark and a number follow a word such as "views" or "users online", the first of which ends at i."""
    j = past_space(line, i, end)
    if j > i and j < end and is_ascii_letter(line[j]):
        while j < end and is_ascii_letter(line[j]):
            j += 1
        j = past_space(line, j, end)
    return j < end and (line[j] == 58 or line[j] == 61) and is_digit(line, past_space(line, j + 1, end), end)


@borrowing
def _known_word(line: ByteArray, start: int, at: int, i: int, end: int, whole: bool, found: Places, count: int) -> int:
    """Add the places that the word at..i gives, which may be "views", "took", "ago", "session" or "time"."""
    word = FNV_START
    for k in range(at, i):
        word = (word ^ np.uint64(line[nth(k)] | 32)) * FNV_PRIME
    bounded = _ends(line, i, end)
    if whole and has_hash(_SECRETS, word) and _secret_follows(line, i, end):
        count = put(found, count, at, start)
    if whole and bounded:
        if has_hash(_COUNTED_WORDS, word):
            count = _counter(line, start, at, found, count)
            if _number_follows(line, i, end):
                count = put(found, count, at, start)
        elif has_hash(_MADE, word):
            if _duration_soon(line, i, end):
                count = put(found, count, at, start)
        elif word == _AGO:
            count = _elapsed(line, start, at, found, count)
    if bounded and word == _TIME and _dated(line, i, end):
        count = _verbs(line, start, before_space(line, at, start), _FIRST_WORDS, found, count)
    return count
