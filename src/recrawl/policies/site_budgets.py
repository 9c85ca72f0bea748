"""A budget of their own for some sites: they get so many visits per cycle, whatever the rest of the web does.

Within its budget a group of sites is ranked by a policy of its own: as the crawl's, or with another objective. What a
group cannot use goes to the other pages, and what those cannot use to the groups, so that no budget is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from recrawl.columns import BoolArray, IntArray, PageIds
from recrawl.eligibility import Bar
from recrawl.memory import Memory
from recrawl.policies.selection import NO_PAGES
from recrawl.policy import Around, Policy
from recrawl.visits import Visits

REST = -1  # the group of sites without a budget of their own


@dataclass(frozen=True)
class SiteGroup:
    """Sites with a budget of their own."""

    visits: Callable[[int], int]  # how many of a cycle's visits they get
    policy: Policy  # of its own: policies count the rounds that they are asked


class SiteBudgets(Around):
    """Asks `policy` for the rest of the web, after each group has chosen within its own budget.

    `group_of` gives every site's number in `groups`, or REST; it is asked anew in each cycle, as sites are found.
    """

    def __init__(self, policy: Policy, groups: Sequence[SiteGroup], group_of: Callable[[], IntArray]) -> None:
        self.policy = policy
        self.groups = groups
        self._group_of = group_of
        self._of_site: IntArray = np.empty(0, dtype=np.int64)
        self._left = [0] * len(groups)
        self._cycle = 0

    def begin(self, memory: Memory, at: float) -> None:
        """Let every policy open the cycle."""
        super().begin(memory, at)
        self._of_site = self._group_of()
        for group in self.groups:
            group.policy.begin(memory, at)

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Let every policy learn from every visit."""
        super().learn(memory, visits)
        for group in self.groups:
            group.policy.learn(memory, visits)

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Choose for each group within what is left of its budget, then for the rest of the web."""
        if memory.cycle != self._cycle:
            self._cycle = memory.cycle
            self._left = [group.visits(budget) for group in self.groups]
        of_page = self._of_page(memory)
        chosen, waiting = list[PageIds](), 0  # visits that groups will want in later rounds
        may = memory.eligible()
        for number, group in enumerate(self.groups):
            room = min(self._left[number], budget - sum(map(len, chosen)))
            pages = self._among(memory, of_page == number, group.policy, room, at)
            self._left[number] -= len(pages)
            chosen.append(pages)
            more = int((may & (of_page == number)).sum()) - len(pages)
            waiting += min(self._left[number], more) if len(pages) else 0
        room = budget - sum(map(len, chosen))
        chosen.append(self._among(memory, of_page == REST, self.policy, room - waiting, at))
        pages = np.concatenate(chosen)
        return pages if len(pages) or budget <= 0 else self.policy.choose(memory, budget, at)

    def _of_page(self, memory: Memory) -> IntArray:
        known = np.full(max(len(memory.bars.site), len(self._of_site)), REST, dtype=np.int64)
        known[: len(self._of_site)] = self._of_site
        return known[memory.site]

    def _among(self, memory: Memory, mask: BoolArray, policy: Policy, room: int, at: float) -> PageIds:
        """Return what a policy chooses of some pages alone."""
        if room <= 0 or not mask.any():
            return NO_PAGES
        with _only(memory, mask):
            return policy.choose(memory, room, at) if memory.eligible().any() else NO_PAGES

    def __repr__(self) -> str:
        return repr(self.policy)


@contextmanager
def _only(memory: Memory, mask: BoolArray) -> Iterator[None]:
    """Bar all other pages for a moment."""
    hidden = (memory.bars.page == Bar.OPEN) & ~mask
    memory.bars.page[hidden] = Bar.HOST_FULL
    try:
        yield
    finally:
        memory.bars.page[hidden] = Bar.OPEN
