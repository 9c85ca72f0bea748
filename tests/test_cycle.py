"""The crawl loop: what it asks of a policy, and whole crawls that can be followed by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from recrawl.columns import PageIds
from recrawl.cycle import EveryPage, run_cycle
from recrawl.errors import PolicyError
from recrawl.memory import Memory
from recrawl.policies.catalogue import make_policy
from recrawl.policy import Policy, Setting
from recrawl.simulate.recorded import RecordedWorld
from recrawl.visits import Visits
from support.small_recordings import recording


class Fixed:
    """Chooses the same pages again and again; notes its budgets and what it was shown, and when."""

    def __init__(self, *rounds: Sequence[int]) -> None:
        self.rounds = list(rounds)
        self.budgets: list[int] = []
        self.seen: list[Visits] = []
        self.calls: list[str] = []

    def begin(self, memory: Memory, at: float) -> None:
        self.calls.append(f"begin {memory.cycle}")

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        self.budgets.append(budget)
        self.calls.append(f"choose {budget}")
        return np.array(self.rounds.pop(0) if self.rounds else [], dtype=np.int64)

    def learn(self, memory: Memory, visits: Visits) -> None:
        assert (memory.asked[visits.pages] < memory.cycle).all(), "the memory has recorded the visits already"
        assert not memory.known[visits.discovered].any(), "what they discovered is known already"
        self.calls.append(f"learn {len(visits)}")
        self.seen.append(visits)

    def __repr__(self) -> str:
        return "fixed"


def crawl(policy: Policy, *, budget: int = 2, site_cap: int = 0) -> list[list[int]]:
    world = RecordedWorld(recording(1, [(), (), (), ()], site=[0, 0, 1, 1]))
    rounds = run_cycle(world, world.memory(cycle_days=1.0), policy, budget, 1.0, site_cap=site_cap)
    return [visits.pages.tolist() for visits in rounds]


def test_a_policy_is_asked_until_the_budget_is_spent() -> None:
    """A policy chooses in rounds, each with what is left, and learns from each before the next."""
    policy = Fixed([3], [0, 1], [2])
    assert crawl(policy, budget=4) == [[3], [0, 1], [2]]
    assert policy.budgets == [4, 3, 1]
    assert [visits.pages.tolist() for visits in policy.seen] == [[3], [0, 1], [2]]
    assert policy.calls == ["begin 1", "choose 4", "learn 1", "choose 3", "learn 2", "choose 1", "learn 1"]


def test_choosing_nothing_ends_the_cycle() -> None:
    """What a policy does not want to spend stays unspent."""
    assert crawl(Fixed([3], []), budget=4) == [[3]]


@pytest.mark.parametrize(
    ("rounds", "cap", "complaint"),
    [
        ([[0, 1, 2]], 0, "fixed chose 3 pages with a budget of 2"),
        ([[0, 0]], 0, "chose a page twice"),
        ([[0], [0]], 0, "may not visit"),
        ([[0, 1]], 1, "exceeded a site's cap"),
        ([[0], [1]], 1, "may not visit"),
    ],
)
def test_a_policy_is_held_to_its_contract(rounds: list[list[int]], cap: int, complaint: str) -> None:
    """Too many pages, a page twice, or a site above its cap is an error that names the policy."""
    with pytest.raises(PolicyError, match=complaint):
        crawl(Fixed(*rounds), site_cap=cap)


def test_warm_up_visits_every_page_and_teaches_the_policy() -> None:
    """In the warm-up all pages are visited in tie order; the policy opens the cycle before and learns after."""
    policy = Fixed()
    (visited,) = crawl(EveryPage(policy), budget=9)
    assert sorted(visited) == [0, 1, 2, 3]
    assert policy.calls == ["begin 1", "learn 4"]
    assert policy.seen[0].pages.tolist() == visited


def test_a_crawl_under_cg_by_hand() -> None:
    """Two cycles of warm-up, then one page a day by 1 - exp(-t CG), Santos et al. 2014, eqs. 4 and 5.

    Page 0 changes daily, page 1 on day 1 only, page 2 never. After the warm-up X/n = 2/2, 1/2, 0/2: rates ln 5, ln(5/3)
    and 0. Page 0 is best until its t * rate falls behind: day 3: 1.61 > .51; page 1 then has t = 2: 1.02 < ln 7 = 1.95;
    t = 3: 1.53 < ln 9; and so on: page 0 is visited every day, and page 2 never.
    """
    web = recording(6, [[day - 0.5 for day in range(1, 7)], [0.5], []])
    assert visited(web, "cg", days=6) == [[0], [0], [0], [0]]


def test_a_crawl_under_gad_over_visits_and_over_cycles() -> None:
    """Over visits page 1 keeps its old change, over cycles it is forgotten: the weights of both, by hand.

    Page 0 changes in cycle 1, page 1 in cycle 2. Cycle 3: GAD = 1/3 and 2/3 over both, page 1 is visited (no change).
    Cycle 4: over visits page 0 has 1/3, t = 2: .667, page 1 2/7, t = 1: page 0, no change. Over cycles page 0 has 1/7,
    t = 2: .286, page 1 2/7, t = 1: .286 - a tie in rate * t, so the tie order decides.
    """
    web = recording(4, [[0.5], [1.5]])
    assert visited(web, "gad", days=4) == [[1], [0]]
    world = RecordedWorld(web)
    tie = world.memory(cycle_days=1.0, seed=3).tie
    assert visited(web, "gad(over=cycles)", days=4) == [[1], [int(np.argmin(tie))]]


def test_a_crawl_under_bayes_reaches_every_page() -> None:
    """t (X + .5)/(n + 1): unlike cg, pages that have not changed have their turn too.

    Page 0 changes daily, pages 1 and 2 never; one visit a day after two days of warm-up. Day 3: 2.5/3 against .5/3.
    Day 7: 6.5/7 = .93 against 5 * .5/3 = .83. Day 8: 7.5/8 = .94 against 6 * .5/3 = 1, so 1 or 2. Day 9: page 0, with
    2 * 7.5/8 = 1.88 against 1.17. Day 10: 8.5/9 = .94 against 8 * .5/3 = 1.33, the other one.
    """
    web = recording(10, [[day - 0.5 for day in range(1, 11)], [], []])
    pages = [page for (page,) in visited(web, "bayes", days=10)]
    assert pages[:5] == [0, 0, 0, 0, 0]
    assert {pages[5], pages[7]} == {1, 2}
    assert pages[6] == 0


def visited(web: object, spec: str, *, days: int, warmup: int = 2, seed: int = 3) -> list[list[int]]:
    """Crawl with a budget of one page a day; return the pages of each day after the warm-up."""
    world = RecordedWorld(web)  # type: ignore[arg-type]
    memory, policy = world.memory(cycle_days=1.0, seed=seed), make_policy(spec, Setting(seed, world))
    found = []
    for day in range(1, days + 1):
        if day <= warmup:
            run_cycle(world, memory, EveryPage(policy), len(memory), day)
        else:
            found.append([int(page) for v in run_cycle(world, memory, policy, 1, day) for page in v.pages])
    return found
