"""Count the words of a text in UTF-8 in a few quick passes: the common case of `see.words.bag_of`.

Letters are first brought to lower case in place, all else becomes 0; this and finding the edges of words take the same
steps for every byte, without a branch that no processor predicts. A word of up to eight bytes is then one number, which
is looked up in a small table of words met before with their CRC-32; only other words are hashed byte by byte.

Characters beyond U+303F, and those whose lower case has another length or depends on their neighbours, are left to the
slow way.
"""

from __future__ import annotations

from functools import cache
from threading import local
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recrawl.columns import ByteArray
from recrawl.compiled import borrowing, kernel, nth
from recrawl.see.byte_masks import BYTES, lowest_bit, nonzero_bytes

_PACKED_BYTES = 8
_MEMO_BITS = 13
_SHIFT = np.uint64(64 - _MEMO_BITS)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # multiplicative hashing: the golden ratio of 2**64
_KNOWN_CODES = 0x3040
_DIGIT_BITS = np.uint32(9)
_DIGITS = 1 << 9
_LAST_DIGIT = np.uint32(_DIGITS - 1)
_FEWEST_FOR_DIGITS = 64
_NO_LETTER, _OTHERWISE = 0, -1
_CONTEXTUAL = frozenset("\u03a3")  # a capital sigma has another lower case at the end of a word
_KEPT_BYTES = 1 << 18  # of text: room for a longer one is made anew each time
_scratch = local()

Codes = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]


class _Room(NamedTuple):
    """Arrays that one thread uses again and again."""

    folded: Words  # the text, eight bytes each
    edges: Numbers  # where words begin and end, in turn
    found: Numbers  # buckets that occur, and how often
    often: Numbers
    keys: Words  # words met before, and their hashes
    hashes: Codes


def count_utf8(text: bytes, table: Codes, counts: Numbers, *, ascii_only: bool) -> tuple[Numbers, Numbers] | None:
    """Return the buckets of a text's words, ascending, and how often each occurs; None: it needs the slow way.

    `table` is that of the CRC-32. The buckets are as many as `counts`, a power of two; these are 0 before and after.
    """
    room = _room(len(text))
    n = _count(np.frombuffer(text, dtype=np.uint8), ascii_only, _lower_case(), table, counts, *room)
    return None if n < 0 else (room.found[:n].copy(), room.often[:n].copy())


