"""Round robin, and exploration: a share of any policy's budget for the longest unvisited pages."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from recrawl.arguments import Share
from recrawl.columns import PageIds
from recrawl.memory import Memory
from recrawl.policies.selection import NO_PAGES, Key, first_k
from recrawl.policy import Around, Named, Policy, Setting, make_policy, policies


def longest_unvisited(memory: Memory, k: int) -> PageIds:
    """Return the k eligible pages with the oldest copies; pages without a copy first, then by importance and tie."""
    keys: list[Key] = [np.where(np.isnan(memory.last_visit), -np.inf, memory.last_visit)]
    if memory.importance is not None:
        keys.append(-memory.importance)
    return first_k(keys, memory, k)


class RoundRobin(Named):
    """Oldest visit first, by its exact time.

    `age` counts whole cycles and multiplies them by importance; here the order of the last visits themselves decides,
    and importance only among visits made at the same instant, so that every page has its turn once per round.
    """

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return the pages whose turn it is."""
        return longest_unvisited(memory, budget)


@dataclass(repr=False)
class Explore(Around):
    """Give a policy all but a share of the budget; the share goes to the longest unvisited pages.

    The policy chooses first. When it has spent its part, or chooses nothing more, the share is spent, in a round of its
    own: so eligibility and site caps hold across both. The policy learns from all visits.
    """

    policy: Policy
    share: float
    _cycle: int = field(default=0, init=False)
    _reserved: int = field(default=0, init=False)  # of the open cycle's budget, not yet spent

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return the policy's choice while there is budget for it, then the longest unvisited."""
        if memory.cycle != self._cycle:
            self._cycle, self._reserved = memory.cycle, round(self.share * budget)
        pages = self.policy.choose(memory, budget - self._reserved, at) if budget > self._reserved else NO_PAGES
        if len(pages):
            return pages
        pages = longest_unvisited(memory, min(self._reserved, budget))
        self._reserved -= len(pages)
        return pages


@policies.add("round-robin", formula="oldest visit first, by its exact time", source="Tan et al. 2007 (RR)")
def _round_robin(setting: Setting) -> Policy:
    return RoundRobin()


@policies.add("explore", formula="the policy; a share: longest unvisited", source="against starvation")
def _explore(setting: Setting, policy: str, share: Share = 0.1) -> Policy:
    return Explore(make_policy(policy, setting), share)
