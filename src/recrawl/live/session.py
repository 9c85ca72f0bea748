"""Run a crawl's cycles: plan, visit, record, learn; stop at any moment, go on where it stopped."""

from __future__ import annotations

import asyncio
import gc
import json
import signal
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from recrawl.clock import DAY_S, Clock, SystemClock
from recrawl.cycle import EveryPage, spend
from recrawl.errors import InputError
from recrawl.fetch.fetcher import Fetcher
from recrawl.fetch.gate import HostState
from recrawl.fetch.robots import RobotsRecord
from recrawl.live.bodies import Bodies
from recrawl.live.calendar import Calendar, year_of
from recrawl.live.config import CrawlConfig, with_hosts
from recrawl.live.directory import CrawlDirectory
from recrawl.live.rebuild import fill, rebuild
from recrawl.live.signals import Heard
from recrawl.live.store import Rows, Store, told
from recrawl.live.world import LiveWorld, Noted, StoppedError
from recrawl.memory import Memory
from recrawl.policies.catalogue import make_policy
from recrawl.policies.guarded import Guarded
from recrawl.policies.signalled import Signalled
from recrawl.policy import Setting

LOOK_AGAIN_S = 60.0
COLLECT_AFTER = (50_000, 20, 100)  # new objects, then collections of each generation


@dataclass(frozen=True)
class Order:
    """How to run: the crawl's own settings, or what the command line says instead."""

    policy: str
    cycle_days: float
    budget: float | int  # a share of the known pages, or a number
    warmup: int = 0
    site_cap: int = 0
    seed: int = 0


