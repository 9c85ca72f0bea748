"""Planned policies by the rates that pages share: a page that was seen twice is judged by its surroundings too."""

from __future__ import annotations

import numpy as np

from recrawl.cycle import EveryPage, run_cycle
from recrawl.policies.catalogue import make_policy
from recrawl.policies.classical.planned import Planned
from recrawl.policies.learned.shared_rates import SharedRates
from recrawl.policy import Setting
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from support.small_recordings import tables


def test_a_quiet_page_among_busy_ones_is_thought_faster_than_one_among_quiet_ones() -> None:
    """Pages 0 and 10 never changed in five visits each; the first lies in a folder where all others always do."""
    changes = [[day + 0.5 for day in range(8)] if 0 < page < 10 else [] for page in range(20)]
    made = tables(8, changes)
    made["pages"]["path"] = np.array([f"{'busy' if p < 10 else 'still'}/{p}.md" for p in range(20)], dtype=object)
    world = RecordedWorld(Recording.from_arrays(made))
    memory = world.memory(cycle_days=1.0, seed=1)
    policy = make_policy("freshness-optimal(rate=shared)", Setting(seed=1))
    for cycle in range(1, 6):
        run_cycle(world, memory, EveryPage(policy), 20, float(cycle))
    assert isinstance(policy, Planned)
    assert isinstance(policy.rates, SharedRates)
    memory.begin_cycle()
    rate = policy.rates.per_cycle(memory)
    assert rate[1:10].min() > 3 * rate[0] > 3 * rate[10:].max()
    assert len(policy.choose(memory, 4, 6.0)) == 4
