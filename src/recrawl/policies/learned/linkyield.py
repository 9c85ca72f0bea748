"""New links that a visit is expected to find: they add up while a page waits, at a pace of its own.

A page's pace is shrunk to that of its places, from the whole crawl over site, shape and directory to the page itself:

    l(crawl) = (L + .1) / (E + 10)        l(g) = (L + s l(above)) / (E + s)

L new links were found in E cycles between visits; both count half after MEMORY cycles. A visit after t cycles is
expected to find l t.
"""

from __future__ import annotations

import numpy as np

from recrawl.columns import FloatArray, IntArray, PageIds, grown
from recrawl.compiled import kernel
from recrawl.policies.learned.evidence import MEMORY
from recrawl.policies.learned.page_history import History
from recrawl.policies.learned.places import DIRECTORY, SHAPE, SITE, Places

STRENGTH = 3.0  # s, cycles
MOST = 100.0  # new links of a visit that count: one page that is written anew must not outweigh all others
_L, _E, _AT = range(3)  # links, exposure, cycle of the last visit


class LinkYield:
    """New links found and the cycles in which they came: in the whole crawl, by group and by page."""

    def __init__(self) -> None:
        self.totals: FloatArray = np.zeros(3)
        self._of_group: FloatArray = np.zeros((0, 3))
        self._of_page: FloatArray = np.zeros((0, 3))

    def learn(self, pages: PageIds, links: IntArray, places: Places, history: History, cycle: int) -> None:
        """Count the links that visits found; the history is from before them."""
        self._make_room(places, history)
        gap = (cycle - history.last[pages]).astype(np.float64)
        found = np.minimum(links, MOST).astype(np.float64)
        _learn(pages, found, gap, places.ids, float(cycle), self.totals, self._of_group, self._of_page)

    def paces(self, pages: PageIds, places: Places, history: History, cycle: int) -> FloatArray:
        """Return the new links per cycle of each page."""
        self._make_room(places, history)
        return np.asarray(_paces(pages, places.ids, float(cycle), self.totals, self._of_group, self._of_page))

    def _make_room(self, places: Places, history: History) -> None:
        self._of_group = grown(self._of_group, len(places), 0.0)
        self._of_page = grown(self._of_page, len(history.first), 0.0)


@kernel
def _count(row: FloatArray, links: float, gap: float, cycle: float) -> None:
    kept = 0.5 ** ((cycle - row[_AT]) / MEMORY)
    row[_L] = kept * row[_L] + links
    row[_E] = kept * row[_E] + gap
    row[_AT] = cycle


@kernel
def _learn(
    pages: PageIds,
    links: FloatArray,
    gap: FloatArray,
    ids: IntArray,
    cycle: float,
    totals: FloatArray,
    of_group: FloatArray,
    of_page: FloatArray,
) -> None:
    for i in range(len(pages)):
        _count(totals, links[i], gap[i], cycle)
        for level in (SITE, SHAPE, DIRECTORY):
            _count(of_group[ids[pages[i], level]], links[i], gap[i], cycle)
        _count(of_page[pages[i]], links[i], gap[i], cycle)


@kernel
def _shrunk(row: FloatArray, cycle: float, above: float) -> float:
    kept = 0.5 ** ((cycle - row[_AT]) / MEMORY)
    return (kept * row[_L] + STRENGTH * above) / (kept * row[_E] + STRENGTH)


@kernel
def _paces(
    pages: PageIds, ids: IntArray, cycle: float, totals: FloatArray, of_group: FloatArray, of_page: FloatArray
) -> FloatArray:
    out = np.empty(len(pages))
    base = (totals[_L] + 0.1) / (totals[_E] + 10.0)
    for i in range(len(pages)):
        pace = base
        for level in (SITE, SHAPE, DIRECTORY):
            pace = _shrunk(of_group[ids[pages[i], level]], cycle, pace)
        out[i] = _shrunk(of_page[pages[i]], cycle, pace)
    return out
