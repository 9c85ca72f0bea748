"""Where in a line something that rotates can begin: a compiled scan that rules out nearly all places, in linear time.

For every alternative of ROTATING it looks for what that needs: a word such as "views" with a number beside it, the
colon of a clock and a date before it, a long run of letters and digits. It may name a place in vain, never miss one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, ByteArray
from recrawl.compiled import kernel
from recrawl.hashing import FNV_PRIME, FNV_START, fnv1a

Places = npt.NDArray[np.int32]
_WINDOW_BYTES = 96  # a date and its time are not longer
_MOST_BOUNDARIES = 32  # places tried in one run of letters beyond ASCII, digits and dashes


def hashes_of(words: str) -> npt.NDArray[np.uint64]:
    """Return the sorted hashes of these words."""
    return np.sort(np.array([fnv1a(word) for word in words.split()], dtype=np.uint64))


def _triples(words: str) -> BoolArray:
    """Return which three letters, five bits each, are one of these words."""
    table = np.zeros(1 << 15, dtype=np.bool_)
    for word in words.split():
        one, two, three = (ord(letter) & 31 for letter in word[:3])
        table[one << 10 | two << 5 | three] = True
    return table


_DAYS_AND_MONTHS = _triples("mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec")
_ENDINGS = _triples("ate ted ied hed ved red ked now ght")  # of verbs such as "updated", and of "copyright"
_COUNTED_NAMES = (
    "view views visit visits visitor visitors hit hits read reads click clicks download downloads like likes share"
    " shares follower followers user users guest guests member members people"
)
_MADE_NAMES = "generated rendered loaded executed served created built took query queries processed"
_SECRET_NAMES = "session sess sid csrf xsrf token nonce request ray trace correlation build"
_COUNTED_WORDS, _MADE = hashes_of(_COUNTED_NAMES), hashes_of(_MADE_NAMES)
_SECRETS = hashes_of(" ".join(f"{name}{more}" for name in _SECRET_NAMES.split() for more in ("", "id", "token", "key")))
_AGO = fnv1a("ago")
_ON, _AT = (ord("o") << 8 | ord("n")), (ord("a") << 8 | ord("t"))
_SECOND_WORDS = hashes_of("of is time")
_BEGINNINGS = _triples(f"{_COUNTED_NAMES} {_MADE_NAMES} {_SECRET_NAMES} ago time")
_LONGEST_WORD = len("correlationtoken")


@kernel
def has_hash(hashes: npt.NDArray[np.uint64], value: np.uint64) -> bool:
    """Whether a sorted array holds a hash."""
    place = np.searchsorted(hashes, value)
    return bool(place < len(hashes) and hashes[place] == value)


@kernel
def _digit(line: ByteArray, i: int, end: int) -> bool:
    return i < end and 48 <= line[i] <= 57


@kernel
def _letter(c: int) -> bool:
    return 97 <= (c | 32) <= 122


@kernel
def is_day_or_month(line: ByteArray, i: int, end: int) -> bool:
    """Whether the name of a day or a month can begin here."""
    return i + 3 <= end and _DAYS_AND_MONTHS[_triple(line, i)]


@kernel
def _triple(line: ByteArray, i: int) -> int:
    """Return five bits of each of three bytes: the same for small letters and capitals."""
    return (int(line[i]) & 31) << 10 | (int(line[i + 1]) & 31) << 5 | int(line[i + 2]) & 31


@kernel
def _past_space(line: ByteArray, i: int, end: int) -> int:
    """Skip white space; bytes beyond ASCII may be white space, so they are skipped, too."""
    while i < end and (line[i] <= 32 or line[i] >= 128):
        i += 1
    return i


@kernel
def _before_space(line: ByteArray, i: int, start: int) -> int:
    """Skip white space backwards: where what stands before it ends."""
    stop = max(start, i - 24)
    while i > stop and (line[i - 1] <= 32 or line[i - 1] >= 128):
        i -= 1
    return i


@kernel
def _wide(line: ByteArray, i: int, end: int) -> tuple[int, int]:
    """Return the code point at i, which is beyond ASCII, and its bytes."""
    c = int(line[i])
    size = 2 if c < 0xE0 else 3 if c < 0xF0 else 4
    code = c & (0x3F if size == 2 else 0x1F if size == 3 else 0x0F) & (0xFF >> (size + 1))
    for k in range(1, size):
        code = (code << 6) | (int(line[i + k]) & 0x3F if i + k < end else 0)
    return min(code, 0x10FFFF), size


@kernel
def _put(found: Places, count: int, place: int, start: int) -> int:
    """Add a place, if it is not before the start and there is room; return how many there are."""
    if place < start or count == len(found):
        return count
    found[count] = place
    return count + 1


@kernel
def _dated(line: ByteArray, i: int, end: int) -> bool:
    """Whether a date can follow a verb such as "updated" that ends at i."""
    while i < end and (line[i] <= 32 or line[i] >= 128 or line[i] == 58):
        i += 1
    if i + 2 < end and (line[i + 2] <= 32 or line[i + 2] >= 128):
        word = int(line[i] | 32) << 8 | int(line[i + 1] | 32)
        if word in (_ON, _AT):
            i = _past_space(line, i + 2, end)
    return _digit(line, i, end) or is_day_or_month(line, i, end)


@kernel
def _verbs(line: ByteArray, start: int, i: int, second: bool, found: Places, count: int) -> int:
    """Add the places where a verb that ends at i can begin, with "last" before it."""
    if second:  # "as of", "today is", "server time"
        while i > start and _letter(line[i - 1]):
            i -= 1
        i = _before_space(line, i, start)
    for length in (2, 3, 5, 6, 7, 8, 9):
        last = _before_space(line, i - length, start) - 4
        if i - length > start and last >= start and last + 4 < i - length and line[last] | 32 == 108:
            count = _put(found, count, last, start)
        count = _put(found, count, i - length, start)
    return count


@kernel
def _counter(line: ByteArray, start: int, word_at: int, found: Places, count: int) -> int:
    """Add the places where the number before "views" can begin."""
    i = _before_space(line, word_at, start)
    if i == word_at:
        return count
    if i > start and (line[i - 1] | 32 == 107 or line[i - 1] | 32 == 109):
        i -= 1
    stop = max(start, i - 52)
    while i > stop and (48 <= line[i - 1] <= 57 or line[i - 1] == 44 or line[i - 1] == 46 or line[i - 1] >= 128):
        i -= 1
        if 48 <= line[i] <= 57 and not (i > start and 48 <= line[i - 1] <= 57):
            count = _put(found, count, i, start)
    return count


@kernel
def _elapsed(line: ByteArray, start: int, ago_at: int, found: Places, count: int) -> int:
    """Add the place where the number before "minutes ago" begins."""
    i = _before_space(line, ago_at, start)
    while i > start and _letter(line[i - 1]):
        i -= 1
    i = _before_space(line, i, start)
    digits_end = i
    while i > start and 48 <= line[i - 1] <= 57:
        i -= 1
    return _put(found, count, i, start) if i < digits_end else count


@kernel
def _duration_soon(line: ByteArray, i: int, end: int) -> bool:
    """Whether a number of seconds begins within 40 characters and before the next full stop."""
    chars = 0
    while i < end and chars <= 40 and line[i] != 46:
        chars += line[i] < 128 or line[i] >= 192
        i += 1
        if not 48 <= line[i - 1] <= 57 or _digit(line, i, end):
            continue
        unit = i
        if unit < end and (line[unit] == 44 or line[unit] == 46) and _digit(line, unit + 1, end):
            unit += 1
            while unit - i <= 24 and _digit(line, unit, end):
                unit += 1
        unit = _past_space(line, unit, min(end, unit + 24))
        if unit < end and (line[unit] | 32 == 115 or line[unit] | 32 == 109):
            return True
    return False


@kernel
def _dates(line: ByteArray, start: int, i: int, end: int, found: Places, count: int) -> int:
    """Add the places before a clock's colon at i where it, or a date before it, can begin."""
    clock = i + 3 < end and line[i + 3] == 58  # with seconds: a time of its own
    for p in range(start, i):
        if 48 <= line[p] <= 57:
            stop = p
            while stop - p <= 4 and _digit(line, stop, end):
                stop += 1
            if stop - p <= 4 and ((stop == i and clock) or _goes_on(line, stop, i)):
                count = _put(found, count, p, start)
        elif _letter(line[p]) and is_day_or_month(line, p, end):
            stop = p
            while stop < i and _letter(line[stop]):
                stop += 1
            stop = _past_space(line, stop + (line[stop] == 44 or line[stop] == 46), i)
            if _digit(line, stop, end) or is_day_or_month(line, stop, i):
                count = _put(found, count, p, start)
    return count


