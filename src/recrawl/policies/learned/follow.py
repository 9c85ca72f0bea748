"""Following a surprise: where a visit found a change that was hardly expected, a few pages around it come next.

Adaptive cluster sampling (Thompson 1990): a sampled unit with what is looked for has its neighbours sampled as well,
and so on from each of them that has it too. Counts and trees need several changes before they believe that a place
which was still for long has woken; a surprise followed at once tells within the cycle whether it was one page or all.
Neighbours are taken from the smallest place around the page that has some left, the longest unvisited first; pages that
the scores have chosen there already count.
"""

from __future__ import annotations

import numpy as np

from recrawl.columns import FloatArray, IntArray, PageIds, TieArray
from recrawl.compiled import kernel
from recrawl.policies.learned.places import DIRECTORY, PARENT, SECTION, SHAPE, SITE, Places
from recrawl.policies.selection import NO_PAGES
from recrawl.visits import Visits

HARDLY = 0.1  # chance below which a change is a surprise
NEIGHBOURS = 2  # visits around each
AROUND = np.array([DIRECTORY, PARENT, SECTION, SHAPE, SITE])


def surprises(visits: Visits, chance: FloatArray) -> PageIds:
    """Return the pages found changed though their chance was small; `chance` has a row for each page."""
    changed = visits.pages[visits.changed]
    return changed[chance[changed] < HARDLY]


def neighbours(
    found: PageIds, pages: PageIds, taken: PageIds, places: Places, last: IntArray, tie: TieArray
) -> PageIds:
    """Return those of the pages that follow these surprises, the pages that the scores have `taken` among them."""
    if not len(found) or not len(pages):
        return NO_PAGES
    ids = places.ids
    near = np.zeros(len(places), dtype=np.bool_)
    near[ids[found, SITE]] = True
    some = pages[near[ids[pages, SITE]]]
    chosen = np.isin(some, taken)
    order = some[np.lexsort((tie[some], last[some], ~chosen))]
    return _claim(order, found, ids, AROUND, len(places))


@kernel
def _claim(order: PageIds, found: PageIds, ids: IntArray, around: IntArray, groups: int) -> PageIds:
    """Return, level by level, the first pages in this order of groups that still need some."""
    need = np.zeros(groups, dtype=np.int64)
    left = np.full(len(found), NEIGHBOURS)
    used = np.zeros(len(order), dtype=np.bool_)
    out = np.empty(NEIGHBOURS * len(found), dtype=np.int64)
    n = 0
    for level in around:
        for i in range(len(found)):
            need[ids[found[i], level]] += left[i]
        for i in range(len(order)):
            g = ids[order[i], level]
            if need[g] > 0 and not used[i]:
                used[i] = True
                need[g] -= 1
                out[n] = order[i]
                n += 1
        for i in range(len(found)):  # what a group could not give is asked of the next larger one
            g = ids[found[i], level]
            left[i] = min(left[i], need[g])
            need[g] -= left[i]
    return out[:n].copy()
