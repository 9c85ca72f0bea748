"""A worker: sessions one after the other, until it is asked to stop; a database that is away is waited for."""

from __future__ import annotations

import asyncio
import logging
import re
import signal
import threading
from contextlib import suppress
from pathlib import Path

from recrawl.clock import DAY_S, Clock, SystemClock
from recrawl.errors import InputError, StoreError, StoreLostError
from recrawl.live.config import CrawlConfig, load
from recrawl.live.fleet.store_fleet import LeaseLostError, fleet_of
from recrawl.live.fleet.worker_session import WorkerSession
from recrawl.live.loaded_kernels import load_kernels
from recrawl.live.postgres.store_postgres import SETTINGS, PostgresStore
from recrawl.live.store_place import StoreSettings

log = logging.getLogger(__name__)
AGAIN_S = 0.5  # until a database that is away is tried again
PATIENCE_S = 600.0  # how long it may be away
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._]{0,40}")


class DatabaseClock:
    """The database's clock, kept by the machine's monotonic one: a machine whose clock is wrong or set dates alike."""

    def __init__(self, clock: Clock, database_s: float) -> None:
        self._clock = clock
        self._shift_s = database_s - clock.monotonic_s()

    def now(self) -> float:
        """Return the days since 1970-01-01 (UTC)."""
        return (self._clock.monotonic_s() + self._shift_s) / DAY_S

    def monotonic_s(self) -> float:
        """Return seconds since some fixed moment; never goes back."""
        return self._clock.monotonic_s()

    async def sleep(self, seconds: float) -> None:
        """Wait; other work goes on meanwhile."""
        await self._clock.sleep(seconds)


class FleetWorker:
    """Fetches for a planner; `folder` gets its bodies. `clock` dates visits as it is, without the database's."""

    def __init__(
        self,
        place: StoreSettings,
        name: str,
        folder: Path,
        *,
        clock: Clock | None = None,
        machine_clock: Clock | None = None,
    ) -> None:
        if not _NAME.fullmatch(name):
            raise InputError(f"a worker's name has letters, digits, dots and underscores, not {name!r}")
        self.place = place
        self.name = name
        self.folder = folder
        self._clock = clock
        self._machine_clock = machine_clock or SystemClock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()
        self._stop_asked = False
        self.fault: Exception | None = None  # what ended it, in a thread

    def stop(self) -> None:
        """Finish what is under way, release all sites, and end; from any thread or a signal handler."""
        self._stop_asked = True
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended already
                self._loop.call_soon_threadsafe(self._stopping.set)

    def run(self, *, stop_on_signals: bool = False) -> None:
        """Work until stopped; StoreError where the database refuses, or is away for too long."""
        asyncio.run(self._run(stop_on_signals))

    async def _run(self, stop_on_signals: bool) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        if stop_on_signals:
            for number in (signal.SIGINT, signal.SIGTERM):
                self._loop.add_signal_handler(number, self.stop)
        if self._stop_asked:
            self._stopping.set()
        try:
            (self.folder / "warc").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{self.folder}: {error.strerror}") from None
        load_kernels()
        store, joined = PostgresStore.open_in(self.place), 0
        while not self._stopping.is_set():
            try:
                if joined:
                    self._leave(store, joined)
                session = self._session(store)
                joined = session.lease.worker
                await session.run()
                joined = 0
            except (StoreLostError, LeaseLostError) as error:
                log.warning("%s: %s; joining again", self.name, error)
                store.close()
                store = await self._opened()
        store.close()

    def _leave(self, store: PostgresStore, worker: int) -> None:
        """Free the sites of a session that ended, whose requests have all ended, if its lease lasts still."""
        with suppress(LeaseLostError):
            fleet_of(store).leave(worker)

    def _session(self, store: PostgresStore) -> WorkerSession:
        clock = self._clock or DatabaseClock(self._machine_clock, fleet_of(store).now_s())
        return WorkerSession(self.place, store, self._config(store), self.name, self.folder, clock, self._stopping)

    def _config(self, store: PostgresStore) -> CrawlConfig:
        """Return the planner's settings; files that they name are looked for in this worker's folder."""
        text = store.meta(SETTINGS)
        return load(self.folder / "recrawl.toml", text or "")

    async def _opened(self) -> PostgresStore:
        """Open the store, waiting while the database is away."""
        until_s = self._machine_clock.monotonic_s() + PATIENCE_S
        while True:
            try:
                return PostgresStore.open_in(self.place)
            except StoreLostError:
                if self._machine_clock.monotonic_s() > until_s or self._stopping.is_set():
                    raise
                await asyncio.sleep(AGAIN_S)


class WorkerThread(threading.Thread):
    """A worker within the planner's process."""

    def __init__(self, worker: FleetWorker) -> None:
        super().__init__(name=f"worker {worker.name}", daemon=True)
        self.worker = worker

    def run(self) -> None:
        """Work; what ends it is kept for the planner, which then ends, too."""
        try:
            self.worker.run()
        except Exception as error:
            self.worker.fault = error
            log.info("the planner's own worker ended: %s", error)

    def end(self) -> None:
        """Let it finish what is under way, and wait for it."""
        self.worker.stop()
        self.join(30)
