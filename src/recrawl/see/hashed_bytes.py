"""A hash of bytes for tables in memory, eight bytes at a time (multiply and fold, as wyhash does)."""

from __future__ import annotations

import numpy as np

from recrawl.columns import ByteArray
from recrawl.compiled import borrowing, nth
from recrawl.see.byte_masks import eight_bytes

_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / the golden ratio
_HALF = np.uint64(32)


@borrowing
def hash_of(source: ByteArray, start: int, end: int, seed: np.uint64) -> np.uint64:
    """Return a hash of these bytes; with a seed that nobody knows, nobody can write texts that collide."""
    value = (seed ^ np.uint64(end - start)) * _FACTOR
    i = start
    while i + 8 <= end:
        value = (value ^ eight_bytes(source, i)) * _FACTOR
        value ^= value >> _HALF
        i += 8
    if i < end:
        value = (value ^ _last_bytes(source, start, i, end)) * _FACTOR
        value ^= value >> _HALF
    return value


@borrowing
def _last_bytes(source: ByteArray, start: int, i: int, end: int) -> np.uint64:
    """Return the bytes from `i` to the end, or all of the last eight; none beyond the end is read."""
    if end - start >= 8:
        return eight_bytes(source, end - 8)
    word = np.uint64(0)
    while i < end:
        word = (word << np.uint64(8)) | np.uint64(source[nth(i)])
        i += 1
    return word


@borrowing
def are_same(one: ByteArray, a: int, a_end: int, other: ByteArray, b: int, b_end: int) -> bool:
    """Whether bytes of one array are those of another."""
    if a_end - a != b_end - b:
        return False
    while a + 8 <= a_end:
        if eight_bytes(one, a) != eight_bytes(other, b):
            return False
        a += 8
        b += 8
    while a < a_end:
        if one[nth(a)] != other[nth(b)]:
            return False
        a += 1
        b += 1
    return True
