"""Bags of hashed words, counted fast: the same words and buckets as the `terms` table of a recording.

Words are runs of letters and digits, lower-cased; a word's bucket is the CRC-32 of its UTF-8 bytes modulo 2**18. Two
words in one bucket are counted as one; of a page's thousand words about four meet another's bucket.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from zlib import crc32

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray
from recrawl.compiled import kernel

BUCKETS = 2**18
_WORD = re.compile(r"[^\W_]+")
_SPACE = 32

Codes = npt.NDArray[np.uint32]
Buckets = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Bag:
    """The words of one text: buckets ascending, and how often each occurs."""

    bucket: Buckets
    count: Counts

    @property
    def total(self) -> int:
        """Words of the text in all."""
        return int(self.count.sum())


NO_WORDS = Bag(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32))


def split_words(text: str) -> list[str]:
    """Split a text into lower-case words."""
    return _WORD.findall(text.lower())


@lru_cache(maxsize=200_000)
def bucket_of(word: str) -> int:
    """Return the bucket of one lower-case word (or of several with spaces between)."""
    return crc32(word.encode("utf-8", "replace")) % BUCKETS


def bag_of(text: str, buckets: int = BUCKETS) -> Bag:
    """Count the words of a text; what is no word (marks, spaces, control characters) only divides words.

    Fewer `buckets` (a power of two) hash the words into a smaller space.
    """
    if not text:
        return NO_WORDS
    codes = np.frombuffer(text.lower().encode("utf-32-le", "replace"), dtype=np.uint32)
    return Bag(*_count(codes, letters_and_digits(), _crc_table(), buckets))


@cache
def letters_and_digits() -> BoolArray:
    """Return which code points are letters or digits."""
    return np.array([chr(code).isalnum() for code in range(0x110000)], dtype=np.bool_)


@cache
def _crc_table() -> Codes:
    """The table of the reflected CRC-32 (polynomial 0xEDB88320), as zlib's."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & np.uint32(1), (table >> np.uint32(1)) ^ np.uint32(0xEDB88320), table >> np.uint32(1))
    return table.astype(np.uint32)


@kernel
def _count(codes: Codes, letters: BoolArray, table: Codes, buckets: int) -> tuple[Buckets, Counts]:
    held = np.zeros(buckets, dtype=np.int32)
    used = np.empty(len(codes) // 2 + 1, dtype=np.int32)
    n = 0
    crc, open_word = np.uint32(0xFFFFFFFF), False
    for i in range(len(codes) + 1):
        code = codes[i] if i < len(codes) else np.uint32(_SPACE)
        if letters[code]:
            crc, open_word = _feed(crc, code, table), True
            continue
        if open_word:
            bucket = (crc ^ np.uint32(0xFFFFFFFF)) % np.uint32(buckets)
            if held[bucket] == 0:
                used[n] = bucket
                n += 1
            held[bucket] += 1
            crc, open_word = np.uint32(0xFFFFFFFF), False
    found = np.sort(used[:n])
    return found, held[found]


@kernel
def _feed(crc: np.uint32, code: np.uint32, table: Codes) -> np.uint32:
    """Take in one code point as its UTF-8 bytes."""
    if code < 0x80:
        return _byte(crc, code, table)
    if code < 0x800:
        crc = _byte(crc, np.uint32(0xC0) | (code >> np.uint32(6)), table)
    else:
        if code < 0x10000:
            crc = _byte(crc, np.uint32(0xE0) | (code >> np.uint32(12)), table)
        else:
            crc = _byte(crc, np.uint32(0xF0) | (code >> np.uint32(18)), table)
            crc = _byte(crc, np.uint32(0x80) | ((code >> np.uint32(12)) & np.uint32(0x3F)), table)
        crc = _byte(crc, np.uint32(0x80) | ((code >> np.uint32(6)) & np.uint32(0x3F)), table)
    return _byte(crc, np.uint32(0x80) | (code & np.uint32(0x3F)), table)


@kernel
def _byte(crc: np.uint32, byte: np.uint32, table: Codes) -> np.uint32:
    return table[(crc ^ byte) & np.uint32(0xFF)] ^ (crc >> np.uint32(8))
