"""The words of an address as a unit vector of 64 numbers.

    weight(w) = 1 + ln((1 + N) / (1 + df))        N, df: pages, and pages with the word, among those learnt from
    vector(p) = sum over the words w of p of weight(w) * s(w), scaled to length 1

s(w) is a fixed direction of 64 signs, the bits of a hash of the word: a random projection, in which the cosine of two
pages is about that of their TF-IDF vectors (Achlioptas 2003), and that needs nothing but the address itself.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from recrawl.columns import BoolArray, FloatArray
from recrawl.features.semantic import Vectors, unit
from recrawl.hashing import mix
from recrawl.see.words import split_words

DIMENSIONS = 64


def url_vectors(addresses: Iterable[str], learnt_from: BoolArray) -> Vectors:
    """Return pages x 64; an address without words has the zero vector."""
    indptr, found = [0], list[str]()
    for address in addresses:
        found += dict.fromkeys(split_words(address))
        indptr.append(len(found))
    if not found:
        return np.zeros((len(indptr) - 1, DIMENSIONS), dtype=np.float32)
    words, column = np.unique(np.array(found, dtype=np.str_), return_inverse=True)
    ones = np.ones(len(found), dtype=np.float32)
    held = csr_matrix((ones, column, np.array(indptr)), shape=(len(indptr) - 1, len(words)))
    known = held[np.flatnonzero(learnt_from)]
    frequency = np.bincount(known.indices, minlength=len(words))
    weight: FloatArray = 1.0 + np.log((1.0 + known.shape[0]) / (1.0 + frequency))
    directions = _signs(words) * weight[:, None].astype(np.float32)
    return unit(held @ directions)


def _signs(words: npt.NDArray[np.str_]) -> Vectors:
    """Return words x 64 signs from the bits of a hash."""
    key = mix(np.array([zlib.crc32(word.encode()) for word in words.tolist()], dtype=np.uint64), 0)
    bits = (key[:, None] >> np.arange(DIMENSIONS, dtype=np.uint64)) & np.uint64(1)
    return np.asarray(2.0 * bits - 1.0, dtype=np.float32)
