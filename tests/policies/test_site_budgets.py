"""Sites with a budget of their own get it, in every cycle, and no visit is lost."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.evaluate.crawl import crawl
from recrawl.evaluate.measures.all_measures import make_measures
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policies.site_budgets import REST, SiteBudgets, SiteGroup
from recrawl.policy import Policy, Setting
from recrawl.simulate.synthetic.synthesis import synthesize


def chosen(own: int, budget: int, policy: str = "age") -> list[int]:
    """Choose among ten pages: site 0 has pages 0 to 2 and `own` visits, site 1 the others."""
    site = np.array([0, 0, 0] + [1] * 7)
    memory = Memory(np.arange(10), site)
    memory.hold_copies(np.arange(10), 0.0)
    memory.begin_cycle()
    budgets = SiteBudgets(
        make_policy(policy, Setting()),
        [SiteGroup(lambda _: own, make_policy(policy, Setting()))],
        lambda: np.array([0, REST]),
    )
    budgets.begin(memory, 1.0)
    pages = budgets.choose(memory, budget, 1.0)
    assert not memory.bars.page.any()
    return [int((site[pages] == number).sum()) for number in (0, 1)]


@pytest.mark.parametrize(
    ("own", "budget", "expected"),
    [
        (2, 6, [2, 4]),  # its own two, the rest elsewhere
        (5, 6, [3, 3]),  # what it cannot use goes to others
        (0, 6, [0, 6]),
        (2, 20, [2, 7]),  # everything else is visited; the group's third page comes in the next round
    ],
)
def test_a_group_gets_its_budget_and_no_more(own: int, budget: int, expected: list[int]) -> None:
    """By hand: three pages with a budget of their own beside seven others."""
    assert chosen(own, budget) == expected


@pytest.mark.parametrize("policy", ["age", "learned"])
def test_a_crawl_with_site_budgets_spends_all_of_its_budget(policy: str) -> None:
    """Over a whole simulated crawl the group of the first two sites gets its share, and no visit is lost."""
    web = synthesize("mixed", 400, 20.0, seed=1)
    seen = list[tuple[int, int]]()

    def make(setting: Setting) -> Policy:
        sites = np.full(int(web.site.max()) + 1, REST)
        sites[:2] = 0
        group = SiteGroup(lambda budget: budget // 2, make_policy("learned(objective=freshness)", setting))
        return _Watched(make_policy(policy, setting), [group], lambda: sites)

    class _Watched(SiteBudgets):
        def learn(self, memory: Memory, visits: object) -> None:
            pages = visits.pages  # type: ignore[attr-defined]
            seen.append((len(pages), int((memory.site[pages] < 2).sum())))
            super().learn(memory, visits)  # type: ignore[arg-type]

    result = crawl(web, make, Plan(1.0, 40, 2, seed=1), make_measures("Spent"))
    assert result.value(make_measures("Spent")[0]) == 1.0
    visits, own = np.array(seen).sum(axis=0) - np.array(seen)[:2].sum(axis=0)
    assert 0.35 < own / visits <= 0.55
