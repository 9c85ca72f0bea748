"""Related pages: the nearest by cosine."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.errors import InputError
from recrawl.features.related import NONE, Related, recall_of, related
from recrawl.features.semantic import unit

Vectors = npt.NDArray[np.float32]


def cloud(pages: int, dimensions: int, topics: int, seed: int) -> Vectors:
    draw = np.random.default_rng(seed)
    centres = draw.normal(size=(topics, dimensions))
    return unit(centres[draw.integers(0, topics, pages)] + 0.4 * draw.normal(size=(pages, dimensions)))


def by_sorting(vectors: Vectors, k: int) -> Vectors:
    """The similarities of each page's k nearest, by sorting all."""
    products = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    np.fill_diagonal(products, -2.0)
    nearest = np.partition(-products, k - 1, axis=1)[:, :k] if k < len(vectors) else -products
    return np.asarray(-np.sort(nearest, axis=1)[:, :k], dtype=np.float32)


@settings(max_examples=10)
@given(pages=st.integers(2, 60), k=st.integers(1, 10), seed=st.integers(0, 99))
def test_few_pages_are_compared_all_with_all(pages: int, k: int, seed: int) -> None:
    """The neighbours of few pages are the true ones, nearest first, never the page itself, with a recall of 1."""
    vectors = cloud(pages, 5, 3, seed)
    found = related(vectors, k)
    true = min(k, pages - 1)
    assert found.recall == 1.0
    assert found.similarity[:, :true] == pytest.approx(by_sorting(vectors, true), abs=1e-5)
    assert (found.pages[:, true:] == NONE).all()
    assert not (found.pages == np.arange(pages)[:, None]).any()
    rows = np.arange(pages)[:, None]
    told = np.einsum("pkd,pkd->pk", vectors[found.pages[:, :true]], vectors[rows].repeat(true, axis=1))
    assert told == pytest.approx(found.similarity[:, :true], abs=1e-5)


def test_by_hand() -> None:
    """Of four pages the two pairs are each other's nearest."""
    vectors = unit(np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]]))
    assert related(vectors, 1).pages.ravel().tolist() == [1, 0, 3, 2]


def test_many_pages_reach_the_recall_that_was_asked() -> None:
    """By cells most true neighbours are found though few pairs are compared, and the recall that is said is so."""
    vectors = cloud(2_500, 16, 100, 1)
    found = related(vectors, 10, exact=False, recall=0.97)
    assert found.compared < 0.5
    measured = recall_of(found.similarity, by_sorting(vectors, 10))
    assert measured > 0.95
    assert found.recall == pytest.approx(measured, abs=0.03)


def test_threads_do_not_matter() -> None:
    """One thread and three find the same."""
    vectors = cloud(3_000, 12, 40, 2)
    one, three = (related(vectors, 5, exact=False, threads=threads) for threads in (1, 3))
    assert np.array_equal(one.pages, three.pages)
    assert np.array_equal(one.similarity, three.similarity)


@pytest.mark.parametrize("exact", [True, False])
def test_pages_without_text_are_related_to_none(exact: bool) -> None:
    """A page with the zero vector has no related pages, and is on nobody's list."""
    vectors = cloud(500, 8, 10, 3)
    vectors[::7] = 0.0
    found = related(vectors, 5, exact=exact)
    assert (found.pages[::7] == NONE).all()
    assert not np.isin(found.pages, np.arange(0, 500, 7)).any()


@pytest.mark.parametrize("pages", [0, 1, 3])
def test_empty_sets(pages: int) -> None:
    """No page, one page, and pages of which none has text have no related pages."""
    found = related(np.zeros((pages, 4), dtype=np.float32), 3)
    assert found.pages.shape == (pages, 3)
    assert (found.pages == NONE).all()
    if pages == 1:
        assert (related(np.full((1, 4), 0.5, dtype=np.float32), 3).pages == NONE).all()


def test_pages_that_say_the_same() -> None:
    """Equal pages are each other's nearest, with a similarity of 1, also by cells."""
    vectors = np.repeat(cloud(100, 8, 100, 4), 30, axis=0)
    found = related(vectors, 10, exact=False)
    assert found.recall > 0.95
    assert np.median(found.similarity[:, -1]) == pytest.approx(1.0, abs=1e-4)


def test_averages_are_weighted_by_similarity() -> None:
    """A page's mean over its related pages: (0.8 * 10 + 0.2 * 20) / 1 = 12; what is not known is left out."""
    near = Related(
        np.array([[1, 2], [2, NONE], [NONE, NONE]], dtype=np.int32),
        np.array([[0.8, 0.2], [0.5, 0.0], [0.0, 0.0]], dtype=np.float32),
        1.0,
        1.0,
    )
    assert near.average(np.array([0.0, 10.0, 20.0]))[:2] == pytest.approx([12.0, 20.0])
    assert np.isnan(near.average(np.array([0.0, 10.0, 20.0]))[2])
    assert near.average(np.array([0.0, np.nan, 20.0]))[0] == pytest.approx(20.0)
    assert near.average(np.array([[0.0, 1.0], [10.0, 1.0], [20.0, 1.0]]))[0] == pytest.approx([12.0, 1.0])


def test_bad_vectors() -> None:
    """NaN, infinity, and no neighbours are refused in one line."""
    with pytest.raises(InputError, match="NaN or infinity"):
        related(np.array([[np.nan, 1.0]], dtype=np.float32))
    with pytest.raises(InputError, match="at least 1 neighbour"):
        related(np.ones((2, 2), dtype=np.float32), 0)
