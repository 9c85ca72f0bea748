"""Look back and look around in a crawl: the new links that a page's own visits found, and those of its related pages.

In a crawl visits are irregular, so what the taxonomy counts by interval is here a rate: new links per cycle since the
visit before. A page has the rates of its last visits, their mean over all cycles it was watched, and its link change
rate (the share of its visits that found a new link); around it, the weighted means of the same over its related pages.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, IntArray, PageIds, grown
from recrawl.features.newlinks import WHERE
from recrawl.features.related import Related
from recrawl.memory import Memory
from recrawl.policy import Named
from recrawl.visits import Outcome, Visits

KEPT = 3  # last visits whose rates are features
OWN = (
    "waited",
    "visits",
    "watched",
    "link change rate",
    "content change rate",
    *(f"mean {where}" for where in WHERE),
    *(f"{where}, visit -{step}" for step in range(1, KEPT + 1) for where in WHERE),
)
SHARED = (
    "link change rate",
    "content change rate",
    "mean internal",
    "mean external",
    "internal, visit -1",
    "external, visit -1",
)
FEATURES = (*OWN, *(f"related: {name}" for name in SHARED))

Rows = npt.NDArray[np.float32]


class LinkHistory:
    """Columns per page beside the memory; `first` is -1 for a page without a copy.

    `counted` says which sorts of links count, internal and external ones; the others are taken as if there were none.
    """

    def __init__(self, counted: tuple[bool, bool] = (True, True)) -> None:
        self.counted = np.array(counted, dtype=np.int32)
        self.first: IntArray = np.empty(0, dtype=np.int32)  # cycle of the first copy
        self.last: IntArray = np.empty(0, dtype=np.int32)
        self.found: IntArray = np.empty(0, dtype=np.int32)  # visits that found a new link
        self.recent: Rows = np.empty((0, KEPT, 2), dtype=np.float32)  # links per cycle at the last visits, newest first

    def make_room(self, pages: int) -> None:
        """Grow to so many pages."""
        for name in ("first", "last"):
            setattr(self, name, grown(getattr(self, name), pages, -1))
        self.found = grown(self.found, pages, 0)
        self.recent = grown(self.recent, pages, np.nan)

    def begin(self, pages: PageIds, cycle: int) -> None:
        """Record the first copy of these pages."""
        self.first[pages] = self.last[pages] = cycle

    def update(self, pages: PageIds, links: IntArray, cycle: int) -> None:
        """Record visits at which there was a copy to compare with; `links` are pages x (internal, external)."""
        links = links * self.counted
        gap = np.maximum(cycle - self.last[pages], 1)
        self.recent[pages, 1:] = self.recent[pages, :-1]
        self.recent[pages, 0] = links / gap[:, None]
        self.last[pages] = cycle
        self.found[pages] += links.sum(axis=1) > 0

    def gained(self, memory: Memory) -> IntArray:
        """New links that count of every page so far, internal and external."""
        return np.asarray(memory.new_links * self.counted)

    @property
    def watched(self) -> FloatArray:
        """Cycles between a page's first copy and its last visit."""
        return np.asarray((self.last - self.first).astype(np.float64))

    def own(self, memory: Memory) -> Rows:
        """Return pages x OWN in the open cycle; rates of a page that was never compared are NaN."""
        size, compared = len(memory), memory.n > 0
        watched = self.watched[:size]
        rows = np.full((size, len(OWN)), np.nan, dtype=np.float32)
        rows[:, 0] = memory.cycle - self.last[:size]
        rows[:, 1] = memory.n
        rows[:, 2] = watched
        with np.errstate(divide="ignore", invalid="ignore"):
            rows[:, 3] = np.where(compared, self.found[:size] / memory.n, np.nan)
            rows[:, 4] = np.where(compared, memory.changes / memory.n, np.nan)
            rows[:, 5:7] = np.where(compared[:, None], self.gained(memory) / watched[:, None], np.nan)
        rows[:, 7:] = self.recent[:size].reshape(size, -1)
        return rows

    def describe(self, memory: Memory, related: Related | None) -> Rows:
        """Return pages x FEATURES; features of related pages are NaN without any."""
        own = self.own(memory)
        near = np.full((len(own), len(SHARED)), np.nan, dtype=np.float32)
        if related is not None:
            size = len(related)
            near[:size] = related.average(own[:size, [OWN.index(name) for name in SHARED]])
        return np.hstack([own, near])


class LinkWatcher(Named):
    """The base of policies that rank pages by their history of new links."""

    def __init__(self, counted: tuple[bool, bool] = (True, True)) -> None:
        self.history = LinkHistory(counted)
        self.cycle = 0

    def begin(self, memory: Memory, at: float) -> None:
        """Record the copies that a crawl began with."""
        self.history.make_room(len(memory))
        self.cycle = memory.cycle
        fresh = np.flatnonzero(memory.held() & (self.history.first[: len(memory)] < 0))
        self.history.begin(fresh, 0)

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Record what visits found."""
        compared = visits.outcome < Outcome.FIRST
        links = np.column_stack([visits.new_internal, visits.new_external])[compared]
        self.history.update(visits.pages[compared], links, self.cycle)
        self.history.begin(visits.pages[visits.outcome == Outcome.FIRST], self.cycle)
