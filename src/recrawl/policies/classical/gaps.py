"""A page's change rate from the gaps between visits: the maximum-likelihood estimate for a Poisson page.

A visit only shows whether the page changed since the one before, not how often. With D changes a day, a gap of a days
ends in a change with probability 1 - exp(-D a); the likeliest D solves (Cho & Garcia-Molina 2003; Kolobov et al. 2019)

    sum over changed gaps of a / (exp(D a) - 1)  =  sum over unchanged gaps of a

One pseudo-gap of each kind, 0.5 days long, keeps the rate above 0 and finite. Where every change is signalled, so that
n changes in T days are all known, the rate is (n + .5) / (T + .5).
"""

from __future__ import annotations

import math

import numpy as np

from recrawl.columns import ByteArray, FloatArray, IntArray, PageIds, grown
from recrawl.compiled import kernel
from recrawl.memory import Memory
from recrawl.visits import Outcome, Visits

PSEUDO_DAYS = 0.5  # the length of the pseudo-gaps
TOLERANCE = 1e-12

_CHANGED, _FIRST = int(Outcome.CHANGED), int(Outcome.FIRST)


class GapLog:
    """The gaps of every page, and the rate that they make likeliest.

    Unchanged gaps are only ever summed. The changed gaps of a page form a chain through one shared column, so a visit
    is logged in constant time; a page's rate is solved again only after a visit, in time proportional to its chain.
    """

    def __init__(self, pseudo_days: float = PSEUDO_DAYS) -> None:
        self.pseudo_days = pseudo_days
        self._rate: FloatArray = np.empty(0)
        self._unchanged: FloatArray = np.empty(0)  # sum of the unchanged gaps
        self._head = np.empty(0, dtype=np.int64)  # the last changed gap, -1 without one
        self._gap: FloatArray = np.empty(0)
        self._before = np.empty(0, dtype=np.int64)  # the same page's changed gap before this one
        self._count = 0
        self._stale: list[PageIds] = []  # visited since their rates were solved

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Log the gaps that these visits end: the memory still has the visit before."""
        self._reach(len(memory))
        most = self._count + int(np.count_nonzero(visits.changed))
        self._gap = grown(self._gap, most, np.nan)
        self._before = grown(self._before, most, -1)
        self._count = _log(
            visits.pages,
            visits.at - memory.last_visit[visits.pages],
            visits.outcome,
            self._unchanged,
            self._head,
            self._gap,
            self._before,
            self._count,
        )
        self._stale.append(visits.pages)

    def rates(self, size: int) -> FloatArray:
        """Return the rate of the first `size` pages, in changes a day."""
        self._reach(size)
        for pages in self._stale:
            _solve(pages, self._unchanged, self._head, self._gap, self._before, self.pseudo_days, self._rate)
        self._stale.clear()
        return self._rate[:size]

    def _reach(self, pages: int) -> None:
        self._rate = grown(self._rate, pages, math.log(2.0) / self.pseudo_days)  # what the pseudo-gaps say
        self._unchanged = grown(self._unchanged, pages, 0.0)
        self._head = grown(self._head, pages, -1)


def incomplete_rate(changed_days: FloatArray, unchanged_days: float, pseudo_days: float = PSEUDO_DAYS) -> float:
    """Return the likeliest rate of one page from its changed gaps and the sum of its unchanged ones."""
    before = np.arange(-1, len(changed_days) - 1)
    return _likeliest(len(changed_days) - 1, changed_days, before, unchanged_days, pseudo_days)


def complete_rate(changes: FloatArray, days: FloatArray) -> FloatArray:
    """Return the rates of pages whose changes are all known: (n + .5) / (T + .5)."""
    return np.asarray((changes + 0.5) / (days + PSEUDO_DAYS))


@kernel
def _log(
    pages: PageIds,
    length: FloatArray,
    outcome: ByteArray,
    unchanged: FloatArray,
    head: IntArray,
    gap: FloatArray,
    before: IntArray,
    count: int,
) -> int:
    for i in range(len(pages)):
        page = pages[i]
        if outcome[i] == _CHANGED and length[i] > 0:
            gap[count], before[count] = length[i], head[page]
            head[page] = count
            count += 1
        elif outcome[i] < _FIRST and length[i] > 0:
            unchanged[page] += length[i]
    return count


@kernel
def _solve(
    pages: PageIds,
    unchanged: FloatArray,
    head: IntArray,
    gap: FloatArray,
    before: IntArray,
    pseudo: float,
    rate: FloatArray,
) -> None:
    for page in pages:
        rate[page] = _likeliest(head[page], gap, before, unchanged[page], pseudo)


@kernel
def _likeliest(head: int, gap: FloatArray, before: IntArray, unchanged: float, pseudo: float) -> float:
    """Solve the likelihood equation for one page by Newton's method.

    The difference of the two sides falls and is convex in D, so from the left Newton's steps approach the root without
    crossing it. x/(exp(x) - 1) >= 1 - x/2 puts D = k / (unchanged + changed/2) on its left, k counting changed gaps.
    """
    quiet = unchanged + pseudo
    k, changed = 1, pseudo
    link = head
    while link >= 0:
        k += 1
        changed += gap[link]
        link = before[link]
    rate = k / (quiet + changed / 2)
    while True:
        term = pseudo / math.expm1(rate * pseudo)
        value, slope = term - quiet, term * (pseudo + term)
        link = head
        while link >= 0:
            term = gap[link] / math.expm1(rate * gap[link])
            value += term
            slope += term * (gap[link] + term)
            link = before[link]
        step = value / slope
        rate += step
        if step <= TOLERANCE * rate:
            return rate
