"""Series that lag behind each other, and which pages' words move together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.columns import FloatArray
from recrawl.errors import InputError
from recrawl.papers.experts.dynamics import dynamics_of
from recrawl.papers.experts.expert_selection import Movement, by_content, by_links
from recrawl.papers.experts.snapshots import Snapshots, bags_of
from recrawl.policies.experts.alignment import best_lag, correlate_all, standardise, warp_all, warp_rows
from reference.expert_search import exhaustive, reached

SERIES = st.lists(st.integers(-4, 4).map(float), min_size=2, max_size=12).map(np.array)


def slow_warp(x: FloatArray, y: FloatArray) -> float:
    """Figure 5 of the paper, with the borders that its recursion needs."""
    table = np.full((len(x) + 1, len(y) + 1), np.inf)
    table[0, 0] = 0.0
    for i in range(len(x)):
        for j in range(len(y)):
            table[i + 1, j + 1] = abs(x[i] - y[j]) + min(table[i, j + 1], table[i + 1, j], table[i, j])
    return float(table[-1, -1])


def warp(x: FloatArray, y: FloatArray) -> float:
    """The distance by the kernel that keeps one row of the table."""
    return float(warp_rows(x, y, np.empty(len(y) + 1)))


def cross_correlation(x: FloatArray, y: FloatArray) -> tuple[float, int]:
    """The best cross-correlation of two series as they are, and its delay of x behind y."""
    a, b = np.empty(len(x)), np.empty(len(y))
    if not (standardise(x, a) and standardise(y, b)):
        return 0.0, 0
    found, delay = best_lag(a, b, 1, len(x))
    return float(found), int(delay)


@given(SERIES, SERIES)
def test_warping_is_the_papers_table(x: FloatArray, y: FloatArray) -> None:
    """Dynamic time warping with one row gives what the whole table gives; it is symmetric, and 0 for equal series."""
    assert warp(x, y) == pytest.approx(slow_warp(x, y))
    assert warp(x, y) == pytest.approx(warp(y, x))
    assert warp(x, x) == 0.0
    assert warp_all(x, np.stack([x, x[::-1]]))[1] == pytest.approx(slow_warp(x, x[::-1]))


@given(SERIES, st.integers(1, 5))
def test_cross_correlation_is_the_papers_formula(x: FloatArray, shift: int) -> None:
    """The best over the delays of sum (x[i] - mean)(y[i-d] - mean) / (N sd sd); a constant correlates with nothing."""
    y = np.roll(x, -shift)
    found, delay = cross_correlation(x, y)
    if np.ptp(x) == 0:
        assert (found, delay) == (0.0, 0)
        return
    n, a, b = len(x), x - x.mean(), y - y.mean()
    scale = n * x.std() * y.std()
    values = [float((a[d:] * b[: n - d]).sum() / scale) for d in range(1, n)]
    assert found == pytest.approx(max(values))
    assert values[delay - 1] == pytest.approx(found)
    assert correlate_all(x, np.stack([y, 0 * y])) == pytest.approx([found, 0.0])


def test_a_leader_is_found_with_its_lag() -> None:
    """A series that does three steps earlier what another does is ahead by three."""
    leader = np.array([0.0, 5, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0])
    follower = np.roll(leader, 3)
    found, delay = cross_correlation(follower, leader)
    assert found == pytest.approx(1.0, abs=0.2)
    assert delay == 3


def test_series_without_points() -> None:
    """Empty and single-point series have no correlation; warping one to an empty series is impossible."""
    none, one = np.empty(0), np.ones(1)
    assert cross_correlation(none, none) == (0.0, 0)
    assert cross_correlation(one, one) == (0.0, 0)
    assert warp(one, none) == np.inf


def moving_pages() -> Snapshots:
    """Page 0 gets and loses `news` at some steps; 1 did so a step before, 2 never moves, 3 moves another word."""
    news = np.array([0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 1])
    series = [np.roll(news, 1), news, np.zeros(12, dtype=int), news]
    words = ["news", "news", "news", "other"]
    texts, version = [], np.zeros((4, 12), dtype=np.int32)
    for page in range(4):
        for count in (0, 1):
            texts.append(f"page{page} is about things " + f"{words[page]} " * (3 * count))
        version[page] = 2 * page + series[page]
    version[0, 0] = 1  # at the last step of interest it has the word, too
    return Snapshots(np.arange(4), 1.0, bags_of(texts), version)


def test_experts_move_the_same_words_earlier() -> None:
    """By cross-correlation and by warping the page whose words move likewise is the expert; others have no score."""
    movement = Movement(dynamics_of(moving_pages(), 0, 11))
    for method in ("cross-correlation", "dtw"):
        choice = movement.nearest(0, 3, method)
        assert choice.experts.tolist() == [1]
        assert 0.5 < choice.weight[0] <= 1.0
        assert exhaustive(movement, 0, 3, method).experts.tolist() == [1]
    assert movement.nearest(2, 3, "dtw").experts.tolist() == []
    with pytest.raises(InputError, match="cross-correlation or dtw"):
        movement.nearest(0, 3, "graph")


@settings(max_examples=30)
@given(st.integers(0, 1000), st.integers(1, 6))
def test_pruning_loses_nothing(seed: int, k: int) -> None:
    """Examining experts in the order of their bound finds exactly the k best, and a cap reports what it may cost."""
    draw = np.random.default_rng(seed)
    texts = [" ".join(f"w{w}" for w in draw.integers(0, 12, draw.integers(0, 30))) for _ in range(60)]
    version = np.sort(draw.integers(0, 60, (20, 9)), axis=1).astype(np.int32)
    movement = Movement(dynamics_of(Snapshots(np.arange(20), 1.0, bags_of(texts), version), 0, 8))
    for method in ("cross-correlation", "dtw"):
        for page in range(20):
            exact, found = exhaustive(movement, page, k, method), movement.nearest(page, k, method)
            assert found.weight == pytest.approx(exact.weight, abs=1e-9)
            capped = movement.nearest(page, k, method, most=2)
            missed = [w for e, w in zip(exact.experts, exact.weight, strict=True) if e not in capped.experts]
            assert all(w <= max(capped.bound, capped.weight.min(initial=1.0)) + 1e-9 for w in missed)


def test_content_and_links() -> None:
    """The nearest by content share rare words; the nearest by links are one step away in either direction."""
    texts = ["cats and dogs play", "dogs and cats sleep", "stock markets fall", ""]
    snapshots = Snapshots(np.arange(4), 1.0, bags_of(texts), np.arange(4, dtype=np.int32)[:, None].repeat(3, axis=1))
    near = by_content(snapshots, 2, 2, np.arange(4))
    assert near[0].experts.tolist() == [1]
    assert near[3].experts.tolist() == []
    links = np.array([0, 2, 3, 1]), np.array([1, 0, 3, -1])
    found = by_links(links, 4, 5, np.arange(4))
    assert [choice.experts.tolist() for choice in found] == [[1, 2], [0], [0], []]
    assert found[0].weight.tolist() == [1.0, 1.0]
    assert reached(near[0], near[0]) == reached(near[3], near[0]) == 1.0