def _room(size: int) -> _Room:
    room: _Room | None = getattr(_scratch, "room", None)
    if room is None or size > _KEPT_BYTES:
        size = max(size, _KEPT_BYTES)
        folded, edges = np.zeros((size + BYTES) // 8 + 3, dtype=np.uint64), np.empty(size + 2, dtype=np.int32)
        found, count = (np.empty(size // 2 + 2, dtype=np.int32) for _ in range(2))
        keys, hashes = np.zeros(1 << _MEMO_BITS, dtype=np.uint64), np.zeros(1 << _MEMO_BITS, dtype=np.uint32)
        room = _Room(folded, edges, found, count, keys, hashes)
        if size <= _KEPT_BYTES:
            _scratch.room = room
    return room


@cache
def _lower_case() -> Numbers:
    """Return the lower case of each letter and digit, _NO_LETTER for what is none, _OTHERWISE for the slow way."""
    return np.array([_lower(chr(code)) for code in range(_KNOWN_CODES)], dtype=np.int32)


def _lower(char: str) -> int:
    low = char.lower()
    if char in _CONTEXTUAL or len(low.encode()) != len(char.encode()) or len(low) > 1:
        return _OTHERWISE
    return ord(low) if low.isalnum() else _NO_LETTER


@borrowing
def _fold_ascii(text: ByteArray, out: ByteArray) -> None:
    for i in range(len(text)):
        c = text[nth(i)]
        low = c | np.uint8(32)
        letter, digit = np.uint8(low - np.uint8(97)) < 26, np.uint8(c - np.uint8(48)) < 10
        out[nth(i)] = low if letter else (c if digit else np.uint8(0))


@borrowing
def _fold_others(text: ByteArray, lower: Numbers, out: ByteArray) -> bool:
    """Bring letters beyond ASCII to lower case; False where that takes the slow way."""
    i, n = 0, len(text)
    while i < n:
        c = np.int64(text[nth(i)])
        if c < 128:
            i += 1
            continue
        size = 2 if c < 0xE0 else 3
        if c >= 0xF0 or i + size > n:
            return False
        code = (c & 0x1F) << 6 | np.int64(text[nth(i + 1)]) & 0x3F
        if size == 3:
            code = ((c & 0x0F) << 6 | np.int64(text[nth(i + 1)]) & 0x3F) << 6 | np.int64(text[nth(i + 2)]) & 0x3F
        low = np.int64(lower[nth(code)]) if code < _KNOWN_CODES else np.int64(_OTHERWISE)
        if low == _OTHERWISE:
            return False
        if low == _NO_LETTER:
            for k in range(i, i + size):
                out[nth(k)] = 0
        elif size == 2:
            out[nth(i)], out[nth(i + 1)] = 0xC0 | low >> 6, 0x80 | low & 0x3F
        else:
            out[nth(i)], out[nth(i + 1)], out[nth(i + 2)] = 0xE0 | low >> 12, 0x80 | low >> 6 & 0x3F, 0x80 | low & 0x3F
        i += size
    return True


@borrowing
def _find_edges(folded: ByteArray, n: int, edges: Numbers) -> int:
    """Note where words begin and end; the byte after the text is 0. Beyond it there is room for 64 more."""
    k, before = 0, np.uint64(0)
    for i in range(0, n + 1, BYTES):
        letters = nonzero_bytes(folded, i)
        if i + BYTES > n:
            letters &= (np.uint64(1) << np.uint64(n - i)) - np.uint64(1)
        changes = letters ^ ((letters << np.uint64(1)) | before)
        before = letters >> np.uint64(BYTES - 1)
        while changes:
            edges[nth(k)] = i + lowest_bit(changes)
            k += 1
            changes &= changes - np.uint64(1)
    return k


@borrowing
def _hash(folded: ByteArray, start: np.int64, end: np.int64, table: Codes) -> np.uint32:
    value = np.uint32(0xFFFFFFFF)
    for i in range(start, end):
        value = table[(value ^ np.uint32(folded[nth(i)])) & np.uint32(0xFF)] ^ (value >> np.uint32(8))
    return value ^ np.uint32(0xFFFFFFFF)


@kernel
def _count(
    text: ByteArray,
    ascii_only: bool,
    lower: Numbers,
    table: Codes,
    counts: Numbers,
    words: Words,
    edges: Numbers,
    found: Numbers,
    count: Numbers,
    keys: Words,
    hashes: Codes,
) -> int:
    folded, n = words.view(np.uint8), len(text)
    _fold_ascii(text, folded)
    folded[nth(n)] = 0
    if not ascii_only and not _fold_others(text, lower, folded):
        return -1
    different, most = 0, np.uint32(len(counts) - 1)
    for k in range(0, _find_edges(folded, n, edges), 2):
        start, end = np.int64(edges[nth(k)]), np.int64(edges[nth(k + 1)])
        length = end - start
        if length <= _PACKED_BYTES:
            shift = np.uint64((start & 7) * 8)
            word = words[nth(start >> 3)] >> shift
            word |= (words[nth((start >> 3) + 1)] << np.uint64(1)) << (np.uint64(63) - shift)
            word &= ~np.uint64(0) >> np.uint64(64 - 8 * length)
            slot = (word * _SPREAD) >> _SHIFT
            value = hashes[slot]
            if keys[slot] != word:
                value = _hash(folded, start, end, table)
                keys[slot], hashes[slot] = word, value
        else:
            value = _hash(folded, start, end, table)
        bucket = value & most
        found[nth(different)] = bucket
        different += counts[bucket] == 0
        counts[bucket] += 1
    if different < _FEWEST_FOR_DIGITS:
        found[:different] = np.sort(found[:different])
    else:
        _sort_by_digits(found, count, different, most, np.empty(_DIGITS, dtype=np.int64))
    for k in range(different):
        bucket = np.uint32(found[k])
        count[k] = counts[bucket]
        counts[bucket] = 0
    return different


@borrowing
def _sort_by_digits(numbers: Numbers, other: Numbers, size: int, most: np.uint32, begins: Numbers) -> None:
    """Sort numbers up to `most` (radix sort, the lowest digit first), five times as fast as by comparing them."""
    shift = np.uint32(0)
    while (most >> shift) != 0:
        begins[:] = 0
        for k in range(size):
            begins[(np.uint32(numbers[nth(k)]) >> shift) & _LAST_DIGIT] += 1
        before = 0
        for digit in range(_DIGITS):
            before, begins[nth(digit)] = before + begins[nth(digit)], before
        for k in range(size):
            own = (np.uint32(numbers[nth(k)]) >> shift) & _LAST_DIGIT
            other[nth(begins[own])] = numbers[nth(k)]
            begins[own] += 1
        for k in range(size):
            numbers[nth(k)] = other[nth(k)]
        shift += _DIGIT_BITS
