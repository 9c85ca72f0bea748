"""Policies that chase significant or large changes only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recrawl.memory import COUNTED, Memory
from recrawl.policies.catalogue import make_policy
from recrawl.policies.chase import Chase
from recrawl.policy import Setting
from support.handmade_memory import visits


def crawl(spec: str, cycles: int = 4) -> tuple[Memory, Chase]:
    """Four pages, all visited each cycle: 0 changes a lot, 1 a little, 2 now and then a lot, 3 never."""
    memory, policy = Memory(np.arange(4), np.zeros(4, dtype=np.int32)), make_policy(spec, Setting())
    memory.hold_copies(np.arange(4), 0.0)
    assert isinstance(policy, Chase)
    for cycle in range(1, cycles + 1):
        memory.begin_cycle()
        policy.begin(memory, float(cycle))
        seen = visits([0, 1, 2, 3], "cc" + ("c" if cycle == 2 else "u") + "u", cycle)
        size = np.where(seen.changed, [50.0, 3.0, 40.0, 0.0], 0.0)
        seen = replace(seen, change_size=size, significant=size >= 40.0)
        policy.learn(memory, seen)
        memory.record(seen)
    memory.begin_cycle()
    policy.begin(memory, cycles + 1.0)
    return memory, policy


@pytest.mark.parametrize(
    ("spec", "first"),
    [
        ("chase(nad)", [0, 2]),  # 4/4 and 1/4 significant changes
        ("chase(nad, change=large)", [0, 2]),
        ("chase(nad, change=large, words=2)", [0, 1]),
        ("chase(nad, change=large, words=45)", [0]),
    ],
)
def test_small_changes_are_taken_for_none(spec: str, first: list[int]) -> None:
    """Page 1 changes most often but little: chasing what matters, page 2 comes before it."""
    memory, policy = crawl(spec)
    assert sorted(policy.choose(memory, len(first), 5.0).tolist()) == first
    assert memory.changes.tolist() == [4, 4, 1, 0]  # the crawl itself knows of every change


def test_all_changes_matter_where_the_world_cannot_tell() -> None:
    """Without a verdict on significance the policy counts as the crawl does, column by column."""
    memory, policy = Memory(np.arange(3), np.zeros(3, dtype=np.int32)), make_policy("chase(cg)", Setting())
    memory.hold_copies(np.arange(3), 0.0)
    assert isinstance(policy, Chase)
    for cycle, marks in enumerate(("cuc", "ucc", "uuf", "xcg"), start=1):
        memory.begin_cycle()
        policy.begin(memory, float(cycle))
        seen = visits([0, 1, 2], marks, cycle)
        policy.learn(memory, seen)
        memory.record(seen)
    assert policy._own is not None
    for name in COUNTED:
        np.testing.assert_array_equal(getattr(policy._own, name), getattr(memory, name), err_msg=name)
