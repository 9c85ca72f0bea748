"""What differs between two visits to an unchanged page: clocks, counters, "3 minutes ago", render times, tokens.

`ROTATING` says what that is. Trying it at every place of a page would cost most of the time of reading, so a compiled
scan (`rotating_starts`) first finds the few places where it could begin; it never misses one where it does. Letters and
digits are those of ASCII. Every repetition is bounded or never taken back, so the time is linear whatever the text is.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
from numba import njit

from recrawl.columns import BoolArray, ByteArray
from recrawl.see.markup.tags import HASH_PRIME, HASH_START, name_hash

Places = npt.NDArray[np.int32]

_S0, _S1 = r"\s{0,8}+", r"\s{1,8}+"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,9}\.?"
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_DATE = (
    rf"(?:(?:{_DAY},?{_S1})?(?:[0-9]{{4}}[-/.][0-9]{{1,2}}[-/.][0-9]{{1,2}}|[0-9]{{1,2}}[-/.][0-9]{{1,2}}[-/.][0-9]{{2,4}}"
    rf"|[0-9]{{1,2}}(?:st|nd|rd|th)?[\s-]{{1,8}}+{_MONTH}[\s,-]{{1,8}}+[0-9]{{2,4}}"
    rf"|{_MONTH}{_S1}[0-9]{{1,2}}(?:st|nd|rd|th)?,?{_S1}[0-9]{{4}}))"
)
_ZONE = r"(?:\s?(?:z|utc|gmt|[ap]\.?m\.?|[a-z]{3,4}t)\b|\s?[+-][0-9]{2}:?[0-9]{2})*"
_TIME = rf"(?:[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]++)?)?{_ZONE})"
_UNIX_DATE = (  # as date(1) and asctime write it: Mon Nov 16 17:45:02 UTC 2026
    rf"{_MONTH}{_S1}[0-9]{{1,2}}{_S1}[0-9]{{1,2}}:[0-9]{{2}}:[0-9]{{2}}(?:{_S1}[ap]m)?(?:{_S1}[a-z]{{1,5}})?{_S1}[0-9]{{4}}"
)
_COUNTED = (
    r"(?:views?|visits?|visitors?|hits?|reads?|clicks?|downloads?|likes?|shares?|followers?|(?:users?|guests?|members?"
    rf"|people|visitors?){_S1}(?:online|active|browsing|viewing))"
)
_COUNT = r"[0-9][0-9.,\u00a0]{0,23}[km]?"
_EPOCH = r"1[0-9]{9}(?:[0-9]{3}){0,3}(?:\.[0-9]{1,9})?"  # seconds since 1970 (2001 to 2033), or ms, us, ns

ROTATING = re.compile(
    "|".join(
        (
            rf"(?:last{_S1})?(?:updated?|modified|refreshed|generated|retrieved|rendered|printed|checked|as{_S1}of|today{_S1}is"
            rf"|now|current{_S1}time|server{_S1}time|local{_S1}time)\b[\s:]{{0,8}}+(?:(?:on|at){_S1})?+(?:{_DATE}[\s,]{{0,8}}+"
            rf"(?:at{_S1})?+{_TIME}?|{_TIME})",
            rf"{_DATE}[t\s,]{{1,8}}+(?:at{_S1})?{_TIME}",
            rf"(?:{_DAY},?{_S1})?{_UNIX_DATE}\b",
            rf"\b[0-9]{{8}}t[0-9]{{6}}(?:[.,][0-9]{{1,9}})?{_ZONE}",
            rf"\b[0-9]{{1,2}}:[0-9]{{2}}:[0-9]{{2}}(?:[.,][0-9]++)?{_ZONE}",
            rf"\b[0-9]{{1,20}}+{_S0}(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?){_S1}ago\b",
            rf"\b{_COUNT}{_S1}{_COUNTED}\b",
            rf"\b{_COUNTED}{_S0}[:=]{_S0}{_COUNT}",
            r"\b(?:generated|rendered|loaded|executed|served|created|built|took|query|queries|processed)\b[^.\n]{0,40}?"
            rf"[0-9]{{1,20}}+(?:[.,][0-9]{{1,20}}+)?+{_S0}(?:ms|msecs?|milliseconds?|s|secs?|seconds?)\b",
            r"\b(?:session|sess|sid|csrf|xsrf|token|nonce|request|ray|trace|correlation|build)[\s_-]{0,8}+(?:id|token|key)?+"
            rf"{_S0}[:=#]{_S0}(?=(?:[^\W0-9]|[./+=-]){{0,200}}+[0-9])[\w./+=-]++",
            rf"\b[a-z_]{{0,24}}?(?:time|stamp|epoch|now|date|ts|at)[\"']?{_S0}[:=]?{_S0}[\"']?{_EPOCH}\b",
            r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
            r"\b(?=[a-f]*+[0-9])[0-9a-f]{16,}+\b",
            r"\b(?=[a-z_-]*+[0-9])(?=[0-9_-]*+[a-z])[\w-]{24,}\b",
            rf"(?:©|\(c\)|copyright){_S0}(?:[0-9]{{4}}{_S0}[-–]{_S0})?[0-9]{{4}}",
        )
    )
)
CLOCK_LINE = re.compile(
    rf"\W*+(?:{_DAY}\W++)?(?:{_UNIX_DATE}|(?:{_DATE}\W*+)?{_TIME}?)\W*+|\W*+[0-9][0-9.,\u00a0]*+[km]?\W*+"
)
LONGEST_CLOCK = 60  # characters

_WINDOW_BYTES = 96  # a date and its time are not longer
_MOST_BOUNDARIES = 32  # places tried in one run of letters beyond ASCII, digits and dashes


def hashes_of(words: str) -> npt.NDArray[np.uint64]:
    """Return the sorted hashes of these words."""
    return np.sort(np.array([name_hash(word) for word in words.split()], dtype=np.uint64))


_DAYS_AND_MONTHS = hashes_of("mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec")
_COUNTED_WORDS = hashes_of(
    "view views visit visits visitor visitors hit hits read reads click clicks download downloads like likes share"
    " shares follower followers user users guest guests member members people"
)
_MADE = hashes_of("generated rendered loaded executed served created built took query queries processed")
_SECRETS = hashes_of(
    " ".join(
        f"{name}{more}"
        for name in "session sess sid csrf xsrf token nonce request ray trace correlation build".split()
        for more in ("", "id", "token", "key")
    )
)
_AGO = name_hash("ago")
_ENDINGS = hashes_of("ate ted ied hed ved red ked now ght")  # of verbs such as "updated", and of "copyright"
_SECOND_WORDS = hashes_of("of is time")
_WORD_SETS = np.unique(np.concatenate((_COUNTED_WORDS, _MADE, _SECRETS, _SECOND_WORDS, [_AGO])))
_HASHED = np.zeros(4096, dtype=np.bool_)  # by the last bits of a hash: most words are in none of the sets
_HASHED[(_WORD_SETS % np.uint64(4096)).astype(np.int64)] = True


@njit(cache=True, nogil=True)
def has_hash(hashes: npt.NDArray[np.uint64], value: np.uint64) -> bool:
    """Whether a sorted array holds a hash."""
    place = np.searchsorted(hashes, value)
    return bool(place < len(hashes) and hashes[place] == value)


@njit(cache=True, nogil=True)
def _digit(line: ByteArray, i: int, end: int) -> bool:
    return i < end and 48 <= line[i] <= 57


@njit(cache=True, nogil=True)
def _letter(c: int) -> bool:
    return 97 <= (c | 32) <= 122


@njit(cache=True, nogil=True)
def is_day_or_month(line: ByteArray, i: int, end: int) -> bool:
    """Whether the name of a day or a month can begin here."""
    if i + 3 > end:
        return False
    value = HASH_START
    for k in range(i, i + 3):
        value = (value ^ np.uint64(line[k] | 32)) * HASH_PRIME
    return has_hash(_DAYS_AND_MONTHS, value)


@njit(cache=True, nogil=True)
def _past_space(line: ByteArray, i: int, end: int) -> int:
    """Skip white space; bytes beyond ASCII may be white space, so they are skipped, too."""
    while i < end and (line[i] <= 32 or line[i] >= 128):
        i += 1
    return i


@njit(cache=True, nogil=True)
def _before_space(line: ByteArray, i: int, start: int) -> int:
    """Skip white space backwards: where what stands before it ends."""
    stop = max(start, i - 24)
    while i > stop and (line[i - 1] <= 32 or line[i - 1] >= 128):
        i -= 1
    return i


@njit(cache=True, nogil=True)
def _wide(line: ByteArray, i: int, end: int) -> tuple[int, int]:
    """Return the code point at i, which is beyond ASCII, and its bytes."""
    c = np.int64(line[i])
    size = 2 if c < 0xE0 else 3 if c < 0xF0 else 4
    code = c & (0x3F if size == 2 else 0x1F if size == 3 else 0x0F) & (0xFF >> (size + 1))
    for k in range(1, size):
        code = (code << 6) | (np.int64(line[i + k]) & 0x3F if i + k < end else 0)
    return min(code, 0x10FFFF), size


@njit(cache=True, nogil=True)
def _put(found: Places, count: int, place: int, start: int) -> tuple[Places, int]:
    """Add a place, in order and once."""
    if place < start:
        return found, count
    if count == len(found):
        longer = np.empty(2 * len(found), dtype=np.int32)
        longer[:count] = found
        found = longer
    found[count] = place
    return found, count + 1


@njit(cache=True, nogil=True)
def _dated(line: ByteArray, i: int, end: int) -> bool:
    """Whether a date can follow a verb such as "updated" that ends at i."""
    while i < end and (line[i] <= 32 or line[i] >= 128 or line[i] == 58):
        i += 1
    if i + 2 < end and (
        (line[i] | 32 == 111 and line[i + 1] | 32 == 110) or (line[i] | 32 == 97 and line[i + 1] | 32 == 116)
    ):
        if line[i + 2] <= 32 or line[i + 2] >= 128:
            i = _past_space(line, i + 2, end)
    return _digit(line, i, end) or is_day_or_month(line, i, end)


@njit(cache=True, nogil=True)
def _verbs(line: ByteArray, start: int, i: int, second: bool, found: Places, count: int) -> tuple[Places, int]:
    """Add the places where a verb that ends at i can begin, with "last" before it."""
    if second:  # "as of", "today is", "server time"
        while i > start and _letter(line[i - 1]):
            i -= 1
        i = _before_space(line, i, start)
    for length in (2, 3, 5, 6, 7, 8, 9):
        last = _before_space(line, i - length, start) - 4
        if i - length > start and last >= start and last + 4 < i - length and line[last] | 32 == 108:
            found, count = _put(found, count, last, start)
        found, count = _put(found, count, i - length, start)
    return found, count


@njit(cache=True, nogil=True)
def _counter(line: ByteArray, start: int, word_at: int, found: Places, count: int) -> tuple[Places, int]:
    """Add the places where the number before "views" can begin."""
    i = _before_space(line, word_at, start)
    if i == word_at:
        return found, count
    if i > start and (line[i - 1] | 32 == 107 or line[i - 1] | 32 == 109):
        i -= 1
    stop = max(start, i - 52)
    while i > stop and (48 <= line[i - 1] <= 57 or line[i - 1] == 44 or line[i - 1] == 46 or line[i - 1] >= 128):
        i -= 1
        if 48 <= line[i] <= 57 and not (i > start and 48 <= line[i - 1] <= 57):
            found, count = _put(found, count, i, start)
    return found, count


@njit(cache=True, nogil=True)
def _elapsed(line: ByteArray, start: int, ago_at: int, found: Places, count: int) -> tuple[Places, int]:
    """Add the place where the number before "minutes ago" begins."""
    i = _before_space(line, ago_at, start)
    while i > start and _letter(line[i - 1]):
        i -= 1
    i = _before_space(line, i, start)
    digits_end = i
    while i > start and 48 <= line[i - 1] <= 57:
        i -= 1
    return _put(found, count, i, start) if i < digits_end else (found, count)


@njit(cache=True, nogil=True)
def _number_soon(line: ByteArray, i: int, end: int) -> bool:
    """Whether a number begins within 40 characters and before the next full stop."""
    chars = 0
    while i < end and chars <= 40 and line[i] != 46:
        if 48 <= line[i] <= 57:
            return True
        chars += line[i] < 128 or line[i] >= 192
        i += 1
    return False


@njit(cache=True, nogil=True)
def _dates(line: ByteArray, start: int, i: int, end: int, found: Places, count: int) -> tuple[Places, int]:
    """Add the places before a clock's colon at i where it, or a date before it, can begin."""
    for p in range(start, i):
        if 48 <= line[p] <= 57:
            stop = p
            while stop - p <= 4 and _digit(line, stop, end):
                stop += 1
            if stop - p <= 4:
                found, count = _put(found, count, p, start)
        elif _letter(line[p]) and is_day_or_month(line, p, end):
            found, count = _put(found, count, p, start)
    return found, count


