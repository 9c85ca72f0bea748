"""What the crawler has seen of each page, as numpy columns.

The memory holds only what visits have shown: it never sees a recording. `record` costs time in proportion to the
visits, not to the pages. Every estimator's running sums live here so that scoring is one pass over columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, ByteArray, FloatArray, IntArray, PageIds, TieArray, longer, tie_order
from recrawl.compiled import kernel
from recrawl.copies import Copies
from recrawl.eligibility import Bar, Bars
from recrawl.first_visits import UNKNOWN, Yields, first_visits, forms_of, yields_of
from recrawl.visits import Outcome, Visits

NEVER = -1  # last_cycle of a page that we have no copy of
RING = 8  # how many last outcomes are kept per page
COUNTED = (  # columns that the outcomes of visits move, in the order in which `_record` takes them
    *("n", "changes", "last_visit", "last_change", "last_cycle", "asked", "gone", "ring"),
    *("rank_sum", "rank_decay", "cycle_sum", "cycle_decay", "unchanged_days", "fails"),
)
GROWN = {  # every column with a row per page, and what a row holds of a page that is not known yet
    **dict.fromkeys(
        ("site", "tie", "n", "changes", "fails", "ring", "new_links", "known", "gone", "_admitted", "_form"), 0
    ),
    **dict.fromkeys(("rank_sum", "rank_decay", "cycle_sum", "cycle_decay", "unchanged_days"), 0.0),
    **dict.fromkeys(("first_seen", "last_visit", "last_change"), np.nan),
    **dict.fromkeys(("last_cycle", "asked"), NEVER),
    "importance": 1.0,
}

MOST_FAILS = 6  # in a row, that are told apart
# By visits in a row that failed: cycles until the next. A page that is not there is asked three times, then gone.
PAUSE = np.array([1, 1, 1, 4, 8, 16, 32], dtype=np.int32)

_CHANGED, _FIRST, _GONE, _FAILED = (int(o) for o in (Outcome.CHANGED, Outcome.FIRST, Outcome.GONE, Outcome.FAILED))


class Memory:
    """Columns of what was seen, one row per page; unknown pages have `known` False and mean nothing.

    Cycles are numbered from 1; `last_cycle` 0 is the copy a crawl starts with. `n` counts the visits at which a
    change could have been seen (there was a copy to compare with), `changes` those that saw one.
    """

    def __init__(
        self, keys: IntArray, site: IntArray, *, cycle_days: float = 1.0, seed: int = 0, sites: int = 0
    ) -> None:
        """Make room for these pages; `sites` makes room for more sites than they have yet."""
        size = len(keys)
        self.cycle_days = cycle_days
        self.cycle = 0
        self.site = np.asarray(site, dtype=np.int32)
        self.tie: TieArray = tie_order(keys, seed)
        self.importance: FloatArray | None = None  # None: all pages count the same
        self.load_paths: Callable[[], npt.NDArray[np.object_]] | None = None  # where known: each page's path
        self.paths_of: Callable[[PageIds], Iterable[str]] | None = None  # where known: the paths of these pages
        self.copies: Copies | None = None  # where known: what the copies that we hold are like
        self.known: BoolArray = np.zeros(size, dtype=np.bool_)
        self.gone: BoolArray = np.zeros(size, dtype=np.bool_)
        self.n = np.zeros(size, dtype=np.int32)
        self.changes = np.zeros(size, dtype=np.int32)
        self.first_seen: FloatArray = np.full(size, np.nan)
        self.last_visit: FloatArray = np.full(size, np.nan)
        self.last_change: FloatArray = np.full(size, np.nan)  # the last visit that found a change
        self.last_cycle = np.full(size, NEVER, dtype=np.int32)
        self.asked = np.full(size, NEVER, dtype=np.int32)  # the last cycle with a visit, answered or failed
        self.fails: ByteArray = np.zeros(size, dtype=np.uint8)  # visits in a row that failed
        self.ring: ByteArray = np.zeros(size, dtype=np.uint8)  # bit 0: the last visit found a change
        self.rank_sum: FloatArray = np.zeros(size)  # sum over found changes of the visit's number i (AAD)
        self.rank_decay: FloatArray = np.zeros(size)  # sum of 2**(i-1-n) (GAD)
        self.cycle_sum: FloatArray = np.zeros(size)  # as rank_sum, i = number of the cycle
        self.cycle_decay: FloatArray = np.zeros(size)  # sum of 2**(i-1-last_cycle), i = number of the cycle
        self.unchanged_days: FloatArray = np.zeros(size)  # total length of the gaps at whose end nothing had changed
        self.new_links = np.zeros((size, 2), dtype=np.int32)  # internal, external, over all visits
        self._site_cap = 0
        self._site_visits = np.zeros(max(int(self.site.max(initial=-1)) + 1, sites), dtype=np.int64)
        self._firsts: list[PageIds] = []  # pages without a copy that were visited in this cycle
        self._form: ByteArray = np.zeros(size, dtype=np.uint8)  # of the page's address, once it was needed
        self._admitted: BoolArray | None = None  # pages without a copy that may be visited now; None: all
        self.bars = Bars(size, len(self._site_visits))  # for the loop and the world; policies ask `eligible`

    def __len__(self) -> int:
        return len(self.known)

    def grow(self, pages: int, sites: int = 0) -> None:
        """Make room for so many pages and sites in all; new rows are unknown pages, and what was seen stays."""
        for name, fill in GROWN.items():
            column = getattr(self, name)
            if column is not None:
                setattr(self, name, longer(column, pages, fill))
        self._site_visits = longer(self._site_visits, sites, 0)
        self.bars.page, self.bars.site = longer(self.bars.page, pages, 0), longer(self.bars.site, sites, 0)

    def learn_of(self, pages: PageIds, at: float) -> None:
        """Note that these pages exist, without having visited them; `first_seen` may be there before."""
        fresh = pages[~self.known[pages]]
        self.known[fresh] = True
        self.first_seen[fresh] = np.where(np.isnan(self.first_seen[fresh]), at, self.first_seen[fresh])

    def hold_copies(self, pages: PageIds, at: float) -> None:
        """Start with a copy of these pages as they are at `at`, before the first cycle."""
        self.learn_of(pages, at)
        self.last_cycle[pages] = 0
        self.last_visit[pages] = at

    def begin_cycle(self, site_cap: int = 0) -> None:
        """Open the next cycle; with a cap, no site may get more than `site_cap` visits in it."""
        self.cycle += 1
        self._site_cap = site_cap
        self._site_visits[:] = 0
        self._firsts = []
        self._admitted = None

    def recount(self) -> None:
        """Count the open cycle's visits to each site anew, for a memory that was read back in the middle of it."""
        made = self.site[self.asked == self.cycle]
        self._site_visits[:] = np.bincount(made, minlength=len(self._site_visits))

    def eligible(self) -> BoolArray:
        """Pages that may be visited now: known, not gone, not yet visited in this cycle, and nothing bars them.

        What may bar a page: visits in a row that failed (exponential back-off), its site's cap, the limit on first
        visits, and the reasons of `recrawl.eligibility`.
        """
        may = self.known & ~self.gone
        may &= self.asked < self.cycle
        if self.fails.any():
            may &= self.rests() <= 0
        room = self.site_room()
        if room is not None:
            may &= (room > 0)[self.site]
        self.bars.hide(may, self.site)
        if self._admitted is not None:
            may &= self._admitted | (self.last_cycle != NEVER)
        return may

    def rests(self) -> IntArray:
        """For how many cycles after this one a page whose visits failed again and again is left alone; 0: none."""
        return np.asarray(PAUSE[self.fails] - (self.cycle - self.asked), dtype=np.int64)

    def first_visits_made(self) -> int:
        """Visits of this cycle to pages that we had no copy of, with those under way."""
        return len(self._made())

    def _made(self) -> PageIds:
        under_way = np.flatnonzero((self.bars.page == Bar.UNDER_WAY) & (self.last_cycle == NEVER))
        return np.concatenate([*self._firsts, under_way])

    def limit_first_visits(self, most: int | None, *, paid: bool = True) -> bool:
        """Let at most so many pages without a copy be visited in this cycle; None: all. Returns if some must wait.

        Sites take turns, and on each its URL templates, by what visits to them found (`recrawl.first_visits`); with
        `paid`, none gets a larger part of them than that is worth. Within a template come first pages never asked for,
        then important ones, then those known longest.
        """
        self._admitted = None
        if most is None:
            return False
        waiting = np.flatnonzero(self.eligible() & (self.last_cycle == NEVER))
        made = self._made() if len(waiting) else waiting
        room = max(0, most - len(made)) if len(waiting) else 0
        if len(waiting) <= room:
            return False
        self._admitted = np.zeros(len(self), dtype=np.bool_)
        if room:
            worth = np.zeros(len(waiting)) if self.importance is None else -self.importance[waiting]
            keys = (self.asked[waiting], worth, self.first_seen[waiting], self.tie[waiting])
            chosen = first_visits(waiting, room, self._yields(), made, most if paid else None, keys)
            self._admitted[chosen] = True
        return True

    def _yields(self) -> tuple[Yields, Yields]:
        """What visits to each URL template and to each site found, with the groups of all pages."""
        if self.paths_of is not None:
            strange = np.flatnonzero(self.known & (self._form == UNKNOWN))
            self._form[strange] = forms_of(self.paths_of(strange))
        visits = self.n + (self.asked != NEVER)  # a first visit is none of n
        mean = (float(self.changes.sum()) + 1.0) / (float(visits.sum()) + 2.0)
        sites = yields_of(self.site, self.changes, visits, np.full(len(self._site_visits), mean), mean)
        group = self.site.astype(np.int64) << 8 | self._form
        keys = np.arange(len(sites.weight) << 8)
        if len(keys) > 2 * len(self):  # many small sites
            keys, group = np.unique(group, return_inverse=True)
        return yields_of(group, self.changes, visits, sites.weight[keys >> 8], mean), sites

    def site_room(self) -> IntArray | None:
        """How many more visits each site may get in this cycle, besides those under way; None where there is no cap."""
        if not self._site_cap:
            return None
        under_way = np.bincount(self.site[self.bars.page == Bar.UNDER_WAY], minlength=len(self._site_visits))
        return np.maximum(self._site_cap - self._site_visits - under_way, 0)

    def held(self) -> BoolArray:
        """Pages that we hold a copy of, which a visit can be compared with."""
        return np.asarray(self.known & (self.last_cycle != NEVER) & ~self.gone)

    def unfetched(self) -> BoolArray:
        """Pages that we know of but have no copy of."""
        return np.asarray(self.known & (self.last_cycle == NEVER) & ~self.gone)

    def waited(self) -> FloatArray:
        """Cycles since the last visit (the papers' t), counting the cycle that is now open."""
        return (self.cycle - self.last_cycle).astype(np.float64)

    def record(self, visits: Visits) -> None:
        """Take in what a batch of visits showed."""
        self.learn_of(visits.discovered, float(visits.at[-1]) if len(visits) else np.nan)
        np.add.at(self._site_visits, self.site[visits.pages], 1)
        self._firsts.append(visits.pages[self.last_cycle[visits.pages] == NEVER])
        self.new_links[visits.pages, 0] += visits.new_internal.astype(np.int32)  # a batch has a page at most once
        self.new_links[visits.pages, 1] += visits.new_external.astype(np.int32)
        self.count(visits)

    def count(self, visits: Visits) -> None:
        """Take in the outcomes of visits: the columns COUNTED."""
        columns = tuple(getattr(self, name) for name in COUNTED)
        _record(visits.pages, visits.at, visits.outcome, self.cycle, columns)


