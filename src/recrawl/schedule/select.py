"""Top-k selection with the project's one tie-break, exact and without sorting what is not chosen."""

from __future__ import annotations

import numpy as np
from numba import njit

from recrawl.columns import FloatArray, IntArray, PageIds
from recrawl.remember.memory import Memory


def top_k(scores: FloatArray, memory: Memory, k: int) -> PageIds:
    """Return the k eligible pages with the highest scores, best first; equal scores go by `memory.tie`.

    NaN ranks below everything. Site caps hold: a page whose site has no room left makes place for the next.
    """
    candidates = np.flatnonzero(memory.eligible())
    values = scores[candidates]
    room = memory.site_room()
    if room is not None:
        order = _ranked(candidates, values, memory)
        return _within_caps(order, memory.site, room, k)
    if k < len(candidates):
        values = np.where(np.isnan(values), -np.inf, values)
        chosen = _best(values, memory, candidates, k)
        candidates, values = candidates[chosen], values[chosen]
    return _ranked(candidates, values, memory)


def _best(values: FloatArray, memory: Memory, candidates: PageIds, k: int) -> PageIds:
    """Positions of the k best, in no order: all above the k-th value, and of its equals those first by tie."""
    if k <= 0:
        return np.empty(0, dtype=np.int64)
    threshold = np.partition(values, len(values) - k)[len(values) - k]
    above = np.flatnonzero(values > threshold)
    equal = np.flatnonzero(values == threshold)
    need = k - len(above)
    if need < len(equal):
        ties = memory.tie[candidates[equal]]
        equal = equal[np.argpartition(ties, need - 1)[:need]]
    return np.concatenate([above, equal])


def _ranked(candidates: PageIds, values: FloatArray, memory: Memory) -> PageIds:
    values = np.where(np.isnan(values), -np.inf, values)
    return candidates[np.lexsort((memory.tie[candidates], -values))]


@njit(cache=True, nogil=True)
def _within_caps(order: PageIds, site: IntArray, room: IntArray, k: int) -> PageIds:
    left = room.copy()
    chosen = np.empty(min(k, len(order)), dtype=np.int64)
    count = 0
    for page in order:
        if count == len(chosen):
            break
        if left[site[page]] > 0:
            left[site[page]] -= 1
            chosen[count] = page
            count += 1
    return chosen[:count]
