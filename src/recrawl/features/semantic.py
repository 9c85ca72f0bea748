"""Semantic vectors of pages, of length 1: TF-IDF and latent semantic analysis of words, or a sentence model.

    tfidf(p, w) = (1 + ln tf) * (1 + ln((1 + N) / (1 + df)))      rows scaled to length 1
    vector(p)   = the first right-singular directions' coordinates of tfidf(p), scaled to length 1 (LSA)

Document frequencies and directions come from the pages that exist when the window opens (`SemanticSpace`); later pages
and later versions are projected on them, so the vector of a version does not depend on the future. `semantic_vectors`
are those of the version at the window's start, or at a later page's birth; `of_texts` those of any version with a text.
Stop words are left out. A page without words has the zero vector, which is similar to none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray
from recrawl.errors import InputError
from recrawl.see.words import bag_of, stop_buckets

if TYPE_CHECKING:
    from recrawl.recording.recording import Recording

Vectors = npt.NDArray[np.float32]

DIMENSIONS = 192
BATCH = 4096  # pages that are projected at a time


class SemanticSpace:
    """The directions of meaning that the words of a recording's first pages span."""

    def __init__(self, recording: Recording, dimensions: int = DIMENSIONS, seed: int = 0) -> None:
        if dimensions < 1:
            raise InputError(f"a semantic vector has at least one dimension, not {dimensions}")
        learnt_from = recording.born <= recording.start
        if not learnt_from.any():
            learnt_from[:] = True
        self.dimensions = dimensions
        self._words, counts = _counts(recording, learnt_from)
        known = counts[np.flatnonzero(learnt_from)]
        self._idf = idf_of(known)
        self._directions = directions_of(weighted(known, self._idf), dimensions, seed)
        self._first = counts

    def first(self) -> Vectors:
        """Vectors of the version at the window's start, or at a later page's birth: unit rows, or zero rows."""
        return self._project(self._first)

    def of_texts(self, texts: Iterable[str]) -> Vectors:
        """Vectors of texts."""
        bags = [bag_of(text or "") for text in texts]
        lengths = [len(bag.bucket) for bag in bags]
        none = np.empty(0, dtype=np.int32)
        bucket = np.concatenate([none, *(bag.bucket for bag in bags)])
        count = np.concatenate([none, *(bag.count for bag in bags)])
        row = np.repeat(np.arange(len(bags)), lengths)
        return self._project(word_matrix(row, bucket, count, self._words, len(bags)))

    def _project(self, counts: Any) -> Vectors:
        weights = weighted(counts.copy(), self._idf)
        vectors = np.zeros((counts.shape[0], self.dimensions), dtype=np.float32)
        if self._directions is None:  # a single page, or a single word: nothing to tell apart
            vectors[:, 0] = np.diff(weights.indptr) > 0
            return vectors
        for first in range(0, len(vectors), BATCH):
            vectors[first : first + BATCH, : self._directions.shape[1]] = (
                weights[first : first + BATCH] @ self._directions
            )
        return unit(vectors)


def sentence_vectors(recording: Recording, model: str, batch: int = 64) -> Vectors:
    """Return unit rows by a sentence-embedding model, of pages whose texts are in the recording; others are zero."""
    try:
        from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        why = "sentence vectors need the package sentence-transformers, which is not installed"
        raise InputError(f"{why}; leave the model out to have vectors from TF-IDF and LSA") from None
    texts = recording.texts()
    visible = np.maximum(recording.born, recording.start)
    first = np.ones(len(texts), dtype=np.bool_)
    first[1:] = texts.page[1:] != texts.page[:-1]
    rows = np.flatnonzero(first & (texts.day <= visible[texts.page] + 1e-6))
    encoder: Any = SentenceTransformer(model)
    found = np.asarray(encoder.encode([str(text) for text in texts.text[rows]], batch_size=batch), dtype=np.float32)
    vectors = np.zeros((len(recording), found.shape[1] if found.ndim == 2 else 1), dtype=np.float32)
    vectors[texts.page[rows]] = found
    return unit(vectors)


