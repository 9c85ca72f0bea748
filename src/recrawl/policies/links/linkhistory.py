"""Look back and look around in a crawl: the new links that a page's own visits found, and those of its related pages.

In a crawl visits are irregular, so what the taxonomy counts by interval is here a rate: new links per cycle since the
visit before. A page has the rates of its last visits, their mean over all cycles it was watched, and its link change
rate (the share of its visits that found a new link); around it, the weighted means of the same over its related pages.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds, grown
from recrawl.features.newlinks import WHERE
from recrawl.features.related import Related

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
    """Columns of what visits found, one row a page; `first` -1 is a page without a copy."""

    def __init__(self) -> None:
        self.first: IntArray = np.empty(0, dtype=np.int32)  # cycle of the first copy
        self.last: IntArray = np.empty(0, dtype=np.int32)
        self.visits: IntArray = np.empty(0, dtype=np.int32)  # with a copy to compare with
        self.found: IntArray = np.empty(0, dtype=np.int32)  # of these, visits that found a new link
        self.changes: IntArray = np.empty(0, dtype=np.int32)
        self.links: FloatArray = np.empty((0, 2))  # new links in all, internal and external
        self.recent: Rows = np.empty((0, KEPT, 2), dtype=np.float32)  # links a cycle at the last visits, newest first

    def make_room(self, pages: int) -> None:
        """Grow to so many pages."""
        for name in ("first", "last"):
            setattr(self, name, grown(getattr(self, name), pages, -1))
        for name in ("visits", "found", "changes", "links"):
            setattr(self, name, grown(getattr(self, name), pages, 0))
        self.recent = grown(self.recent, pages, np.nan)

    def begin(self, pages: PageIds, cycle: int) -> None:
        """Take in the first copy of these pages."""
        self.first[pages] = self.last[pages] = cycle

    def update(self, pages: PageIds, changed: BoolArray, links: IntArray, cycle: int) -> None:
        """Take in visits at which there was a copy to compare with; `links` are pages x (internal, external)."""
        gap = np.maximum(cycle - self.last[pages], 1)
        self.recent[pages, 1:] = self.recent[pages, :-1]
        self.recent[pages, 0] = links / gap[:, None]
        self.last[pages] = cycle
        self.visits[pages] += 1
        self.found[pages] += links.sum(axis=1) > 0
        self.changes[pages] += changed
        self.links[pages] += links

    @property
    def watched(self) -> FloatArray:
        """Cycles between a page's first copy and its last visit."""
        return np.asarray((self.last - self.first).astype(np.float64))

    def own(self, cycle: int) -> Rows:
        """Return pages x OWN; rates of a page that was never compared are NaN."""
        rows = np.full((len(self.first), len(OWN)), np.nan, dtype=np.float32)
        compared = self.visits > 0
        rows[:, 0] = cycle - self.last
        rows[:, 1] = self.visits
        rows[:, 2] = self.watched
        with np.errstate(divide="ignore", invalid="ignore"):
            rows[:, 3] = np.where(compared, self.found / self.visits, np.nan)
            rows[:, 4] = np.where(compared, self.changes / self.visits, np.nan)
            rows[:, 5:7] = np.where(compared[:, None], self.links / self.watched[:, None], np.nan)
        rows[:, 7:] = self.recent.reshape(len(self.first), -1)
        return rows

    def describe(self, cycle: int, related: Related | None) -> Rows:
        """Return pages x FEATURES; without related pages what is around is NaN."""
        own = self.own(cycle)
        near = np.full((len(own), len(SHARED)), np.nan, dtype=np.float32)
        if related is not None:
            size = len(related)
            near[:size] = related.average(own[:size, [OWN.index(name) for name in SHARED]])
        return np.hstack([own, near])
