"""Byte classes for the scans of rotating content: digits, letters, white space, three-letter prefixes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recrawl.columns import ByteArray
from recrawl.compiled import borrowing, nth
from recrawl.hashing import fnv1a

Places = npt.NDArray[np.int32]
Hashes = npt.NDArray[np.uint64]
Triples = npt.NDArray[np.uint32]


def hashes_of(words: str) -> Hashes:
    """Return the sorted hashes of these words."""
    return np.sort(np.array([fnv1a(word) for word in words.split()], dtype=np.uint64))


def triples(words: str) -> Triples:
    """Return a bit table of the three-letter prefixes of these words."""
    table = np.zeros(1 << 10, dtype=np.uint32)
    for word in words.split():
        one, two, three = (ord(letter) & 31 for letter in word[:3])
        table[one << 5 | two] |= np.uint32(1 << three)
    return table


_DAYS_AND_MONTHS = triples("mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec")


@borrowing
def has_triple(table: Triples, line: ByteArray, i: int) -> bool:
    """Whether the three letters at i, small or capital, are in a table."""
    two = (int(line[nth(i)]) & 31) << 5 | int(line[nth(i + 1)]) & 31
    return bool(table[two] >> np.uint32(line[nth(i + 2)] & 31) & np.uint32(1))


@borrowing
def has_hash(hashes: Hashes, value: np.uint64) -> bool:
    """Whether a sorted array holds a hash."""
    place = np.searchsorted(hashes, value)
    return bool(place < len(hashes) and hashes[place] == value)


@borrowing
def is_digit(line: ByteArray, i: int, end: int) -> bool:
    """Whether a digit stands at i, before the end."""
    return i < end and 48 <= line[nth(i)] <= 57


@borrowing
def is_ascii_letter(c: int) -> bool:
    """Whether a byte is an ASCII letter."""
    return 97 <= (c | 32) <= 122


@borrowing
def is_day_or_month(line: ByteArray, i: int, end: int) -> bool:
    """Whether the name of a day or a month can begin here."""
    return i + 3 <= end and has_triple(_DAYS_AND_MONTHS, line, i)


@borrowing
def past_space(line: ByteArray, i: int, end: int) -> int:
    """Skip white space; bytes beyond ASCII may be white space, so they are skipped, too."""
    while i < end and (line[nth(i)] <= 32 or line[nth(i)] >= 128):
        i += 1
    return i


@borrowing
def before_space(line: ByteArray, i: int, start: int) -> int:
    """Skip white space backwards: where what stands before it ends."""
    stop = max(start, i - 24)
    while i > stop and (line[i - 1] <= 32 or line[i - 1] >= 128):
        i -= 1
    return i


@borrowing
def wide_at(line: ByteArray, i: int, end: int) -> tuple[int, int]:
    """Return the code point at i, which is beyond ASCII, and its bytes."""
    c = int(line[nth(i)])
    size = 2 if c < 0xE0 else 3 if c < 0xF0 else 4
    code = c & (0x3F if size == 2 else 0x1F if size == 3 else 0x0F) & (0xFF >> (size + 1))
    for k in range(1, size):
        code = (code << 6) | (int(line[nth(i + k)]) & 0x3F if i + k < end else 0)
    return min(code, 0x10FFFF), size


@borrowing
def put(found: Places, count: int, place: int, start: int) -> int:
    """Append a position, if it is not before the start and there is room; return the new count."""
    if place < start or count == len(found):
        return count
    found[count] = place
    return count + 1