@kernel
def _goes_on(line: ByteArray, i: int, end: int) -> bool:
    """Whether a date goes on at i, after its first number: with a mark and a digit, or a month."""
    if i < end and 45 <= line[i] <= 47 and _digit(line, i + 1, end):
        return True
    i += 2 if i < end and _letter(line[i]) else 0  # "st", "th"
    while i < end and (line[i] <= 32 or line[i] >= 128 or line[i] == 45):
        i += 1
    return is_day_or_month(line, i, end)


@kernel
def _tokens(line: ByteArray, start: int, end: int, wide: bool, letters: bool, found: Places, count: int) -> int:
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
            count = _put(found, count, part, start)
            tried += 1
        if long and i < end:
            count = _put(found, count, i, start)
        while i < end and line[i] == 45:
            i += 1
    return count


@kernel
def _epoch(line: ByteArray, start: int, i: int, found: Places, count: int) -> int:
    """Add the places where the label of a number of seconds can begin; the number begins at i."""
    i -= i > start and (line[i - 1] == 34 or line[i - 1] == 39)
    i = _before_space(line, i, start)
    i -= i > start and (line[i - 1] == 58 or line[i - 1] == 61)
    i = _before_space(line, i, start)
    i -= i > start and (line[i - 1] == 34 or line[i - 1] == 39)
    label = i
    while i > start and (_letter(line[i - 1]) or line[i - 1] == 95) and label - i < 32:
        i -= 1
    return _put(found, count, i, start) if i < label else count


