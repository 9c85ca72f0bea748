"""Features of a page's own past visits, as of just before the visit that is predicted."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, ByteArray, FloatArray, IntArray, PageIds, grown
from recrawl.compiled import kernel

FEATURES = ("t", "visits", "changes", "last_changed", "recent_changes", "since_change", "gap", "own_rate", "words")
RATES: FloatArray = np.geomspace(0.001, 4.0, 12)  # changes per cycle: where the likelihood of a page's rate is kept
NEVER = 999.0  # cycles since the last change of a page that has shown none


class History:
    """Columns of each page's own past visits that the memory does not keep."""

    def __init__(self) -> None:
        self.first: IntArray = np.empty(0, dtype=np.int32)  # the cycle of the first copy
        self.last: IntArray = np.empty(0, dtype=np.int32)
        self.before: IntArray = np.empty(0, dtype=np.int32)  # the visit before the last
        self.visits: IntArray = np.empty(0, dtype=np.int32)
        self.changes: IntArray = np.empty(0, dtype=np.int32)
        self.last_change: IntArray = np.empty(0, dtype=np.int32)
        self.ring: ByteArray = np.empty(0, dtype=np.uint8)
        self.words: npt.NDArray[np.float32] = np.empty(0, dtype=np.float32)  # of the copy; NaN where not known
        self.likelihood: npt.NDArray[np.float32] = np.empty((0, len(RATES)), dtype=np.float32)  # its logarithm

    def make_room(self, pages: int) -> None:
        """Grow to so many pages; `first` -1 is a page without a copy."""
        for name in ("first", "last", "before", "last_change"):
            setattr(self, name, grown(getattr(self, name), pages, -1))
        for name in ("visits", "changes", "ring", "likelihood"):
            setattr(self, name, grown(getattr(self, name), pages, 0))
        self.words = grown(self.words, pages, np.nan)

    def describe(self, pages: PageIds, cycle: int, out: npt.NDArray[np.float32]) -> None:
        """Fill `out` with FEATURES."""
        _describe(
            pages,
            cycle,
            self.first,
            self.last,
            self.before,
            self.visits,
            self.changes,
            self.last_change,
            self.ring,
            self.words,
            out,
        )

    def update(self, pages: PageIds, changed: BoolArray, cycle: int) -> None:
        """Take in visits at which there was a copy to compare with.

        A change in a gap of g cycles has the likelihood 1 - exp(-r g) under the rate r, none exp(-r g).
        """
        gap = cycle - self.last[pages]
        seen = np.outer(np.arange(int(gap.max(initial=0)) + 1), RATES)  # few gaps, many visits
        one = np.stack([-seen, np.log(-np.expm1(-np.maximum(seen, 1e-9)))])
        self.likelihood[pages] += one[changed.astype(np.int64), gap]
        self.before[pages] = self.last[pages]
        self.last[pages] = cycle
        self.visits[pages] += 1
        self.changes[pages] += changed
        self.last_change[pages[changed]] = cycle
        self.ring[pages] = (self.ring[pages] << 1) | changed

    def begin(self, pages: PageIds, cycle: int) -> None:
        """Take in the first copy of these pages."""
        self.first[pages] = self.last[pages] = self.before[pages] = cycle

    def read(self, pages: PageIds, words: FloatArray) -> None:
        """Record how many words the copies have now; NaN where a visit did not count them."""
        known = ~np.isnan(words)
        self.words[pages[known]] = words[known]


@kernel
def _describe(
    pages: PageIds,
    cycle: int,
    first: IntArray,
    last: IntArray,
    before: IntArray,
    visits: IntArray,
    changes: IntArray,
    last_change: IntArray,
    ring: ByteArray,
    words: npt.NDArray[np.float32],
    out: npt.NDArray[np.float32],
) -> None:
    for i in range(len(pages)):
        p = pages[i]
        recent, bits = 0, ring[p]
        while bits:
            recent += bits & 1
            bits >>= 1
        out[i, 0] = cycle - last[p]
        out[i, 1] = visits[p]
        out[i, 2] = changes[p]
        out[i, 3] = ring[p] & 1
        out[i, 4] = recent
        out[i, 5] = cycle - last_change[p] if last_change[p] >= 0 else NEVER
        out[i, 6] = last[p] - before[p]
        out[i, 7] = (changes[p] + 0.3) / (last[p] - first[p] + 3.0)
        out[i, 8] = words[p]
