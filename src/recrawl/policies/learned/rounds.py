"""The rounds of a cycle: how large they are, and pages by rank with at most so many per group in each.

Every round is chosen by what the rounds before it found, so many small ones find more than a few large ones. But a
round of a handful of pages keeps hosts waiting for each other, and each one scores the best candidates again, which
costs as much as the budget is large.

The outcomes of one site or directory are correlated: if nothing was edited there, a hundred visits find nothing. So a
round gives a group at most `room` visits on top of those that it already had in this cycle, which doubles from round to
round: a few visits test, many follow.

A limit on waiting is kept by looking ahead: pages that were visited together fall due together, so some of them are
visited early enough that the budget of the cycles until then suffices for the rest.
"""

from __future__ import annotations

import numpy as np

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds, TieArray
from recrawl.compiled import kernel

ROUNDS = 24  # at most
FEWEST = 8  # unless fewer are asked for
SMALLEST = 16  # visits of a round, where there are more than FEWEST
SCORED = 250_000  # visits times rounds: beyond it, a cycle has fewer rounds


def rounds_of(most: int, budget: int) -> int:
    """Return into how many rounds a cycle's budget is divided: at most `most`."""
    return min(most, max(FEWEST, min(budget // SMALLEST, SCORED // max(budget, 1))))


def round_size(left: int, rounds: int, number: int) -> int:
    """Return the visits of the round with this number, from 1 on: what is left, in equal parts."""
    return -(-left // max(1, rounds + 1 - number))


def most_unfetched(size: int, budget: int, rounds: int) -> int:
    """Return how many pages without a copy a round takes: the next has little to learn from them, so they go faster."""
    return max(size, -(-budget // min(rounds, FEWEST)))


@kernel
def spread(order: PageIds, ids: IntArray, asked: FloatArray, rooms: IntArray, size: int) -> PageIds:
    """Take the first pages with room in all their groups, then, if that is not enough, the best of the others."""
    count = np.zeros(len(asked), dtype=np.int64)
    taken = np.empty(max(size, 0), dtype=np.int64)
    passed = np.zeros(len(order), dtype=np.bool_)
    n = 0
    for i in range(len(order)):
        if n >= size:
            break
        full = False
        for j in range(ids.shape[1]):
            g = ids[order[i], j]
            full |= count[g] >= rooms[j] + asked[g]
        if full:
            passed[i] = True
            continue
        for j in range(ids.shape[1]):
            count[ids[order[i], j]] += 1
        taken[n] = order[i]
        n += 1
    for i in range(len(order)):
        if n >= size:
            break
        if passed[i]:
            taken[n] = order[i]
            n += 1
    return taken[:n]


def longest(waited: FloatArray, eligible: BoolArray, tie: TieArray, wait: int, budget: int) -> PageIds:
    """Return the pages that must be visited now, so that none will have to wait longer than `wait` cycles.

    Of the pages that fall due within s cycles, the s cycles after this one can take s * budget; the largest excess over
    all s must go now, the longest waiting first. Where budget * wait is less than the pages, no order can do it.
    """
    pages = np.flatnonzero(eligible)
    left = np.maximum(wait - waited[pages], 0.0).astype(np.int64)  # cycles until a page falls due
    due = np.cumsum(np.bincount(np.minimum(left, wait), minlength=wait + 1)[:wait])
    excess = int(np.max(due - budget * np.arange(wait), initial=0))
    return pages[np.lexsort((tie[pages], left))[:excess]]
