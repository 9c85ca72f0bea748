"""A page's change rate from the gaps between visits: the maximum-likelihood estimate for a Poisson page.

A visit only shows whether the page changed since the one before, not how often. With D changes per day, a gap of a days
ends in a change with probability 1 - exp(-D a); the likeliest D solves (Cho & Garcia-Molina 2003; Kolobov et al. 2019)

    sum over changed gaps of a / (exp(D a) - 1)  =  sum over unchanged gaps of a

One pseudo-gap of each kind, 0.5 days long, keeps the rate above 0 and finite.
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
Chains = tuple[FloatArray, IntArray, FloatArray, IntArray]  # unchanged, head, gap and before of a GapLog

_CHANGED, _FIRST = int(Outcome.CHANGED), int(Outcome.FIRST)


class GapLog:
    """The gaps between the visits to every page, and the maximum-likelihood rates.

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
        """Log the gaps that these visits end, from the memory before it records them."""
        self._reach(len(memory))
        most = self._count + int(np.count_nonzero(visits.changed))
        self._gap = grown(self._gap, most, np.nan)
        self._before = grown(self._before, most, -1)
        length = visits.at - memory.last_visit[visits.pages]
        self._count = _log(visits.pages, length, visits.outcome, self._chains, self._count)
        self._stale.append(visits.pages)

    def rates(self, size: int) -> FloatArray:
        """Return the rate of the first `size` pages, in changes per day."""
        self._reach(size)
        for pages in self._stale:
            _solve(pages, self._chains, self.pseudo_days, self._rate)
        self._stale.clear()
        return self._rate[:size]

    @property
    def _chains(self) -> Chains:
        return self._unchanged, self._head, self._gap, self._before

    def _reach(self, pages: int) -> None:
        self._rate = grown(self._rate, pages, math.log(2.0) / self.pseudo_days)  # without any gap
        self._unchanged = grown(self._unchanged, pages, 0.0)
        self._head = grown(self._head, pages, -1)


@kernel
def _log(pages: PageIds, length: FloatArray, outcome: ByteArray, chains: Chains, count: int) -> int:
    unchanged, head, gap, before = chains
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
def _solve(pages: PageIds, chains: Chains, pseudo: float, rate: FloatArray) -> None:
    unchanged, head, gap, before = chains
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
