"""What a round of visits showed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, ByteArray, FloatArray, IntArray, PageIds


class Outcome(IntEnum):
    """What one visit found."""

    UNCHANGED = 0  # the copy we have is the live page
    CHANGED = 1  # the live page differs from our copy
    FIRST = 2  # we had no copy: there is nothing to compare with
    GONE = 3  # the page no longer exists
    FAILED = 4  # no answer that says anything about the page


def no_pages() -> PageIds:
    """Return no pages."""
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Visits:
    """A batch of visits as aligned columns, in the order of the visits."""

    pages: PageIds
    at: FloatArray  # when, in days
    outcome: ByteArray  # an Outcome each
    new_internal: IntArray  # links within the site that our copy did not have
    new_external: IntArray
    change_size: FloatArray  # words added and removed since our copy; 0 where nothing changed
    discovered: PageIds = field(default_factory=no_pages)  # pages that these visits showed us for the first time
    significant: BoolArray | None = None  # which found another distribution of words; None where the world cannot tell
    length: FloatArray | None = None  # words of the version that a first visit or a change brought, NaN where not told
    words: Callable[[], npt.NDArray[np.float32]] | None = None  # what the visited pages say: a hashed vector a visit

    def __len__(self) -> int:
        return len(self.pages)

    @property
    def changed(self) -> BoolArray:
        """Which visits found a change."""
        return np.asarray(self.outcome == Outcome.CHANGED)
