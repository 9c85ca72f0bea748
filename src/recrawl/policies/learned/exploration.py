"""Exploration: visits bought for what they tell, where knowing is worth more than the change that they may find.

Most groups of pages (section, parent, directory, shape: policies.learned.places) are asleep most of the time: nothing
changes in them. One may have woken since anybody asked, and the longer nobody has, the likelier; the chance a of that
is what the visits to a group and the time since say (policies.learned.evidence). In a group that is awake pages change
at a pace r, so of its N pages that have waited t cycles a share q = 1 - exp(-r t) is stale, r being spread around the
pace of places that are awake. n visits to a group show with chance 1 - (1 - q)^n that it is awake, and then its pages
can be followed where q is above the margin m, the chance of the last page that the budget reaches. Asking gains

    (1 - a) a HORIZON N E[(1 - (1 - q)^n) max(q - m, 0)] - n (m - x)        x: the mean chance of the N pages

changes: the expected value of sample information (Raiffa & Schlaifer 1961) less what the visits cost; 1 - a, since
where it is known that a group is awake an answer is no news. Each group gets the n of 1, 2, 4, 8 that gains most, none
if none gains, the best groups first; the likeliest pages of a group are asked. Answered groups come up rarely, large
ones that have long been silent often.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, IntArray, PageIds, TieArray
from recrawl.compiled import kernel
from recrawl.policies.selection import NO_PAGES
from recrawl.visits import Visits

HORIZON = 1.0  # cycles for which an answer pays
_TRIES = np.array([1, 2, 4, 8])
_PACES = np.array([0.15, 0.4, 1.0, 2.5, 7.0])  # of places that are awake, beside their mean,
_SHARES = np.array([0.1, 0.2, 0.4, 0.2, 0.1])  # and how many have them


@dataclass(frozen=True)
class Known:
    """What is known of all pages and their groups before a cycle's visits."""

    chance: FloatArray  # of a change, by page
    waited: FloatArray  # cycles, by page
    groups: IntArray  # pages x levels
    tie: TieArray
    awake: FloatArray  # chance of each group
    pace: float  # changes per page and cycle in a group that is awake


@dataclass
class Exploration:
    """What exploring may cost at most, and what it has cost and brought."""

    most: float  # share of the budget
    visits: int = 0
    found: int = 0  # changes found by these visits themselves
    cost: float = 0.0  # changes that the pages at the margin would have been expected to bring instead
    _sent: PageIds = field(default_factory=lambda: NO_PAGES)

    def choose(self, known: Known, pages: PageIds, taken: PageIds, margin: float, budget: int, room: int) -> PageIds:
        """Return the pages to visit for what they tell, at most `room`; `pages` may be visited, `taken` will be."""
        room = min(room, math.ceil(self.most * budget))
        below = pages[known.chance[pages] < margin]
        if room <= 0 or not len(below):
            return NO_PAGES
        left = _wanted(known, below, margin, budget, room)
        for level in range(known.groups.shape[1]):
            left -= np.bincount(known.groups[taken, level], minlength=len(left))
        asking = np.zeros(len(known.chance), dtype=np.bool_)
        asking[below] = (left[known.groups[below]] > 0).any(axis=1)
        asking[taken] = False
        some = np.flatnonzero(asking)
        order = some[np.lexsort((known.tie[some], -known.chance[some]))]
        self._sent = _likeliest(order, known.groups, left, room)
        self.visits += len(self._sent)
        self.cost += margin * len(self._sent)
        return self._sent

    def learn(self, visits: Visits) -> None:
        """See what exploring found."""
        if len(self._sent):
            self.found += int((visits.changed & np.isin(visits.pages, self._sent)).sum())
            self._sent = NO_PAGES

    def __str__(self) -> str:
        return (
            f"exploring: {self.visits} visits found {self.found} changes, where the last pages by chance "
            f"would have brought {self.cost:.0f}"
        )


def _wanted(known: Known, pages: PageIds, margin: float, budget: int, room: int) -> npt.NDArray[np.int64]:
    """Return how many visits each group should get for what they tell."""
    size, chance, waited = (np.zeros(len(known.awake)) for _ in range(3))
    for level in range(known.groups.shape[1]):
        of = known.groups[pages, level]
        size += np.bincount(of, minlength=len(size))
        chance += np.bincount(of, known.chance[pages], minlength=len(size))
        waited += np.bincount(of, known.waited[pages], minlength=len(size))
    some = np.flatnonzero(size)
    mean = chance[some] / size[some]
    stale = -known.pace * waited[some] / size[some]
    worth, count = gains(known.awake[some], stale, mean, np.minimum(size[some], budget), margin)
    order = np.lexsort((some, -worth / np.maximum(count, 1)))
    order = order[worth[order] > 0.0]
    order = order[np.cumsum(count[order]) - count[order] < room]
    wanted = np.zeros(len(size), dtype=np.int64)
    wanted[some[order]] = count[order]
    return wanted


@kernel
def gains(
    awake: FloatArray, still: FloatArray, mean: FloatArray, size: FloatArray, margin: float
) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Return for each group the largest net gain of asking and the number of visits that has it, 0 if none gains.

    `still` is -r t at the mean pace, `size` N; the rest is as in the module's formula.
    """
    best, count = np.zeros(len(mean)), np.zeros(len(mean), dtype=np.int64)
    for i in range(len(mean)):
        news = awake[i] * (1.0 - awake[i]) * HORIZON * size[i]
        for n in _TRIES:
            gain = 0.0
            for pace, share in zip(_PACES, _SHARES):  # noqa: B905 - numba has no strict
                q = -math.expm1(still[i] * pace)
                if q > margin:
                    gain += share * (1.0 - (1.0 - q) ** n) * (q - margin)
            net = news * gain - n * max(margin - mean[i], 0.0)
            if net > best[i]:
                best[i], count[i] = net, n
    return best, count


@kernel
def _likeliest(order: PageIds, groups: IntArray, left: npt.NDArray[np.int64], room: int) -> PageIds:
    """Take pages in this order while any of their groups wants one; a visit counts in all groups of its page."""
    taken = np.empty(room, dtype=np.int64)
    n = 0
    for p in order:
        if n >= room:
            break
        wants = False
        for level in range(groups.shape[1]):
            wants |= left[groups[p, level]] > 0
        if wants:
            for level in range(groups.shape[1]):
                left[groups[p, level]] -= 1
            taken[n] = p
            n += 1
    return taken[:n].copy()
