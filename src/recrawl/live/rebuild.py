"""Rebuild the columns in memory, and what a policy has learnt, from the visits in the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from recrawl.columns import PageIds, tie_order
from recrawl.live.store import Store
from recrawl.live.store_visits import Rows
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policy import Policy
from recrawl.visits import Visits

SPARE = 1024  # room for new pages, at least
LARGE = 1_000_000  # from here on, room for a quarter more pages instead of as many again


def rebuild(
    store: Store, policy: Policy, plan: Plan, pages: Rows | None = None, worth: Mapping[int, float] | None = None
) -> Memory:
    """Replay all recorded visits, cycle by cycle, into a new memory and the policy.

    The memory has room for more pages than there are: pages found during a cycle can be visited in it. When the room
    is used up, the memory is rebuilt larger before the next cycle. `pages` are what `store.load_index` returned.
    """
    rows = store.load_index() if pages is None else pages
    memory = _columns(store, rows, plan)
    if worth:  # of the hosts that are known now; a page found later counts as any other until the next start
        memory.importance = np.array([worth.get(host, 1.0) for host in memory.site.tolist()])
    known = _Known(rows, memory)
    due = store.due_at()
    for piece in store.visits_in_order():
        while memory.cycle < piece["cycle"][0]:
            memory.begin_cycle(plan.site_cap)
            known.seeds(due[memory.cycle])
            policy.begin(memory, due[memory.cycle])
        for part in known.rounds(piece):
            visits = _visits(part, known.found(float(part["at"].max())))
            policy.learn(memory, visits)
            memory.record(visits)
    while memory.cycle < len(due):  # a cycle that was opened but has no visit yet
        memory.begin_cycle(plan.site_cap)
    known.seeds(np.inf)
    memory.learn_of(known.found(np.inf), 0.0)
    return memory


def fill(store: Store, memory: Memory, first: int, seed: int) -> PageIds:
    """Fill the rows of the pages from number `first` on, as far as there is room; they are not known by that.

    The rows are tie-break, site, and when the page was first seen. Returns these pages.
    """
    rows = store.page_rows(first, len(memory))
    _write(memory, rows, first, seed)
    memory.first_seen[first : first + len(rows)] = rows["first_seen_at"]
    return np.arange(first, first + len(rows))


class _Known:
    """Makes pages known when the crawl learnt of them: seeds when they were added, others when a visit showed them."""

    def __init__(self, rows: Rows, memory: Memory) -> None:
        self.memory = memory
        order = np.argsort(rows["first_seen_at"], kind="stable")
        self._at = rows["first_seen_at"]
        memory.first_seen[: len(rows)] = self._at
        self._left = {seed: order[rows["seed"][order] == seed] for seed in (True, False)}

    def seeds(self, at: float) -> None:
        """Learn of what was added up to `at`."""
        self.memory.learn_of(self._take(True, at), 0.0)

    def found(self, at: float) -> PageIds:
        """Return what visits up to `at` showed; it is known when they are recorded."""
        return self._take(False, at)

    def rounds(self, piece: Rows) -> Iterator[Rows]:
        """Cut a cycle's visits where one asks for a page that only those before it, once recorded, make known."""
        while len(piece):
            strange = np.flatnonzero(~self.memory.known[piece["page"]])
            if len(strange) and strange[0] == 0:  # added by hand while the cycle ran
                self.seeds(float(piece["at"][0]))
                self.memory.learn_of(piece["page"][:1], 0.0)
                continue
            cut = int(strange[0]) if len(strange) else len(piece)
            yield piece[:cut]
            piece = piece[cut:]

    def _take(self, seed: bool, at: float) -> PageIds:
        left = self._left[seed]
        count = int(np.searchsorted(self._at[left], at, side="right")) if len(left) else 0
        self._left[seed] = left[count:]
        return left[:count]


def _visits(piece: Rows, discovered: PageIds) -> Visits:
    page, at, outcome = (np.ascontiguousarray(piece[name]) for name in ("page", "at", "outcome"))
    links, size = (piece["new_internal"], piece["new_external"]), piece["change_size"]
    length = np.where(piece["words"] < 0, np.nan, piece["words"])
    return Visits(page, at, outcome, *links, size, discovered, length=length)


def _columns(store: Store, rows: Rows, plan: Plan) -> Memory:
    hosts = max(store.hosts(), default=0)
    room = (len(rows) + len(rows) // 4 if len(rows) > LARGE else 2 * len(rows)) + SPARE
    none = np.zeros(room, dtype=np.int32)
    memory = Memory(none, none.copy(), cycle_days=plan.cycle_days, seed=plan.seed, sites=2 * hosts + SPARE)
    _write(memory, rows, 0, plan.seed)
    memory.load_paths = lambda: _paths(store, room)
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
