"""Run a crawl's cycles: plan, visit, record, learn; stop at any moment, go on where it stopped."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from typing import Any

from recrawl.clock import DAY_S, Clock, SystemClock
from recrawl.cycle import run_cycle
from recrawl.eligibility import Bar
from recrawl.errors import InputError
from recrawl.fetch.fetcher import Fetcher
from recrawl.live.adding import checked, named_by
from recrawl.live.bodies import Bodies
from recrawl.live.calendar import Calendar, year_of
from recrawl.live.config import CrawlConfig, KeepSettings, with_hosts
from recrawl.live.crawl_rounds import asked_of
from recrawl.live.directory import CrawlDirectory
from recrawl.live.fetching import make_fetcher, restore_manners
from recrawl.live.loaded_kernels import load_kernels
from recrawl.live.open_crawl import OpenCrawl, resting
from recrawl.live.pruning import WASTED, prune
from recrawl.live.recorder import Noted, Recorder
from recrawl.live.segments import open_bodies, send
from recrawl.live.signals import Heard, Signals
from recrawl.live.store import one_line_errors
from recrawl.live.world import LiveWorld, StoppedError
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policy import Setting, notes_of
from recrawl.urls.scope import Scope
from recrawl.urls.traps import DiscoveryBudget
from recrawl.urls.url import host_of

LOOK_AGAIN_S = 60.0
COLLECT_AFTER = (50_000, 20, 100)  # new objects, then collections of each generation


class Session(OpenCrawl):
    """An open crawl that fetches, held by one process. Use as a context manager."""

    world_of = LiveWorld

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
        super().__init__(policy, plan, config or directory.config())
        self.heard = heard
        self.directory = directory
        self.watch = watch
        self.stopped = False
        self.at_once = False  # True: the next cycle does not wait until it is due
        self._clock = clock or SystemClock()

    def __enter__(self) -> Session:
        with ExitStack() as stack:
            stack.enter_context(self.directory.locked())
            self._open(stack)
            self._stack = stack.pop_all()
        return self

    def _open(self, stack: ExitStack) -> None:
        make_policy(self.policy_name, Setting(seed=self.settings.seed))  # says so at once if there is no such policy
        self.store = self.directory.open_store()
        stack.callback(self.store.close)
        with one_line_errors(self.directory.state):
            pages = self.store.load_index()
            if not len(self.store.index):
                raise InputError(f"{self.directory.path} has no pages yet: `recrawl add -C {self.directory.path} URL`")
            self.clock = Calendar(self._clock, self.store.latest_at() or float("-inf"))
            self.bodies = Bodies(self.directory.warc)
            self._open_bodies()
            stack.callback(self.bodies.close)
            self._send_bodies()
            self.runner = stack.enter_context(asyncio.Runner())
            load_kernels()
            self._spare_collector(stack)
            self._open_fetcher(stack)
            self.restore(pages)
            self.world = self._make_world()
            stack.callback(self.world.close)

    def _open_bodies(self) -> None:
        open_bodies(self.bodies, self.store, self.config.bodies)

    def _send_bodies(self) -> None:
        send(self.bodies, self.store, self.config.bodies)

    def _make_world(self) -> LiveWorld:
        return self.world_of(
            self.recorder,
            self.signals,
            self.memory,
            self.settings.seed,
            self.runner,
            self.clock.stopping,
            self.heard,
            self._settings_of,
            self._asked,
        )

    def _make_fetcher(self, scope: Scope) -> Fetcher:
        fetcher = make_fetcher(self.config, self.clock, scope)
        restore_manners(fetcher, self.store)
        return fetcher

    def _asked(self) -> int:
        """How many visits the policy was asked for since the last time."""
        asked = asked_of(self.policy)
        return 0 if asked is None else asked.take()

    def _spare_collector(self, stack: ExitStack) -> None:
        """Let the collector of cycles look at new objects only, and less often: a visit makes hundreds, none cyclic."""
        stack.callback(gc.set_threshold, *gc.get_threshold())
        stack.callback(gc.unfreeze)
        gc.freeze()
        gc.set_threshold(*COLLECT_AFTER)

    def _open_fetcher(self, stack: ExitStack) -> None:
        scope = self._scope()
        self.fetcher = self._make_fetcher(scope)
        self.runner.run(self.fetcher.__aenter__())
        stack.callback(lambda: self.runner.run(self.fetcher.__aexit__(None, None, None)))
        discovery = DiscoveryBudget(**asdict(self.config.traps))
        discovery.restore(self.store.templates(), self.store.pages_by_host().items())
        discovery.restore_waiting(self.store.waiting_by_host().items())
        self.recorder = Recorder(self.store, self.bodies, self.fetcher, scope, discovery, self.watch)
        self.fetcher.keep_manners = self.recorder.keep_manners
        self.signals = Signals(self.store, self.fetcher, scope, discovery) if self.config.signals else None

    def _use_scope(self) -> None:
        """Let everybody who asks use the scope as it is now."""
        self.fetcher.scope = self.recorder.shown.scope = scope = self._scope()
        if self.signals is not None:
            self.signals.scope = scope

    def _scope(self) -> Scope:
        """Return the scope; pages that were out of it are tried again if it is another than last time."""
        scope = with_hosts(self.config, self.store.in_scope(), year_of(self.clock.now()))
        now = repr(replace(scope, year=None))
        if self.store.meta("scope") != now:
            with self.store.transaction():
                self.store.set_meta("scope", now)
                self.store.unbar(Bar.OUT_OF_SCOPE)
        return scope

    def __exit__(self, *error: Any) -> None:
        self._stack.close()

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
        at_once = last is None or self.at_once or self.store.running()
        return self.clock.now() if last is None or at_once else last + self.settings.cycle_days

    def wait_until(self, at: float) -> None:
        """Sleep until a day comes, or the crawl is asked to stop; the calendar is looked at again every minute."""
        while (left_s := (at - self.clock.now()) * DAY_S) > 0 and not self.stopped:
            with suppress(asyncio.CancelledError):
                self.runner.run(self.clock.sleep(min(left_s, LOOK_AGAIN_S)))

    def run_cycle(self) -> bool:
        """Run the next cycle, or what is left of the one that was interrupted; False if asked to stop meanwhile."""
        with one_line_errors(self.directory.state):
            try:
                self._run_cycle()
            except StoppedError:
                return False
        return not self.stopped

    def _run_cycle(self) -> None:
        running = self.store.running()
        at, budget = self._open_cycle() if running is None else (running.at, running.budget)
        cycle = self.memory.cycle + (running is None)
        self.world.hurries = cycle > self.settings.warmup
        run_cycle(
            self.world,
            self.memory,
            self.chooser(cycle),
            budget,
            at,
            site_cap=self.settings.site_cap,
            discovery=self.discovery_in(cycle),
            resumed=running is not None,
        )
        with self.store.transaction():
            self.world.keep_rounds()
            self.store.finish_cycle(cycle, (*notes_of(self.policy), *resting(self.memory)))
            self.store.summarise_urls()
        self._prune()
        self._send_bodies()

    def _prune(self) -> None:
        """Drop the bodies that the settings do not keep, as far as that frees a good part of a file."""
        if self.config.keep != KeepSettings():
            prune(self.store, self.bodies.folder, self.config.keep, busy=self.bodies.writing_to, wasted=WASTED)

    def _read_sitemaps(self) -> None:
        """Read the sitemaps that were added while this process holds the crawl, and queue the pages that they name."""
        sitemaps = self.store.asked_sitemaps()
        if not sitemaps:
            return
        reading = named_by(self.fetcher, self.config.scope, sitemaps)
        urls, problems = self.runner.run(self.world.unless_stopped(reading))
        with self.store.transaction():
            self.store.ask_for(urls, self.clock.now())
            self.store.drop_sitemaps(sitemaps)
            self.store.follow([(host_of(url), url) for url in checked(sitemaps)[0]])
        self.heard(Heard(0, len(urls), 0, problems=tuple(problems)))

    def _open_cycle(self) -> tuple[float, int]:
        """Note that the next cycle begins; return when its visits are due, and how many there are."""
        self._read_sitemaps()
        if self.take_asked(self.clock.now()):
            self._use_scope()
        at, cycle = max(self.next_due_at(), self.clock.now()), self.memory.cycle + 1
        self.at_once = False
        budget = self.budget_of(cycle)
        with self.store.transaction():
            self.store.open_cycle(cycle, at, budget, self.policy_name)
            wished = [page for page in self.store.take_wished() if page < len(self.memory) and self.memory.known[page]]
            self.store.plan(cycle, 1, [page for page in wished if not self.memory.gone[page]][:budget])
        return at, budget
