"""Heaps, merges, sums and bits: the compiled tools of the fast fitness.

All indices within loops are unsigned: compiled code tests signed ones for counting from the end of an array, which
takes twice the time of what the loops do. When pages changed is kept as bits, one per cycle: bit c-1 of a page is set
if it changed in cycle c.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.extending import intrinsic

from recrawl.columns import FloatArray, IntArray
from recrawl.compiled import kernel
from recrawl.evolve.ground import FROM, TO, Bits, Members, Small


@kernel(error_model="numpy")
def sink(heap: Small, key: FloatArray, start: int, size: int) -> None:
    """Restore the heap, highest key on top, below a place."""
    i, end, one = np.uint64(start), np.uint64(size), np.uint64(1)
    item, value = heap[i], key[i]
    while True:
        child = i + i + one
        if child >= end:
            break
        if child + one < end:
            child += np.uint64(key[child + one] > key[child])
        if key[child] <= value:
            break
        key[i], heap[i] = key[child], heap[child]
        i = child
    key[i], heap[i] = value, item


@kernel(error_model="numpy")
def merge_lists(count: int, out: int, budget: int, lists: Small, pool: Members) -> None:
    """Merge sorted lists of the pool to `out`, which may be where they begin."""
    scratch = 2
    while count > 1:
        at = len(pool) - scratch * budget
        for pair in range((count + 1) // 2):
            first, a, b = at, 2 * pair, 2 * pair + 1
            if b < count:
                at = merge_two(lists[FROM, a], lists[TO, a], lists[FROM, b], lists[TO, b], pool, at)
            else:
                at = copy_run(lists[FROM, a], lists[TO, a], pool, at)
            lists[FROM, pair], lists[TO, pair] = first, at
        count = (count + 1) // 2
        scratch = 3 - scratch
    copy_run(lists[FROM, 0], lists[TO, 0], pool, out)


@kernel(error_model="numpy")
def merge_two(a: int, a_end: int, b: int, b_end: int, pool: Members, out: int) -> int:
    """Merge two sorted lists of the pool to `out`, without a branch on which is next; returns the end."""
    i, j, at = np.uint64(a), np.uint64(b), np.uint64(out)
    i_end, j_end = np.uint64(a_end), np.uint64(b_end)
    while i < i_end and j < j_end:
        first = np.uint64(pool[i] < pool[j])
        pool[at] = min(pool[i], pool[j])
        i += first
        j += np.uint64(1) - first
        at += np.uint64(1)
    return copy_run(np.int64(j), b_end, pool, copy_run(np.int64(i), a_end, pool, np.int64(at)))


@kernel(error_model="numpy")
def copy_run(a: Any, a_end: int, pool: Members, out: Any) -> int:
    """Copy a piece of the pool; returns where the copy ends."""
    begin, at = np.uint64(a), np.uint64(out)
    for m in range(a_end - a):
        pool[at + np.uint64(m)] = pool[begin + np.uint64(m)]
    return out + a_end - a


@kernel(error_model="numpy")
def pairwise_sum(values: FloatArray, count: int) -> float:
    """Add as numpy does, so that both agree to the last digit: halve down to 128 numbers, add those in eight strands.

    Written with its own stack: a cached kernel that calls a recursive function crashes when it is loaded again.
    """
    begin, size, step, left = np.zeros(64, np.int64), np.zeros(64, np.int64), np.zeros(64, np.int64), np.zeros(64)
    size[0] = count
    top, total = 0, 0.0
    while top >= 0:
        half = size[top] // 2 // 8 * 8
        if size[top] <= 128:
            total = _strand_sum(values, begin[top], size[top])
            top -= 1
        elif step[top] == 2:
            total = left[top] + total
            top -= 1
        else:
            second = step[top] == 1
            if second:
                left[top] = total
            step[top] += 1
            begin[top + 1] = begin[top] + (half if second else 0)
            size[top + 1] = size[top] - half if second else half
            step[top + 1] = 0
            top += 1
    return total


@kernel(error_model="numpy")
def _strand_sum(values: FloatArray, begin: int, count: int) -> float:
    total = 0.0
    end = begin
    if count >= 8:
        end = begin + count // 8 * 8
        r0, r1, r2, r3 = values[begin], values[begin + 1], values[begin + 2], values[begin + 3]
        r4, r5, r6, r7 = values[begin + 4], values[begin + 5], values[begin + 6], values[begin + 7]
        for i in range(begin + 8, end, 8):
            r0 += values[i]
            r1 += values[i + 1]
            r2 += values[i + 2]
            r3 += values[i + 3]
            r4 += values[i + 4]
            r5 += values[i + 5]
            r6 += values[i + 6]
            r7 += values[i + 7]
        total = ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
    for i in range(end, begin + count):
        total += values[i]
    return total


@kernel(error_model="numpy", inline="always")
def window_of(since: int, cycle: int) -> np.uint64:
    """Bits of the cycles since+1 .. cycle within one word."""
    return (~np.uint64(0) >> np.uint64(64 - (cycle - since))) << np.uint64(since)


@kernel(error_model="numpy")
def changed_since(bits: Bits, page: int, since: int, cycle: int) -> bool:
    """Whether the page changed in the cycles since+1 .. cycle, however many words they take."""
    for word in range(since // 64, (cycle - 1) // 64 + 1):
        low, high = max(since - 64 * word, 0), min(cycle - 64 * word, 64)
        if np.uint64(bits[word, page]) & window_of(low, high):
            return True
    return False


@kernel(error_model="numpy")
def count_stale(changed: int, cycle: int, cycles: int, budget: int, bits: Bits, pool: Members, stale: IntArray) -> None:
    """Update when copies go stale: renewed ones at their page's next change, fresh ones as before."""
    begin = len(pool) - 5 * budget
    for m in range(begin, begin + changed):
        stale[_next_change(bits, pool[m], cycle, cycles)] += 1


@kernel(error_model="numpy")
def _next_change(bits: Bits, page: int, cycle: int, cycles: int) -> int:
    """Return the first cycle after `cycle` in which the page changes; cycles + 1 if none."""
    for word in range(cycle // 64, bits.shape[0]):
        rest = np.uint64(bits[word, page])
        if word == cycle // 64:
            rest &= ~np.uint64(0) << np.uint64(cycle % 64)
        if rest:
            return 64 * word + int(_trailing_zeros(rest)) + 1
    return cycles + 1


@intrinsic
def _trailing_zeros(typing: Any, word: Any) -> Any:
    """The place of the lowest bit that is set."""
    return word(word), lambda context, builder, signature, args: builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))
