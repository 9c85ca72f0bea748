"""Scouts (exploration): visits to groups of pages that were not visited lately, so that later rounds can follow.

The pages of a directory tend to change together, so one answer speaks for many. What an answer is worth grows with the
number of pages it speaks for and with the time in which they may have changed unnoticed:

    worth(g) = pages of g that may be visited * cycles since the last visit to any page of g

One page per group is visited, the one that has waited longest. Groups that the scores visit anyway, or that were
visited a few cycles ago, need no scout.

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
SHARE_MIN, SHARE_MAX = 0.005, 0.1
GROW, SHRINK = 1.05, 0.9  # of the share: scouts have to win two times of three to stay


class Scouting:
    """The share of the budget that scouts get, and how they fared in this cycle."""

    def __init__(self, share: float) -> None:
        self.share = share
        self._owed = 0.0  # scouts that are due, carried over where it is less than one
        self._room = 1.0  # how much better than the last pages that scores chose a page can be
        self._begin()

    def _begin(self) -> None:
        self._sent: PageIds = NO_PAGES
        self._lucky: PageIds = NO_PAGES  # those of them that found a change
        self._marginal: PageIds = NO_PAGES
        self._margin = np.nan  # share of the marginal pages that had changed

    def due(self, budget: int, size: int) -> int:
        """Return how many scouts a cycle with this budget is due, of `size` visits at most.

        Where the scores find a change with nearly every visit there is nothing better to be led to.
        """
        self._owed += budget * self.share * self._room
        count = min(int(self._owed), size)
        self._owed -= count
        return count

    def watch(self, *, sent: PageIds = NO_PAGES, marginal: PageIds = NO_PAGES) -> None:
        """Note the scouts of this cycle, and the pages that they have to beat."""
        self._sent = np.concatenate([self._sent, sent])
        self._marginal = marginal

    def observe(self, visits: Visits) -> None:
        """See what scouts and marginal pages brought."""
        lucky = visits.changed & np.isin(visits.pages, self._sent)
        self._lucky = np.concatenate([self._lucky, visits.pages[lucky]])
        if (marginal := np.isin(visits.pages, self._marginal)).any():
            self._margin = float(visits.changed[marginal].mean())

    def adapt(self, directory: IntArray, changes: FloatArray) -> None:
        """Close the cycle: `changes` were found in it in each group; `directory` is each page's."""
        if len(self._sent) and np.isfinite(self._margin):
            led_to = changes[np.unique(directory[self._lucky])].sum()
            better = led_to > self._margin * len(self._sent)
            self.share = float(np.clip(self.share * (GROW if better else SHRINK), SHARE_MIN, SHARE_MAX))
        if np.isfinite(self._margin):
            self._room = 1.0 - self._margin
        self._begin()


def scouts(
    pages: PageIds, groups: IntArray, taken: PageIds, last: IntArray, tie: TieArray, quiet: FloatArray, count: int
) -> PageIds:
    """Return the `count` pages that speak for most.

    `groups[page, level]` are the groups of every page, `quiet` the cycles since each group was asked, `last` and
    `tie` each page's last visit and place among equals; `taken` are the pages that the scores chose already.
    """
    found: list[PageIds] = []
    worth: list[FloatArray] = []
    for level in range(groups.shape[1]):
        asked = np.zeros(len(quiet), dtype=np.bool_)
        asked[groups[taken, level]] = True
        page, size = _longest_waiting(pages, groups[:, level], last, tie, asked)
        some = np.flatnonzero((size > 0) & (quiet >= QUIET))
        found.append(page[some])
        worth.append(size[some] * quiet[some])
    candidates, value = np.concatenate(found), np.concatenate(worth)
    order = np.lexsort((tie[candidates], -value))
    _, first = np.unique(candidates[order], return_index=True)  # a page may speak for groups of several levels
    return candidates[order[np.sort(first)]][:count]


@kernel
def _longest_waiting(
    pages: PageIds, group: IntArray, last: IntArray, tie: TieArray, asked: BoolArray
) -> tuple[PageIds, npt.NDArray[np.int64]]:
    """Return of each group that is not asked the page with the earliest last visit, and the number of its pages."""
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
