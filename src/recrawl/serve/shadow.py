"""A shadow of the crawl's policy in the serving process: why a page comes next, and what the next cycle would fetch.

It is rebuilt from the store when first asked, and again when the crawl has gone on since; never for each request.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from recrawl.errors import InputError
from recrawl.live.facade import Crawl
from recrawl.live.store import Store

if TYPE_CHECKING:
    from recrawl.live.forecast import Forecaster

MOST_PAGES = 5_000_000  # of a crawl that is shadowed
KEPT_S = 60.0  # a shadow younger than that is used, though the crawl has gone on


class Shadow:
    """Keeps one forecaster; questions wait for each other while it is made."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._lock = threading.Lock()
        self._last: tuple[int, float, Forecaster] | None = None

    def forecaster(self, store: Store) -> Forecaster:
        """Return a forecaster that knows what the store holds, or did a minute ago."""
        from recrawl.live.forecast import Forecaster

        pages = store.status()["pages"]
        if not pages:
            raise InputError("there are no pages yet: recrawl add URL")
        if pages > MOST_PAGES:
            raise InputError(f"policies are not compared here for more than {MOST_PAGES:,} pages; use recrawl show")
        newest = store.newest_visit()
        with self._lock:
            if self._last is not None:
                visit, made_s, kept = self._last
                if visit == newest or time.monotonic() - made_s < KEPT_S:
                    return kept
            made = Forecaster(store, *self._crawl.steering())
            self._last = newest, time.monotonic(), made
            return made
