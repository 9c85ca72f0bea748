"""Look around: what visits found in each group of pages, and what of it a page has not been asked about yet.

Per group g: changes C and exposure E (cycles between visits) with a long and with a short memory, visits and changes
in this cycle, and running totals. What was seen counts half after MEMORY and HALF_LIFE cycles. A page
keeps a copy of its groups' totals from its own last visit, so "since my last visit, 4 of 6 visited pages of my
directory had changed" is a subtraction. An update costs the visits times the levels, whatever the number of pages.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds, grown
from recrawl.compiled import kernel
from recrawl.policies.learned.places import LEVELS, SITE

HALF_LIFE = 4.0  # cycles
WAKES = 0.5  # chance per cycle that a group in which nothing changes begins to, beside the pace of the crawl
AWAKE = 3.0  # pace of a group that is awake, beside that of the whole crawl
FASTEST = 0.03  # pace of the crawl that both are taken from, at most
ASLEEP = 0.05  # pace of a group in which nothing changes, beside one that is awake: a page here and there
MEMORY = 13.0  # cycles: what a place was like a year ago says little about it
FEATURES = ("rate", "recent", "visits_since", "share_since", "visits_now", "share_now")

# columns of `groups`
CHANGES, EXPOSURE, ASKED_AT, FOUND = 0, 1, 4, 6
_C, _E, _RC, _RE, _AT, _V, _K, _AWAKE, _VN, _KN = range(10)


class Evidence:
    """Counts per group and, per page, what they were at its last visit."""

    def __init__(self) -> None:
        self.groups: FloatArray = np.zeros((0, 10))
        self.seen: npt.NDArray[np.float32] = np.zeros((0, len(LEVELS), 2), dtype=np.float32)
        self.base = 0.03  # changes a cycle, over all pages

    def make_room(self, groups: int, pages: int) -> None:
        """Grow to so many groups and pages."""
        self.groups = grown(self.groups, groups, 0.0)
        self.seen = grown(self.seen, pages, 0.0)

    def begin_cycle(self, sites: IntArray, cycle: int) -> None:
        """Forget this cycle's counts, and take the average rate of what was seen."""
        self.groups[:, _VN:] = 0.0
        weight = 0.5 ** ((cycle - self.groups[sites, _AT]) / MEMORY)
        changes, exposure = (float(weight @ self.groups[sites, column]) for column in (_C, _E))
        self.base = (changes + 1.0) / (exposure + 30.0)

    def update(
        self, pages: PageIds, ids: npt.NDArray[np.int32], changed: BoolArray, gap: FloatArray, cycle: int
    ) -> None:
        """Count these visits; `gap` is the number of cycles since each page's visit before."""
        _update(pages, ids, changed, gap, float(cycle), self.pace, self.groups)

    def settle(self, pages: PageIds, ids: npt.NDArray[np.int32]) -> None:
        """Note that these pages have been asked: what their groups know now is no news to them."""
        _settle(pages, ids, self.groups, self.seen)

    @property
    def visits_now(self) -> FloatArray:
        """Visits to each group in this cycle."""
        return self.groups[:, _VN]

    @property
    def pace(self) -> float:
        """Changes per page and cycle in a group that is awake; where much changes, still groups wake no oftener."""
        return AWAKE * min(self.base, FASTEST)

    def awake(self, cycle: int) -> FloatArray:
        """Return the chance that each group is awake now, by what its visits showed and the time since."""
        asleep = 1.0 - self.groups[:, _AWAKE]
        return np.asarray(1.0 - asleep * np.exp(-WAKES / AWAKE * self.pace * (cycle - self.groups[:, _AT])))

    def describe(self, pages: PageIds, ids: npt.NDArray[np.int32], cycle: int, out: npt.NDArray[np.float32]) -> None:
        """Fill `out` with FEATURES of each level, level by level."""
        _describe(pages, ids, float(cycle), self.groups, self.seen, self.base, out)


@kernel
def remembered(cycles: float) -> float:
    """Return what is left of evidence that is so old."""
    return float(0.5 ** (cycles / MEMORY))


@kernel
def _awake_after(awake: float, cycles: float, gap: float, changed: bool, pace: float) -> float:
    """Return the chance of being awake after a visit: the filter of a hidden Markov model with two states.

    `cycles` are those since it was `awake`, `gap` those since the page's own last visit.
    """
    awake = 1.0 - (1.0 - awake) * math.exp(-WAKES / AWAKE * pace * cycles)
    still, asleep = math.exp(-pace * gap), math.exp(-ASLEEP * pace * gap)
    if changed:
        still, asleep = 1.0 - still, 1.0 - asleep
    return min(max(awake * still / max(awake * still + (1.0 - awake) * asleep, 1e-300), 1e-6), 1.0 - 1e-6)


@kernel
def _update(
    pages: PageIds,
    ids: IntArray,
    changed: BoolArray,
    gap: FloatArray,
    cycle: float,
    pace: float,
    groups: FloatArray,
) -> None:
    for i in range(len(pages)):
        y = 1.0 if changed[i] else 0.0
        for level in range(ids.shape[1]):
            g = groups[ids[pages[i], level]]
            kept = remembered(cycle - g[_AT])
            g[_C] = g[_C] * kept + y
            g[_E] = g[_E] * kept + gap[i]
            decay = 0.5 ** ((cycle - g[_AT]) / HALF_LIFE)
            g[_RC] = g[_RC] * decay + y
            g[_RE] = g[_RE] * decay + gap[i]
            g[_AWAKE] = _awake_after(g[_AWAKE], cycle - g[_AT], gap[i], changed[i], pace)
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
            kept = remembered(cycle - g[_AT])
            rate = (g[_C] * kept + 5.0 * above) / (g[_E] * kept + 5.0)
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
