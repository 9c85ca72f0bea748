"""Begin a crawl with the history of another crawler: its visits become the crawl's own, in cycles of its length.

A policy that learns starts with what is known. The pages' contents are not kept, so the crawl's own first visit to each
has nothing to compare with; from the second on, changes are its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recrawl.columns import ByteArray, FloatArray, IntArray, PageIds
from recrawl.errors import InputError
from recrawl.importers.adopting import since_when
from recrawl.importers.assembly import visits_of
from recrawl.importers.import_options import ImportOptions
from recrawl.importers.kinds import read_history
from recrawl.live.facade import Crawl
from recrawl.live.store import Store, one_line_errors
from recrawl.live.store_visits import VisitRecord
from recrawl.urls.url import host_of
from recrawl.visits import Outcome

MOST_CYCLES = 100_000


@dataclass(frozen=True)
class WarmStart:
    """What a crawl begins with."""

    pages: int
    visits: int  # at most one per page and cycle
    changes: int
    cycles: int

    def line(self) -> str:
        """Describe it in one line."""
        return (
            f"{self.visits:,} visits to {self.pages:,} pages in {self.cycles:,} cycles, "
            f"{self.changes:,} found a change; changes are known only where the crawler visited"
        )


def warm_start(
    crawl: Crawl,
    kind: str,
    sources: Sequence[str | Path],
    *,
    options: ImportOptions | None = None,
    since: str | None = None,
) -> WarmStart:
    """Read a history into a crawl that has no visits yet; the last cycle ends with the last visit."""
    options, earliest = options or ImportOptions(), since_when(since)
    seen = read_history(kind, [Path(source) for source in sources], options)
    hrefs, page, at, outcome = visits_of(seen, hosts=options.hosts, since=earliest)
    if not len(at):
        raise InputError("no visit of this history has a usable outcome")
    every = crawl.steering()[1].cycle_days
    cycles = int((at.max() - at.min()) / every) + 1
    if cycles > MOST_CYCLES:
        raise InputError(f"the history has {cycles:,} cycles of {every:g} days; set a larger `every` in recrawl.toml")
    last = float(at.max())
    cycle: IntArray = cycles - np.floor((last - at) / every).astype(np.int64)
    pages, at, outcome, cycle = _once_a_cycle(*_alive_at_last(page, at, outcome, cycle))
    due = [last - (cycles - k) * every for k in range(cycles + 1)]
    with crawl.directory.locked(), one_line_errors(crawl.directory.state):
        store = crawl.directory.open_store()
        try:
            _write(store, hrefs, pages, at, outcome, cycle, due, kind)
        finally:
            store.close()
    return WarmStart(len(np.unique(pages)), len(pages), int((outcome == Outcome.CHANGED).sum()), cycles)


def _alive_at_last(
    page: PageIds, at: FloatArray, outcome: ByteArray, cycle: IntArray
) -> tuple[PageIds, FloatArray, ByteArray, IntArray]:
    """Leave out that a page was gone and came back: its return is a change."""
    last = np.append(page[1:] != page[:-1], True)
    first = np.append(True, page[1:] != page[:-1])
    outcome = np.where((outcome == Outcome.FIRST) & ~first, np.uint8(Outcome.CHANGED), outcome)
    keep = (outcome != Outcome.GONE) | last
    return page[keep], at[keep], outcome[keep], cycle[keep]


def _once_a_cycle(
    page: PageIds, at: FloatArray, outcome: ByteArray, cycle: IntArray
) -> tuple[PageIds, FloatArray, ByteArray, IntArray]:
    """Fold the visits to a page in one cycle into its last, in the order of cycles and times."""
    start = np.flatnonzero(np.append(True, (page[1:] != page[:-1]) | (cycle[1:] != cycle[:-1])))
    end = np.append(start[1:], len(page)) - 1
    found = np.where(outcome == Outcome.GONE, np.uint8(Outcome.UNCHANGED), outcome)
    folded = np.maximum.reduceat(found, start)  # first after changed after unchanged
    folded = np.where((outcome[end] == Outcome.GONE) & (folded != Outcome.FIRST), np.uint8(Outcome.GONE), folded)
    order = np.lexsort((page[end], at[end], cycle[end]))
    return page[end][order], at[end][order], folded[order], cycle[end][order]


def _write(
    store: Store,
    hrefs: Sequence[str],
    pages: PageIds,
    at: FloatArray,
    outcome: ByteArray,
    cycle: IntArray,
    due: Sequence[float],
    kind: str,
) -> None:
    if store.latest_at() is not None or store.last_due_at() is not None:
        raise InputError("this crawl has visits already: a history is adopted before the first cycle")
    store.load_index()
    order, begins = np.unique(pages, return_index=True)
    order = order[np.argsort(begins)]
    urls = [hrefs[page] for page in order.tolist()]
    first_at = at[np.sort(begins)].tolist()
    with store.transaction():
        added = store.add_pages(urls, [host_of(url) for url in urls], first_at)
        number = dict(zip(order.tolist(), added.tolist(), strict=True))
        bounds = np.searchsorted(cycle, np.arange(1, len(due) + 1))
        for k in range(1, len(due)):
            part = slice(int(bounds[k - 1]), int(bounds[k]))
            records = [
                VisitRecord(number[page], when, found, note=f"adopted: {kind}")
                for page, when, found in zip(
                    pages[part].tolist(), at[part].tolist(), outcome[part].tolist(), strict=True
                )
            ]
            store.open_cycle(k, due[k], len(records), f"adopted {kind}")
            store.finish_cycle(k)
            if records:
                store.add_visits(k, records, [(0, 0)] * len(records))