@kernel
def _word(line: ByteArray, start: int, at: int, i: int, end: int, whole: bool, found: Places, count: int) -> int:
    """Add the places that the word at..i gives; `whole`: no letter or digit stands before it."""
    bounded = i == end or not (48 <= line[i] <= 57 or line[i] == 95)
    if i - at == 2 or (3 <= i - at <= _LONGEST_WORD and _BEGINNINGS[_triple(line, at)]):
        word = FNV_START
        for k in range(at, i):
            word = (word ^ np.uint64(line[k] | 32)) * FNV_PRIME
        if whole and has_hash(_SECRETS, word):
            j = i
            while j < end and (line[j] <= 32 or line[j] >= 128 or line[j] == 95 or line[j] == 45):
                j += 1
            c = line[j] | 32 if j < end else 0
            if c == 58 or c == 61 or c == 35 or c == 105 or c == 116 or c == 107:
                count = _put(found, count, at, start)
        if whole and bounded:
            if has_hash(_COUNTED_WORDS, word):
                count = _counter(line, start, at, found, count)
                j = _past_space(line, i, end)
                c = line[j] if j < end else 0
                if c == 58 or c == 61 or (_letter(c) and j > i):
                    count = _put(found, count, at, start)
            elif has_hash(_MADE, word):
                if _duration_soon(line, i, end):
                    count = _put(found, count, at, start)
            elif word == _AGO:
                count = _elapsed(line, start, at, found, count)
        if bounded and has_hash(_SECOND_WORDS, word) and _dated(line, i, end):
            count = _verbs(line, start, i, True, found, count)
    if i - at >= 3 and _ENDINGS[_triple(line, i - 3)]:
        if bounded and _dated(line, i, end):
            count = _verbs(line, start, i, False, found, count)
        if i - at >= 9 and line[i - 9] | 32 == 99 and _digit(line, _past_space(line, i, end), end):
            count = _put(found, count, i - 9, start)
    return count


