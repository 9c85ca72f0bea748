"""A promise per site: no site is left with less than a share of what the oldest-first rule would find there.

With a budget of b visits per page and cycle, oldest first visits each page every 1/b cycles. If page i changes at the
rate D_i = -ln(1 - p_i) / t_i, where p_i is the chance of a change in the t_i cycles since its last visit, that finds

    A = b sum over the site's pages of 1 - exp(-D_i / b)        changes per cycle

Of the visits of the last WINDOW cycles, those to a page that comes up every g cycles find (1 - exp(-D g)) / min(g,
WINDOW) per cycle. A site where these sum up to B is owed WINDOW (share A - B) changes, claimed of its likeliest pages.
So one that the scores serve well claims nothing, and one that they leave out gets as few visits as its share takes.
Only the pages' last two visits and their chances are needed, so a crawl that was stopped goes on as if it had not been.
"""

from __future__ import annotations

import numpy as np

from recrawl.columns import FloatArray, IntArray, PageIds
from recrawl.compiled import kernel

WINDOW = 10  # cycles


def owed(
    pages: PageIds,
    site: IntArray,
    chance: FloatArray,
    last: IntArray,
    before: IntArray,
    cycle: int,
    visits: float,
    share: float,
) -> FloatArray:
    """Return the changes that each site is owed, less than 0 where it has had more than its share.

    `last` and `before` are the cycles of the last two visits, `visits` the budget per page.
    """
    sites = int(site[pages].max(initial=-1)) + 1
    due, had = _by_site(pages, site, chance, last, before, cycle, visits, sites)
    return np.asarray(WINDOW * (share * due - had))


@kernel
def _by_site(
    pages: PageIds,
    site: IntArray,
    chance: FloatArray,
    last: IntArray,
    before: IntArray,
    cycle: int,
    visits: float,
    sites: int,
) -> tuple[FloatArray, FloatArray]:
    """Return A and B of each site."""
    due, had = np.zeros(sites), np.zeros(sites)
    for p in pages:
        rate = -np.log1p(-min(chance[p], 1.0 - 1e-12)) / max(cycle - last[p], 1)
        due[site[p]] -= visits * np.expm1(-rate / visits)
        gap = last[p] - before[p]
        if gap > 0 and cycle - last[p] <= WINDOW:
            had[site[p]] -= np.expm1(-rate * gap) / min(gap, WINDOW)
    return due, had


@kernel
def claim(order: PageIds, site: IntArray, chance: FloatArray, left: FloatArray, room: int) -> PageIds:
    """Return the first pages in this order whose sites are owed more than the pages before them bring."""
    left = left.copy()
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
