"""Semantic vectors of pages, of length 1: TF-IDF and latent semantic analysis of words, or a sentence model.

    tfidf(p, w) = (1 + ln tf) * (1 + ln((1 + N) / (1 + df)))      rows scaled to length 1
    vector(p)   = the first right-singular directions' coordinates of tfidf(p), scaled to length 1 (LSA)

Only what is visible is used: the words of the version at the window's start, or at a later page's birth. Document
frequencies and directions come from the pages that exist when the window opens, later pages are projected on them, so
the vector of a page does not depend on the future. A page without words has the zero vector, which is similar to none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from recrawl.columns import BoolArray, FloatArray
from recrawl.errors import InputError
from recrawl.recording.recording import Recording

Vectors = npt.NDArray[np.float32]

DIMENSIONS = 192
BATCH = 4096  # pages that are projected at a time


def semantic_vectors(recording: Recording, dimensions: int = DIMENSIONS, seed: int = 0) -> Vectors:
    """Return pages x dimensions: unit rows, zero rows for pages without words.

    Where the words of the pages have fewer directions than `dimensions`, the others are zero.
    """
    if dimensions < 1:
        raise InputError(f"a semantic vector has at least one dimension, not {dimensions}")
    learnt_from = recording.born <= recording.start
    if not learnt_from.any():
        learnt_from[:] = True
    return _project(_tfidf(_counts(recording, learnt_from), learnt_from), learnt_from, dimensions, seed)


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


def reduced(vectors: npt.NDArray[np.floating[Any]], size: int = 20, seed: int = 0, sample: int = 20_000) -> Vectors:
    """Return the vectors with their dimensions merged into `size` groups of similar ones, each the group's mean.

    Feature agglomeration (Ward) on a sample of the pages: what goes together is settled by few.
    """
    if vectors.shape[1] <= size:
        return np.asarray(vectors, dtype=np.float32)
    from sklearn.cluster import FeatureAgglomeration

    rows = np.flatnonzero(np.any(vectors, axis=1))
    if len(rows) > sample:
        rows = np.sort(np.random.default_rng(seed).choice(rows, sample, replace=False))
    if len(rows) < 2:
        return np.asarray(vectors[:, :size], dtype=np.float32)
    merge = FeatureAgglomeration(n_clusters=size).fit(vectors[rows])
    return np.asarray(merge.transform(vectors), dtype=np.float32)


def unit(vectors: npt.NDArray[Any]) -> Vectors:
    """Scale rows to length 1; rows of zeros stay."""
    length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    return np.asarray(vectors / np.where(length > 0, length, 1.0)[:, None], dtype=np.float32)


def _counts(recording: Recording, learnt_from: BoolArray) -> Any:
    """Return pages x words as they are visible, sparse; a word that no page had in the beginning has no direction."""
    if not recording.tables.has("terms"):
        return csr_matrix((len(recording), 1), dtype=np.float32)
    terms = recording.terms
    rows = np.repeat(np.arange(len(terms)), np.diff(terms.start))
    visible = ~terms.last[rows]
    page, bucket, count = terms.page[rows[visible]], terms.bucket[visible], terms.count[visible]
    words = np.unique(bucket[learnt_from[page]])
    column = np.searchsorted(words, bucket)
    known = words[np.minimum(column, len(words) - 1)] == bucket if len(words) else np.zeros(len(bucket), dtype=np.bool_)
    shape = (len(recording), max(1, len(words)))
    return csr_matrix((count[known].astype(np.float32), (page[known], column[known])), shape=shape)


def _tfidf(counts: Any, learnt_from: BoolArray) -> Any:
    known = counts[np.flatnonzero(learnt_from)]
    frequency = np.bincount(known.indices, minlength=counts.shape[1])
    idf: FloatArray = 1.0 + np.log((1.0 + known.shape[0]) / (1.0 + frequency))
    counts.data = (1.0 + np.log(np.maximum(counts.data, 1.0))) * idf.astype(np.float32)[counts.indices]
    length = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    counts.data /= np.repeat(np.where(length > 0, length, 1.0), np.diff(counts.indptr)).astype(np.float32)
    return counts


def _project(weights: Any, learnt_from: BoolArray, dimensions: int, seed: int) -> Vectors:
    from sklearn.decomposition import TruncatedSVD

    known = weights[np.flatnonzero(learnt_from)]
    vectors = np.zeros((weights.shape[0], dimensions), dtype=np.float32)
    most = min(dimensions, known.shape[0] - 1, known.shape[1] - 1)
    if most < 1:  # a single page, or a single word: nothing to tell apart
        vectors[:, 0] = np.diff(weights.indptr) > 0
        return vectors
    directions = TruncatedSVD(most, n_iter=4, random_state=seed).fit(known).components_.T.astype(np.float32)
    for first in range(0, len(vectors), BATCH):
        vectors[first : first + BATCH, :most] = weights[first : first + BATCH] @ directions
    return unit(vectors)