class Session:
    """An open crawl, held by one process. Use as a context manager."""

    def __init__(
        self,
        directory: CrawlDirectory,
        order: Order,
        *,
        clock: Clock | None = None,
        config: CrawlConfig | None = None,
        watch: Callable[[Noted], None] = lambda _: None,
        heard: Callable[[Heard], None] = lambda _: None,
    ) -> None:
        self.heard = heard
        self.directory = directory
        self.order = order
        self.config = config or directory.config()
        self.watch = watch
        self.stopped = False
        self._clock = clock or SystemClock()

    def __enter__(self) -> Session:
        with ExitStack() as stack:
            stack.enter_context(self.directory.locked())
            self._open(stack)
            self._stack = stack.pop_all()
        return self

    def _open(self, stack: ExitStack) -> None:
        setting = Setting(seed=self.order.seed)
        make_policy(self.order.policy, setting)  # says so at once if there is no such policy
        self.store = Store.open(self.directory.state)
        stack.callback(self.store.close)
        with told(self.directory.state):
            self._pages: Rows | None = self.store.load_index()
            if not len(self.store.index):
                raise InputError(f"{self.directory.path} has no pages yet: `recrawl add -C {self.directory.path} URL`")
            latest = self.store.db.execute("select max((select max(at) from visits), (select max(at) from cycles))")
            self.clock = Calendar(self._clock, latest.fetchone()[0] or float("-inf"))
            self.bodies = Bodies(self.directory.warc)
            ends = "select warc, max(offset + length) from versions where warc is not null group by warc"
            self.bodies.open(dict(self.store.db.execute(ends).fetchall()))
            stack.callback(self.bodies.close)
            self.runner = stack.enter_context(asyncio.Runner())
            self._spare_collector(stack)
            self._open_fetcher(stack)
            self._rebuild()

    def _spare_collector(self, stack: ExitStack) -> None:
        """Let the collector of cycles look at new objects only, and less often: a visit makes hundreds, none cyclic."""
        stack.callback(gc.set_threshold, *gc.get_threshold())
        stack.callback(gc.unfreeze)
        gc.freeze()
        gc.set_threshold(*COLLECT_AFTER)

    def _open_fetcher(self, stack: ExitStack) -> None:
        # the hosts of pages that the user added; those merely met (a redirected robots.txt, a sitemap) are none of them
        added = "select name from hosts where host in (select distinct host from pages where found_on is null)"
        hosts = [name for (name,) in self.store.db.execute(added)]
        scope = with_hosts(self.config, hosts, year_of(self.clock.now()))
        self.fetcher = Fetcher(self.config.fetch, clock=self.clock, scope=scope)
        self.runner.run(self.fetcher.__aenter__())
        stack.callback(lambda: self.runner.run(self.fetcher.__aexit__(None, None, None)))
        states = self.store.db.execute("select gate from hosts where gate is not null").fetchall()
        self.fetcher.gate.restore(HostState(**json.loads(state)) for (state,) in states)
        records = self.store.db.execute("select record from robots").fetchall()
        self.fetcher.robots.restore(RobotsRecord(**json.loads(record)) for (record,) in records)
        self.world = LiveWorld(
            self.store, self.bodies, self.fetcher, scope, self.runner, self.clock, self._learn_of, self.watch
        )

    def __exit__(self, *error: Any) -> None:
        self._stack.close()

    def _rebuild(self) -> None:
        order, setting = self.order, Setting(seed=self.order.seed)
        policy = make_policy(order.policy, setting)
        if self.config.signals:
            policy = Signalled(policy, self.world.signals.hints)
        self.policy = Guarded(policy, make_policy("age", setting))
        self.memory: Memory = rebuild(
            self.store,
            self.policy,
            cycle_days=order.cycle_days,
            seed=order.seed,
            site_cap=order.site_cap,
            pages=self._pages,
        )
        self._pages = None

    def _learn_of(self, first: int) -> int:
        fill(self.store, self.memory, first, self.order.seed)
        return len(self.memory)

    # -- cycles -----------------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Finish what is under way and end; safe to call from a signal handler of the loop."""
        self.stopped = True
        self.clock.stopping.set()

    def stop_on_signals(self) -> None:
        """Let SIGINT and SIGTERM stop the crawl in an orderly way."""
        loop = self.runner.get_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.stop)

    def next_due_at(self) -> float:
        """When the next cycle's visits are due: a cycle after the last, at once for the first or an interrupted one."""
        last, waits = self.store.db.execute("select max(at), min(done) from cycles").fetchone()
        return self.clock.now() if last is None or not waits else float(last) + self.order.cycle_days

    def wait_until(self, at: float) -> None:
        """Sleep until a day comes, or the crawl is told to stop; the calendar is looked at again every minute."""
        while (left_s := (at - self.clock.now()) * DAY_S) > 0 and not self.stopped:
            with suppress(asyncio.CancelledError):
                self.runner.run(self.clock.sleep(min(left_s, LOOK_AGAIN_S)))

    def run_cycle(self) -> bool:
        """Run the next cycle, or what is left of the one that was interrupted; False if told to stop meanwhile."""
        with told(self.directory.state):
            try:
                self._run_cycle()
            except StoppedError:
                return False
        return not self.stopped

    def _run_cycle(self) -> None:
        at, left, pending = self._open_cycle()
        chooser = EveryPage(self.policy) if self.memory.cycle <= self.order.warmup else self.policy
        self.world.cycle = self.memory.cycle
        left -= self._hear(at, left)
        if len(pending):
            visits = self.world.visit(pending, at)
            self.memory.record(visits)
            self.policy.observe(visits)
        spend(self.world, self.memory, chooser, left - len(pending), at)
        with self.store.transaction():
            self.store.db.execute("update cycles set done = 1 where cycle = ?", (self.memory.cycle,))

    def _hear(self, at: float, left: int) -> int:
        """Listen to what sites say, once a cycle; returns how much of the budget that took in all."""
        ask = "select heard from cycles where cycle = ?"
        heard = self.store.db.execute(ask, (self.memory.cycle,)).fetchone()[0]
        if heard is not None or not self.config.signals:
            return int(heard or 0)
        said = self.world.hear(at, left, self.memory.last_visit)
        self.heard(said)
        return said.visits

    def _open_cycle(self) -> tuple[float, int, Any]:
        """Return when the cycle's visits are due, how many are left, and those already planned."""
        row = self.store.db.execute("select cycle, at, budget from cycles where not done").fetchone()
        if row is None:
            return self._begin_cycle()
        cycle, at, budget = row
        spent = self.store.db.execute("select count(*) from visits where cycle = ?", (cycle,)).fetchone()[0]
        plan = self.store.db.execute("select page from plan where cycle = ? order by round, rank", (cycle,)).fetchall()
        return float(at), int(budget) - int(spent), np.array([page for (page,) in plan], dtype=np.int64)

    def _begin_cycle(self) -> tuple[float, int, Any]:
        if len(self.store.index) > 0.9 * len(self.memory):
            self._rebuild()
        at = max(self.next_due_at(), self.clock.now())
        self.memory.begin_cycle(self.order.site_cap)
        budget = self.budget_of(self.memory.cycle)
        with self.store.transaction():
            self.store.db.execute(
                "insert into cycles (cycle, at, budget, policy) values (?, ?, ?, ?)",
                (self.memory.cycle, at, budget, self.order.policy),
            )
        return at, budget, np.empty(0, dtype=np.int64)

    def budget_of(self, cycle: int) -> int:
        """Visits in a cycle: in the warm-up all pages, later the budget's share of the pages known now.

        A simulation takes the share of the pages known at its start, the same number in every cycle: there, policies
        are compared at one price. A live crawl goes on for years and grows, and so does its budget; give a number to
        have it fixed.
        """
        alive = int((self.memory.known & ~self.memory.gone).sum())
        if cycle <= self.order.warmup:
            return alive
        budget = self.order.budget
        return budget if isinstance(budget, int) else max(1, round(budget * alive))
