"""Scouts (exploration): visits to groups of pages that were not visited lately, so that later rounds can follow.

Pages of one place tend to change together, so one visit informs about many. What a visit is worth grows with the number
of pages it informs about and with the time in which they may have changed unnoticed:

    worth(g) = (pages of g that may be visited) ^ power * cycles since the last visit to any page of g

One page per group is visited, the one that has waited longest. Groups that the scores visit anyway, or that were
visited a few cycles ago, need no scout. A third of the scouts goes to sites in turn (power 0), so that a small site
comes up as often as a large one; a third to path shapes on a site, with the power 1/2 (the size of samples in
site-level sampling), so that pages that are alone in their directories come up together; a third to directories, with
the power 1.

The share of the budget that scouts get grows while what they led to beats the last pages that the scores chose, and
shrinks otherwise. A scout that found a change led to all the changes that the cycle then found in its directory.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds, TieArray
from recrawl.compiled import kernel
from recrawl.policies.selection import NO_PAGES
from recrawl.visits import Visits

QUIET = 4.0  # cycles: groups visited more recently than this need no scout (the half-life in evidence.py)
LARGEST = 2.0  # times the least share of the budget
GROW, SHRINK = 1.05, 0.9  # of the share: scouts have to win two times of three to stay


class Scouting:
    """The share of the budget that scouts get, at least `least`, and what they cost and brought."""

    def __init__(self, least: float) -> None:
        self.least = self.share = least
        self.visits = self.found = 0
        self.led_to = 0  # changes found by other visits of the cycle in directories where a scout found one
        self.cost = 0.0  # changes that the last pages chosen by score would have brought instead
        self._owed = 0.0  # scouts that are due, carried over where it is less than one
        self._room = 1.0  # falls to 0 where the last pages that scores choose have all changed
        self._begin()

    def _begin(self) -> None:
        self._sent: PageIds = NO_PAGES
        self._lucky: PageIds = NO_PAGES  # those of them that found a change
        self._marginal: PageIds = NO_PAGES
        self._margin = np.nan  # share of the marginal pages that had changed

    def due(self, budget: int, size: int) -> int:
        """Return how many scouts a cycle with this budget is due, of `size` visits at most.

        Where the scores find a change with nearly every visit there is nothing better to be led to, and every scout
        costs a change.
        """
        self._owed += budget * self.share * self._room
        count = min(int(self._owed), size)
        self._owed -= count
        return count

    def watch(self, *, sent: PageIds = NO_PAGES, marginal: PageIds = NO_PAGES) -> None:
        """Record the scouts of this cycle, and the marginal pages they are compared with."""
        self._sent = np.concatenate([self._sent, sent])
        self._marginal = marginal

    def observe(self, visits: Visits) -> None:
        """Record the outcomes of scouts and marginal pages."""
        lucky = visits.changed & np.isin(visits.pages, self._sent)
        self._lucky = np.concatenate([self._lucky, visits.pages[lucky]])
        if (marginal := np.isin(visits.pages, self._marginal)).any():
            self._margin = float(visits.changed[marginal].mean())

    def adapt(self, directory: IntArray, changes: FloatArray) -> None:
        """Close the cycle: `changes` were found in it in each group; `directory` is each page's."""
        if len(self._sent) and np.isfinite(self._margin):
            led_to, cost = float(changes[np.unique(directory[self._lucky])].sum()), self._margin * len(self._sent)
            better = led_to > cost
            share = self.share * (GROW if better else SHRINK)
            self.share = float(np.clip(share, self.least, LARGEST * self.least))
            self.visits += len(self._sent)
            self.found += len(self._lucky)
            self.led_to += int(led_to) - len(self._lucky)
            self.cost += cost
        if np.isfinite(self._margin):
            self._room = (1.0 - self._margin) ** 2
        self._begin()

    def __str__(self) -> str:
        return (
            f"exploring: {self.visits} visits found {self.found} changes and led to {self.led_to} more, "
            f"where the last pages by score would have brought {self.cost:.0f}"
        )


def scouts(
    pages: PageIds,
    groups: IntArray,
    taken: PageIds,
    last: IntArray,
    tie: TieArray,
    quiet: FloatArray,
    count: int,
    power: float = 1.0,
) -> PageIds:
    """Return the `count` pages that inform about most others.

    `groups[page, level]` are the groups of every page, `quiet` the cycles since each group was visited, `last` and
    `tie` each page's last visit and place among equals; `taken` are the pages that the scores chose already.
    """
    found: list[PageIds] = []
    worth: list[FloatArray] = []
    for level in range(groups.shape[1]):
        asked = np.zeros(len(quiet), dtype=np.bool_)
        asked[groups[taken, level]] = True
        page, size = longest_waiting(pages, groups[:, level], last, tie, asked)
        some = np.flatnonzero((size > 0) & (quiet >= QUIET))
        found.append(page[some])
        worth.append(size[some] ** power * quiet[some])
    candidates, value = np.concatenate(found), np.concatenate(worth)
    order = np.lexsort((tie[candidates], -value))
    _, first = np.unique(candidates[order], return_index=True)  # a page may scout for groups of several levels
    return candidates[order[np.sort(first)]][:count]


@kernel
def longest_waiting(
    pages: PageIds, group: IntArray, last: IntArray, tie: TieArray, asked: BoolArray
) -> tuple[PageIds, npt.NDArray[np.int64]]:
    """Return the page with the earliest last visit of each group that is not visited, and the group's size."""
    best = np.full(len(asked), -1, dtype=np.int64)
    size = np.zeros(len(asked), dtype=np.int64)
    for p in pages:
        g = group[p]
        if asked[g]:
            continue
        size[g] += 1
        b = best[g]
        if b < 0 or last[p] < last[b] or (last[p] == last[b] and tie[p] < tie[b]):
            best[g] = p
    return best, size
