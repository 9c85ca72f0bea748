"""The first k pages by one or more keys, exact and without sorting what is not chosen.

Many pages share the same state, so equal keys are the rule: selection goes by the first key, pages that are equal in
it by the next, and in the end by `memory.tie`, the project's one tie-break, which is never equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds, TieArray
from recrawl.compiled import kernel
from recrawl.memory import Memory

Key = npt.NDArray[Any]  # floats, booleans or unsigned numbers, one per page; the smaller, the sooner
NO_PAGES: PageIds = np.empty(0, dtype=np.int64)

_SIGN = np.uint64(1 << 63)
_DIGIT_BITS = 12
_STRICT: ContextVar[bool] = ContextVar("strict", default=False)


@contextmanager
def strict_scores() -> Iterator[None]:
    """Raise on NaN scores in this context; used by Guarded, which has a fallback."""
    token = _STRICT.set(True)
    try:
        yield
    finally:
        _STRICT.reset(token)


def top_k(scores: FloatArray, memory: Memory, k: int, *, ahead: BoolArray | None = None) -> PageIds:
    """Return the k eligible pages with the highest scores, best first; equal scores go by `memory.tie`.

    Pages in `ahead` come before all others, the more important first. NaN ranks below everything. Site caps hold:
    a page whose site has no room left makes room for the next.
    """
    return first_k(rank_keys(scores, memory, ahead), memory, k)


def rank_keys(scores: FloatArray, memory: Memory, ahead: BoolArray | None = None) -> list[Key]:
    """Return the keys by which `top_k` orders pages, before the tie-break: with pages in `ahead`, first these."""
    worst = -np.asarray(scores, dtype=np.float64)
    missing = np.isnan(worst)
    if _STRICT.get() and (missing & memory.eligible() if ahead is None else missing & memory.eligible() & ~ahead).any():
        raise ValueError("a score is not a number")
    worst[missing] = np.inf
    if ahead is None or not ahead.any():
        return [worst]
    worst[ahead] = 0.0 if memory.importance is None else -memory.importance[ahead]
    return [~ahead, worst]


def first_k(keys: Sequence[Key], memory: Memory, k: int, *, among: BoolArray | None = None) -> PageIds:
    """Return the k eligible pages with the smallest keys, in order: the first key decides, then the next.

    `among` restricts the choice further. Keys hold no NaN.
    """
    eligible = memory.eligible() if among is None else memory.eligible() & among
    candidates = np.flatnonzero(eligible)
    if _STRICT.get() and any(np.isnan(key[candidates]).any() for key in keys if key.dtype.kind == "f"):
        raise ValueError("a key is not a number")
    keys = [*keys, memory.tie]
    room = memory.site_room()
    if room is None:
        return _sorted(smallest(candidates, keys, k), keys)
    reach = k
    while True:  # pages beyond their site's cap make room, so look further until enough remain
        order = _sorted(smallest(candidates, keys, reach), keys)
        chosen = _within_caps(order, memory.site, room, k)
        if len(chosen) == k or reach >= len(candidates):
            return chosen
        reach *= 4


def smallest(candidates: PageIds, keys: Sequence[Key], k: int) -> PageIds:
    """Return the k candidates with the smallest keys, in no order."""
    if k >= len(candidates):
        return candidates
    if k <= 0:
        return NO_PAGES
    values = _ordered_bits(keys[0][candidates])
    threshold = _kth(values, k - 1)
    sure = candidates[values < threshold]
    equal = candidates[values == threshold]
    return np.concatenate([sure, smallest(equal, keys[1:], k - len(sure))])


def _sorted(pages: PageIds, keys: Sequence[Key]) -> PageIds:
    return pages[np.lexsort([key[pages] for key in reversed(keys)])]


def _ordered_bits(values: Key) -> TieArray:
    """Map numbers to unsigned integers of the same order; -0.0 and 0.0 stay equal."""
    return _float_bits(values) if values.dtype == np.float64 else values.astype(np.uint64, copy=False)


@kernel
def _float_bits(values: FloatArray) -> TieArray:
    bits = (values + 0.0).view(np.uint64)
    for i in range(len(bits)):
        bits[i] = ~bits[i] if bits[i] & _SIGN else bits[i] | _SIGN
    return bits


@kernel
def _kth(values: TieArray, k: int) -> int:
    """Return the k-th smallest (from 0), one digit at a time from the top.

    Linear whatever the number of equal values; quickselect is up to twenty times slower on some patterns of ties.
    """
    digit = np.uint64((1 << _DIGIT_BITS) - 1)
    left = values
    shift = 64 - _DIGIT_BITS
    while True:
        counts = np.zeros(1 << _DIGIT_BITS, dtype=np.int64)
        for value in left:
            counts[(value >> np.uint64(shift)) & digit] += 1
        bucket = 0
        while k >= counts[bucket]:
            k -= counts[bucket]
            bucket += 1
        if counts[bucket] < len(left):
            left = left[(left >> np.uint64(shift)) & digit == np.uint64(bucket)]
        if shift == 0:
            return left[0]
        shift = max(shift - _DIGIT_BITS, 0)


@kernel
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
