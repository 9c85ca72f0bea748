"""One cycle as the measures see it: what was visited, what it found, and the truth behind it.

A view is made after the cycle's visits from a snapshot taken before them. Everything that costs a pass over the
pages is a cached property, so only what some measure asks for is computed, and nothing is kept for the next cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recrawl.columns import BoolArray, ByteArray, FloatArray, PageIds
from recrawl.compiled import kernel
from recrawl.memory import Memory
from recrawl.policy import Truth
from recrawl.visits import Outcome, Visits

if TYPE_CHECKING:
    from recrawl.evaluate.measures.worstsite import SiteTally

NO_WEIGHTS: FloatArray = np.empty(0)  # all pages weigh 1


@dataclass(frozen=True)
class Held:
    """Integrals over the cycle's time and the copies held (a page's weight times days)."""

    page_days: float  # of all copies
    fresh_days: float  # of copies while they were what the live page was
    age_days2: float  # integral of the age: days since the copy went stale, 0 while it is fresh


@dataclass(frozen=True)
class Stage:
    """What is the same in every cycle of a crawl."""

    truth: Truth
    memory: Memory
    weights: FloatArray  # importance with mean 1 over the pages, or NO_WEIGHTS
    budget: int
    pages: int  # known when the crawl began: what shares are shares of
    picked: BoolArray  # pages picked in an earlier cycle after the warm-up
    tally: SiteTally | None = None  # where a measure judges site by site

    def snapshot(self, out: FloatArray) -> FloatArray:
        """Fill `out` with the time since which each copy is stale: inf for fresh ones, NaN where there is no copy."""
        _snapshot(self.truth.stale_since, self.memory.held(), out)
        return out


class CycleView:
    """The cycle (`began_at`, `at`] and the visits at its end."""

    def __init__(
        self,
        stage: Stage,
        since: FloatArray,
        rounds: Sequence[Visits],
        began_at: float,
        at: float,
        events: int,
    ) -> None:
        self.stage = stage
        self.since = since  # Stage.snapshot from just before the visits
        self.rounds = rounds
        self.began_at = began_at
        self.at = at
        self.events = events  # changes that happened in the cycle, on known and unknown pages

    # -- the visits, in order ---------------------------------------------------------------------------------------

    @cached_property
    def picks(self) -> PageIds:
        """The pages visited, in the order of the visits."""
        return np.concatenate([v.pages for v in self.rounds]) if self.rounds else np.empty(0, dtype=np.int64)

    @cached_property
    def outcome(self) -> ByteArray:
        """What each visit found."""
        return np.concatenate([v.outcome for v in self.rounds]) if self.rounds else np.empty(0, dtype=np.uint8)

    @cached_property
    def changed(self) -> BoolArray:
        """Which visits found a change."""
        return np.asarray(self.outcome == Outcome.CHANGED)

    @cached_property
    def found(self) -> int:
        """How many visits found a change."""
        return int(self.changed.sum())

    @cached_property
    def new_internal(self) -> int:
        """Links within the sites that our copies did not have."""
        return int(sum(v.new_internal.sum() for v in self.rounds))

    @cached_property
    def new_external(self) -> int:
        """Links to elsewhere that our copies did not have."""
        return int(sum(v.new_external.sum() for v in self.rounds))

    @cached_property
    def discovered(self) -> int:
        """Pages that the visits showed us for the first time."""
        return sum(len(v.discovered) for v in self.rounds)

    @cached_property
    def first_picks(self) -> int:
        """Visits to pages that had not been picked before, warm-up apart."""
        return int((~self.stage.picked[self.picks]).sum())

    @cached_property
    def delays(self) -> FloatArray:
        """Days from the first unseen change to its detection, for each visit that found one."""
        return np.asarray(self.at - self.since[self.picks[self.changed]])

    # -- the truth, one pass over the pages each ----------------------------------------------------------------------

    @cached_property
    def stale(self) -> int:
        """Pages on which a visit would have found a change: stale as seen from this crawler's own last visits."""
        return int(_count_stale(self.since, self.stage.truth.died, self.at))

    @cached_property
    def held(self) -> Held:
        """Freshness and age over the cycle's exact time, all copies alike."""
        return Held(*_integrate(self.since, self.began_at, self.at, NO_WEIGHTS))

    @cached_property
    def held_weighted(self) -> Held:
        """As `held`, by importance."""
        return Held(*_integrate(self.since, self.began_at, self.at, self.stage.weights))

    @cached_property
    def fresh_at_end(self) -> tuple[int, int]:
        """Fresh copies and all copies right after the visits."""
        memory = self.stage.memory
        fresh, copies = _fresh_now(self.stage.truth.stale_since, memory.held(), self.at)
        return int(fresh), int(copies)

    @cached_property
    def waits(self) -> FloatArray:
        """Days since the last visit (since discovery, where never visited) of every page not known to be gone."""
        memory = self.stage.memory
        there = memory.known & ~memory.gone
        seen = np.where(np.isnan(memory.last_visit), memory.first_seen, memory.last_visit)
        return np.asarray(self.at - seen[there])


@kernel
def _snapshot(stale_since: FloatArray, held: BoolArray, out: FloatArray) -> None:
    for p in range(len(out)):
        out[p] = stale_since[p] if held[p] else np.nan


@kernel
def _count_stale(since: FloatArray, died: FloatArray, at: float) -> int:
    count = 0
    for p in range(len(since)):
        if since[p] <= at and died[p] > at:
            count += 1
    return count


@kernel
def _integrate(since: FloatArray, a: float, b: float, weights: FloatArray) -> tuple[float, float, float]:
    """Sum w (b-a), w (time fresh in (a, b]), and w ((b-s)^2 - (max(a,s)-s)^2)/2 over the pages with a copy."""
    page_days, fresh, age = 0.0, 0.0, 0.0
    for p in range(len(since)):
        s = since[p]
        if np.isnan(s):
            continue
        w = weights[p] if len(weights) else 1.0
        page_days += w * (b - a)
        if s >= b:
            fresh += w * (b - a)
        else:
            begun = max(a, s)
            fresh += w * (begun - a)
            age += w * ((b - s) ** 2 - (begun - s) ** 2) / 2.0
    return page_days, fresh, age


@kernel
def _fresh_now(stale_since: FloatArray, held: BoolArray, at: float) -> tuple[int, int]:
    fresh, copies = 0, 0
    for p in range(len(stale_since)):
        if held[p]:
            copies += 1
            fresh += stale_since[p] > at
    return fresh, copies
