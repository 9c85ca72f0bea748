"""Run a crawl's cycles: plan, visit, record, learn; stop at any moment, go on where it stopped."""

from __future__ import annotations

import asyncio
import gc
import json
import signal
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import cache
from typing import Any

from recrawl.clock import DAY_S, Clock, SystemClock
from recrawl.cycle import EveryPage, run_cycle
from recrawl.eligibility import Bar
from recrawl.errors import InputError
from recrawl.fetch.fetcher import Fetcher
from recrawl.fetch.gate import HostState
from recrawl.fetch.robots import RobotsRecord
from recrawl.live.adding import take_in
from recrawl.live.bodies import Bodies
from recrawl.live.calendar import Calendar, year_of
from recrawl.live.config import CrawlConfig, with_hosts
from recrawl.live.directory import CrawlDirectory
from recrawl.live.rebuild import fill, rebuild
from recrawl.live.recorder import Noted, Recorder
from recrawl.live.signals import Heard, Signals
from recrawl.live.store import Store, told
from recrawl.live.store_visits import Rows
from recrawl.live.world import LiveWorld, StoppedError
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policies.guarded import Guarded
from recrawl.policies.signalled import Signalled
from recrawl.policy import Setting
from recrawl.urls.scope import Scope
from recrawl.urls.traps import DiscoveryBudget

LOOK_AGAIN_S = 60.0
COLLECT_AFTER = (50_000, 20, 100)  # new objects, then collections of each generation


