"""Hashing the strings of an Arrow column where they lie, without making a Python object of each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from recrawl.columns import ByteArray, IntArray, TieArray
from recrawl.compiled import kernel
from recrawl.hashing import FNV_START, fnv1a_step, scramble

_step, _scrambled = kernel(fnv1a_step), kernel(scramble)


def hash_strings(strings: pa.Array) -> TieArray:
    """Return a 64-bit hash of each string, 0 for a missing or empty one: FNV-1a, scrambled by splitmix64."""
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
        h = FNV_START
        for b in range(ends[i], ends[i + 1]):
            h = _step(h, content[b])
        hashes[i] = _scrambled(h)
    return hashes
