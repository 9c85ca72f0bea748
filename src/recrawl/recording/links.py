"""The links of a slice of a recording: source, target, and the interval in which the link exists."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds, TieArray
from recrawl.recording.whole import LinkRows


@dataclass(frozen=True)
class Links:
    """Link intervals by page and target; page p's are the rows `start[p]` to `start[p + 1]`.

    A link is on its page at a time t if day_from <= t < day_to. Targets of one page that were taken away and put
    back have several intervals, which are neighbours.
    """

    start: IntArray
    day_from: FloatArray
    day_to: FloatArray  # inf: to the end
    internal: BoolArray
    target_page: IntArray  # a page of this slice, -1 for any other target
    key: TieArray  # the same for the same target, on whatever page
    places: PageIds  # rows of the ordered table, `Whole.links`

    def __len__(self) -> int:
        return len(self.day_from)

    @property
    def page(self) -> PageIds:
        """The page that links."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    @cached_property
    def again(self) -> BoolArray:
        """Whether a row has the page and target of the row before it."""
        same = np.zeros(len(self), dtype=np.bool_)
        same[1:] = self.key[1:] == self.key[:-1]
        same[self.start[:-1][self.start[:-1] < len(self)]] = False
        return same

    def at(self, at: float) -> BoolArray:
        """Which links are there at a time."""
        return (self.day_from <= at) & (at < self.day_to)


def slice_links(whole: LinkRows, pages: PageIds, start: float, end: float) -> Links:
    """Take the links of these pages that exist at some time from `start` to `end`."""
    places = whole.rows.places(pages)
    there = (whole.day_from[places] <= end) & (whole.day_to[places] > start)
    count = np.append(0, np.cumsum(there))
    ends = np.append(0, np.cumsum(whole.rows.start[pages + 1] - whole.rows.start[pages]))
    places = places[there]
    number = np.full(len(whole.rows.start), -1, dtype=np.int32)  # one more than pages, so that -1 stays -1
    number[pages] = np.arange(len(pages))
    return Links(
        start=count[ends],
        day_from=whole.day_from[places].astype(np.float64),
        day_to=whole.day_to[places].astype(np.float64),
        internal=whole.internal[places],
        target_page=number[whole.target[places]],
        key=whole.key[places],
        places=places,
    )
