"""Repeated bisection and the number of clusters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from recrawl.errors import InputError
from recrawl.features.bisection import Tree, bisect, criterion, nearest
from recrawl.papers.clusters.elbow import cross_validate, elbow


def blobs(groups: int, each: int, seed: int = 0) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Rows around orthogonal directions."""
    draw = np.random.default_rng(seed)
    return np.repeat(np.eye(groups), each, axis=0) + draw.normal(0, 0.05, (groups * each, groups))


def test_the_criterion_is_the_sum_of_cosines() -> None:
    """I2 of Tan et al. eq. 3 by hand: two rows at right angles in one cluster have cosine 1/sqrt(2) with its centre."""
    rows = np.array([[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0]])
    assert criterion(rows, np.array([0, 0, 1])) == pytest.approx(2 / np.sqrt(2) + 1)
    assert criterion(rows, np.array([0, 1, 2])) == pytest.approx(3)
    found = bisect(rows, 2)
    assert found.value == pytest.approx(1 + 2 / np.sqrt(2))
    assert found.sizes().tolist() == [2, 1]


def test_groups_that_lie_apart_are_found() -> None:
    """Rows around k directions make k clusters, whatever their sizes, and the largest is number 0."""
    rows = np.concatenate([blobs(6, 30), blobs(6, 50)[:50]])
    found = bisect(rows, 6, seed=3)
    assert found.sizes()[0] == 80
    truth = np.concatenate([np.repeat(np.arange(6), 30), np.zeros(50, dtype=int)])
    assert all(len(set(truth[found.label == cluster].tolist())) == 1 for cluster in range(6))


def test_fewer_pages_than_clusters() -> None:
    """Each row is its own cluster, and there are no empty ones."""
    found = bisect(np.eye(3), 10)
    assert sorted(found.label.tolist()) == [0, 1, 2]
    assert len(found) == 3


def test_pages_that_are_alike_are_one_cluster() -> None:
    """Constant features cannot be cut: one cluster, not one and an empty one."""
    assert len(bisect(np.ones((50, 4)), 8)) == 1
    assert len(bisect(np.zeros((50, 4)), 8)) == 1
    assert len(bisect(np.repeat(np.eye(2), 20, axis=0), 8)) == 2


def test_a_clustering_that_is_kept_is_of_these_very_rows() -> None:
    """The same rows give the same clusters again; other rows, numbers or seeds never those of the rows before."""
    rows = np.random.default_rng(4).normal(size=(60, 5)).astype(np.float32)
    first, again = bisect(rows, 4, seed=1), bisect(rows.copy(), 4, seed=1)
    assert (first.label.tolist(), first.value) == (again.label.tolist(), again.value)
    assert len(bisect(rows, 5, seed=1)) == 5
    moved = rows.copy()
    moved[:30] = -moved[:30]
    made = Tree(moved, 1)
    assert len(list(made.cuts(4))) == 3
    assert bisect(moved, 4, seed=1).label.tolist() == made.clusters().label.tolist() != first.label.tolist()


def test_nothing_to_cluster_is_said() -> None:
    """No rows, no clusters, no number: an input error each."""
    for rows, k in ((np.empty((0, 3)), 2), (np.eye(2), 0), (np.array([[np.nan, 1.0]]), 1)):
        with pytest.raises(InputError):
            bisect(rows, k)


@settings(max_examples=40)
@given(
    rows=hnp.arrays(np.float64, st.tuples(st.integers(1, 40), st.integers(1, 5)), elements=st.floats(-1, 1, width=16)),
    k=st.integers(1, 12),
    refine=st.integers(0, 2),
)
def test_every_row_has_a_cluster_and_none_is_empty(
    rows: np.ndarray[tuple[int, int], np.dtype[np.float64]], k: int, refine: int
) -> None:
    """Clusters cover the rows, are not empty, have the value that the criterion gives, and come again by the seed."""
    found = bisect(rows, k, seed=1, refine=refine)
    assert 1 <= len(found) <= k
    assert found.sizes().min() >= 1
    assert np.all(np.diff(found.sizes()) <= 0)
    assert found.value == pytest.approx(criterion(rows, found.label), abs=1e-3)
    assert np.array_equal(bisect(rows, k, seed=1, refine=refine).label, found.label)


def test_each_cut_makes_the_criterion_larger() -> None:
    """The tree's criterion rises with every cut, and cutting in steps is cutting at once."""
    rows = np.random.default_rng(4).gamma(0.5, 1.0, (400, 8))
    tree = Tree(rows, seed=2)
    values = [value for k in (3, 10, 25) for value in tree.cuts(k)]
    assert np.all(np.diff(values) > 0)
    assert np.array_equal(tree.clusters().label, bisect(rows, 25, seed=2).label)


def test_better_than_scikit_learn() -> None:
    """On the same unit vectors the criterion is not below that of BisectingKMeans."""
    from sklearn.cluster import BisectingKMeans

    draw = np.random.default_rng(5)
    share = 1.0 / np.arange(1, 251)  # 250 groups of Zipf sizes, a third of the columns are flags
    group = draw.choice(250, 3_000, p=share / share.sum())
    rows = draw.gamma(0.5, 1.0, (250, 48))[group] + draw.gamma(0.7, 0.25, (3_000, 48))
    rows[:, :16] = rows[:, :16] > 0.8
    rows = (rows / np.linalg.norm(rows, axis=1)[:, None]).astype(np.float32)
    theirs = BisectingKMeans(30, random_state=0).fit_predict(rows).astype(np.int64)
    assert bisect(rows, 30).value >= criterion(rows, theirs)


def test_new_pages_go_to_the_nearest_centre() -> None:
    """`nearest` gives the centre with the largest cosine; a row of zeros goes to the largest cluster."""
    centres = np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    label, cosine = nearest(np.array([[3.0, 1.0], [0.0, 0.5], [0.0, 0.0]]), centres)
    assert label.tolist() == [0, 1, 0]
    assert cosine == pytest.approx([3 / np.sqrt(10), 1.0, 0.0], abs=1e-6)


def test_the_elbow_by_hand() -> None:
    """The farthest point above the chord of 0, .8, .9, 1 is the second; a flat curve has its elbow at the start."""
    assert elbow(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 0.8, 0.9, 1.0])) == 1
    assert elbow(np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.5, 0.5])) == 0


def test_the_number_of_clusters_is_found() -> None:
    """With seven directions the cross-validated curve levels off at seven clusters."""
    found = cross_validate(blobs(7, 40), range(1, 21), folds=4)
    assert found.best == 7
    assert found.scores.shape == (4, 20)


def test_cross_validation_of_too_few_pages_is_said() -> None:
    """Fewer pages than folds is an input error; numbers above the pages are left out."""
    with pytest.raises(InputError):
        cross_validate(np.eye(3), folds=10)
    assert max(cross_validate(blobs(2, 6), (2, 5, 100), folds=3).numbers) == 5