@kernel
def may_be_clock(line: ByteArray, start: int, end: int) -> bool:
    """Whether CLOCK_LINE could match: all words are numbers, days, months or as short as the name of a time zone."""
    first, i = True, start
    while i < end:
        at, c = i, line[i]
        i += 1
        first &= not 48 <= c <= 57
        if not _letter(c):
            continue
        while i < end and _letter(line[i]):
            i += 1
        if not is_day_or_month(line, at, i) and (first or i - at > 5 or (i - at > 3 and line[i - 1] | 32 != 116)):
            return False
        first = False
    return True


@kernel
def rotating_starts(line: ByteArray, start: int, end: int, wordlike: BoolArray, found: Places, count: int) -> int:
    """Add to `found` the places between start and end where ROTATING can match: never one too few.

    `wordlike` says which code points are letters or digits. The places are in order, each once; they count characters
    from the start of the line.
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
        at, c = i, line[i]
        if _letter(c):
            while i < end and _letter(line[i]):
                i += 1
            count = _word(line, start, at, i, end, not before, found, count)
            letters, inside = True, True
        elif 48 <= c <= 57:
            while i < end and 48 <= line[i] <= 57:
                i += 1
            count = _number(line, start, at, i, end, seen, found, count)
            seen = i if i < end and line[i] == 58 else seen
            digits, inside = True, True
        elif c >= 128:
            code, size = _wide(line, i, end)
            i += size
            inside = wordlike[code]
            wide |= inside
            if code == 0xA9 and _digit(line, _past_space(line, i, end), end):
                count = _put(found, count, at, start)
        else:
            i += 1
            inside = c == 95
            copyrighted = c == 41 and at >= start + 2 and line[at - 2] == 40 and line[at - 1] | 32 == 99  # (c)
            if copyrighted and _digit(line, _past_space(line, i, end), end):
                count = _put(found, count, at - 2, start)
        before = inside
        if inside or c == 45:
            run = at if run < 0 else run
            if i < end:
                continue
            at = end
        if run >= 0 and at - run >= 16 and digits:
            count = _tokens(line, run, at, wide, letters, found, count)
        run, digits, letters, wide = -1, False, False, False
    return _in_characters(line, start, found, first, count)


@kernel
def _number(line: ByteArray, start: int, at: int, i: int, end: int, seen: int, found: Places, count: int) -> int:
    """Add the places that the number at..i gives: seconds since 1970, a date and time without marks, a clock."""
    c = line[i] if i < end else np.uint8(32)
    if 10 <= i - at <= 19 and line[at] == 49 and (i - at) % 3 == 1:
        return _epoch(line, start, at, found, count)
    if i - at == 8 and c | 32 == 116 and _digit(line, i + 6, end):
        return _put(found, count, at, start)
    if c == 58 and _digit(line, i + 1, end) and _digit(line, i + 2, end):
        return _dates(line, max(seen, i - _WINDOW_BYTES), i, end, found, count)
    return count


@kernel
def _in_characters(line: ByteArray, start: int, found: Places, first: int, count: int) -> int:
    """Sort the places, drop what is there twice, and count characters instead of bytes; return how many there are."""
    for k in range(first + 1, count):  # by insertion: no place is far from where it belongs
        place, j = found[k], k
        while j > first and found[j - 1] > place:
            found[j] = found[j - 1]
            j -= 1
        found[j] = place
    kept, chars, i, last = first, 0, start, -1
    for k in range(first, count):
        place = found[k]
        if place == last:
            continue
        last = place
        while i < place:
            chars += line[i] < 128 or line[i] >= 192
            i += 1
        found[kept] = chars
        kept += 1
    return kept
