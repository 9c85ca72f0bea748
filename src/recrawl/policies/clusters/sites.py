"""Site-level sampling (SLS; Cho & Ntoulas 2002, greedy): the sites whose samples changed most are visited whole.

A sample of a site of N pages has about sqrt(N r) pages, drawn anew in each cycle, with r the budget as a share of the
pages (the size that the authors find near the best); a site's estimate is the share of its sample that had changed.
"""

from __future__ import annotations

import numpy as np

from recrawl.arguments import Share
from recrawl.columns import FloatArray, IntArray, PageIds
from recrawl.hashing import mix
from recrawl.memory import Memory
from recrawl.policies.clusters.groups import GroupSampling, means
from recrawl.policy import Policy, Setting, policies
from recrawl.visits import Outcome, Visits


class SiteSampling(GroupSampling):
    """The SLS policy, see the module."""

    def form_groups(self, memory: Memory, budget: int) -> None:
        """Take sites as groups, and set the size of their samples."""
        self.group = memory.site.astype(np.int64)
        self.groups = int(self.group.max(initial=-1)) + 1
        if len(self.estimate) < self.groups:
            self.estimate = np.append(self.estimate, np.zeros(self.groups - len(self.estimate)))
        size = np.bincount(self.group[memory.held()], minlength=self.groups)
        share = budget / max(int(size.sum()), 1)
        self._want: IntArray = np.ceil(np.sqrt(size * min(share, 1.0))).astype(np.int64)
        self._found: list[Visits] = []

    def wanted(self, memory: Memory) -> IntArray:
        """All samples are taken in one round."""
        want, self._want = self._want, np.zeros_like(self._want)
        return want

    def candidates(self, memory: Memory) -> PageIds:
        """Pages in an order drawn anew in every cycle."""
        pages = np.flatnonzero(memory.eligible())
        return pages[np.argsort(mix(memory.tie[pages], self.seed * 1_000_003 + memory.cycle))]

    def estimates(self, memory: Memory) -> FloatArray:
        """Share of this cycle's visits so far that found a change; the previous value for a site without a visit."""
        if not self._found:
            return self.estimate
        pages = np.concatenate([visits.pages for visits in self._found])
        outcome = np.concatenate([visits.outcome for visits in self._found])
        compared = outcome < Outcome.FIRST
        changed = (outcome[compared] == Outcome.CHANGED).astype(np.float64)
        count, mean, _ = means(changed, self.group[pages[compared]], self.groups)
        self._found = []  # the sample is taken: later rounds go by it
        return np.where(count > 0, mean, self.estimate)

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Update the estimates from the visits."""
        if self._cycle and self._sampling:
            self._found.append(visits)


@policies.add("sls", formula="sample sites, visit the most changed whole", source="Cho & Ntoulas 2002; Tan 2007 (SLS)")
def _sls(setting: Setting, fair: Share = 0.0) -> Policy:
    return SiteSampling(setting.seed, fair)