@njit(cache=True, nogil=True)
def _tokens(
    line: ByteArray, start: int, end: int, wide: bool, letters: bool, found: Places, count: int
) -> tuple[Places, int]:
    """Add the places where a token can begin in a run of letters, digits and dashes."""
    while start < end and line[start] == 45:
        start += 1
    stop = end
    while stop > start and line[stop - 1] == 45:
        stop -= 1
    if not wide and letters and stop - start >= 24:
        return _put(found, count, start, start)
    tried, i = 0, start
    while i < end and (not wide or tried < _MOST_BOUNDARIES):
        part = i
        while i < end and line[i] != 45:
            i += 1
        if i - part >= 16 or (end - part >= 24 and wide) or (end - part >= 36 and i - part == 8):
            found, count = _put(found, count, part, start)
            tried += 1
        if wide and i < end:
            found, count = _put(found, count, i, start)
            tried += 1
        while i < end and line[i] == 45:
            i += 1
    return found, count


@njit(cache=True, nogil=True)
def _epoch(line: ByteArray, start: int, i: int, found: Places, count: int) -> tuple[Places, int]:
    """Add the places where the label of a number of seconds can begin; the number begins at i."""
    i -= i > start and (line[i - 1] == 34 or line[i - 1] == 39)
    i = _before_space(line, i, start)
    i -= i > start and (line[i - 1] == 58 or line[i - 1] == 61)
    i = _before_space(line, i, start)
    i -= i > start and (line[i - 1] == 34 or line[i - 1] == 39)
    label = i
    while i > start and (_letter(line[i - 1]) or line[i - 1] == 95) and label - i < 32:
        i -= 1
    return _put(found, count, i, start) if i < label else (found, count)


