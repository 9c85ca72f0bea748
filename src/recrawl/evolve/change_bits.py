"""When pages changed, as bits, one per cycle: bit c-1 of a page is set if it changed in cycle c."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.extending import intrinsic

from recrawl.columns import IntArray
from recrawl.compiled import kernel
from recrawl.evolve.ground import Bits, Members


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
    """Note when the copies just renewed go stale; copies found fresh go stale when they would have anyway."""
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