@kernel
def _record(pages: PageIds, at: FloatArray, outcome: ByteArray, cycle: int, columns: tuple[Any, ...]) -> None:
    n, changes, last_visit, last_change, last_cycle, asked, gone, ring = columns[:8]
    rank_sum, rank_decay, cycle_sum, cycle_decay, unchanged_days, fails = columns[8:]
    for i in range(len(pages)):
        p = pages[i]
        asked[p] = cycle
        if outcome[i] == _FAILED:
            fails[p] = min(fails[p] + 1, MOST_FAILS)
            continue
        fails[p] = 0
        if outcome[i] == _GONE:
            gone[p] = True
        if outcome[i] < _FIRST:
            changed = outcome[i] == _CHANGED
            n[p] += 1
            ring[p] = (ring[p] << 1) & 0xFF
            rank_decay[p] *= 0.5
            cycle_decay[p] *= 0.5 ** (cycle - last_cycle[p])
            if changed:
                changes[p] += 1
                ring[p] |= 1
                rank_sum[p] += n[p]
                rank_decay[p] += 0.5
                cycle_sum[p] += cycle
                cycle_decay[p] += 0.5
                last_change[p] = at[i]
            else:
                unchanged_days[p] += at[i] - last_visit[p]
        last_visit[p] = at[i]
        last_cycle[p] = cycle
