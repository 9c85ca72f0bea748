"""Visit and change counts per group of pages, in total and since each page's own last visit.

Per group g: changes C and exposure E (cycles between visits) of all time, the same with a half-life, visits and changes
in this cycle, and running totals. A page keeps a copy of its groups' totals from its own last visit, so "since my
last visit, 4 of 6 visited pages of my directory had changed" is a subtraction. An update costs the visits times the
levels, whatever the number of pages and groups.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds, grown
from recrawl.compiled import kernel
from recrawl.policies.learned.places import LEVELS, SITE

HALF_LIFE = 4.0  # cycles
FEATURES = ("rate", "recent", "visits_since", "share_since", "visits_now", "share_now")

# columns of `groups`
CHANGES, EXPOSURE = 0, 1
_C, _E, _RC, _RE, _AT, _V, _K, _VN, _KN = range(9)


class Evidence:
    """Counts per group and, per page, what they were at its last visit."""

    def __init__(self) -> None:
        self.groups: FloatArray = np.zeros((0, 9))
        self.seen: npt.NDArray[np.float32] = np.zeros((0, len(LEVELS), 2), dtype=np.float32)
        self.base = 0.03  # changes a cycle, over all pages

    def make_room(self, groups: int, pages: int) -> None:
        """Grow to so many groups and pages."""
        self.groups = grown(self.groups, groups, 0.0)
        self.seen = grown(self.seen, pages, 0.0)

    def begin_cycle(self, sites: IntArray) -> None:
        """Forget this cycle's counts, and take the average rate of all that was seen."""
        self.groups[:, _VN:] = 0.0
        totals = self.groups[sites].sum(axis=0) if len(sites) else np.zeros(9)
        self.base = float((totals[_C] + 1.0) / (totals[_E] + 30.0))

    def update(
        self, pages: PageIds, ids: npt.NDArray[np.int32], changed: BoolArray, gap: FloatArray, cycle: int
    ) -> None:
        """Count these visits; `gap` is the number of cycles since each page's visit before."""
        _update(pages, ids, changed, gap, float(cycle), self.groups)

    def settle(self, pages: PageIds, ids: npt.NDArray[np.int32]) -> None:
        """Note that these pages have been asked: what their groups know now is no news to them."""
        _settle(pages, ids, self.groups, self.seen)

    @property
    def visits_now(self) -> FloatArray:
        """Visits to each group in this cycle."""
        return self.groups[:, _VN]

    @property
    def changes_now(self) -> FloatArray:
        """Changes found in each group in this cycle."""
        return self.groups[:, _KN]

    def quiet(self, cycle: int) -> FloatArray:
        """Cycles since the last visit to any page of each group."""
        return cycle - self.groups[:, _AT]

    def describe(self, pages: PageIds, ids: npt.NDArray[np.int32], cycle: int, out: npt.NDArray[np.float32]) -> None:
        """Fill `out` with FEATURES of each level, level by level."""
        _describe(pages, ids, float(cycle), self.groups, self.seen, self.base, out)


@kernel
def _update(
    pages: PageIds, ids: IntArray, changed: BoolArray, gap: FloatArray, cycle: float, groups: FloatArray
) -> None:
    for i in range(len(pages)):
        y = 1.0 if changed[i] else 0.0
        for level in range(ids.shape[1]):
            g = groups[ids[pages[i], level]]
            g[_C] += y
            g[_E] += gap[i]
            decay = 0.5 ** ((cycle - g[_AT]) / HALF_LIFE)
            g[_RC] = g[_RC] * decay + y
            g[_RE] = g[_RE] * decay + gap[i]
            g[_AT] = cycle
            g[_V] += 1.0
            g[_K] += y
            g[_VN] += 1.0
            g[_KN] += y


@kernel
def _settle(pages: PageIds, ids: IntArray, groups: FloatArray, seen: npt.NDArray[np.float32]) -> None:
    for p in pages:
        for level in range(ids.shape[1]):
            seen[p, level, 0] = groups[ids[p, level], _V]
            seen[p, level, 1] = groups[ids[p, level], _K]


@kernel
def _describe(
    pages: PageIds,
    ids: IntArray,
    cycle: float,
    groups: FloatArray,
    seen: npt.NDArray[np.float32],
    base: float,
    out: npt.NDArray[np.float32],
) -> None:
    for i in range(len(pages)):
        p = pages[i]
        above = base
        for level in range(ids.shape[1]):
            g = groups[ids[p, level]]
            rate = (g[_C] + 5.0 * above) / (g[_E] + 5.0)
            decay = 0.5 ** ((cycle - g[_AT]) / HALF_LIFE)
            visits, found = g[_V] - seen[p, level, 0], g[_K] - seen[p, level, 1]
            f = level * 6
            out[i, f] = rate
            out[i, f + 1] = (g[_RC] * decay + 2.0 * rate) / (g[_RE] * decay + 2.0)
            out[i, f + 2] = visits
            out[i, f + 3] = found / visits if visits > 0 else math.nan
            out[i, f + 4] = g[_VN]
            out[i, f + 5] = g[_KN] / g[_VN] if g[_VN] > 0 else math.nan
            if level == SITE:
                above = rate
