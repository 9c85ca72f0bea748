"""A recorded web that answers visits from exact change times.

The world has the truth; the crawler's memory only gets what visits show. `stale_since` and `died` are for the
measures and the clairvoyant policies alone.

What a visit at time t shows of a page whose copy is from time s (of this crawler's last visit):

    CHANGED        if a change lies in (s, t]; UNCHANGED otherwise; GONE if the page died at or before t
    change_size    words added and removed, summed over those changes: an upper bound of the difference between copy
                   and page, since a word may come and go; the number of changes where words were not counted
    new links      targets that the page links to at t and did not at s; without link times the sum over those changes
                   of the links that each added, which counts a target again if it was taken away and put back
    significant    whether one of those changes has a chi-squared p-value below 0.05, where the recording has them;
                   a change without one (NaN) counts where the words before and after have a cosine below 1/2
    length         the number of words of a version that is new to the crawler, where the recording has it
    words          on demand, a hashed vector of the version that stands at t, where the recording has words
    discovered     targets of a page seen CHANGED or for the FIRST time, alive at t, unknown to this crawler before
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, ByteArray, FloatArray, IntArray, PageIds
from recrawl.compiled import kernel
from recrawl.cycle import Opening
from recrawl.errors import InputError
from recrawl.features.page_words import has_words, words_of
from recrawl.features.pagerank import importance_of
from recrawl.features.recorded_copies import RecordedCopies
from recrawl.memory import Memory
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded_links import Outlinks
from recrawl.visits import Outcome, Visits

SIGNIFICANT = 0.05  # p-values below this
UNLIKE = 0.5  # cosine below this, of versions without a p-value
Changes = tuple[IntArray, IntArray, FloatArray]  # by page the first change not seen, and the end; by change its day

_UNCHANGED, _CHANGED, _FIRST, _GONE, _FAILED = (int(outcome) for outcome in Outcome)


class RecordedWorld:
    """One crawler's view of a recording, with the version of each page that this crawler has.

    Pages born during the window become known with `discover="links"` when a visit shows a link to them, and with
    `discover="birth"` at the end of the cycle in which they are born. `links` says whether visits compare links
    exactly: that needs the links table, costs a pass over the links of every changed page visited, and is done by
    default only where pages may be discovered by it. Without it new links are counted from the changes. Without
    `copies` the pages that exist when the window opens are known but not yet fetched, as in a live crawl.
    """

    under_way = 0  # every visit is answered at once

    def __init__(
        self, recording: Recording, *, discover: str = "links", links: bool | None = None, copies: bool = True
    ) -> None:
        if discover not in ("links", "birth"):
            raise InputError(f"discover must be 'links' or 'birth', not {discover!r}")
        self.recording = recording
        self.discover = discover
        self.start = recording.start
        self.died: FloatArray = recording.died
        self._born = recording.born
        self._seen = recording.change_start[:-1].copy()  # the first change that this crawler has not seen
        self._changes = self._seen, recording.change_start[1:], recording.change_day
        self._before = self._seen.copy()  # the same, before its last visit
        known = self._born <= self.start
        self._has_copy: BoolArray = known & copies
        self.stale_since: FloatArray = np.full(len(recording), np.inf)  # inf too where there is no copy
        self._heard_of = known.copy()
        copied = np.flatnonzero(self._has_copy)
        self._take_copies(copied, np.full(len(copied), _FIRST, dtype=np.uint8), self.start)
        born_later = np.flatnonzero(~known)
        self._coming = born_later[np.argsort(self._born[born_later], kind="stable")]  # not yet announced
        self._tested: IntArray | None = None  # 1 for significant changes, read when first asked for
        if links is None:
            links = recording.has_links and discover == "links" and len(born_later) > 0
        self._outlinks = Outlinks(recording) if links else None
        self._copies = RecordedCopies(recording, self._seen, self._before)

    def memory(self, *, cycle_days: float, seed: int = 0, importance: str = "uniform") -> Memory:
        """Return the memory a crawl starts with: a copy of every page that exists when the window opens."""
        memory = Memory(self.recording.page_ids, self.recording.site, cycle_days=cycle_days, seed=seed)
        memory.load_paths = lambda: self.recording.page("path")
        memory.paths_of = lambda pages: map(str, self.recording.page("path")[pages].tolist())
        memory.copies = self._copies
        memory.importance = importance_of(self.recording, importance)
        memory.learn_of(np.flatnonzero(self._heard_of), self.start)
        memory.hold_copies(np.flatnonzero(self._has_copy), self.start)
        return memory

    def begin(self, cycle: int, at: float, budget: int) -> Opening:
        """Announce with `discover="birth"` the pages that have been born since the last cycle; otherwise none."""
        if self.discover != "birth":
            return Opening()
        count = int(np.searchsorted(self._born[self._coming], at, side="right"))
        born, self._coming = self._coming[:count], self._coming[count:]
        born = born[(self.died[born] > at) & ~self._heard_of[born]]
        self._heard_of[born] = True
        return Opening(announced=born)

    def visit(self, pages: PageIds, at: float) -> Visits:
        """Answer visits at `at` and update this crawler's copies."""
        outcome = _outcomes(pages, at, self.stale_since, self._has_copy, self._born, self.died)
        size = np.zeros(len(pages))
        for column in self._size_columns:
            self._add(column, pages, outcome, at, size)
        new = np.zeros((2, len(pages)), dtype=np.int32)
        if self._outlinks is None:
            discovered = np.empty(0, dtype=np.int64)
            self._add("new_internal", pages, outcome, at, new[0])
            self._add("new_external", pages, outcome, at, new[1])
        else:
            discovered = self._outlinks.compare(pages, outcome, at, new, self._heard_of, self._born, self.died)
        significant = self._significant(pages, outcome, at)
        self._take_copies(pages, outcome, at)
        length = self._length(pages, outcome)
        words = partial(self._words, pages, at) if has_words(self.recording) else None
        return Visits(
            pages, np.full(len(pages), at), outcome, new[0], new[1], size, discovered, significant, length, words
        )  # fmt: skip

    def _significant(self, pages: PageIds, outcome: ByteArray, at: float) -> BoolArray | None:
        """Which visits find a change that the recording's chi-squared test calls significant; None where untested."""
        if not self.recording.has_change("chi2_p"):
            return None
        found = np.zeros(len(pages), dtype=np.int32)
        if self._tested is None:
            self._tested = significant_changes(self.recording).astype(np.int32)
        _add_up(pages, outcome, at, self._changes, self._tested, found)
        return np.asarray(found > 0)

    def _length(self, pages: PageIds, outcome: ByteArray) -> FloatArray | None:
        words = self._copies.of_pages("words", pages)
        shown = outcome == _FIRST
        if self.recording.has_change("words"):
            shown |= outcome == _CHANGED
        return None if words is None else np.where(shown, words, np.nan)

    def _words(self, pages: PageIds, at: float) -> npt.NDArray[np.float32]:
        return words_of(self.recording).rows(pages, at)

    @property
    def _size_columns(self) -> tuple[str, ...]:
        words = ("d_words_added", "d_words_removed")
        return words if all(self.recording.has_change(column) for column in words) else ("",)

    def _add(self, column: str, pages: PageIds, outcome: ByteArray, at: float, out: FloatArray | IntArray) -> None:
        """Add up a column (ones, without a name) over the changes that each visit found; nothing if it is not there."""
        if not column or self.recording.has_change(column):
            values = self.recording.change_counts(column) if column else np.empty(0, dtype=np.int32)
            _add_up(pages, outcome, at, self._changes, values, out)

    def new_links(self, at: float) -> IntArray:
        """Count the new links that a visit to each page would find at `at`: for clairvoyant policies only."""
        pages = np.flatnonzero(self._has_copy & (self.stale_since <= at) & (self.died > at))
        outcome = np.full(len(pages), _CHANGED, dtype=np.uint8)
        new = np.zeros((2, len(pages)), dtype=np.int32)
        if self._outlinks is None:
            self._add("new_internal", pages, outcome, at, new[0])
            self._add("new_external", pages, outcome, at, new[1])
        else:
            self._outlinks.count(pages, outcome, at, new)
        counts = np.zeros(len(self.died), dtype=np.int32)
        counts[pages] = new.sum(axis=0)
        return counts

    @property
    def seen(self) -> IntArray:
        """For each page the first change that this crawler has not seen: the copy is the version before it."""
        return self._seen

    def _take_copies(self, pages: PageIds, outcome: ByteArray, at: float) -> None:
        self._before[pages] = self._seen[pages]
        _see(pages, outcome, at, self._changes, self.died, self._has_copy, self.stale_since)
        first = pages[outcome == _FIRST]
        self._before[first] = self._seen[first]  # there was no copy before


