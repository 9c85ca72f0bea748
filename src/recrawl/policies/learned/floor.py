"""A promise per site: no site is found less than a share of what the oldest-first rule would find there.

With b visits per page and cycle the oldest-first rule comes back to a page after T = 1 / b cycles, or after as many as
the crawl has lasted. If page i changes at the rate D_i = -ln(1 - p_i) / t_i, p_i being the chance of a change in the
t_i cycles since its last visit, it finds

    A = b k sum over the site's pages of 1 - exp(-D_i T)        changes per cycle
    k = (found + sqrt(found + 1) + s) / (expected + 1 + s)      of the visits of this module to the site

there. k corrects chances that are too low or too high on this site, at the upper end of what its visits leave open.
Feedback: what was promised, share * A per cycle, less what all visits found there, is the site's debt. It is paid in
visits to the likeliest pages of the site, as many as are expected to bring it, less what the scores will bring anyway.
Where the room does not suffice, pages with the largest p k come first, times the share of its promise that the site
has not had. So a site that the scores serve costs nothing, and one that they leave out as little as its share takes.
Debts fade over FADE cycles, surpluses over SURPLUS.
"""

from __future__ import annotations

import math

import numpy as np

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds, TieArray, grown
from recrawl.compiled import kernel
from recrawl.policies.selection import NO_PAGES
from recrawl.visits import Visits

FADE = 50.0  # cycles
SURPLUS = 25.0  # cycles
MOST = 0.08  # of the budget
DEAR = 0.6  # chance of the last pages chosen from which on no site is paid: it would cost most and help least
STRENGTH = 5.0  # s: expected changes' worth of k = 1
PRICE = 25.0  # changes elsewhere that one change of a promise may cost at most
KEPT = 0.95  # of what was expected and found before, per cycle


class Floor:
    """What each site is owed, and what paying it has cost and brought."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.visits = self.found = 0
        self.cost = 0.0  # changes that the last pages chosen by score would have brought instead
        self.debt: FloatArray = np.empty(0)  # by site, in changes
        self.due: FloatArray = np.empty(0)  # by site: what oldest first would have found so far
        self._expected: FloatArray = np.empty(0)
        self._had: FloatArray = np.empty(0)
        self._promised: FloatArray = np.empty(0)
        self._sent: BoolArray = np.empty(0, dtype=np.bool_)
        self._began = 0

    def choose(
        self,
        pages: PageIds,
        site: IntArray,
        chance: FloatArray,
        waited: FloatArray,
        tie: TieArray,
        budget: int,
        room: int,
        cycle: int,
    ) -> PageIds:
        """Open a cycle; return the pages that sites are owed, at most `room`. The columns have a row for each page."""
        self._make_room(int(site.max(initial=-1)) + 1, len(site))
        self._began = self._began or cycle
        if not len(pages) or not 0 < budget < len(pages):
            return NO_PAGES
        self.debt *= np.where(self.debt > 0.0, 1.0 - 1.0 / FADE, 1.0 - 1.0 / SURPLUS)
        self._expected *= KEPT
        self._had *= KEPT
        per_page = budget / len(pages)
        margin = float(np.partition(chance[pages], len(pages) - budget)[len(pages) - budget])
        gap = min(1.0 / per_page, cycle - self._began + 1.0)
        due, coming = _by_site(pages, site, chance, waited, per_page, gap, margin, len(self.debt))
        k = self._correction()
        due *= k
        self.due += due
        self._promised = self._promised * (1.0 - 1.0 / FADE) + self.share * due
        self.debt += self.share * due
        return self._pay(pages, site, chance, tie, coming, k, margin, min(room, math.ceil(MOST * budget)))

    def _pay(
        self,
        pages: PageIds,
        site: IntArray,
        chance: FloatArray,
        tie: TieArray,
        coming: FloatArray,
        k: FloatArray,
        margin: float,
        room: int,
    ) -> PageIds:
        owed = self.debt - coming
        if margin > DEAR or room <= 0 or not (owed > 0.0).any():
            return NO_PAGES
        some = pages[(owed[site[pages]] > 0.0) & (chance[pages] < margin)]
        some = some[chance[some] * k[site[some]] * PRICE > margin]
        first = k * np.minimum(owed / np.maximum(self._promised, 1e-9), 1.0)
        order = some[np.lexsort((tie[some], -chance[some] * first[site[some]]))]
        sent = _claim(order, site, chance, owed, room)
        self._sent[sent] = True
        np.add.at(self._expected, site[sent], chance[sent])
        self.visits += len(sent)
        self.cost += margin * len(sent)
        return sent

    def _correction(self) -> FloatArray:
        return np.asarray((self._had + np.sqrt(self._had + 1.0) + STRENGTH) / (self._expected + 1.0 + STRENGTH))

    def learn(self, site: IntArray, visits: Visits) -> None:
        """Take off the debts what visits found."""
        if not len(self.debt):
            return
        self._make_room(int(site.max(initial=-1)) + 1, len(site))
        changed = visits.pages[visits.changed]
        self.debt -= np.bincount(site[changed], minlength=len(self.debt))
        paid = changed[self._sent[changed]]
        self._had += np.bincount(site[paid], minlength=len(self.debt))
        self.found += len(paid)
        self._sent[visits.pages] = False

    def _make_room(self, sites: int, pages: int) -> None:
        for name in ("debt", "due", "_expected", "_had", "_promised"):
            setattr(self, name, grown(getattr(self, name), sites, 0.0))
        self._sent = grown(self._sent, pages, False)

    def __str__(self) -> str:
        return (
            f"floor {self.share:g} per site: {self.visits} visits found {self.found} changes, "
            f"where the last pages by score would have brought {self.cost:.0f}"
        )


@kernel
def _by_site(
    pages: PageIds,
    site: IntArray,
    chance: FloatArray,
    waited: FloatArray,
    per_page: float,
    gap: float,
    margin: float,
    sites: int,
) -> tuple[FloatArray, FloatArray]:
    """Return A of each site, with k = 1, and the changes that the scores' own visits are expected to find there."""
    due, coming = np.zeros(sites), np.zeros(sites)
    for p in pages:
        log_still = np.log1p(-min(chance[p], 1.0 - 1e-9))
        due[site[p]] -= per_page * np.expm1(log_still * gap / max(waited[p], 1.0))
        if chance[p] >= margin:
            coming[site[p]] += chance[p]
    return due, coming


@kernel
def _claim(order: PageIds, site: IntArray, chance: FloatArray, owed: FloatArray, room: int) -> PageIds:
    """Return the first pages in this order whose sites are owed more than the pages before them bring."""
    left = owed.copy()
    taken = np.empty(room, dtype=np.int64)
    n = 0
    for p in order:
        if n >= room:
            break
        if left[site[p]] > 0.0:
            left[site[p]] -= chance[p]
            taken[n] = p
            n += 1
    return taken[:n].copy()
