"""Visit and change counts per group of pages, in total and since each page's own last visit.

Per group g: changes C and exposure E (cycles between visits) with a long and a short half-life, visits and changes in
this cycle, and running totals. A page keeps a copy of its groups' totals from its own last visit, so "since my
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
MEMORY = 13.0  # cycles after which what was seen of a group counts half in its pace
ALIKE = 0.05  # correlation of the visits to a group in one cycle
FEATURES = ("rate", "recent", "visits_since", "share_since", "visits_now", "share_now")

# columns of `groups`
FOUND = 6
_C, _E, _RC, _RE, _AT, _V, _K, _VN, _KN, _EN = range(10)


class Evidence:
    """Counts per group and, per page, what they were at its last visit."""

    def __init__(self) -> None:
        self.groups: FloatArray = np.zeros((0, 10))
        self.seen: npt.NDArray[np.float32] = np.zeros((0, len(LEVELS), 2), dtype=np.float32)
        self.base = 0.03  # changes per cycle, over all pages

    def make_room(self, groups: int, pages: int) -> None:
        """Grow to so many groups and pages."""
        self.groups = grown(self.groups, groups, 0.0)
        self.seen = grown(self.seen, pages, 0.0)

    def begin_cycle(self, sites: IntArray, cycle: int) -> None:
        """Add the counts of the cycle before to those of all time, and take the average rate of all that was seen."""
        _close(self.groups)
        past = self.groups[sites]
        kept = 0.5 ** ((cycle - past[:, _AT]) / MEMORY)
        self.base = float((kept @ past[:, _C] + 1.0) / (kept @ past[:, _E] + 30.0))

    def update(
        self, pages: PageIds, ids: npt.NDArray[np.int32], changed: BoolArray, gap: FloatArray, cycle: int
    ) -> None:
        """Count these visits; `gap` is the number of cycles since each page's visit before."""
        _update(pages, ids, changed, gap, float(cycle), self.groups)

    def settle(self, pages: PageIds, ids: npt.NDArray[np.int32]) -> None:
        """Snapshot the group totals of these pages: they count as seen."""
        _settle(pages, ids, self.groups, self.seen)

    def forget(self, pages: PageIds, level: int) -> None:
        """Note that these pages have new groups at a level, of which no visit is known."""
        self.seen[pages, level] = 0.0

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
def pace(g: FloatArray, cycle: float, above: float, strength: float) -> float:
    """Return the changes per cycle in a group, shrunk to the rate above it.

    What was seen counts half after MEMORY cycles. Outcomes of one cycle are correlated, so that n visits count as
    n / (1 + (n - 1) ALIKE) independent ones (the design effect of cluster samples, Kish 1965): a cycle tells what the
    group was like in that cycle, however many of its pages were visited.
    """
    kept = 0.5 ** ((cycle - g[_AT]) / MEMORY)
    weight = 1.0 / (1.0 + max(g[_VN] - 1.0, 0.0) * ALIKE)
    changes, exposure = kept * g[_C] + weight * g[_KN], kept * g[_E] + weight * g[_EN]
    return (changes + strength * above) / (exposure + strength)


@kernel
def _close(groups: FloatArray) -> None:
    for i in range(len(groups)):
        g = groups[i]
        if g[_VN] > 0.0:
            weight = 1.0 / (1.0 + (g[_VN] - 1.0) * ALIKE)
            g[_C] += weight * g[_KN]
            g[_E] += weight * g[_EN]
            g[_VN] = g[_KN] = g[_EN] = 0.0


@kernel
def _update(
    pages: PageIds, ids: IntArray, changed: BoolArray, gap: FloatArray, cycle: float, groups: FloatArray
) -> None:
    for i in range(len(pages)):
        y = 1.0 if changed[i] else 0.0
        for level in range(ids.shape[1]):
            g = groups[ids[pages[i], level]]
            kept = 0.5 ** ((cycle - g[_AT]) / MEMORY)
            g[_C] *= kept
            g[_E] *= kept
            decay = 0.5 ** ((cycle - g[_AT]) / HALF_LIFE)
            g[_RC] = g[_RC] * decay + y
            g[_RE] = g[_RE] * decay + gap[i]
            g[_AT] = cycle
            g[_V] += 1.0
            g[_K] += y
            g[_VN] += 1.0
            g[_KN] += y
            g[_EN] += gap[i]


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
            rate = pace(g, cycle, above, 5.0)
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
