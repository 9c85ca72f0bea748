"""Links of a recorded web as visits show them: which are new against our copies, and which lead to unknown pages."""

from __future__ import annotations

from typing import Any

import numpy as np

from recrawl.columns import BoolArray, ByteArray, FloatArray, IntArray, PageIds
from recrawl.compiled import kernel
from recrawl.recording.recording import Recording
from recrawl.visits import Outcome

# where each page's links begin; of each link: from and until when, internal, its target listed again, target's page
LinkRows = tuple[IntArray, FloatArray, FloatArray, BoolArray, BoolArray, IntArray]
_CHANGED, _FIRST, _GONE = int(Outcome.CHANGED), int(Outcome.FIRST), int(Outcome.GONE)


class Outlinks:
    """The links of a recording's pages, and the times of this crawler's copies."""

    def __init__(self, recording: Recording) -> None:
        links = recording.links
        self._rows = links.start, links.day_from, links.day_to, links.internal, links.again, links.target_page
        self._copied_at: FloatArray = np.full(len(recording), recording.start)

    def compare(
        self,
        pages: PageIds,
        outcome: ByteArray,
        at: float,
        new: IntArray,
        heard_of: BoolArray,
        born: FloatArray,
        died: FloatArray,
    ) -> PageIds:
        """Add the new links of each visit, internal and external, to `new`; return and mark the pages discovered.

        A target is new if it is on the page now and was not on our copy, so one that was taken away and put back
        between two visits is not new, and one that came and went is not seen. The cost is the number of links of the
        pages found changed or new.
        """
        self.count(pages, outcome, at, new)
        found = _discover(pages, outcome, at, self._rows, heard_of, born, died)
        self._copied_at[pages[outcome < _GONE]] = at
        return np.asarray(found)

    def count(self, pages: PageIds, outcome: ByteArray, at: float, new: IntArray) -> None:
        """Add the new links that visits find to `new`, without taking copies."""
        _count_new(pages, outcome, at, self._copied_at, self._rows, new)


@kernel
def _count_new(
    pages: PageIds, outcome: ByteArray, at: float, copied_at: FloatArray, rows: LinkRows, new: IntArray
) -> None:
    start, day_from, day_to, internal, again, _ = rows
    for i in range(len(pages)):
        if outcome[i] != _CHANGED:
            continue
        copied = copied_at[pages[i]]
        row, last = start[pages[i]], start[pages[i] + 1]
        while row < last:
            where = 0 if internal[row] else 1
            now, before = False, False
            while True:  # all intervals of one target
                now |= day_from[row] <= at < day_to[row]
                before |= day_from[row] <= copied < day_to[row]
                row += 1
                if row == last or not again[row]:
                    break
            if now and not before:
                new[where, i] += 1


@kernel
def _discover(
    pages: PageIds, outcome: ByteArray, at: float, rows: LinkRows, heard_of: BoolArray, born: FloatArray, died: Any
) -> PageIds:
    start, day_from, day_to, _, _, target_page = rows
    room = 0
    for i in range(len(pages)):
        if outcome[i] == _CHANGED or outcome[i] == _FIRST:
            room += start[pages[i] + 1] - start[pages[i]]
    found = np.empty(min(room, len(born)), dtype=np.int64)
    count = 0
    for i in range(len(pages)):
        if outcome[i] != _CHANGED and outcome[i] != _FIRST:
            continue
        for row in range(start[pages[i]], start[pages[i] + 1]):
            target = target_page[row]
            if target < 0 or heard_of[target]:
                continue
            if day_from[row] <= at < day_to[row] and born[target] <= at < died[target]:
                heard_of[target] = True
                found[count] = target
                count += 1
    return found[:count].copy()
