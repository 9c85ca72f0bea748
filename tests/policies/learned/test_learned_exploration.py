"""Exploration and the floor of sites: visits are bought where knowing pays, and no site is left without its share."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.columns import FloatArray, tie_order
from recrawl.policies.learned.evidence import Evidence
from recrawl.policies.learned.exploration import HORIZON, Exploration, Known, gains
from recrawl.policies.learned.floor import WINDOW, claim, owed
from recrawl.policies.learned.places import LEVELS

NOBODY = np.empty(0, dtype=np.int64)


def one(awake: float, stale: float, size: float, margin: float) -> tuple[float, int]:
    """Return the net gain and the visits of one group, of which a share is stale if it is awake at the usual pace."""
    still = np.array([math.log1p(-stale) if stale < 1.0 else -1e4])
    gain, count = gains(np.array([awake]), still, np.zeros(1), np.array([size]), margin)
    return float(gain[0]), int(count[0])


def test_the_gain_of_one_visit_by_hand() -> None:
    """Where all of an awake group is stale and the margin .5, one visit tells, and each page then gains .5.

    The chance of being awake is .2: .2 (1 - .2) HORIZON 10 (.5) - .5; for one page that would be less than it costs.
    """
    gain, count = one(0.2, 1.0, 10.0, 0.5)
    assert count == 1
    assert gain == pytest.approx(0.16 * HORIZON * 10 * 0.5 - 0.5, rel=1e-6)
    assert one(0.2, 1.0, 1.0, 0.5) == (0.0, 0)


def test_known_groups_are_left_alone() -> None:
    """Neither a group that is surely asleep nor one that is surely awake is asked for what it tells."""
    assert one(0.3, 0.6, 500.0, 0.3)[1] > 0
    assert one(1e-6, 0.6, 500.0, 0.3)[1] == 0
    assert one(1.0 - 1e-6, 0.6, 500.0, 0.3)[1] == 0


def test_silence_makes_a_group_worth_asking() -> None:
    """Twenty visits without a change put a group to sleep; with the cycles in which nobody asks it comes up again."""
    evidence, ids = Evidence(), np.zeros((20, len(LEVELS)), dtype=np.int32)
    evidence.make_room(1, 20)
    nothing = np.zeros(20, dtype=np.bool_)
    evidence.update(np.arange(20), ids, nothing, np.full(20, 10.0), 1)
    chance = [float(evidence.awake(cycle)[0]) for cycle in (1, 5, 30)]
    assert chance[0] < 0.001
    assert chance == sorted(chance)
    assert chance[2] > 0.3
    evidence.update(np.arange(3), ids, ~nothing[:3], np.full(3, 5.0), 31)
    assert evidence.awake(31)[0] > 0.99


@given(st.floats(1e-6, 1.0 - 1e-6), st.floats(0.0, 0.999), st.integers(1, 1000), st.floats(0.01, 0.99))
def test_gains_are_finite_and_never_negative(awake: float, stale: float, size: int, margin: float) -> None:
    """Asking nobody is always possible, so the gain is at least 0; no group is asked more than eight times."""
    gain, count = one(awake, stale, float(size), margin)
    assert math.isfinite(gain)
    assert gain >= 0.0
    assert 0 <= count <= 8


def explored(chance: FloatArray, awake: list[float], most: float = 0.5) -> tuple[Exploration, list[int]]:
    """Explore ninety pages in two groups, the first of eighty, with a margin of .5 and a budget of 20."""
    groups = np.where(np.arange(90) < 80, 0, 1)[:, None]
    known = Known(chance, np.full(90, 10.0), groups, tie_order(np.arange(90), 1), np.array(awake), 0.2)
    policy = Exploration(most)
    return policy, policy.choose(known, np.arange(90), NOBODY, 0.5, 20, 20).tolist()


def test_the_likeliest_pages_of_the_least_known_group_are_asked() -> None:
    """The group that may have woken is asked, beginning with its likeliest page; one that is known is not."""
    chance = np.full(90, 0.02)
    chance[33] = 0.04
    policy, sent = explored(chance, [0.3, 1e-6])
    assert sent[0] == 33
    assert 1 <= len(sent) <= 8
    assert max(sent) < 80
    assert explored(chance, [1e-6, 1e-6])[1] == []
    assert explored(chance, [0.3, 0.3], most=0.0)[1] == []
    assert policy.cost == pytest.approx(0.5 * len(sent))
    assert f"{len(sent)} visits found 0 changes" in str(policy)


def test_what_a_site_is_owed_by_hand() -> None:
    """Two sites of two pages, half a visit per page and cycle: oldest first comes by every two cycles.

    A page that has waited one cycle with a chance of .5 has exp(-D) = .5, so in two cycles it changes with chance .75:
    oldest first finds A = .5 (.75 + .75) = .75 per cycle on the first site, nothing on the second, which never changes.
    Neither page has come up twice, so B = 0. If one comes up every 2 cycles, it brings .75 / 2 of that.
    """
    site, chance = np.array([0, 0, 1, 1]), np.array([0.5, 0.5, 0.0, 0.0])
    last, before = np.full(4, 20), np.full(4, 20)
    left = owed(np.arange(4), site, chance, last, before, 21, 0.5, 0.8)
    assert left.tolist() == pytest.approx([WINDOW * 0.8 * 0.75, 0.0])
    before[0] = 18
    left = owed(np.arange(4), site, chance, last, before, 21, 0.5, 0.8)
    assert left.tolist() == pytest.approx([WINDOW * (0.8 * 0.75 - 0.375), 0.0])
    assert claim(np.arange(4), site, chance, np.array([0.4, 0.0]), 4).tolist() == [0]  # the first page brings .5
    assert claim(np.arange(4), site, chance, np.array([0.6, 0.0]), 4).tolist() == [0, 1]
    assert claim(np.arange(4), site, chance, np.array([0.6, 0.0]), 1).tolist() == [0]
