"""Which pages help to predict a page: by words that move together, by content and by links."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.errors import InputError
from recrawl.papers.experts.dynamics import dynamics_of
from recrawl.papers.experts.expert_selection import LEAST, Movement, by_content, by_links
from recrawl.papers.experts.snapshots import Snapshots, bags_of
from reference.expert_search import exhaustive, reached


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


def test_warping_keeps_the_nearest_whatever_the_sign() -> None:
    """A page whose word goes when the other's comes is farther than a constant, and still the nearest by warping."""
    texts = [f"page{page} is about things " + "news " * (3 * count) for page in (0, 1) for count in (0, 1)]
    version = np.array([[0] * 6 + [1] * 6, [3] * 6 + [2] * 6], dtype=np.int32)
    movement = Movement(dynamics_of(Snapshots(np.arange(2), 1.0, bags_of(texts), version), 0, 11))
    choice = movement.nearest(0, 3, "dtw")
    assert (choice.experts.tolist(), choice.weight.tolist()) == ([1], [LEAST])


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
