"""Policies that plan an optimal visit rate for every page, from estimated change rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from recrawl.arguments import Days
from recrawl.columns import FloatArray, PageIds
from recrawl.memory import Memory
from recrawl.policies.classical.allocation import Allocation, harmonic_rates, periodic_rates, plan_states, poisson_rates
from recrawl.policies.classical.estimators import RATES, RateName
from recrawl.policies.classical.gaps import PSEUDO_DAYS, GapLog
from recrawl.policies.learned.shared_rates import SharedRates
from recrawl.policies.selection import top_k
from recrawl.policy import Named, Policy, Setting, policies
from recrawl.visits import Visits


class VisitRates(Protocol):
    """Estimates change rates."""

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Learn from visits; the memory is as it was before them."""

    def per_cycle(self, memory: Memory) -> FloatArray:
        """Return the changes per cycle of every page."""


@dataclass(frozen=True)
class Remembered:
    """Rates by one of the classical estimators, computed from the memory."""

    rate: Callable[[Memory], FloatArray]

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Does nothing: the memory has all that is needed."""

    def per_cycle(self, memory: Memory) -> FloatArray:
        """Return the estimator's rates."""
        return self.rate(memory)


class Likeliest(GapLog):
    """Maximum-likelihood rates from the gaps between visits (gaps.py)."""

    def per_cycle(self, memory: Memory) -> FloatArray:
        """Return the rates per day times the days of a cycle."""
        return self.rates(len(memory)) * memory.cycle_days


class Planned(Named):
    """Visit the pages that are furthest ahead of their plan: the largest rho * t.

    The plan gives each page a visit rate rho, with the budget as its sum; rho * t is the share of the planned interval
    1/rho that has passed in the t cycles since the last visit. Plans are made once per cycle, for the whole budget.
    """

    def __init__(self, rates: VisitRates, plan: Allocation) -> None:
        self.rates = rates
        self.plan = plan
        self._rho: FloatArray = np.empty(0)
        self._cycle = 0

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return the pages with the largest rho * t."""
        if memory.cycle != self._cycle or len(self._rho) != len(memory):
            self._cycle = memory.cycle
            self._rho = self._planned(memory, budget)
        return top_k(self._rho * memory.waited(), memory, budget, ahead=memory.unfetched())

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Let the estimator learn."""
        self.rates.learn(memory, visits)

    def _planned(self, memory: Memory, budget: int) -> FloatArray:
        change_rate = self.rates.per_cycle(memory) * memory.held()
        if memory.importance is None:
            return plan_states(self.plan, change_rate, float(budget))
        return self.plan(memory.importance, change_rate, float(budget))


@policies.add("lambdacrawl", formula="t rho, rho=(-D+sqrt(D^2+4mu D/L))/2", source="Kolobov et al. 2019")
def _lambdacrawl(setting: Setting, pseudo: Days = PSEUDO_DAYS, rate: Literal["gaps", "shared"] = "gaps") -> Policy:
    return Planned(_rates(rate, pseudo, setting.seed), harmonic_rates)


@policies.add(
    "freshness-optimal",
    formula="t rho, rho maximises sum mu F(rho,D)",
    source="Cho 2003; Azar et al. 2018",
)
def _freshness_optimal(
    setting: Setting,
    form: Literal["periodic", "poisson"] = "periodic",
    rate: Literal[RateName, "gaps", "shared"] = "gaps",
    pseudo: Days = PSEUDO_DAYS,
) -> Policy:
    return Planned(_rates(rate, pseudo, setting.seed), periodic_rates if form == "periodic" else poisson_rates)


def _rates(name: Literal[RateName, "gaps", "shared"], pseudo: float, seed: int) -> VisitRates:
    """Return the estimator of that name: the likeliest rates, the shared posterior of `learned`, or a classical one."""
    if name == "shared":
        return SharedRates(seed)
    return Likeliest(pseudo) if name == "gaps" else Remembered(RATES[name])
