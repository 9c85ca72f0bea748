"""What the memory says of pages, by hand."""

from __future__ import annotations

import numpy as np

from recrawl.memory import Memory
from support.handmade_memory import remember, visits


def test_held_pages_are_those_with_a_copy_to_compare_with() -> None:
    """A copy at the start or from a first visit is held; one that failed, is gone or was never asked is not."""
    memory = remember("u", ".", "f", "x", "g", "?")
    assert memory.held().tolist() == [True, True, True, False, False, False]
    assert memory.unfetched().tolist() == [False, False, False, True, False, True]


def test_a_page_that_was_gone_at_its_first_visit_was_never_held() -> None:
    """There was nothing to keep a copy of."""
    memory = Memory(np.arange(1), np.zeros(1, dtype=np.int32))
    memory.learn_of(np.array([0]), 0.0)
    memory.begin_cycle()
    memory.record(visits([0], "g", 1.0))
    assert not memory.held().any()
    assert not memory.unfetched().any()


def test_the_day_a_page_was_first_seen_may_be_known_before_the_page() -> None:
    """A live crawl notes when its visits showed a page; otherwise it is the day on which the page became known."""
    memory = Memory(np.arange(2), np.zeros(2, dtype=np.int32))
    memory.first_seen[0] = 1.5
    memory.learn_of(np.array([0, 1]), 2.0)
    assert memory.first_seen.tolist() == [1.5, 2.0]
