"""Rebuild the columns in memory, the copies and what a policy has learnt, from the visits in the store."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping

import numpy as np

from recrawl.columns import PageIds, spans, tie_order
from recrawl.cycle import chosen, most_first_visits
from recrawl.live.crawl_rounds import AskedPolicy, asked_of, visits_of
from recrawl.live.store import Store
from recrawl.live.store_visits import Rows
from recrawl.live.stored_copies import StoredCopies
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policy import Policy, remembers_choices

log = logging.getLogger(__name__)

SPARE = 1024  # room for new pages, at least
LARGE = 1_000_000  # from here on, room for a quarter more pages instead of as many again

Round = tuple[int, Rows]  # visits that the policy was asked for before, 0: it was not asked; and the visits made


def rebuild(
    store: Store, policy: Policy, plan: Plan, pages: Rows | None = None, worth: Mapping[int, float] | None = None
) -> Memory:
    """Replay all recorded visits, round by round, into a new memory and the policy.

    The memory has room for more pages than there are, and grows when that is used up. `pages` are what
    `store.load_index` returned.
    """
    rows = store.load_index() if pages is None else pages
    memory = _columns(store, rows, plan)
    memory.copies = copies = StoredCopies(store, memory, plan.seed)
    if worth:  # of the hosts that are known now; a page found later counts as any other until the next start
        memory.importance = np.array([worth.get(host, 1.0) for host in memory.site.tolist()])
    known, chooser = _Known(rows, memory), _Chooser(store, policy, plan)
    due = store.due_at()
    for piece in store.visits_in_order():
        while memory.cycle < piece["cycle"][0]:
            memory.begin_cycle(plan.site_cap)
            known.seeds(due[memory.cycle])
            policy.begin(memory, due[memory.cycle])
        for asked, batch in _rounds(store, piece):
            chooser.choose(memory, asked, due[memory.cycle])
            for part in known.parts(batch):
                visits = visits_of(part, known.found(part), copies)
                policy.learn(memory, visits)
                memory.record(visits)
    while memory.cycle < len(due):  # a cycle that was opened but has no visit yet
        memory.begin_cycle(plan.site_cap)
    known.seeds(np.inf)
    memory.learn_of(known.rest(), 0.0)
    return memory


def fill(store: Store, memory: Memory, first: int, seed: int) -> PageIds:
    """Fill the rows of the pages from number `first` on, in a memory that grows for them; returns these pages.

    The rows are tie-break, site, and when the page was first seen; the pages are not known by that.
    """
    make_room(store, memory)
    rows = store.page_rows(first, len(memory))
    _write(memory, rows, first, seed)
    memory.first_seen[first : first + len(rows)] = rows["first_seen_at"]
    return np.arange(first, first + len(rows))


def _rounds(store: Store, piece: Rows) -> Iterator[Round]:
    """Put visits of one cycle into the rounds in which they were learnt from; those of no round come last, as one."""
    order = np.argsort(piece["page"])
    left = np.ones(len(piece), dtype=np.bool_)
    for asked, pages in store.rounds(int(piece["cycle"][0])):
        place = np.searchsorted(piece["page"], pages, sorter=order)
        row = order[np.minimum(place, len(piece) - 1)]
        row = row[piece["page"][row] == pages]  # a huge cycle comes in several pieces
        left[row] = False
        if len(row):
            yield asked, piece[row]
    if left.any():
        yield 0, piece[left]


class _Chooser:
    """Lets a policy choose again what it chose, where that is part of what it knows; the choice itself is recorded."""

    def __init__(self, store: Store, policy: Policy, plan: Plan) -> None:
        self._policy: AskedPolicy | None = asked_of(policy)
        self._always = remembers_choices(policy)
        self._plan = plan
        self._budgets = store.budgets()
        self._last = max(self._budgets, default=0)  # the cycle that may be going on

    def choose(self, memory: Memory, asked: int, at: float) -> None:
        """Ask for so many visits; 0: nobody asked."""
        if self._policy is None or not asked or not (self._always or memory.cycle == self._last):
            return
        most = most_first_visits(self._plan.discovery, self._budgets[memory.cycle])
        try:
            chosen(memory, self._policy, asked, at, most)
        except Exception as wrong:  # whoever guards the policy hears of it at the next choice
            log.warning("%r failed in the replay: %s", self._policy, wrong)
        self._policy.take()


def make_room(store: Store, memory: Memory) -> None:
    """Let the memory grow where the store has more pages or hosts than it has rows."""
    pages, sites = len(store.index), store.last_host() + 1
    if pages > len(memory) or sites > len(memory.bars.site):
        memory.grow(_room(pages) if pages > len(memory) else len(memory), 2 * sites + SPARE)


def _room(pages: int) -> int:
    return (pages + pages // 4 if pages > LARGE else 2 * pages) + SPARE


class _Known:
    """Makes pages known when the crawl learnt of them: seeds when they were added, others when a visit showed them."""

    def __init__(self, rows: Rows, memory: Memory) -> None:
        self.memory = memory
        self._at = rows["first_seen_at"]
        memory.first_seen[: len(rows)] = self._at
        seeds = np.flatnonzero(rows["found_on"] < 0)
        self._seeds = seeds[np.argsort(self._at[seeds], kind="stable")]
        found = np.flatnonzero(rows["found_on"] >= 0)
        self._found = found[np.argsort(rows["found_on"][found], kind="stable")]  # by the page whose visit showed them
        self._parent = rows["found_on"][self._found]

    def seeds(self, at: float) -> None:
        """Learn of what was added up to `at`."""
        count = int(np.searchsorted(self._at[self._seeds], at, side="right"))
        self.memory.learn_of(self._seeds[:count], 0.0)
        self._seeds = self._seeds[count:]

    def found(self, part: Rows) -> PageIds:
        """Return what these visits showed first; it is known when they are recorded."""
        if not len(self._found):
            return self._found
        first, last = (np.searchsorted(self._parent, part["page"], side=side) for side in ("left", "right"))
        children = self._found[spans(first, last)]
        shown = self._at[children] <= np.repeat(part["at"], last - first)
        return children[shown & ~self.memory.known[children]]

    def rest(self) -> PageIds:
        """Return what no recorded visit explains."""
        return self._found[~self.memory.known[self._found]]

    def parts(self, piece: Rows) -> Iterator[Rows]:
        """Cut a round's visits where one asks for a page that only those before it, once recorded, make known."""
        while len(piece):
            strange = np.flatnonzero(~self.memory.known[piece["page"]])
            if len(strange) and strange[0] == 0:  # added by hand while the cycle ran
                self.seeds(float(piece["at"][0]))
                self.memory.learn_of(piece["page"][:1], 0.0)
                continue
            cut = int(strange[0]) if len(strange) else len(piece)
            yield piece[:cut]
            piece = piece[cut:]


def _columns(store: Store, rows: Rows, plan: Plan) -> Memory:
    none, sites = np.zeros(_room(len(rows)), dtype=np.int32), 2 * (store.last_host() + 1) + SPARE
    memory = Memory(none, none.copy(), cycle_days=plan.cycle_days, seed=plan.seed, sites=sites)
    _write(memory, rows, 0, plan.seed)
    memory.load_paths = lambda: _paths(store, len(memory))
    memory.paths_of = lambda pages: (url.split("/", 3)[-1] for url in store.urls(pages.tolist()))
    return memory


def _write(memory: Memory, rows: Rows, first: int, seed: int) -> None:
    pages = slice(first, first + len(rows))
    memory.tie[pages] = tie_order(rows["url_hash"], seed)
    memory.site[pages] = rows["host"]


def _paths(store: Store, room: int) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    paths = np.full(room, "", dtype=object)
    for page, url in store.all_urls().items():
        if page < room:
            paths[page] = url.split("/", 3)[-1]
    return paths
