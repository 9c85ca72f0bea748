"""New links of pages between crawls at given times, counted exactly, and the three targets made of them.

A link is new at crawl i if it is on the page at t_i and was not at t_(i-1) (Dang et al. 2022, section 4), internal and
external links apart. The targets of section 5.1, over the intervals (t_(i-1), t_i]:

    LCR   link change rate: the share of the intervals in which the page gained a link
    NL    presence: whether it gained one in the last interval
    NNL   number: how many it gained in the last interval
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray
from recrawl.compiled import kernel
from recrawl.errors import InputError

if TYPE_CHECKING:
    from recrawl.recording.recording import Recording

WHERE = ("internal", "external")


def new_links(recording: Recording, times: FloatArray) -> npt.NDArray[np.int32]:
    """Return where x intervals x pages: links that each crawl shows and the crawl before did not.

    Without a table of links it is the sum over the interval's changes of the links that each added, which counts a
    link again that comes and goes.
    """
    if len(times) < 2 or (np.diff(times) <= 0).any():
        raise InputError("new links need at least two crawls, one after the other")
    out = np.zeros((2, len(times) - 1, len(recording)), dtype=np.int32)
    if recording.has_links:
        links = recording.links
        _count(links.start, links.day_from, links.day_to, links.internal, links.again, times, out)
        return out
    interval = np.searchsorted(times, recording.change_day, side="left") - 1
    inside = (interval >= 0) & (interval < len(times) - 1)
    for where, name in enumerate(WHERE):
        if recording.has_change(f"new_{name}"):
            added = np.maximum(recording.change_counts(f"new_{name}")[inside], 0)
            np.add.at(out[where], (interval[inside], recording.change_page[inside]), added)
    return out


@kernel
def _count(
    start: IntArray,
    day_from: FloatArray,
    day_to: FloatArray,
    internal: BoolArray,
    again: BoolArray,
    times: FloatArray,
    out: npt.NDArray[np.int32],
) -> None:
    there = np.zeros(len(times), dtype=np.bool_)
    for page in range(len(start) - 1):
        row, last = start[page], start[page + 1]
        while row < last:
            where = 0 if internal[row] else 1
            there[:] = False
            while True:  # all intervals of one target
                for i in range(len(times)):
                    there[i] |= day_from[row] <= times[i] < day_to[row]
                row += 1
                if row == last or not again[row]:
                    break
            for i in range(1, len(times)):
                if there[i] and not there[i - 1]:
                    out[where, i - 1, page] += 1


@dataclass(frozen=True)
class Targets:
    """What is to be predicted for each page, of one sort of links; made of intervals x pages."""

    lcr: FloatArray
    nl: BoolArray
    nnl: FloatArray

    @classmethod
    def of(cls, new: npt.NDArray[np.int32]) -> Targets:
        """Make the targets of the counts of all intervals."""
        return cls((new > 0).mean(axis=0), np.asarray(new[-1] > 0), new[-1].astype(np.float64))
