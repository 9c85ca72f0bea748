"""Totals over all shards, as sums of whole numbers, so that their order and grouping do not matter.

The base rate of cycle c, over all sites (policies/learned/evidence.py), with w the design effect of a site's n visits
of one cycle, K of which found a change after E cycles in all:

    base(c) = (sum over c' < c of h^(c - c') A(c') + 1) / (sum of h^(c - c') B(c') + 30)
    A(c') = sum over sites of w K        B(c') = sum over sites of w E        w = 1 / (1 + (n - 1) ALIKE)

w K and w E of a site are rounded to 2^-20 before they are added, which makes the sums exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recrawl.fleet.shard_files import ShardSet
from recrawl.policies.learned.evidence import ALIKE, MEMORY
from recrawl.visits import Outcome

UNIT = float(1 << 20)
Sums = npt.NDArray[np.int64]


@dataclass(frozen=True)
class CycleTotals:
    """Sums by cycle: weighted changes and exposure in units of 2^-20, compared visits, and changes."""

    changes: Sums
    exposure: Sums
    visits: Sums
    found: Sums

    def __add__(self, other: CycleTotals) -> CycleTotals:
        return CycleTotals(
            self.changes + other.changes,
            self.exposure + other.exposure,
            self.visits + other.visits,
            self.found + other.found,
        )

    def bases(self) -> list[float]:
        """Return the base rate at the beginning of each cycle."""
        kept = 0.5 ** (1.0 / MEMORY)
        out, changes, exposure = [], 0.0, 0.0
        for a, b in zip(self.changes.tolist(), self.exposure.tolist(), strict=True):
            changes, exposure = changes * kept, exposure * kept
            out.append((changes + 1.0) / (exposure + 30.0))
            changes, exposure = changes + a / UNIT, exposure + b / UNIT
        return out


def total_of(parts: Iterable[CycleTotals], cycles: int) -> CycleTotals:
    """Add the totals of shards."""
    none = np.zeros(cycles + 1, dtype=np.int64)
    total = CycleTotals(none, none, none, none)
    for part in parts:
        total += part
    return total


def totals_of_shard(piece: tuple[ShardSet, int]) -> CycleTotals:
    """Return the totals of one shard, for the cycles up to the one to plan."""
    shards, number = piece
    size, sites = shards.cycle + 1, max(1, shards.parts[number].sites)
    visits = shards.visits(number)
    compared = visits["outcome"] < Outcome.FIRST
    page, cycle = visits["page"][compared], visits["cycle"][compared].astype(np.int64)
    changed = visits["outcome"][compared] == Outcome.CHANGED
    site = shards.memory(number).site[page] if len(page) else np.empty(0, dtype=np.int64)
    cell = cycle * sites + site
    weights: Sequence[npt.NDArray[np.generic] | None] = (None, changed, visits["gap"][compared])
    n, found, gap = (np.bincount(cell, weights=weight, minlength=size * sites) for weight in weights)
    w = 1.0 / (1.0 + np.maximum(n - 1.0, 0.0) * ALIKE)

    def by_cycle(values: npt.NDArray[np.generic]) -> Sums:
        return np.asarray(values).astype(np.int64).reshape(size, sites).sum(axis=1)

    return CycleTotals(
        by_cycle(np.rint(w * found * UNIT)), by_cycle(np.rint(w * gap * UNIT)), by_cycle(n), by_cycle(found)
    )
