"""A promise per site: no site is left with less than a share of what the oldest-first rule would find there.

With a budget of b visits per page and cycle, oldest first visits each page every 1/b cycles. If page i changes at the
rate D_i, that finds on a site

    A = b sum over its pages of 1 - exp(-D_i / b)        changes per cycle, D_i = -ln(1 - p_i) / t_i

from the chance p_i of a page that has waited t_i cycles. Each cycle a site is owed `share` A, and each visit pays the
chance that it had. What is owed is claimed from the site's likeliest pages, so a site that the scores serve well claims
nothing, and one that they leave out gets as few visits as its share takes. Neither debt nor surplus outlasts WINDOW
cycles.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from recrawl.columns import FloatArray, IntArray, PageIds, grown
from recrawl.policies.selection import NO_PAGES

WINDOW = 10  # cycles


class SiteFloor:
    """What each site is owed, in changes expected."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.owed: FloatArray = np.zeros(0)

    def open_cycle(self, pages: PageIds, site: IntArray, chance: FloatArray, waited: FloatArray, visits: float) -> None:
        """Add what the cycle owes each site; `visits` is the budget per page."""
        if not self.share:
            return
        self.owed = grown(self.owed, int(site[pages].max(initial=-1)) + 1, 0.0)
        due = self.share * _by_age(pages, site, chance, waited, visits, len(self.owed))
        self.owed = np.clip(self.owed + due, -WINDOW * due, WINDOW * due)

    def pay(self, pages: PageIds, site: IntArray, chance: FloatArray) -> None:
        """Count visits that were made."""
        if len(self.owed):
            self.owed -= np.bincount(site[pages], chance[pages], minlength=len(self.owed))[: len(self.owed)]

    def unpaid(self, pages: PageIds, site: IntArray, chance: FloatArray, taken: PageIds) -> PageIds:
        """Return those of the pages, the taken ones apart, whose sites are owed more than the taken ones bring."""
        pages = pages[self._left(site, chance, taken)[site[pages]] > 0.0]
        return pages[~np.isin(pages, taken)]

    def claim(self, order: PageIds, site: IntArray, chance: FloatArray, taken: PageIds, room: int) -> PageIds:
        """Return the first pages in this order that pay what sites are owed beyond what the taken pages bring."""
        return _claimed(order, site, chance, self._left(site, chance, taken), room) if room > 0 else NO_PAGES

    def _left(self, site: IntArray, chance: FloatArray, taken: PageIds) -> FloatArray:
        """Return what sites are owed once the taken pages are visited."""
        return self.owed - np.bincount(site[taken], chance[taken], minlength=len(self.owed))[: len(self.owed)]


@njit(cache=True, nogil=True)
def _by_age(
    pages: PageIds, site: IntArray, chance: FloatArray, waited: FloatArray, visits: float, sites: int
) -> FloatArray:
    """Return the changes per cycle that oldest first would be expected to find on each site."""
    out = np.zeros(sites)
    for p in pages:
        rate = -np.log1p(-min(chance[p], 1.0 - 1e-12)) / max(waited[p], 1.0)
        out[site[p]] -= visits * np.expm1(-rate / visits)
    return out


@njit(cache=True, nogil=True)
def _claimed(order: PageIds, site: IntArray, chance: FloatArray, owed: FloatArray, room: int) -> PageIds:
    taken = np.empty(room, dtype=np.int64)
    n = 0
    for p in order:
        if n >= room:
            break
        if owed[site[p]] > 0.0:
            owed[site[p]] -= chance[p]
            taken[n] = p
            n += 1
    return taken[:n].copy()
