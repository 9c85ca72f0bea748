"""Scouts: visits to groups of pages that nobody has asked of late, so that what they find can be followed.

The pages of a directory tend to change together, so one answer speaks for many. What an answer is worth grows with the
number of pages it speaks for and with the time in which they may have changed unnoticed:

    worth(g) = pages of g that may be visited * cycles since the last visit to any page of g

One page a group is asked, the one that has waited longest. Groups that the scores ask anyway need no scout.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds, TieArray

LEAST = 1.0  # a group worth no more than this is one page that was asked a cycle ago


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
        some = np.flatnonzero(size)
        found.append(page[some])
        worth.append(size[some] * quiet[some])
    candidates, value = np.concatenate(found), np.concatenate(worth)
    order = np.lexsort((tie[candidates], -value))
    order = order[value[order] > LEAST]
    _, first = np.unique(candidates[order], return_index=True)  # a page may speak for groups of several levels
    return candidates[order[np.sort(first)]][:count]


@njit(cache=True, nogil=True)
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
