"""The best pages of each shard, and their merge: the first k of all shards by the project's one order.

Pages without a copy come first, then higher worths, then smaller tie-breaks, which are never equal: so the merge does
not depend on the order in which shards come, nor on their number. Caps on sites hold within a shard already, since no
site crosses one. `floor` is the last page of a merge that is full: what comes after it cannot be chosen, so
shards that start later need not send it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds, TieArray
from recrawl.memory import Memory
from recrawl.policies.selection import Key, first_k, smallest

Floor = tuple[bool, float, int]  # as the keys: with a copy, worst, tie


@dataclass
class Candidates:
    """Pages of shards as aligned columns."""

    has_copy: BoolArray  # False: a page without a copy, which comes first
    worst: FloatArray  # the worth of a visit, negated
    tie: TieArray
    shard: npt.NDArray[np.int32]
    row: npt.NDArray[np.int32]
    score: FloatArray  # what the policy says of the page; NaN where there is no copy
    groups: npt.NDArray[np.int32]  # per page, the groups that a round spreads visits over; no columns: none

    def __len__(self) -> int:
        return len(self.tie)

    def take(self, rows: PageIds | BoolArray | slice) -> Candidates:
        """Return some of them."""
        return Candidates(*(getattr(self, field.name)[rows] for field in fields(self)))

    def in_order(self) -> Candidates:
        """Return them best first."""
        return self.take(np.lexsort((self.tie, self.worst, self.has_copy)))

    def best(self, k: int) -> Candidates:
        """Return the k best, in no order."""
        if len(self) <= k:
            return self
        return self.take(smallest(np.arange(len(self)), [self.has_copy, self.worst, self.tie], k))

    @staticmethod
    def joined(parts: Iterable[Candidates]) -> Candidates:
        """Return all of them."""
        listed = list(parts)
        return Candidates(*(np.concatenate([getattr(p, f.name) for p in listed]) for f in fields(Candidates)))


class Merge:
    """Keeps the first k pages of all shards that came so far."""

    def __init__(self, k: int) -> None:
        self.k = k
        self._parts: list[Candidates] = []
        self._waiting = 0
        self.floor: Floor | None = None

    def add(self, found: Candidates) -> None:
        """Take in a shard's pages."""
        self._parts.append(found)
        self._waiting += len(found)
        if self._waiting >= 2 * self.k or (self.floor is None and self._waiting >= self.k):
            self._cut()

    def _cut(self) -> None:
        best = Candidates.joined(self._parts).best(self.k)
        self._parts, self._waiting = [best], len(best)
        if len(best) == self.k and self.k:
            last = best.take(np.flatnonzero(best.has_copy == best.has_copy.any()))
            worst = float(last.worst.max())
            self.floor = bool(last.has_copy[0]), worst, int(last.tie[last.worst == worst].max())

    def result(self) -> Candidates:
        """Return the first k pages, best first."""
        return Candidates.joined(self._parts).in_order().take(slice(self.k))


def best_of(
    shard: int,
    memory: Memory,
    keys: list[Key],
    score: FloatArray,
    k: int,
    floor: Floor | None,
    groups: IntArray | None = None,
) -> Candidates:
    """Return the first k eligible pages of a shard by these keys, without those after the floor."""
    worst = keys[-1]
    has_copy = keys[0] if len(keys) == 2 else None
    among = None if floor is None else _before(floor, has_copy, worst, memory.tie)
    pages = first_k(keys, memory, k, among=among)
    there = np.ones(len(pages), dtype=np.bool_) if has_copy is None else np.asarray(has_copy[pages], dtype=np.bool_)
    return Candidates(
        there,
        worst[pages],
        memory.tie[pages],
        np.full(len(pages), shard, dtype=np.int32),
        pages.astype(np.int32),
        np.where(there, score[pages], np.nan),
        np.empty((len(pages), 0), dtype=np.int32) if groups is None else np.asarray(groups[pages], dtype=np.int32),
    )


def _before(floor: Floor, has_copy: Key | None, worst: Key, tie: TieArray) -> BoolArray:
    """Which pages come before the floor or are it."""
    least, cut, last = floor
    before = (worst < cut) | ((worst == cut) & (tie <= np.uint64(last)))
    if has_copy is None:
        return np.asarray(before & least)  # not least: the merge is full of pages without a copy
    return np.asarray((has_copy < least) | ((has_copy == least) & before))
