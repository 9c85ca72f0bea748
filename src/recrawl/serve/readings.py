"""Readings: questions to a crawl's store, asked in threads of their own, each about one moment of the crawl."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from recrawl.live.directory import CrawlDirectory
from recrawl.live.store import Store

T = TypeVar("T")
THREADS = 3


class Readings:
    """Keeps a read-only store per thread; `ask` runs a function of the store in one of them."""

    def __init__(self, directory: CrawlDirectory) -> None:
        self._directory = directory
        self._own = threading.local()
        self._stores: list[Store] = []
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="reading")

    async def ask(self, question: Callable[[Store], T]) -> T:
        """Run a question; what it reads is one moment of the crawl, whatever is recorded meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._asked, question)

    def _asked(self, question: Callable[[Store], T]) -> T:
        store: Store | None = getattr(self._own, "store", None)
        if store is not None and store.misses_lease_tables():
            self._stores.remove(store)
            store.close()
            store = None
        if store is None:
            store = self._own.store = self._directory.open_reader()
            self._stores.append(store)
        with store.one_moment():
            return question(store)

    def close(self) -> None:
        """Wait for the questions under way, and close the stores."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        for store in self._stores:
            store.close()
