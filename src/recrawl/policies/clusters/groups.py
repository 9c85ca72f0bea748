"""Policies that sample groups of pages, look, and spend the rest of the cycle where most has changed.

A cycle goes in rounds: pages without a copy; then samples of every group, in growing rounds until each is sufficient
or has reached its bound; then the pages of the groups in descending order of their estimate until the budget is spent.
Within a group the longest unvisited come first: a group larger than what is left of the budget has its turns.
With `fair` a share of the budget is kept for the longest unvisited pages of all, so that no page waits for ever.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from recrawl.columns import FloatArray, IntArray, PageIds
from recrawl.memory import Memory
from recrawl.policies.classical.rotation import longest_unvisited
from recrawl.policies.clusters.sampling import first_of_groups
from recrawl.policies.selection import NO_PAGES, Key, first_k, top_k
from recrawl.policy import Named


class GroupSampling(Named, ABC):
    """The rounds of a cycle; what the groups are, whom to sample and what the samples say is for the subclasses."""

    def __init__(self, seed: int = 0, fair: float = 0.0) -> None:
        self.seed = seed
        self.fair = fair
        self.group: IntArray = np.empty(0, dtype=np.int64)  # of every page, -1: none yet
        self.groups = 0
        self.estimate: FloatArray = np.empty(0)  # of every group: the chance that a page of it has changed
        self._cycle = 0
        self._budget = 0
        self._sampling = False
        self._kept = 0  # visits of the open cycle that are kept for fairness

    # -- for the subclasses -------------------------------------------------------------------------------------------

    @abstractmethod
    def form_groups(self, memory: Memory, budget: int) -> None:
        """Open a cycle: settle `group` and `groups`."""

    @abstractmethod
    def wanted(self, memory: Memory) -> IntArray:
        """Return how many more pages of each group to sample; nothing wanted ends the sampling."""

    @abstractmethod
    def candidates(self, memory: Memory) -> PageIds:
        """Return the pages that may be sampled, the best sample of each group first."""

    @abstractmethod
    def estimates(self, memory: Memory) -> FloatArray:
        """Return what the samples say of each group."""

    # -- the rounds ---------------------------------------------------------------------------------------------------

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return the pages of the next round."""
        if memory.cycle != self._cycle:
            self._cycle, self._budget, self._sampling = memory.cycle, budget, True
            self._kept = round(self.fair * budget)
            self.form_groups(memory, budget)
        ahead = memory.unfetched() & memory.eligible()
        if ahead.any():
            first = top_k(np.zeros(len(memory)), memory, min(budget, int(ahead.sum())), ahead=ahead)
            return first[ahead[first]] if ahead[first].any() else self._next(memory, budget)
        return self._next(memory, budget)

    def _next(self, memory: Memory, budget: int) -> PageIds:
        room = max(budget - self._kept, 0)
        if self._sampling and room:
            pages = self._sample(memory, room)
            if len(pages):
                return pages
        self._sampling = False
        pages = self._best(memory, room)
        if len(pages):
            return pages
        self._kept = 0
        return longest_unvisited(memory, budget)

    def _sample(self, memory: Memory, room: int) -> PageIds:
        want = self.wanted(memory)
        if not want.any():
            return NO_PAGES
        chosen = first_of_groups(self.candidates(memory), self.group, want)
        if not len(chosen):
            return NO_PAGES
        among = np.zeros(len(memory), dtype=np.bool_)
        among[chosen] = True
        keys: list[Key] = [-self._by_page(memory)]  # where the budget is too small for all, by what was thought before
        return first_k(keys, memory, room, among=among)

    def _best(self, memory: Memory, room: int) -> PageIds:
        if not room:
            return NO_PAGES
        self.estimate = self.estimates(memory)
        keys: list[Key] = [-self._by_page(memory)]
        keys.append(np.where(np.isnan(memory.last_visit), -np.inf, memory.last_visit))
        return first_k(keys, memory, room)

    def _by_page(self, memory: Memory) -> FloatArray:
        """What a visit to each page is worth: the chance that it has changed, times its importance."""
        chance = self._chances(memory)
        return chance if memory.importance is None else chance * memory.importance

    def _chances(self, memory: Memory) -> FloatArray:
        """Each page's group's estimate."""
        estimate = self.estimate if len(self.estimate) == self.groups else np.zeros(self.groups)
        return np.append(estimate, 0.0)[self.group[: len(memory)]]
