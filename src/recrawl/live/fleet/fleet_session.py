"""The planner of a fleet: owns memory, URL index and policy; workers fetch. By default one worker is within."""

from __future__ import annotations

import logging
import time
from contextlib import ExitStack

from recrawl.clock import SystemClock
from recrawl.errors import StoreError, StoreLostError
from recrawl.fetch.fetcher import Fetcher
from recrawl.live.fleet.fleet_worker import AGAIN_S, PATIENCE_S, FleetWorker, WorkerThread
from recrawl.live.fleet.fleet_world import FleetFetcher, FleetWorld
from recrawl.live.fleet.store_fleet import fleet_of
from recrawl.live.postgres.store_postgres import SETTINGS, PostgresStore
from recrawl.live.running import JournalledSession
from recrawl.live.world import LiveWorld
from recrawl.urls.scope import Scope

log = logging.getLogger(__name__)


class FleetSession(JournalledSession):
    """A session that visits through workers; a database that was away is opened again, and the cycle goes on."""

    world_of = FleetWorld
    own_worker = True  # False: the planner alone
    _signals = False
    _thread: WorkerThread | None = None

    def _open(self, stack: ExitStack) -> None:
        super()._open(stack)
        with self.store.transaction():
            self.store.set_meta(SETTINGS, (self.directory.path / "recrawl.toml").read_text())
        if self.own_worker and self._thread is None:
            assert self.directory.database is not None, "of a crawl in a database"
            clock = None if type(self._clock) is SystemClock else self._clock
            worker = FleetWorker(self.directory.database, "planner", self.directory.path, clock=clock)
            self._thread = WorkerThread(worker)
            self._thread.start()

    def _open_bodies(self) -> None:
        """Nothing: workers write bodies."""

    def _send_bodies(self) -> None:
        """Nothing: workers send them."""

    def _make_fetcher(self, scope: Scope) -> Fetcher:
        assert isinstance(self.store, PostgresStore), "of a crawl in a database"
        self.store.hold()
        self.fleet = fleet_of(self.store)
        return FleetFetcher(self.fleet, self.clock, settings=self.config.fetch, scope=scope)

    def _make_world(self) -> LiveWorld:
        world = super()._make_world()
        assert isinstance(world, FleetWorld), "world_of"
        world.use(self.fleet, self._check_worker)
        return world

    def _check_worker(self) -> None:
        """End if the worker within has ended: whoever wants a planner alone says so."""
        if self._thread is not None and self._thread.worker.fault is not None:
            raise StoreError(str(self._thread.worker.fault))

    def __exit__(self, *error: object) -> None:
        if self._thread is not None:
            self._thread.end()
            self._thread = None
        super().__exit__(*error)

    def stop_on_signals(self) -> None:
        """Let SIGINT and SIGTERM stop the crawl in an orderly way."""
        self._signals = True
        super().stop_on_signals()

    def next_due_at(self) -> float:
        """When the next cycle's visits are due; waits for a database that is away."""
        while True:
            try:
                return super().next_due_at()
            except StoreLostError:
                self._reopen()

    def run_cycle(self) -> bool:
        """Run the next cycle, or what is left of the one that was interrupted, also by a lost database."""
        cycle: int | None = None
        while not self.stopped:
            try:
                if cycle is None:
                    cycle = self.memory.cycle + (self.store.running() is None)
                if not self._is_done(cycle) and not super().run_cycle():
                    return False
                with self.store.transaction():
                    self.fleet.show_gates()
                    self.fleet.close_cycle(cycle)
                return True
            except StoreLostError as error:
                log.warning("%s; what was recorded is safe, trying again", error)
                self._reopen()
                self._check_worker()
        return False

    def _is_done(self, cycle: int) -> bool:
        """Whether the database has recorded the end of a cycle, though it may have been lost before it said so."""
        return self.memory.cycle == cycle and self.store.running() is None

    def _reopen(self) -> None:
        until_s = time.monotonic() + PATIENCE_S
        self._stack.close()
        while True:
            try:
                with ExitStack() as stack:
                    stack.enter_context(self.directory.locked())
                    self._open(stack)
                    self._stack = stack.pop_all()
                break
            except StoreLostError:
                if time.monotonic() > until_s:
                    raise
                time.sleep(AGAIN_S)
        if self._signals:
            super().stop_on_signals()


class PlannerSession(FleetSession):
    """The planner alone: all workers are processes of their own."""

    own_worker = False