def significant_changes(recording: Recording) -> BoolArray:
    """Which changes the recording's chi-squared test calls significant; where there was no test, the cosine decides."""
    p = recording.change("chi2_p")
    found = np.asarray(p < SIGNIFICANT)
    if recording.has_change("cosine"):
        found |= np.isnan(p) & (recording.change("cosine") < UNLIKE)
    return found


@kernel
def _outcomes(
    pages: PageIds, at: float, stale_since: FloatArray, has_copy: BoolArray, born: FloatArray, died: FloatArray
) -> ByteArray:
    outcome = np.full(len(pages), _UNCHANGED, dtype=np.uint8)
    for i in range(len(pages)):
        page = pages[i]
        if died[page] <= at:
            outcome[i] = _GONE
        elif born[page] > at:
            outcome[i] = _FAILED  # not born yet: a crawler that obeys the contract never visits it
        elif not has_copy[page]:
            outcome[i] = _FIRST
        elif stale_since[page] <= at:
            outcome[i] = _CHANGED
    return outcome


@kernel
def _add_up(
    pages: PageIds, outcome: ByteArray, at: float, changes: Changes, values: IntArray, out: FloatArray | IntArray
) -> None:
    seen, last, day = changes
    for i in range(len(pages)):
        if outcome[i] == _CHANGED:
            row = seen[pages[i]]
            while row < last[pages[i]] and day[row] <= at:
                out[i] += values[row] if len(values) else 1
                row += 1


@kernel
def _see(
    pages: PageIds, outcome: ByteArray, at: float, changes: Changes, died: FloatArray, has_copy: BoolArray, stale: Any
) -> None:
    """Take the copies, and find when they go stale: at the next change, or when the page dies."""
    seen, last, day = changes
    for i in range(len(pages)):
        page = pages[i]
        has_copy[page] = outcome[i] < _GONE
        stale[page] = np.inf
        if has_copy[page]:
            while seen[page] < last[page] and day[seen[page]] <= at:
                seen[page] += 1
            following = day[seen[page]] if seen[page] < last[page] else np.inf
            stale[page] = min(following, died[page])
