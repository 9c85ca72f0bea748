"""Group sampling: sample each group of pages, then spend the rest of the cycle where the samples changed most.

A cycle goes in rounds: pages without a copy; then samples of every group, in growing rounds until each is sufficient
or has reached its bound; then the pages of the groups in descending order of their estimate until the budget is spent.
Within a group the longest unvisited come first: a group larger than what is left of the budget is covered over several
cycles. With `fair` a share of the budget is kept for the longest unvisited pages of all, so that every page is visited
in the end.

A sample has enough visits to know how much of a group has changed, and no more. One of m pages whose chances of change
have mean phi and standard deviation s is sufficient when the group's mean lies within phi +- delta at the confidence
level by Student's t (Tan et al. 2007, section 4.1):

    t((1 + confidence) / 2, m - 1) * s / sqrt(m) <= delta

or when it has reached its bound: the cycle's budget over the number of groups. Samples grow by doubling, from FIRST.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds
from recrawl.compiled import kernel
from recrawl.memory import Memory
from recrawl.policies.classical.rotation import longest_unvisited
from recrawl.policies.selection import NO_PAGES, Key, first_k, top_k
from recrawl.policy import Named


class GroupSampling(Named, ABC):
    """The rounds of a cycle; subclasses define the groups, the samples and the estimates."""

    remembers_choices = True  # groups are formed when a cycle's first choice is made

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
        """Set `group` and `groups` at the start of a cycle."""

    @abstractmethod
    def wanted(self, memory: Memory) -> IntArray:
        """Return how many more pages of each group to sample; all zeros end the sampling."""

    @abstractmethod
    def candidates(self, memory: Memory) -> PageIds:
        """Return the pages that may be sampled, the best sample of each group first."""

    @abstractmethod
    def estimates(self, memory: Memory) -> FloatArray:
        """Return the estimated chance of change of each group."""

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
        keys: list[Key] = [-self._by_page(memory)]  # by the last cycle's estimates, where not all fit
        return first_k(keys, memory, room, among=among)

    def _best(self, memory: Memory, room: int) -> PageIds:
        if not room:
            return NO_PAGES
        self.estimate = self.estimates(memory)
        keys: list[Key] = [-self._by_page(memory)]
        keys.append(np.where(np.isnan(memory.last_visit), -np.inf, memory.last_visit))
        return first_k(keys, memory, room)

    def _by_page(self, memory: Memory) -> FloatArray:
        """Worth of a visit to each page: the chance that it has changed, times its importance."""
        chance = self._chances(memory)
        return chance if memory.importance is None else chance * memory.importance

    def _chances(self, memory: Memory) -> FloatArray:
        """The estimate of each page's group."""
        estimate = self.estimate if len(self.estimate) == self.groups else np.zeros(self.groups)
        return np.append(estimate, 0.0)[self.group[: len(memory)]]


FIRST = 4  # pages of a group that are visited before the first test


def means(values: FloatArray, group: IntArray, groups: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the count, mean and standard deviation (n - 1) of the values of each group; 0 where there are none."""
    count = np.bincount(group, minlength=groups)
    total = np.bincount(group, values, minlength=groups)
    mean = np.divide(total, count, out=np.zeros(groups), where=count > 0)
    square = np.bincount(group, (values - mean[group]) ** 2, minlength=groups)
    return count, mean, np.sqrt(np.divide(square, count - 1, out=np.zeros(groups), where=count > 1))


def sufficient(count: IntArray, deviation: FloatArray, confidence: float, delta: float) -> BoolArray:
    """Whether the samples are large enough; one of fewer than two pages never is."""
    from scipy.special import stdtrit  # half a second to import, which every crawl would wait for

    degrees = np.maximum(count - 1, 1)
    half = stdtrit(degrees, (1.0 + confidence) / 2.0) * deviation / np.sqrt(np.maximum(count, 1))
    return np.asarray((count >= 2) & (half <= delta))


@kernel
def first_of_groups(order: PageIds, group: IntArray, want: IntArray) -> PageIds:
    """Return the first `want[g]` pages of every group g, in the given order of pages; -1 is no group."""
    left = want.copy()
    taken = np.empty(len(order), dtype=np.int64)
    n = 0
    for page in order:
        g = group[page]
        if g >= 0 and left[g] > 0:
            left[g] -= 1
            taken[n] = page
            n += 1
    return taken[:n]