def merger(
    vectors: npt.NDArray[np.floating[Any]], size: int = 20, seed: int = 0, sample: int = 20_000
) -> Callable[[npt.NDArray[np.floating[Any]]], Vectors]:
    """Return what merges the dimensions of vectors into `size` groups of those that are similar on these vectors.

    Feature agglomeration (Ward) on a sample of the pages: what goes together is settled by few.
    """
    if vectors.shape[1] <= size:
        return partial(_cut, size=size)
    from sklearn.cluster import FeatureAgglomeration

    rows = np.flatnonzero(np.any(vectors, axis=1))
    if len(rows) > sample:
        rows = np.sort(np.random.default_rng(seed).choice(rows, sample, replace=False))
    if len(rows) < 2:
        return partial(_cut, size=size)
    return partial(_merged, FeatureAgglomeration(n_clusters=size).fit(vectors[rows]))


def _cut(more: npt.NDArray[np.floating[Any]], size: int) -> Vectors:
    return np.asarray(more[:, :size], dtype=np.float32)


def _merged(merge: Any, more: npt.NDArray[np.floating[Any]]) -> Vectors:
    return np.asarray(merge.transform(more), dtype=np.float32)


def unit(vectors: npt.NDArray[Any]) -> Vectors:
    """Scale rows to length 1; rows of zeros stay."""
    length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    return np.asarray(vectors / np.where(length > 0, length, 1.0)[:, None], dtype=np.float32)


def _counts(recording: Recording, learnt_from: BoolArray) -> tuple[IntArray, Any]:
    """Return the words that some page had in the beginning, and pages x words as they are visible, sparse."""
    if not recording.tables.has("terms"):
        none = np.empty(0, dtype=np.int64)
        return none, word_matrix(none, none, none, none, len(recording))
    terms = recording.terms
    rows = np.repeat(np.arange(len(terms)), np.diff(terms.start))
    visible = ~terms.last[rows]
    page, bucket, count = terms.page[rows[visible]], terms.bucket[visible], terms.count[visible]
    words = np.setdiff1d(bucket[learnt_from[page]], stop_buckets())
    return words, word_matrix(page, bucket, count, words, len(recording))


def word_matrix(row: IntArray, bucket: IntArray, count: IntArray, words: IntArray, rows: int) -> Any:
    """Return rows x words; words that are not among these have no column."""
    from scipy.sparse import csr_matrix

    column = np.searchsorted(words, bucket)
    known = words[np.minimum(column, len(words) - 1)] == bucket if len(words) else np.zeros(len(bucket), dtype=np.bool_)
    shape = (rows, max(1, len(words)))
    return csr_matrix((count[known].astype(np.float32), (row[known], column[known])), shape=shape)


def idf_of(known: Any) -> npt.NDArray[np.float32]:
    """Return ln-weights of words, rarer ones higher, from pages x words."""
    frequency = np.bincount(known.indices, minlength=known.shape[1])
    idf: FloatArray = 1.0 + np.log((1.0 + known.shape[0]) / (1.0 + frequency))
    return idf.astype(np.float32)


def weighted(counts: Any, idf: npt.NDArray[np.float32]) -> Any:
    """Return TF-IDF of pages x words, rows of length 1; the counts are overwritten."""
    counts.data = (1.0 + np.log(np.maximum(counts.data, 1.0))) * idf[counts.indices]
    length = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    counts.data /= np.repeat(np.where(length > 0, length, 1.0), np.diff(counts.indptr)).astype(np.float32)
    return counts


def directions_of(known: Any, dimensions: int, seed: int) -> Vectors | None:
    """Return words x directions, the strongest first; None where there is nothing to tell apart."""
    from sklearn.decomposition import TruncatedSVD

    most = min(dimensions, known.shape[0] - 1, known.shape[1] - 1)
    if most < 1:
        return None
    return np.asarray(TruncatedSVD(most, n_iter=4, random_state=seed).fit(known).components_.T, dtype=np.float32)
