"""Let any policy chase only the changes that matter: significant ones, or large ones.

The policy is shown a memory in which visits that found only a small change count as visits that found none, and learns
from the visits in the same way. What it asks for is then asked of the world as ever, so the crawl's own memory, and
what is measured, know of every change.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from recrawl.columns import BoolArray, PageIds
from recrawl.memory import COUNTED, Memory
from recrawl.policy import Named, Policy, Setting, make_policy, policies
from recrawl.visits import Outcome, Visits


@dataclass(repr=False)
class Chase(Named):
    """Shows `policy` only the changes that it should chase."""

    policy: Policy
    change: str
    words: int  # added and removed, from which on a change is large
    _own: Memory | None = field(default=None, init=False)  # shares all columns with the crawl's, but those that count

    def begin(self, memory: Memory, at: float) -> None:
        """Let the policy open the cycle, with its own count of changes."""
        own = copy.copy(memory)
        for name in COUNTED:
            setattr(own, name, getattr(memory if self._own is None else self._own, name).copy())
        self._own = own
        self.policy.begin(own, at)

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return the policy's choice, by its own count of changes."""
        return self.policy.choose(self._counted, budget, at)

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Let the policy learn, small changes taken for none."""
        small = visits.changed & ~self._matters(visits)
        outcome = np.where(small, np.uint8(Outcome.UNCHANGED), visits.outcome)
        shown = replace(visits, outcome=outcome, change_size=np.where(small, 0.0, visits.change_size))
        self.policy.learn(self._counted, shown)
        self._counted.count(shown)

    @property
    def _counted(self) -> Memory:
        assert self._own is not None, "a cycle begins before anything is chosen or learnt"
        return self._own

    def _matters(self, visits: Visits) -> BoolArray:
        if self.change == "large":
            return np.asarray(visits.change_size >= self.words)
        return visits.changed if visits.significant is None else visits.significant


@policies.add("chase", formula="the policy; small changes taken for none", source="Radinsky & Bennett 2013 §3")
def _chase(
    setting: Setting, policy: str, change: Literal["significant", "large"] = "significant", words: int = 20
) -> Policy:
    if words < 1:
        raise ValueError("words is at least 1")
    return Chase(make_policy(policy, setting), change, words)
