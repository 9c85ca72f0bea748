"""URL words as a random projection to 64 dimensions, and word vectors of any kind as ten cluster ranks.

    weight(w) = 1 + ln((1 + N) / (1 + df))        N, df: pages, and pages with the word, among those learnt from
    vector(p) = sum over the words w of p of weight(w) * s(w), scaled to length 1

s(w) is a fixed direction of 64 signs, the bits of a hash of the word: a random projection, in which the cosine of two
pages is about that of their TF-IDF vectors (Achlioptas 2003), and that needs nothing but the URL itself.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from recrawl.columns import FloatArray, IntArray, PageIds, grown
from recrawl.features.bisection import Vectors, bisect, nearest
from recrawl.features.semantic import unit
from recrawl.hashing import mix
from recrawl.see.words import split_words

DIMENSIONS = 64
MOST_KEPT = 300_000


class AddressWords:
    """The words of some addresses and how rare they are there; gives the vectors of any addresses."""

    def __init__(self, learnt_from: Iterable[str]) -> None:
        counts, words = _counted(learnt_from)
        self._pages = counts.shape[0]
        self._frequency = dict(zip(words, np.bincount(counts.indices, minlength=len(words)).tolist(), strict=True))

    def vectors(self, addresses: Iterable[str]) -> Vectors:
        """Return pages x 64; an address without words has the zero vector."""
        counts, words = _counted(addresses)
        if not words:
            return np.zeros((counts.shape[0], DIMENSIONS), dtype=np.float32)
        frequency = np.array([self._frequency.get(word, 0) for word in words])
        weight: FloatArray = 1.0 + np.log((1.0 + self._pages) / (1.0 + frequency))
        return unit(counts @ (_signs(words) * weight[:, None].astype(np.float32)))


def learn_addresses(addresses: list[str]) -> tuple[AddressWords, Vectors]:
    """Return the words of these addresses, and their vectors.

    The last are kept, as crawls that are compared begin with the same. Those of more than MOST_KEPT addresses are
    not: they would cost more memory than their time is worth.
    """
    if _kept and _kept[0][0] == addresses:
        return _kept[0][1:]
    words = AddressWords(addresses)
    vectors = words.vectors(addresses)
    _kept[:] = [(addresses, words, vectors)] if len(addresses) <= MOST_KEPT else []
    return words, vectors


_kept: list[tuple[list[str], AddressWords, Vectors]] = []


def _counted(addresses: Iterable[str]) -> tuple[Any, list[str]]:
    """Return pages x words, sparse, and the words; a word counts once per address."""
    from scipy.sparse import csr_matrix

    indptr, column, number = [0], list[int](), dict[str, int]()
    for address in addresses:
        column += [number.setdefault(word, len(number)) for word in dict.fromkeys(split_words(address))]
        indptr.append(len(column))
    ones = np.ones(len(column), dtype=np.float32)
    return csr_matrix((ones, column, indptr), shape=(len(indptr) - 1, len(number))), list(number)


def _signs(words: Sequence[str]) -> Vectors:
    """Return words x 64 signs from the bits of a hash."""
    key = mix(np.array([zlib.crc32(word.encode()) for word in words], dtype=np.uint64), 0)
    bits = (key[:, None] >> np.arange(DIMENSIONS, dtype=np.uint64)) & np.uint64(1)
    return np.asarray(2.0 * bits - 1.0, dtype=np.float32)


LARGEST = 10


class WordRanks:
    """Word vectors as ten numbers: how near a page's word cluster is to each of the ten largest.

    The first pages are clustered by their words; later pages join the nearest. Feature f of a page in
    cluster C is 0 if C is the f-th largest cluster, 1 if no other cluster is nearer to that one than C, 2 if one is,
    and so on (Tan et al. 2007, section 3.1), so that hundreds of words do not dominate the other features. Ranks are
    divided by the largest one.
    """

    def __init__(self, vectors: Vectors, learnt_from: PageIds, clusters: int, seed: int) -> None:
        found = bisect(vectors[learnt_from], clusters, seed=seed)
        self.centres = found.centres
        self.label: IntArray = np.full(len(vectors), -1, dtype=np.int64)
        self.label[learnt_from] = found.label
        self.ranks = cluster_ranks(found.centres)

    def describe(self, vectors: Vectors, pages: PageIds, *, anew: bool = False) -> FloatArray:
        """Return pages x 10, from 0 to 1; `anew` for vectors that may have changed since."""
        self.label = grown(self.label, len(vectors), -1)
        new = pages if anew else pages[self.label[pages] < 0]
        if len(new):
            self.label[new], _ = nearest(vectors[new], self.centres)
        return self.ranks[self.label[pages]]


def cluster_ranks(centres: Vectors) -> FloatArray:
    """Return clusters x 10: the rank of each cluster by its distance from each of the ten largest, from 0 to 1."""
    ranks = np.zeros((len(centres), LARGEST))
    near = np.asarray(centres @ centres.T, dtype=np.float64)
    for f in range(min(LARGEST, len(centres))):
        near[f, f] = np.inf  # itself, whatever the rounding
        ranks[np.argsort(-near[f], kind="stable"), f] = np.arange(len(centres))
    return ranks / max(len(centres) - 1, 1)
