"""PageBags of hashed words, counted fast: the same words and buckets as the `terms` table of a recording.

Words are runs of letters and digits, lower-cased; a word's bucket is the CRC-32 of its UTF-8 bytes modulo 2**18. Two
words in one bucket are counted as one; of a page's thousand words about four meet another's bucket.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from threading import local
from zlib import crc32

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, ByteArray
from recrawl.compiled import kernel
from recrawl.see.counted_words import count_utf8

BUCKETS = 2**18
_WORD = re.compile(r"[^\W_]+")
_SPACE = 32
_scratch = local()

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


class PackedBag(Bag):
    """A bag that is unpacked when its words are asked for."""

    packed: bytes

    def __init__(self, packed: bytes) -> None:
        object.__setattr__(self, "packed", packed)

    def __getattr__(self, name: str) -> npt.NDArray[np.int32]:
        if name not in ("bucket", "count"):
            raise AttributeError(name)
        for part, values in zip(("bucket", "count"), _unpack(np.frombuffer(self.packed, dtype=np.uint8)), strict=True):
            object.__setattr__(self, part, values)
        found: npt.NDArray[np.int32] = self.__dict__[name]
        return found


NO_WORDS = Bag(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32))


def split_words(text: str) -> list[str]:
    """Split a text into lower-case words."""
    return _WORD.findall(text.lower())


STOP_WORDS = (  # noqa: SIM905, as one text it can be read
    "a about above after again against all also am an and any are as at be because been before being below "
    "between both but by can could did do does doing down during each few for from further had has have having he "
    "her here hers herself him himself his how i if in into is it its itself just me more most my myself no nor not "
    "now of off on once only or other our ours ourselves out over own same she should so some such than that the "
    "their theirs them themselves then there these they this those through to too under until up very was we "
    "were what when where which while who whom why will with would you your yours yourself yourselves s t d ll m re ve"
).split()


@cache
def stop_buckets() -> Buckets:
    """Return the buckets of English stop words, ascending."""
    return np.unique(np.array([bucket_of(word) for word in STOP_WORDS], dtype=np.int32))


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
    quickly = count_utf8(text.encode("utf-8", "replace"), _crc_table(), _blank(buckets), ascii_only=text.isascii())
    if quickly is not None:
        return Bag(*quickly)
    codes = np.frombuffer(text.lower().encode("utf-32-le", "replace"), dtype=np.uint32)
    return Bag(*_count(codes, letters_and_digits(), _crc_table(), _blank(buckets)))


def _blank(buckets: int) -> Counts:
    """Return an array of zeros to count in, one per thread; `_count` resets it."""
    arrays: dict[int, Counts] = _scratch.__dict__.setdefault("arrays", {})
    if buckets not in arrays:
        arrays[buckets] = np.zeros(buckets, dtype=np.int32)
    return arrays[buckets]


def pack_bag(bag: Bag) -> bytes:
    """Return a bag in few bytes, about two per distinct word."""
    if isinstance(bag, PackedBag):
        return bag.packed
    return bytes(_pack(bag.bucket, bag.count))


def unpack_bag(packed: bytes) -> Bag:
    """Return the bag that was packed."""
    return Bag(*_unpack(np.frombuffer(packed, dtype=np.uint8)))


@cache
def letters_and_digits() -> BoolArray:
    """Return which code points are letters or digits."""
    every = np.arange(0x110000, dtype="<u4").view("<U1")
    return np.asarray(np.strings.isalnum(every))


@cache
def _crc_table() -> Codes:
    """The table of the reflected CRC-32 (polynomial 0xEDB88320), as zlib's."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & np.uint32(1), (table >> np.uint32(1)) ^ np.uint32(0xEDB88320), table >> np.uint32(1))
    return table.astype(np.uint32)


@kernel
def _count(codes: Codes, letters: BoolArray, table: Codes, counts: Counts) -> tuple[Buckets, Counts]:
    used = np.empty(len(codes) // 2 + 1, dtype=np.int32)
    n = 0
    crc, open_word = np.uint32(0xFFFFFFFF), False
    for i in range(len(codes) + 1):
        code = np.uint32(codes[i]) if i < len(codes) else np.uint32(_SPACE)
        if letters[code]:
            crc, open_word = _feed(crc, code, table), True
            continue
        if open_word:
            bucket = (crc ^ np.uint32(0xFFFFFFFF)) % np.uint32(len(counts))
            if counts[bucket] == 0:
                used[n] = bucket
                n += 1
            counts[bucket] += 1
            crc, open_word = np.uint32(0xFFFFFFFF), False
    found = np.sort(used[:n])
    count = counts[found]
    counts[found] = 0
    return found, count


@kernel
def _feed(crc: np.uint32, code: np.uint32, table: Codes) -> np.uint32:
    """Update the CRC with one code point's UTF-8 bytes."""
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


@kernel
def _pack(bucket: Buckets, count: Counts) -> ByteArray:
    """Write the step to each bucket, doubled, and 1 more where a count above 1 follows; seven bits per byte."""
    out = np.empty(10 * len(bucket), dtype=np.uint8)
    n, before = 0, 0
    for i in range(len(bucket)):
        n = _put(out, n, (bucket[i] - before) * 2 + (1 if count[i] > 1 else 0))
        if count[i] > 1:
            n = _put(out, n, count[i])
        before = bucket[i]
    return out[:n]


@kernel
def _put(out: ByteArray, n: int, value: int) -> int:
    while value >= 128:
        out[n] = 128 | (value & 127)
        value >>= 7
        n += 1
    out[n] = value
    return n + 1


@kernel
def _unpack(packed: ByteArray) -> tuple[Buckets, Counts]:
    bucket, count = np.empty(len(packed), dtype=np.int32), np.ones(len(packed), dtype=np.int32)
    n, i, before = 0, 0, 0
    while i < len(packed):
        step, i = _get(packed, i)
        before += step >> 1
        bucket[n] = before
        if step & 1:
            count[n], i = _get(packed, i)
        n += 1
    return bucket[:n].copy(), count[:n].copy()


@kernel
def _get(packed: ByteArray, i: int) -> tuple[int, int]:
    value, shift = 0, 0
    while i < len(packed):
        byte = int(packed[i])
        value |= (byte & 127) << shift
        shift += 7
        i += 1
        if byte < 128:
            break
    return value, i