@njit(cache=True, nogil=True)
def _word(
    line: ByteArray, start: int, at: int, i: int, end: int, word: np.uint64, whole: bool, found: Places, count: int
) -> tuple[Places, int]:
    """Add the places that the word at..i gives; `whole`: no letter or digit stands before it."""
    bounded = i == end or not (48 <= line[i] <= 57 or line[i] == 95)
    if _HASHED[np.int64(word & np.uint64(4095))]:
        if whole and has_hash(_SECRETS, word):
            j = i
            while j < end and (line[j] <= 32 or line[j] >= 128 or line[j] == 95 or line[j] == 45):
                j += 1
            c = line[j] | 32 if j < end else 0
            if c == 58 or c == 61 or c == 35 or c == 105 or c == 116 or c == 107:
                found, count = _put(found, count, at, start)
        if whole and bounded:
            if has_hash(_COUNTED_WORDS, word):
                found, count = _counter(line, start, at, found, count)
                j = _past_space(line, i, end)
                c = line[j] if j < end else 0
                if c == 58 or c == 61 or (_letter(c) and j > i):
                    found, count = _put(found, count, at, start)
            elif has_hash(_MADE, word):
                if _number_soon(line, i, end):
                    found, count = _put(found, count, at, start)
            elif word == _AGO:
                found, count = _elapsed(line, start, at, found, count)
        if bounded and has_hash(_SECOND_WORDS, word) and _dated(line, i, end):
            found, count = _verbs(line, start, i, True, found, count)
    if i - at >= 3:
        ending = HASH_START
        for k in range(i - 3, i):
            ending = (ending ^ np.uint64(line[k] | 32)) * HASH_PRIME
        if has_hash(_ENDINGS, ending):
            if bounded and _dated(line, i, end):
                found, count = _verbs(line, start, i, False, found, count)
            if i - at >= 9 and _digit(line, _past_space(line, i, end), end):
                found, count = _put(found, count, i - 9, start)
    return found, count


