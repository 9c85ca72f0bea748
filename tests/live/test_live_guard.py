"""A live crawl whose learner fails goes on by age, with one warning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from recrawl.columns import FloatArray, PageIds
from recrawl.live.directory import CrawlDirectory
from recrawl.live.session import Session
from recrawl.live.store import Store
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policies.guarded import Guarded
from recrawl.policies.selection import first_k, top_k
from recrawl.policies.topk import LongestUnvisited, TopK
from recrawl.policy import Named
from recrawl.simulate.replay import ReplayServer
from support.live_crawls import Days

POLICY, PLAN = "bayes", Plan(7.0, 10, warmup=1)


def visits_in(crawl: CrawlDirectory, cycle: int) -> int:
    store = Store.open(crawl.state, read_only=True)
    (count,) = store.db.execute("select count(*) from visits where cycle = ?", (cycle,)).fetchone()
    store.close()
    return int(count)


class Raises(Named):
    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        raise ZeroDivisionError("no model")


class NotANumber:
    def score(self, memory: Memory, at: float) -> FloatArray:
        return np.full(len(memory), np.nan)


class NumberlessRanking(Raises):
    """Not a TopK, but it ranks by scores all the same."""

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        return top_k(np.full(len(memory), np.nan), memory, budget)


class NumberlessKeys(Raises):
    """Ranks by keys of its own."""

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        return first_k([memory.unfetched(), np.full(len(memory), np.nan)], memory, budget)


class Chooses(Raises):
    """Chooses what it should not: pages by a function of those that it may visit."""

    def __init__(self, choice: Callable[[PageIds, int], Any]) -> None:
        self.choice = choice

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        pages: PageIds = self.choice(np.flatnonzero(memory.eligible()), budget)
        return pages


FAULTS: dict[str, Raises | TopK] = {
    "raises": Raises(),
    "nan": TopK(NotANumber()),
    "nan elsewhere": NumberlessRanking(),
    "nan in a key": NumberlessKeys(),
    "nan for pages": Chooses(lambda pages, budget: np.full(budget, np.nan)),
    "pages that are not": Chooses(lambda pages, budget: pages[:budget] + 100_000),
    "pages from the end": Chooses(lambda pages, budget: -1 - pages[:budget]),
    "a page twice": Chooses(lambda pages, budget: np.repeat(pages[: budget // 2], 2)),
    "a mask": Chooses(lambda pages, budget: np.ones(budget, dtype=bool)),
    "too many": Chooses(lambda pages, budget: pages[: budget + 1]),
    "nothing known": Chooses(lambda pages, budget: None),
    "a list": Chooses(lambda pages, budget: [0.5] * budget),
}


@pytest.mark.parametrize("learner", FAULTS.values(), ids=FAULTS)
def test_a_learner_that_fails_hands_over_to_age_and_the_cycle_ends(
    web: tuple[ReplayServer, Days], crawl: CrawlDirectory, learner: Raises | TopK, caplog: pytest.LogCaptureFixture
) -> None:
    """The budget is spent by the longest-unvisited pages, with one warning."""
    calendar = web[1]
    with Session(crawl, POLICY, PLAN, clock=calendar) as session:
        calendar.day = 7.0
        session.run_cycle()
        session.policy = Guarded(learner, TopK(LongestUnvisited()))
        calendar.day = 14.0
        assert session.run_cycle()
        assert session.policy.fault
    assert visits_in(crawl, 2) == 10
    assert sum("takes over" in record.message for record in caplog.records) == 1


def test_a_learner_that_ignores_the_caps_of_sites_hands_over() -> None:
    """Two visits to a site are allowed, the learner chooses five: the fallback chooses two."""
    memory = Memory(np.arange(9), np.zeros(9, dtype=np.int32))
    memory.learn_of(np.arange(9), 0.0)
    memory.begin_cycle(2)
    policy = Guarded(Chooses(lambda pages, budget: pages[:budget]), TopK(LongestUnvisited()))
    assert len(policy.choose(memory, 5, 1.0)) == 2
    assert policy.fault