class Session:
    """An open crawl, held by one process. Use as a context manager."""

    def __init__(
        self,
        directory: CrawlDirectory,
        policy: str,
        plan: Plan,
        *,
        clock: Clock | None = None,
        config: CrawlConfig | None = None,
        watch: Callable[[Noted], None] = lambda _: None,
        heard: Callable[[Heard], None] = lambda _: None,
    ) -> None:
        self.heard = heard
        self.directory = directory
        self.policy_name = policy
        self.plan = plan
        self.config = config or directory.config()
        self.watch = watch
        self.stopped = False
        self.at_once = False  # True: the next cycle does not wait until it is due
        self._clock = clock or SystemClock()
        self._site = cache(self.config.site)

    def __enter__(self) -> Session:
        with ExitStack() as stack:
            stack.enter_context(self.directory.locked())
            self._open(stack)
            self._stack = stack.pop_all()
        return self

    def _open(self, stack: ExitStack) -> None:
        setting = Setting(seed=self.plan.seed)
        make_policy(self.policy_name, setting)  # says so at once if there is no such policy
        self.store = Store.open(self.directory.state)
        stack.callback(self.store.close)
        with told(self.directory.state):
            self._pages: Rows | None = self.store.load_index()
            if not len(self.store.index):
                raise InputError(f"{self.directory.path} has no pages yet: `recrawl add -C {self.directory.path} URL`")
            self.clock = Calendar(self._clock, self.store.latest_at() or float("-inf"))
            self.bodies = Bodies(self.directory.warc)
            self.bodies.open(self.store.body_ends())
            stack.callback(self.bodies.close)
            self.runner = stack.enter_context(asyncio.Runner())
            self._spare_collector(stack)
            self._open_fetcher(stack)
            self._closing = stack.enter_context(ExitStack())
            self._rebuild()

    def _spare_collector(self, stack: ExitStack) -> None:
        """Let the collector of cycles look at new objects only, and less often: a visit makes hundreds, none cyclic."""
        stack.callback(gc.set_threshold, *gc.get_threshold())
        stack.callback(gc.unfreeze)
        gc.freeze()
        gc.set_threshold(*COLLECT_AFTER)

    def _open_fetcher(self, stack: ExitStack) -> None:
        scope = self._scope()
        self.fetcher = Fetcher(self.config.fetch, clock=self.clock, scope=scope)
        self.runner.run(self.fetcher.__aenter__())
        stack.callback(lambda: self.runner.run(self.fetcher.__aexit__(None, None, None)))
        self.fetcher.gate.own_delay_s = lambda host: self._site(host).delay_s
        self.fetcher.gate.restore(HostState(**json.loads(state)) for state in self.store.gates())
        self.fetcher.robots.restore(RobotsRecord(**json.loads(record)) for record in self.store.robots())
        discovery = DiscoveryBudget()
        discovery.restore(self.store.templates(), self.store.pages_by_host().items())
        discovery.restore_waiting(self.store.waiting_by_host().items())
        self.recorder = Recorder(self.store, self.bodies, self.fetcher, scope, discovery, self.watch)
        self.fetcher.keep_manners = self.recorder.keep_manners
        self.signals = Signals(self.store, self.fetcher, scope, discovery) if self.config.signals else None

    def _use_scope(self) -> None:
        """Let everybody who asks use the scope as it is now."""
        self.fetcher.scope = self.recorder.scope = scope = self._scope()
        if self.signals is not None:
            self.signals.scope = scope

    def _scope(self) -> Scope:
        """Return the scope; pages that were out of it are tried again if it is another than last time."""
        scope = with_hosts(self.config, self.store.in_scope(), year_of(self.clock.now()))
        told = repr(replace(scope, year=None))
        if self.store.meta("scope") != told:
            with self.store.transaction():
                self.store.set_meta("scope", told)
                self.store.unbar(Bar.OUT_OF_SCOPE)
        return scope

    def __exit__(self, *error: Any) -> None:
        self._stack.close()

    def _rebuild(self) -> None:
        setting = Setting(seed=self.plan.seed)
        policy = make_policy(self.policy_name, setting)
        if self.signals is not None:
            policy = Signalled(policy, self.signals.hints)
        self.policy = Guarded(policy, make_policy("age", setting))
        self.memory: Memory = rebuild(self.store, self.policy, self.plan, self._pages, self._importance())
        self._pages = None
        self._closing.close()
        self.world = LiveWorld(
            self.recorder,
            self.signals,
            self.memory,
            self.plan.seed,
            self.runner,
            self.clock.stopping,
            self.heard,
            self._site,
        )
        self._closing.callback(self.world.close)

    def _importance(self) -> dict[int, float]:
        """Return what pages of a host are worth, by its number, where the settings say so."""
        worth = {host: self._site(name).importance for host, name in self.store.hosts().items()}
        return worth if any(site.importance != 1 for site in self.config.sites) else {}

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
        last = self.store.last_due_at()
        return self.clock.now() if last is None or self.at_once or self.store.running() else last + self.plan.cycle_days

    def wait_until(self, at: float) -> None:
        """Sleep until a day comes, or the crawl is asked to stop; the calendar is looked at again every minute."""
        while (left_s := (at - self.clock.now()) * DAY_S) > 0 and not self.stopped:
            with suppress(asyncio.CancelledError):
                self.runner.run(self.clock.sleep(min(left_s, LOOK_AGAIN_S)))

    def run_cycle(self) -> bool:
        """Run the next cycle, or what is left of the one that was interrupted; False if asked to stop meanwhile."""
        with told(self.directory.state):
            try:
                self._run_cycle()
            except StoppedError:
                return False
        return not self.stopped

    def _run_cycle(self) -> None:
        running = self.store.running()
        at, budget = self._open_cycle() if running is None else (running.at, running.budget)
        cycle = self.memory.cycle + (running is None)
        chooser = EveryPage(self.policy) if cycle <= self.plan.warmup else self.policy
        cap, share = self.plan.site_cap, 1.0 if cycle <= self.plan.warmup else self.plan.discovery
        self.world.hurries = cycle > self.plan.warmup
        run_cycle(
            self.world, self.memory, chooser, budget, at, site_cap=cap, discovery=share, resumed=running is not None
        )
        with self.store.transaction():
            self.store.finish_cycle(cycle)

    def _open_cycle(self) -> tuple[float, int]:
        """Note that the next cycle begins; return when its visits are due, and how many there are."""
        self._take_in()
        if len(self.store.index) > 0.9 * len(self.memory):
            self._rebuild()
        at, cycle = max(self.next_due_at(), self.clock.now()), self.memory.cycle + 1
        self.at_once = False
        budget = self.budget_of(cycle)
        with self.store.transaction():
            self.store.open_cycle(cycle, at, budget, self.policy_name)
        return at, budget

    def _take_in(self) -> None:
        """Take in the pages that were added while this process holds the crawl."""
        known = len(self.store.index)
        with self.store.transaction():
            asked = self.store.take_asked()
            if asked:
                take_in(self.store, [url for url, _ in asked], [at for _, at in asked])
        if asked:
            self.memory.learn_of(fill(self.store, self.memory, known, self.plan.seed), self.clock.now())
            self._use_scope()

    def budget_of(self, cycle: int) -> int:
        """Visits in a cycle: in the warm-up all pages, later the plan's budget for the pages known now."""
        held, waiting = int(self.memory.held().sum()), int(self.memory.unfetched().sum())
        return held + waiting if cycle <= self.plan.warmup else self.plan.visits_among(held, waiting)
