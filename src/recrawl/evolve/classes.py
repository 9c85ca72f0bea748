"""Equivalence classes of pages in the same state: what a formula reads of it, how visits split classes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from recrawl.columns import FloatArray
from recrawl.compiled import kernel
from recrawl.evolve.ground import (
    DECAY,
    END,
    FIRST_RUN,
    FREE,
    FROM,
    HEAD,
    LAST,
    MADE,
    READS_DECAY,
    READS_LAST,
    READS_N,
    READS_TOTAL,
    READS_X,
    TO,
    TOTAL,
    VISITED,
    Ground,
    Members,
    N,
    Small,
    X,
)
from recrawl.evolve.merging import merge_lists
from recrawl.policies.formulas.closure import TERMINAL, Codes
from recrawl.policies.formulas.terminals import NAMES

_N, _X, _T, _CG, _NAD, _SAD, _AAD, _GAD = range(8)
assert NAMES[:8] == ("n", "X", "t", "CG", "NAD", "SAD", "AAD", "GAD")


@kernel
def reads_of(code: Codes, size: int, over_cycles: bool) -> int:
    """Return the parts of a state that a formula reads."""
    reads = 0
    visits = 0 if over_cycles else READS_N
    for i in range(size):
        line = code[i] - TERMINAL
        if line == _N:
            reads |= READS_N
        elif line == _X:
            reads |= READS_X
        elif line == _CG:
            reads |= READS_X | READS_N
        elif line == _NAD:
            reads |= READS_X | visits
        elif line == _SAD:
            reads |= READS_LAST
        elif line == _AAD:
            reads |= READS_TOTAL | visits
        elif line == _GAD:
            reads |= READS_DECAY | visits
    return reads


@kernel(error_model="numpy")
def fill_terminals(
    used: int, classes: int, cycle: int, ground: Ground, table: Small, sums: FloatArray, out: Any
) -> None:
    """Fill the columns of the terminals that are used, exactly as policies/formulas/terminals.py does for pages."""
    over_cycles, chances = ground.over_cycles, ground.chances
    for i in range(classes):
        row = table[i]
        t = float(cycle - row[VISITED])
        ended = float(max(cycle - 1 if over_cycles else row[N], 1))
        if used >> _N & 1:
            out[_N, i] = row[N]
        if used >> _X & 1:
            out[_X, i] = row[X]
        if used >> _T & 1:
            out[_T, i] = t
        if used >> _CG & 1:
            rate = -math.log((row[N] - row[X] + 0.5) / (row[N] + 0.5)) if row[X] else 0.0
            out[_CG, i] = _estimate(rate, t, chances)
        if used >> _NAD & 1:
            out[_NAD, i] = _estimate(row[X] / ended, t, chances)
        if used >> _SAD & 1:
            out[_SAD, i] = _estimate(float(row[LAST]) if not over_cycles or t == 1.0 else 0.0, t, chances)
        if used >> _AAD & 1:
            weights = ended * (ended + 1.0)
            total = sums[i, TOTAL]
            out[_AAD, i] = _estimate(total * (2.0 / weights) if over_cycles else 2.0 * total / weights, t, chances)
        if used >> _GAD & 1:
            decay = sums[i, DECAY]
            if over_cycles:  # bring the sum from the last visit to the last cycle that has ended
                out[_GAD, i] = _estimate(decay * 0.5 ** (t - 1.0) / ground.decay_norm[cycle], t, chances)
            else:
                out[_GAD, i] = _estimate(decay / (1.0 - 0.5**ended), t, chances)


@kernel(error_model="numpy", inline="always")
def _estimate(rate: float, t: float, chances: bool) -> float:
    return -math.expm1(-rate * t) if chances else rate


@kernel(error_model="numpy")
def class_after(
    i: int,
    hit: int,
    place: int,
    cycle: int,
    reads: int,
    over_cycles: bool,
    table: Small,
    sums: FloatArray,
    slots: Small,
    stamp: int,
) -> int:
    """Find the class in which members of class i are after a visit; if there is none yet, make it in `place`."""
    n = np.int32(table[i, N] + 1 if reads & READS_N else 0)
    x = np.int32(table[i, X] + hit if reads & READS_X else 0)
    last = np.int32(hit if reads & READS_LAST else 0)
    total, decay = sums[i, TOTAL], sums[i, DECAY]
    if reads & READS_TOTAL:
        total += hit * (cycle if over_cycles else n)
    if reads & READS_DECAY:
        decay = decay * (0.5 ** (cycle - table[i, VISITED]) if over_cycles else 0.5) + 0.5 * hit
    mask = len(slots) - 1
    where = n * 73856093 ^ x * 19349663 ^ last * 83492791 ^ np.int64(total) * 2654435761 ^ np.int64(decay * 2.0**52)
    where = (where ^ (where >> 17) ^ (where >> 34)) & mask
    while slots[where, 0] == stamp:
        j = slots[where, 1]
        same = table[j, N] == n and table[j, X] == x and table[j, LAST] == last
        if same and sums[j, TOTAL] == total and sums[j, DECAY] == decay:
            return j
        where = (where + 1) & mask
    slots[where, 0], slots[where, 1] = stamp, place
    table[place, N], table[place, X], table[place, LAST] = n, x, last
    table[place, VISITED], table[place, FIRST_RUN] = cycle, -1
    sums[place, TOTAL], sums[place, DECAY] = total, decay
    return place


@kernel(error_model="numpy")
def settle(made: int, pool_end: int, budget: int, table: Small, lists: Small, runs: Small, pool: Members) -> int:
    """Merge each new class's runs into its place in the pool; returns where that ends."""
    for f in range(made):
        j = lists[MADE, f]
        count, size = 0, 0
        r = table[j, FIRST_RUN]
        while r >= 0:
            lists[FROM, count], lists[TO, count] = runs[r, 0], runs[r, 1]
            size += runs[r, 1] - runs[r, 0]
            count += 1
            r = runs[r, 2]
        merge_lists(count, pool_end, budget, lists, pool)
        table[j, HEAD], table[j, END] = pool_end, pool_end + size
        pool_end += size
    return pool_end


@kernel(error_model="numpy")
def fill_holes(classes: int, holes: int, table: Small, sums: FloatArray, lists: Small) -> int:
    """Move the last classes into the places of those that have no members; returns how many are left."""
    for h in range(holes):
        hole = lists[FREE, h]
        while classes > 0 and table[classes - 1, HEAD] == table[classes - 1, END]:
            classes -= 1
        if hole < classes:
            classes -= 1
            for column in range(FIRST_RUN):
                table[hole, column] = table[classes, column]
            sums[hole, TOTAL], sums[hole, DECAY] = sums[classes, TOTAL], sums[classes, DECAY]
    return classes
