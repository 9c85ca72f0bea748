"""Visits in proportion to the estimated change rate of a page."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recrawl.columns import FloatArray, PageIds, grown
from recrawl.memory import Memory
from recrawl.policies.classical.allocation import plan_states, proportional
from recrawl.policies.classical.estimators import RATES, RateName
from recrawl.policies.selection import top_k
from recrawl.policy import Named, Policy, Setting, policies
from recrawl.visits import Visits


class Frequency(Named):
    """Weighted fair turns: in every cycle each page earns its share of the budget, and a visit costs 1.

    The share is proportional to importance times the estimated change rate, and at most 1, since a page is visited at
    most once per cycle; what the fastest pages cannot use goes to the others. The largest credits are visited, so over
    many cycles a page that changes twice as often gets twice the visits, without any random draw.
    """

    remembers_choices = True  # credits are given when a cycle's first choice is made

    def __init__(self, rate: Callable[[Memory], FloatArray]) -> None:
        self.rate = rate
        self._credit: FloatArray = np.empty(0)
        self._cycle = 0

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return the pages with the largest credits."""
        self._credit = grown(self._credit, len(memory), 0.0)
        if memory.cycle != self._cycle:
            self._cycle = memory.cycle
            self._credit[: len(memory)] += self._earn(memory, budget)
        return top_k(self._credit[: len(memory)], memory, budget, ahead=memory.unfetched())

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Charge the visits; those of a warm-up, before the first choice, are free."""
        if self._cycle:
            self._credit[visits.pages] -= 1.0

    def _earn(self, memory: Memory, budget: int) -> FloatArray:
        weight = self.rate(memory) * memory.held()
        if memory.importance is not None:
            weight = weight * memory.importance
        return plan_states(proportional, weight, float(budget))


@policies.add("freq", formula="visits in proportion to change rate", source="Cho 2003; Tan 2007 (Freq)")
def _freq(setting: Setting, rate: RateName = "cg") -> Policy:
    return Frequency(RATES[rate])
