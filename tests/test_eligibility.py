"""Which pages may be visited: reasons that policies never see, and a share of the budget for first visits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recrawl.cycle import run_cycle
from recrawl.eligibility import Bar
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policy import Setting
from recrawl.recording.recording import Recording
from recrawl.report.comparison_defaults import DISCOVERY
from recrawl.simulate.recorded import RecordedWorld
from recrawl.visits import Outcome
from support.small_recordings import tables


def memory_of(held: int, waiting: int, sites: int = 1) -> Memory:
    """A memory of pages with and without a copy, spread over sites."""
    count = held + waiting
    memory = Memory(np.arange(count), np.arange(count) % sites)
    memory.hold_copies(np.arange(held), 0.0)
    memory.learn_of(np.arange(held, count), 0.0)
    memory.begin_cycle()
    return memory


def test_a_barred_page_is_not_eligible_and_counts_by_its_reason() -> None:
    """One page is disallowed, the four pages of one of two sites are on a host that is down."""
    memory = memory_of(8, 0, sites=2)
    memory.bars.page[0] = Bar.DISALLOWED
    memory.bars.site[1] = Bar.HOST_DOWN
    assert np.flatnonzero(memory.eligible()).tolist() == [2, 4, 6]
    assert memory.bars.count(memory.known, memory.site) == {Bar.DISALLOWED: 1, Bar.HOST_DOWN: 4}


@given(st.integers(0, 20), st.integers(0, 40), st.integers(0, 30), st.integers(1, 4))
def test_no_more_first_visits_than_allowed_and_all_that_are(held: int, waiting: int, most: int, sites: int) -> None:
    """Pages with a copy stay eligible; of the others, as many as there is room for."""
    memory = memory_of(held, waiting, sites)
    must_wait = memory.limit_first_visits(most)
    eligible = memory.eligible()
    assert eligible[:held].all()
    assert eligible[held:].sum() == min(waiting, most)
    assert must_wait == (waiting > most)


def test_a_newborn_site_does_not_starve_the_known_pages_of_a_simulation() -> None:
    """With 20 known pages, 200 born on day 2 and 10 visits a day: 5 go to new pages, 5 to known ones."""
    born = [0.0] * 20 + [1.5] * 200
    recording = Recording.from_arrays(tables(10.0, [[5.5]] * 220, born=born, site=[0] * 20 + [1] * 200))
    world = RecordedWorld(recording, discover="birth")
    memory, policy = world.memory(cycle_days=1.0), make_policy("age", Setting())
    firsts = []
    for day in range(1, 8):
        rounds = run_cycle(world, memory, policy, 10, float(day), discovery=Plan().discovery)
        outcome = np.concatenate([visits.outcome for visits in rounds])
        assert len(outcome) == 10
        firsts.append(int((outcome == Outcome.FIRST).sum()))
    assert firsts == [0, 5, 5, 5, 5, 5, 5]


def test_budget_that_known_pages_do_not_need_goes_to_first_visits() -> None:
    """Two known pages and ten visits: eight first visits, though their share is five."""
    born = [0.0] * 2 + [0.5] * 50
    world = RecordedWorld(Recording.from_arrays(tables(10.0, [[]] * 52, born=born)), discover="birth")
    memory, policy = world.memory(cycle_days=1.0), make_policy("bayes", Setting())
    rounds = run_cycle(world, memory, policy, 10, 1.0, discovery=0.5)
    assert sum((visits.outcome == Outcome.FIRST).sum() for visits in rounds) == 8
    assert sum(map(len, rounds)) == 10


def test_comparisons_and_crawls_have_the_same_share() -> None:
    """The default of the command line is that of a plan."""
    assert Plan().discovery == DISCOVERY
