"""Wrap a policy so that it counts only significant or large changes.

The policy is shown a memory in which visits that found only a small change count as visits that found none, and learns
from the visits in the same way. What it asks for is then asked of the world as ever, so the crawl's own memory and
the measures count every change.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from recrawl.columns import BoolArray, PageIds, longer
from recrawl.memory import COUNTED, GROWN, Memory
from recrawl.policy import NO_SIGNIFICANCE, Named, Policy, Setting, make_policy, policies
from recrawl.visits import Outcome, Visits


@dataclass(repr=False)
class Chase(Named):
    """Runs `policy` on a memory in which small changes are not counted."""

    policy: Policy
    change: str
    words: int  # added and removed, from which on a change is large
    notes: tuple[str, ...] = field(default=(), init=False)
    _own: Memory | None = field(default=None, init=False)  # shares all columns with the crawl's, but those that count

    def begin(self, memory: Memory, at: float) -> None:
        """Let the policy open the cycle, with its own count of changes."""
        self.policy.begin(self._counted(memory), at)

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return the policy's choice, by its own count of changes."""
        return self.policy.choose(self._counted(memory), budget, at)

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Learn from the visits, small changes counted as none."""
        small = visits.changed & ~self._matters(visits)
        outcome = np.where(small, np.uint8(Outcome.UNCHANGED), visits.outcome)
        shown = replace(visits, outcome=outcome, change_size=np.where(small, 0.0, visits.change_size))
        own = self._counted(memory)
        self.policy.learn(own, shown)
        own.count(shown)

    def _counted(self, memory: Memory) -> Memory:
        """Return the crawl's memory as it is now, but with our own counts."""
        own = copy.copy(memory)
        for name in COUNTED:
            column = getattr(memory, name).copy() if self._own is None else getattr(self._own, name)
            setattr(own, name, longer(column, len(memory), GROWN[name]))
        self._own = own
        return own

    def _matters(self, visits: Visits) -> BoolArray:
        if self.change == "large":
            return np.asarray(visits.change_size >= self.words)
        if visits.significant is None:
            self.notes = (NO_SIGNIFICANCE,)
            return visits.changed
        return visits.significant


@policies.add("chase", formula="the policy; small changes taken for none", source="Radinsky & Bennett 2013 §3")
def _chase(
    setting: Setting, policy: str, change: Literal["significant", "large"] = "significant", words: int = 20
) -> Policy:
    if words < 1:
        raise ValueError("words is at least 1")
    return Chase(make_policy(policy, setting), change, words)
