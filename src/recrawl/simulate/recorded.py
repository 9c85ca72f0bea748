"""A recorded web that answers visits from exact change times.

The world holds the truth; the crawler's memory only gets what visits show. `stale_since` and `died` are for the
measures and the clairvoyant policies alone.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from recrawl.columns import FloatArray, IntArray, PageIds
from recrawl.errors import InputError
from recrawl.remember.memory import Memory
from recrawl.remember.recording import Recording
from recrawl.remember.visits import Outcome, Visits

_UNCHANGED, _CHANGED, _FIRST, _GONE = (
    int(o) for o in (Outcome.UNCHANGED, Outcome.CHANGED, Outcome.FIRST, Outcome.GONE)
)


class RecordedWorld:
    """One crawler's view of a recording: remembers which version of each page this crawler has."""

    def __init__(self, recording: Recording, *, discover: str = "links") -> None:
        if discover not in ("links", "birth"):
            raise InputError(f"discover must be 'links' or 'birth', not {discover!r}")
        self.recording = recording
        self.discover = discover
        self.start = recording.start
        self.died: FloatArray = recording.died
        self._born = recording.born
        self._first = recording.change_start[:-1]
        self._last = recording.change_start[1:]
        self._day = recording.change_day
        self._seen = self._first.copy()  # the first change that this crawler has not seen
        self._has_copy = self._born <= self.start
        self.stale_since: FloatArray = np.full(len(recording), np.inf)  # inf too where there is no copy
        self._advance(np.flatnonzero(self._has_copy))

    def memory(self, *, cycle_days: float, seed: int = 0) -> Memory:
        """Return the memory a crawl starts with: a copy of every page that exists when the window opens."""
        memory = Memory(self.recording.page_ids, self.recording.site, cycle_days=cycle_days, seed=seed)
        memory.load_paths = lambda: self.recording.page("path")
        memory.hold_copies(np.flatnonzero(self._has_copy), self.start)
        return memory

    def visit(self, pages: PageIds, at: float) -> Visits:
        """Answer visits at `at` and remember what this crawler has now seen."""
        outcome = np.full(len(pages), _UNCHANGED, dtype=np.uint8)
        outcome[self.stale_since[pages] <= at] = _CHANGED
        outcome[~self._has_copy[pages]] = _FIRST
        outcome[self.died[pages] <= at] = _GONE
        before = self._seen[pages]
        _see(pages, at, self._seen, self._last, self._day)
        self._has_copy[pages] = outcome != _GONE
        self.stale_since[pages] = np.inf
        self._advance(pages[outcome != _GONE])
        none = np.zeros(len(pages), dtype=np.int64)
        return Visits(
            pages=pages,
            at=np.full(len(pages), at),
            outcome=outcome,
            new_internal=none,
            new_external=none,
            change_size=np.asarray(self._seen[pages] - before, dtype=np.float64),
        )

    def _advance(self, pages: PageIds) -> None:
        """Find when the copies just taken will go stale: at the next change, or when the page dies."""
        following = self._seen[pages]
        more = following < self._last[pages]
        when = np.full(len(pages), np.inf)
        when[more] = self._day[following[more]]
        self.stale_since[pages] = np.minimum(when, self.died[pages])


@njit(cache=True, nogil=True)
def _see(pages: PageIds, at: float, seen: IntArray, last: IntArray, day: FloatArray) -> None:
    for page in pages:
        while seen[page] < last[page] and day[seen[page]] <= at:
            seen[page] += 1
