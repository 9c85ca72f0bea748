"""Visit pages first that sitemaps or feeds announce as changed, whatever the policy.

Sitemaps and feeds name pages and when they changed. An announcement is a hint: how often hints were true is counted by
the crawl's own visits, and a site that was wrong more often than right, or whose hints find less than the crawl's
visits do on average, is no longer followed. So hints cost a policy at most half of its budget, and only while they are
mostly true and find no less than the rest. (LambdaCrawl, Kolobov et al. 2019, calls changes
that are announced "complete observations"; there they are true by assumption.)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recrawl.columns import PageIds
from recrawl.memory import Memory
from recrawl.policies.selection import NO_PAGES, first_k
from recrawl.policy import Around, Policy

SHARE = 0.5  # of a cycle's budget, at most, for pages announced as changed


class Signalled(Around):
    """Puts the pages of `hints` first, those of the most reliable sites before others, then asks `policy`."""

    def __init__(self, policy: Policy, hints: Callable[[float], PageIds]) -> None:
        self.policy = policy
        self.hints = hints
        self._cycle = 0

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return hinted pages in a cycle's first round where there are any, the policy's choice otherwise."""
        if memory.cycle != self._cycle:
            self._cycle = memory.cycle
            pages = self._hinted(memory, int(SHARE * budget))
            if len(pages):
                return pages
        return self.policy.choose(memory, budget, at)

    def _hinted(self, memory: Memory, size: int) -> PageIds:
        average = float(memory.changes.sum()) / max(int(memory.n.sum()), 1)
        pages = self.hints(max(0.5, average))
        pages = pages[pages < len(memory)]
        pages = pages[memory.held()[pages]]  # a page without a copy comes first anyway
        if not len(pages) or size <= 0:
            return NO_PAGES
        rank = np.full(len(memory), np.inf)
        rank[pages[::-1]] = np.arange(len(pages))[::-1]
        return first_k([rank], memory, min(size, len(pages)), among=np.isfinite(rank))

    def __repr__(self) -> str:
        return repr(self.policy)
