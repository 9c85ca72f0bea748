"""Selection: exactly the first k of the full sort, whatever the ties, caps and order of the pages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.columns import BoolArray, FloatArray, PageIds
from recrawl.memory import Memory
from recrawl.policies.selection import _kth, _ordered_bits, first_k, top_k

SCORES = st.lists(
    st.one_of(st.sampled_from([0.0, -0.0, 0.5, 1.0, np.inf, -np.inf, np.nan]), st.floats(-10, 10)), max_size=40
)


def memory_of(keys: PageIds, site: PageIds, cap: int = 0, seed: int = 0) -> Memory:
    memory = Memory(keys, site, seed=seed)
    memory.hold_copies(np.arange(len(keys)), 0.0)
    memory.begin_cycle(cap)
    return memory


def sorted_out(scores: FloatArray, memory: Memory, k: int, ahead: BoolArray, cap: int) -> list[int]:
    """Sort all pages by (ahead, score, tie) and take those whose site has room: the definition."""
    weight = np.ones(len(scores)) if memory.importance is None else memory.importance
    value = np.where(ahead, weight, np.where(np.isnan(scores), -np.inf, scores))
    order = np.lexsort((memory.tie, -value, ~ahead))
    taken: list[int] = []
    count: dict[int, int] = {}
    for page in order[memory.eligible()[order]]:
        site = int(memory.site[page])
        if len(taken) < k and (not cap or count.get(site, 0) < cap):
            count[site] = count.get(site, 0) + 1
            taken.append(int(page))
    return taken


@given(SCORES, st.data())
def test_top_k_is_the_full_sort(values: list[float], data: st.DataObject) -> None:
    """top_k returns the first k of sorting everything by score and tie, within caps, in order."""
    size = len(values)
    scores = np.array(values, dtype=np.float64)
    cap = data.draw(st.integers(0, 4))
    site = np.array(data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)), dtype=np.int64)
    memory = memory_of(np.arange(size), site, cap, seed=data.draw(st.integers(0, 9)))
    memory.gone[data.draw(st.lists(st.integers(0, size - 1), max_size=5)) if size else []] = True
    if data.draw(st.booleans()):
        memory.importance = np.arange(size, dtype=np.float64) % 3
    ahead = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), dtype=np.bool_)
    k = data.draw(st.integers(0, size + 2))
    assert top_k(scores, memory, k, ahead=ahead).tolist() == sorted_out(scores, memory, k, ahead, cap)
    assert top_k(scores, memory, k).tolist() == sorted_out(scores, memory, k, np.zeros(size, dtype=np.bool_), cap)


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=1, max_size=30), st.integers(0, 2**32), st.data())
def test_the_order_of_the_pages_does_not_matter(values: list[float], seed: int, data: st.DataObject) -> None:
    """The same pages are chosen in the same order when a file lists them in another order."""
    size = len(values)
    keys, site, scores = np.arange(size) * 7 + 3, np.arange(size) % 4, np.array(values)
    order = np.array(data.draw(st.permutations(range(size))))
    k, cap = data.draw(st.integers(1, size)), data.draw(st.integers(0, 3))
    chosen = keys[top_k(scores, memory_of(keys, site, cap, seed), k)]
    permuted = memory_of(keys[order], site[order], cap, seed)
    assert keys[order][top_k(scores[order], permuted, k)].tolist() == chosen.tolist()


def test_keys_decide_in_turn() -> None:
    """The first key decides, equals go by the second, and the tie comes last."""
    memory = memory_of(np.arange(6), np.zeros(6, dtype=np.int64))
    first, second = np.array([1, 0, 1, 0, 0, 1], dtype=np.uint8), np.array([5.0, 2.0, 4.0, 2.0, 1.0, 4.0])
    by_tie = sorted([1, 3], key=lambda page: memory.tie[page])
    expected = [4, *by_tie, *sorted([2, 5], key=lambda page: memory.tie[page]), 0]
    for k in range(7):
        assert first_k([first, second], memory, k).tolist() == expected[:k]
    among = np.array([True, True, True, False, False, False])
    assert first_k([first, second], memory, 6, among=among).tolist() == [1, 2, 0]


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=50), st.data())
def test_ordered_bits_keep_the_order(values: list[float], data: st.DataObject) -> None:
    """The k-th smallest found digit by digit is that of the sorted numbers, infinities and signed zeros included."""
    numbers = np.array(values)
    k = data.draw(st.integers(0, len(values) - 1))
    bits = _ordered_bits(numbers)
    assert numbers[bits == _kth(bits, k)][0] == np.sort(numbers)[k]


@pytest.mark.parametrize("scores", [np.zeros(5000), np.arange(5000.0), np.arange(5000.0) % 7 - 3])
def test_many_pages(scores: Any) -> None:
    """Thousands of equal, distinct or repeated scores are cut exactly, also where a cap forces a long look."""
    memory = memory_of(np.arange(5000), np.arange(5000) // 2500)
    none = np.zeros(5000, dtype=np.bool_)
    assert top_k(scores, memory, 321).tolist() == sorted_out(scores, memory, 321, none, 0)
    memory.begin_cycle(3)
    assert top_k(scores, memory, 5).tolist() == sorted_out(scores, memory, 5, none, 3)
