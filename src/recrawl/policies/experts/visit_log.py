"""The last visits of every page, and features from them for a crawler that sees part of the web per cycle.

A log line is a visit at which a change could be seen: its cycle, whether it found a change that counts,
its size, and the page's words. Features are those of Radinsky & Bennett 2013 for the partially observed setting
(section 3.3): known just before a cycle T, from visits in earlier cycles alone.

    own       how often the page changed while it was watched, whether its last two visits found a change, how large the
              last change was and how long ago
    related   whether another page was seen, and seen changed, since the page's own last visit; the similarity of
              both pages' words, and of the other's last change to the page
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, PageIds, grown
from recrawl.compiled import kernel
from recrawl.features.page_words import DIMENSIONS, Vectors

OWN, RELATED = 5, 4
KEPT = 40  # visits of each page
NO_WORDS = 0  # the row of the table that is all zeros
NOT_HELD = -1

Small = npt.NDArray[np.int32]
Float32 = npt.NDArray[np.float32]


class LogColumns(NamedTuple):
    """The columns of a visit log, as the compiled functions read and write them; see `VisitLog`."""

    lines: Small  # the log's `count`
    begin: Small
    cycle: Small
    changed: BoolArray
    size: Float32
    words: Small
    table: Vectors


class VisitLog:
    """Rows are pages; a page's visits are in the order of time, `count` of them, the oldest fall out."""

    def __init__(self, kept: int = KEPT) -> None:
        self.kept = kept
        self.count: Small = np.zeros(0, dtype=np.int32)
        self.begin: Small = np.zeros(0, dtype=np.int32)  # the cycle of the copy before the first line
        self.cycle: Small = np.zeros((0, kept), dtype=np.int32)
        self.changed: BoolArray = np.zeros((0, kept), dtype=np.bool_)
        self.size: Float32 = np.zeros((0, kept), dtype=np.float32)
        self.words: Small = np.zeros((0, kept), dtype=np.int32)  # rows of `table`
        self.table: Vectors = np.zeros((1, DIMENSIONS), dtype=np.float32)
        self.versions = 1  # rows of the table that are in use

    @property
    def columns(self) -> LogColumns:
        """All columns as they are now."""
        return LogColumns(self.count, self.begin, self.cycle, self.changed, self.size, self.words, self.table)

    def make_room(self, pages: int) -> None:
        """Make room for so many pages."""
        self.count = grown(self.count, pages, 0)
        self.begin = grown(self.begin, pages, NOT_HELD)
        self.cycle = grown(self.cycle, pages, 0)
        self.changed = grown(self.changed, pages, False)
        self.size = grown(self.size, pages, 0.0)
        self.words = grown(self.words, pages, NO_WORDS)

    def hold(self, pages: PageIds, cycle: int) -> None:
        """Record the cycle of the first copy of these pages, where they had none."""
        self.begin[pages] = np.where(self.begin[pages] == NOT_HELD, cycle, self.begin[pages])

    def add(self, pages: PageIds, cycle: int, changed: BoolArray, size: FloatArray, words: Vectors | None) -> None:
        """Write a line for each of these visits; `words` only where they are known."""
        rows = np.zeros(len(pages), dtype=np.int32)
        if words is not None:
            rows = self._rows(pages, words)
        _add(pages, cycle, changed, size, rows, self.columns)

    def _rows(self, pages: PageIds, words: Vectors) -> Small:
        """Find rows of the table for these words: the page's last row where the words are the same."""
        last = self.words[pages, np.maximum(self.count[pages] - 1, 0)]
        last = np.where(self.count[pages] > 0, last, NO_WORDS)
        new = (self.table[last] != words).any(axis=1) & words.any(axis=1)
        rows = np.where(words.any(axis=1), last, NO_WORDS).astype(np.int32)
        rows[new] = self.versions + np.arange(int(new.sum()))
        self.table = grown(self.table, self.versions + int(new.sum()), 0.0)
        self.table[rows[new]] = words[new]
        self.versions += int(new.sum())
        return rows

    def rate(self, pages: PageIds) -> FloatArray:
        """Changes per cycle, from the visits that are kept (see `rate_of`)."""
        return _rates(pages, self.columns)

    def mixed(self, least: int) -> PageIds:
        """Pages with at least so many lines, some of which are changes and some not."""
        changes = self.changed.sum(axis=1)
        return np.flatnonzero((self.count >= least) & (changes > 0) & (changes < self.count))

    def series(self, pages: PageIds, cycle: int, length: int) -> FloatArray:
        """Seen changes by cycle over the last `length` cycles: a change is spread over the gap that it was found in."""
        return _series(pages, cycle, length, self.columns)


