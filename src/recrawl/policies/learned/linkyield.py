"""Expected new links per change of a page, shrunk from the page to its directory, site and the whole crawl.

    y(crawl) = (L + 1) / (X + 2)        y(g) = (L + s y(above)) / (X + s)     for site, directory and the page itself

L new links were found by X visits that found a change; s visits' worth of the level above is mixed in.
"""

from __future__ import annotations

import numpy as np

from recrawl.columns import FloatArray, IntArray, PageIds, grown
from recrawl.compiled import kernel
from recrawl.policies.learned.evidence import FOUND, Evidence
from recrawl.policies.learned.page_history import History
from recrawl.policies.learned.places import DIRECTORY, SITE, Places

STRENGTH = 3.0


class LinkYield:
    """New links found: in the whole crawl with the changes that brought them, by group and by page."""

    def __init__(self) -> None:
        self.totals: FloatArray = np.zeros(2)
        self._of_group: FloatArray = np.zeros(0)
        self._of_page: FloatArray = np.zeros(0)

    def learn(self, pages: PageIds, links: IntArray, changes: int, places: Places, history: History) -> None:
        """Count the links that visits found."""
        self.totals += (links.sum(), changes)
        self._make_room(places, history)
        np.add.at(self._of_page, pages, links)
        for level in (SITE, DIRECTORY):
            np.add.at(self._of_group, places.ids[pages, level], links)

    def expected(self, pages: PageIds, places: Places, evidence: Evidence, history: History) -> FloatArray:
        """Return the new links that a change of each page brings."""
        self._make_room(places, history)
        base = (self.totals[0] + 1.0) / (self.totals[1] + 2.0)
        return np.asarray(
            _expected(pages, base, places.ids, evidence.groups, history.changes, self._of_group, self._of_page)
        )

    def _make_room(self, places: Places, history: History) -> None:
        self._of_group = grown(self._of_group, len(places), 0.0)
        self._of_page = grown(self._of_page, len(history.first), 0.0)


@kernel
def _expected(
    pages: PageIds,
    base: float,
    ids: IntArray,
    groups: FloatArray,
    changes: IntArray,
    of_group: FloatArray,
    of_page: FloatArray,
) -> FloatArray:
    out = np.empty(len(pages))
    for i in range(len(pages)):
        y, p = base, pages[i]
        for level in (SITE, DIRECTORY):
            g = ids[p, level]
            y = (of_group[g] + STRENGTH * y) / (groups[g, FOUND] + STRENGTH)
        out[i] = (of_page[p] + STRENGTH * y) / (changes[p] + STRENGTH)
    return out
