"""Hashing the strings of an Arrow column where they lie, without making a Python object of each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from recrawl.columns import ByteArray, IntArray, TieArray
from recrawl.compiled import kernel


def hash_strings(strings: pa.Array) -> TieArray:
    """Return a 64-bit hash of each string, 0 for a missing or empty one: FNV-1a, scrambled by splitmix64.

    FNV-1a (Fowler, Noll, Vo): h = (h xor byte) * 0x100000001b3 for every byte of the UTF-8 string.
    """
    if pa.types.is_dictionary(strings.type):
        return _of_dictionary(strings)
    wide = strings.cast(pa.large_string())
    _, offsets, content = wide.buffers()
    if offsets is None or content is None:
        return np.zeros(len(wide), dtype=np.uint64)
    ends = np.frombuffer(offsets, dtype=np.int64)[wide.offset : wide.offset + len(wide) + 1]
    return np.asarray(_fnv(ends, np.frombuffer(content, dtype=np.uint8)))


def _of_dictionary(strings: pa.DictionaryArray) -> npt.NDArray[np.uint64]:
    known = np.append(hash_strings(strings.dictionary), np.uint64(0))
    return np.asarray(known[strings.indices.fill_null(len(known) - 1).to_numpy(zero_copy_only=False)])


@kernel
def _fnv(ends: IntArray, content: ByteArray) -> TieArray:
    hashes = np.zeros(len(ends) - 1, dtype=np.uint64)
    for i in range(len(hashes)):
        if ends[i] == ends[i + 1]:
            continue
        h = np.uint64(0xCBF29CE484222325)
        for b in range(ends[i], ends[i + 1]):
            h = (h ^ np.uint64(content[b])) * np.uint64(0x100000001B3)
        h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        hashes[i] = h ^ (h >> np.uint64(31))
    return hashes