@njit(cache=True, nogil=True)
def may_be_clock(line: ByteArray, start: int, end: int) -> bool:
    """Whether CLOCK_LINE could match: the first word is a number, a day or a month, and none is another long word."""
    letters, first = 0, True
    for i in range(start, end):
        c = line[i]
        if c >= 128:
            return True
        if not _letter(c):
            letters = 0
            first &= not 48 <= c <= 57
            continue
        if letters == 0 and first and not is_day_or_month(line, i, end):
            return False
        first = False
        letters += 1
        if letters == 6 and not is_day_or_month(line, i - 5, end):
            return False
    return True


@njit(cache=True, nogil=True)
def rotating_starts(
    line: ByteArray, start: int, end: int, wordlike: BoolArray, found: Places, count: int
) -> tuple[Places, int]:
    """Add to `found` the places between start and end where ROTATING can match: never one too few.

    `wordlike` says which code points are letters or digits. The places are in order, each once; they count characters
    from the start of the line.
    """
    first = count
    word, at, whole = HASH_START, -1, True  # of the run of ASCII letters before i; whether it begins at a boundary
    run, digits, letters, wide = -1, 0, 0, False  # of the run of letters, digits and dashes before i
    numbers, seen = 0, start  # length of the run of digits before i; how far dates have been looked for
    before = False  # whether a letter, digit or low line stands before i
    i = start
    while i <= end:
        c = line[i] if i < end else np.uint8(32)
        size, code = 1, np.int64(c)
        letter, digit = _letter(c), 48 <= c <= 57
        if c >= 128:
            code, size = _wide(line, i, end)
        inside = letter or digit or c == 95 or (c >= 128 and wordlike[code])
        if letter:
            if at < 0:
                at, word, whole = i, HASH_START, not before
            word = (word ^ np.uint64(c | 32)) * HASH_PRIME
        elif at >= 0:
            found, count = _word(line, start, at, i, end, word, whole, found, count)
            at = -1
        if inside or c == 45:
            if run < 0:
                run, digits, letters, wide = i, 0, 0, False
            digits += digit
            letters += letter
            wide |= c >= 128
        elif run >= 0:
            if i - run >= 16 and digits:
                found, count = _tokens(line, run, i, wide, letters > 0, found, count)
            run = -1
        if digit:
            numbers += 1
        elif numbers:
            if 10 <= numbers <= 19 and line[i - numbers] == 49 and numbers % 3 == 1:
                found, count = _epoch(line, start, i - numbers, found, count)
            elif numbers == 8 and c | 32 == 116 and _digit(line, i + 6, end):
                found, count = _put(found, count, i - 8, start)
            elif c == 58 and _digit(line, i + 1, end) and _digit(line, i + 2, end):
                found, count = _dates(line, max(seen, i - _WINDOW_BYTES), i, end, found, count)
                seen = i
            numbers = 0
        if (code == 0xA9 and c >= 128) or (c == 41 and i >= start + 2 and line[i - 2] == 40 and line[i - 1] | 32 == 99):
            if _digit(line, _past_space(line, i + size, end), end):
                found, count = _put(found, count, i if c >= 128 else i - 2, start)
        before = inside
        i += size
    return found, _in_characters(line, start, found, first, count)


@njit(cache=True, nogil=True)
def _in_characters(line: ByteArray, start: int, found: Places, first: int, count: int) -> int:
    """Sort the places, drop what is there twice, and count characters instead of bytes; return how many there are."""
    if count == first:
        return count
    places = np.sort(found[first:count])
    kept, chars, i, last = first, 0, start, -1
    for place in places:
        if place == last:
            continue
        last = place
        while i < place:
            chars += line[i] < 128 or line[i] >= 192
            i += 1
        found[kept] = chars
        kept += 1
    return kept
