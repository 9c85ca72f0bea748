"""What visits showed of a shard's pages and their groups, replayed from the visits: the state that `learned` scores by.

The same histories and counts per group as in one process (policies/learned), because no group crosses a shard. The one
number that all shards share is the base rate of each cycle, a sum over all sites (shard_totals.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds
from recrawl.fleet.shard_files import ShardSet
from recrawl.memory import NEVER, Memory
from recrawl.policies.learned import page_history
from recrawl.policies.learned.belief import FEATURES
from recrawl.policies.learned.evidence import Evidence
from recrawl.policies.learned.forest import Rows
from recrawl.policies.learned.page_history import History
from recrawl.policies.learned.places import Places
from recrawl.visits import Outcome

_NO_SITES: IntArray = np.empty(0, dtype=np.int64)
Look = Callable[["ShardBelief", PageIds, BoolArray], None]  # visits that are compared with a copy, and what changed


class ShardBelief:
    """History, groups and counts of a shard's pages at the beginning of `cycle`."""

    def __init__(self, shards: ShardSet, number: int, memory: Memory) -> None:
        self.cycle = 0
        self.places = Places.of(shards.groups(number), shards.parts[number].groups)
        self.history, self.evidence = History(), Evidence()
        self.history.make_room(len(memory))
        self._asked: list[PageIds] = []
        self._visits = shards.visits(number)
        first = self._visits["page"][self._visits["outcome"] == Outcome.FIRST]
        from_start = memory.last_cycle != NEVER
        from_start[first] = False  # others have a copy since cycle 0
        self.history.begin(np.flatnonzero(from_start), 0)
        self._regroup(np.arange(len(memory)))

    def replay(self, bases: Sequence[float], until: int, look: Look | None = None) -> None:
        """Take in the visits round by round, `look` at each round's before, and open the cycle `until`."""
        rounds = self._visits["cycle"].astype(np.int64) << 8 | self._visits["round"]
        for number in np.unique(rounds).tolist():
            self._open(number >> 8, bases)
            first, last = _span(rounds, number)
            page = self._visits["page"][first:last].astype(np.int64)
            outcome = self._visits["outcome"][first:last]
            compared = outcome < Outcome.FIRST
            pages, changed = page[compared], np.asarray(outcome[compared] == Outcome.CHANGED)
            if look is not None and len(pages):
                look(self, pages, changed)
            self._take_in(pages, changed, page[~compared])
        self._open(until, bases)

    def _open(self, cycle: int, bases: Sequence[float]) -> None:
        if cycle == self.cycle:
            return
        for pages in self._asked:
            self.evidence.settle(pages, self.places.ids)
        self._asked = []
        self.cycle = cycle
        self.evidence.begin_cycle(_NO_SITES, cycle)
        self.evidence.base = bases[cycle]

    def _take_in(self, pages: PageIds, changed: BoolArray, new: PageIds) -> None:
        gap = (self.cycle - self.history.last[pages]).astype(np.float64)
        self.evidence.update(pages, self.places.ids, changed, gap, self.cycle)
        self.history.update(pages, changed, self.cycle)
        self.history.begin(new, self.cycle)
        self._regroup(np.concatenate([pages[changed], new]))
        self._asked += [pages, new]

    def _regroup(self, pages: PageIds) -> None:
        self.places.regroup(pages, self.history)
        self.evidence.make_room(len(self.places), len(self.history.first))

    def describe(self, pages: PageIds) -> Rows:
        """Return the features of these pages as they are known now."""
        rows = np.empty((len(pages), len(FEATURES)), dtype=np.float32)
        own = len(page_history.FEATURES)
        self.history.describe(pages, self.cycle, rows[:, :own])
        self.evidence.describe(pages, self.places.ids, self.cycle, rows[:, own:])
        return rows


def _span(rounds: IntArray, number: int) -> tuple[int, int]:
    first, last = (int(np.searchsorted(rounds, number, side=side)) for side in ("left", "right"))
    return first, last


def waited(belief: ShardBelief, pages: PageIds) -> FloatArray:
    """Return the cycles since each page's last visit, at least one."""
    return np.maximum(belief.cycle - belief.history.last[pages], 1).astype(np.float64)
