"""Which pages may be visited at all, and why others may not: a mask that policies never see.

A visit that cannot succeed should cost nothing. So a page that robots.txt disallows, that left the scope, or whose host
is down, paused or has no time left in this cycle is barred, with the reason; `Memory.eligible` leaves it out, whatever
the policy. The crawl loop and the world bar pages; policies only see the pages that are left.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from recrawl.columns import BoolArray, ByteArray, IntArray


class Bar(IntEnum):
    """Why a page, or every page of a host, is not visited now."""

    OPEN = 0
    DISALLOWED = 1  # by robots.txt
    OUT_OF_SCOPE = 2  # the settings exclude it, perhaps since it was found
    REFUSED = 3  # its address or port is not one to crawl
    REMOVED = 4  # by the user
    PAUSED = 5  # its host, by the user
    HOST_DOWN = 6  # its host does not answer: one probe per cycle
    LEFT_ALONE = 7  # its host asked to be left alone for longer than this cycle waits
    HOST_FULL = 8  # its host can take no more requests before the cycle ends
    UNDER_WAY = 9  # chosen in this cycle, its answer is not in yet
    ALIAS = 10  # another name of a page that we have a copy of: that one is visited instead


class Bars:
    """The reasons, one per page and one per site; a page is open if both are."""

    def __init__(self, pages: int, sites: int) -> None:
        self.page: ByteArray = np.zeros(pages, dtype=np.uint8)
        self.site: ByteArray = np.zeros(sites, dtype=np.uint8)

    def hide(self, may: BoolArray, site: IntArray) -> None:
        """Take the barred pages out of a mask."""
        if self.page.any():
            may &= self.page == Bar.OPEN
        if self.site.any():
            may &= (self.site == Bar.OPEN)[site]

    def count(self, known: BoolArray, site: IntArray) -> dict[Bar, int]:
        """Count the known pages that are barred, by reason; the page's own reason comes before its site's."""
        reasons = np.where(self.page != Bar.OPEN, self.page, self.site[site])[known]
        counts = np.bincount(reasons, minlength=len(Bar))
        return {bar: int(counts[bar]) for bar in Bar if bar is not Bar.OPEN and counts[bar]}
