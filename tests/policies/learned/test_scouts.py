"""Scouts: one page speaks for a group that nobody asked; the largest and longest unasked groups come first."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recrawl.columns import BoolArray, PageIds, tie_order
from recrawl.policies.learned.scouts import Scouting, scouts
from recrawl.visits import Outcome, Visits


def visits_of(pages: PageIds, changed: BoolArray) -> Visits:
    """Return visits with these outcomes."""
    none = np.zeros(len(pages), dtype=np.int32)
    outcome = np.where(changed, Outcome.CHANGED, Outcome.UNCHANGED).astype(np.uint8)
    return Visits(pages, np.ones(len(pages)), outcome, none, none, np.zeros(len(pages)), np.empty(0, dtype=np.int64))


def test_the_largest_and_longest_unasked_group_comes_first() -> None:
    """Three pages unasked for 4 cycles (worth 12) go before one unasked for 5; a group that is asked needs no scout."""
    groups = np.array([[0], [0], [0], [1], [2], [2]])
    last = np.array([4, 2, 3, 1, 1, 1])
    quiet = np.array([4.0, 5.0, 5.0])
    tie = np.arange(6, dtype=np.uint64)
    chosen = scouts(np.arange(6), groups, np.array([5]), last, tie, quiet, 5)
    assert chosen.tolist() == [1, 3]  # of the first group the page that has waited longest; none for the third
    assert scouts(np.arange(6), groups, np.array([5]), last, tie, quiet, 1).tolist() == [1]


def test_a_group_that_was_asked_of_late_needs_no_scout() -> None:
    """Asked 3 cycles ago: what is known of a group has not aged yet, however large it is."""
    groups, last, tie = np.zeros((9, 1), dtype=np.int64), np.zeros(9, dtype=np.int64), np.arange(9, dtype=np.uint64)
    nobody = np.empty(0, np.int64)
    assert not len(scouts(np.arange(9), groups, nobody, last, tie, np.array([3.0]), 3))
    assert len(scouts(np.arange(9), groups, nobody, last, tie, np.array([4.0]), 3)) == 1


def test_with_the_power_of_a_half_a_small_group_comes_up_as_well() -> None:
    """Sixteen pages unasked for 5 cycles are worth 80 or, by their root, 20; four pages unasked for 11: 44 or 22."""
    groups, last, tie = np.repeat([0, 1], [16, 4])[:, None], np.zeros(20, np.int64), np.arange(20, dtype=np.uint64)
    nobody, quiet = np.empty(0, np.int64), np.array([5.0, 11.0])
    assert scouts(np.arange(20), groups, nobody, last, tie, quiet, 1).tolist() == [0]
    assert scouts(np.arange(20), groups, nobody, last, tie, quiet, 1, power=0.5).tolist() == [16]


def test_what_exploring_cost_and_brought() -> None:
    """Four scouts, of which page 1 finds a change in a directory where the cycle finds three; the margin is a half."""
    scouting = Scouting(0.05)
    scouting.watch(sent=np.array([0, 1, 2, 3]), marginal=np.array([8, 9]))
    pages = np.array([0, 1, 2, 3, 8, 9])
    scouting.observe(visits_of(pages, np.array([False, True, False, False, True, False])))
    scouting.adapt(np.arange(10), np.where(np.arange(10) == 1, 3.0, 0.0))
    assert str(scouting) == (
        "exploring: 4 visits found 1 changes and led to 2 more, where the last pages by score would have brought 2"
    )
    assert scouting.share == 0.05 * 1.05  # led to 3, more than 2
    assert scouting.due(800, 100) == int(800 * 0.0525 * 0.25)


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(0, 12), st.integers(0, 10))
def test_scouts_are_few_distinct_and_where_nobody_asks(seed: int, size: int, taken: int, count: int) -> None:
    """There are never more than asked for, never a page twice, never in a group of each level that is asked already."""
    rng = np.random.default_rng(seed)
    groups = np.stack([rng.integers(0, 6, size), rng.integers(6, 20, size)], axis=1)
    chosen = rng.permutation(size)[:taken]
    free = np.setdiff1d(np.arange(size), chosen)
    quiet = rng.integers(0, 9, 20).astype(float)
    sent = scouts(free, groups, chosen, rng.integers(0, 9, size), tie_order(np.arange(size), seed), quiet, count)
    assert len(sent) == len(set(sent.tolist())) <= count
    assert np.isin(sent, free).all()
    asked = [set(groups[chosen, level].tolist()) for level in (0, 1)]
    assert all(groups[p, 0] not in asked[0] or groups[p, 1] not in asked[1] for p in sent)