@kernel
def _add(pages: PageIds, now: int, seen: BoolArray, sizes: FloatArray, rows: Small, log: LogColumns) -> None:
    count, begin, cycle, changed, size, words, _ = log
    kept = cycle.shape[1]
    for i in range(len(pages)):
        p = pages[i]
        if count[p] == kept:
            begin[p] = cycle[p, 0]
            for k in range(kept - 1):
                cycle[p, k], changed[p, k] = cycle[p, k + 1], changed[p, k + 1]
                size[p, k], words[p, k] = size[p, k + 1], words[p, k + 1]
            count[p] -= 1
        k = count[p]
        cycle[p, k], changed[p, k], size[p, k], words[p, k] = now, seen[i], sizes[i], rows[i]
        count[p] += 1


@kernel
def _series(pages: PageIds, now: int, length: int, log: LogColumns) -> FloatArray:
    count, begin, cycle, changed = log[:4]
    out = np.zeros((len(pages), length))
    for i in range(len(pages)):
        p = pages[i]
        before = begin[p]
        for k in range(count[p]):
            if changed[p, k]:
                gap = max(cycle[p, k] - before, 1)
                for c in range(cycle[p, k] - gap + 1, cycle[p, k] + 1):
                    place = c - (now - length)
                    if 0 <= place < length:
                        out[i, place] += 1.0 / gap
            before = cycle[p, k]
    return out


@kernel
def rate_of(changes: int, visits: int, cycles: int) -> float:
    """Changes per cycle: -ln((n - X + 1/2) / (n + 1)) over the mean gap; corrects for uncounted changes.

    The estimator of Cho & Garcia-Molina 2003, but for a page that was never visited again: ln 2.
    """
    return -np.log((visits - changes + 0.5) / (visits + 1.0)) * visits / max(cycles, 1) if visits else np.log(2.0)


@kernel
def _rates(pages: PageIds, log: LogColumns) -> FloatArray:
    count, begin, cycle, changed = log[:4]
    out = np.empty(len(pages))
    for i in range(len(pages)):
        p = pages[i]
        n, changes = count[p], 0
        for k in range(n):
            changes += changed[p, k]
        out[i] = rate_of(changes, n, cycle[p, n - 1] - begin[p] if n else 0)
    return out


@kernel
def lines_before(log: LogColumns, page: int, now: int) -> int:
    """How many of a page's lines are of earlier cycles."""
    n = log.lines[page]
    while n > 0 and log.cycle[page, n - 1] >= now:
        n -= 1
    return n


@kernel
def own_at(now: int, n: int, log: LogColumns, page: int, out: FloatArray) -> None:
    """Write a page's own features as known before cycle `now`, from its first n lines."""
    begin, cycle, changed, size = log.begin[page], log.cycle[page], log.changed[page], log.size[page]
    changes, last_change, last_size = 0, begin, 0.0
    for k in range(n):
        if changed[k]:
            changes += 1
            last_change = cycle[k]
            last_size = size[k]
    last = cycle[n - 1] if n else begin
    rate = rate_of(changes, n, last - begin)
    out[0] = np.log(rate)
    out[1] = 1.0 if n > 0 and changed[n - 1] else 0.0
    out[2] = 1.0 if n > 1 and changed[n - 2] else 0.0
    out[3] = np.log1p(last_size)
    out[4] = np.log1p(max(now - last_change, 0))


@kernel
def related_at(n: int, since: int, log: LogColumns, other: int, own_words: int, out: FloatArray) -> None:
    """Write the features of another page (its first n lines) beside a page last visited in cycle `since`."""
    cycle, changed, words, table = log.cycle[other], log.changed[other], log.words[other], log.table
    out[:] = 0.0
    last_change = -1
    for k in range(n):
        if changed[k]:
            last_change = k
        if cycle[k] > since:
            out[0] = 1.0
            if changed[k]:
                out[1] = 1.0
    if n == 0 or own_words == NO_WORDS:
        return
    for d in range(table.shape[1]):
        out[2] += table[own_words, d] * table[words[n - 1], d]
    if last_change > 0:
        length = 0.0
        for d in range(table.shape[1]):
            move = table[words[last_change], d] - table[words[last_change - 1], d]
            out[3] += move * table[own_words, d]
            length += move * move
        out[3] = out[3] / np.sqrt(length) if length > 0 else 0.0
