"""The live web through workers: the planner writes tasks and reads what they found; it never asks a host itself."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from recrawl.clock import DAY_S, Clock
from recrawl.cycle import Opening
from recrawl.fetch.fetcher import Fetcher, Request
from recrawl.fetch.gate import HostState
from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.fetch.robots import Robots, RobotsRecord, Verdict
from recrawl.live.fleet.inbox_format import Reply, unpack_reply
from recrawl.live.fleet.store_fleet import FleetTables, tasks_from
from recrawl.live.lanes import PATIENCE_S
from recrawl.live.recorder import Arrived, Recorder
from recrawl.live.site_settings import SiteSettings
from recrawl.live.standing import Standing
from recrawl.live.store import Store
from recrawl.live.world import LEAST_CYCLE_S, SLOW_S, LiveWorld
from recrawl.urls.url import Url, host_of, registrable_domain

POLL_S = 0.05
MANY = 500  # entries of a session that are read at once
GROUP = 500  # visits per transaction: what is not recorded yet is safe in the inbox
NOBODY_S = 90.0  # how long a sitemap waits for a worker


class FleetLanes:
    """In the place of `Lanes`: pages go to workers, answers come from the inbox; also for single files."""

    def __init__(
        self,
        fleet: FleetTables,
        recorder: Recorder,
        standing: Standing,
        site: Callable[[str], SiteSettings],
        stopping: asyncio.Event,
        slow_s: Callable[[str], float] = lambda _: 0.0,  # the pace of a host slower than most, as far as is known
    ) -> None:
        self.patience_s = PATIENCE_S
        self.released: list[int] = []
        self.shut: list[int] = []
        self.fleet = fleet
        self._recorder = recorder
        self._standing = standing
        self._site = site
        self._stopping = stopping
        self._store: Store = recorder.store
        self._cycle = 0
        self._next_task = 1
        self._slow_s = slow_s
        self._open: dict[int, tuple[str, int]] = {}  # pages that are awaited: their host, and the round they came in
        self._round = 0
        self._sent: set[int] = set()  # pages that workers have, perhaps since before a restart
        self._asked: Counter[str] = Counter()
        self._files: dict[int, asyncio.Future[Reply]] = {}
        self._asks: dict[int, dict[str, Any]] = {}  # requests of files, by task
        self._pages: dict[int, int] = {}  # by task
        self._read: dict[int, int] = {}  # by session: the last entry that was dispatched
        self._answered = 0
        self._marked: dict[int, int] = {}  # by session: the last entry that the database knows to be recorded
        self.check: Callable[[], None] = lambda: None  # raises where nobody will answer
        recorder.also, recorder.group = self._mark_read, GROUP
        recorder.group_links = math.inf  # no host waits for the planner

    def begin(self, cycle: int) -> None:
        """Begin a cycle, or go on with it."""
        self._cycle, self._next_task = cycle, self.fleet.last_task() + 1
        self._open.clear()
        self._sent = self.fleet.pages_asked(cycle)
        self._pages = self.fleet.task_pages(cycle)
        self._read, self._marked = {}, {}
        self._asked = Counter(self._store.visits_by_host(cycle))

    def add(self, pages: Iterable[tuple[int, str]]) -> None:
        """Give pages to workers, each with its host; those beyond a site's cap are released."""
        fresh = []
        self._round += 1
        for page, host in pages:
            cap = self._site(host).cap
            if cap and self._asked[host] >= cap and page not in self._sent:
                self.shut.append(page)
                self.released.append(page)
                continue
            self._open[page] = host, self._round
            if page not in self._sent:
                self._asked[host] += 1
                fresh.append(page)
        if not fresh:
            return
        requests = self._requests(fresh)
        rows = [(registrable_domain(host_of(each["url"])), "page", each["page"], json.dumps(each)) for each in requests]
        self._add_tasks(rows)
        self._sent.update(fresh)

    def _requests(self, pages: list[int]) -> list[dict[str, Any]]:
        """Return what workers need to ask for these pages."""
        requests = []
        for copy in self._store.copies(pages):
            request: dict[str, Any] = copy._asdict()
            for name in ("digest", "links_digest"):
                request[name] = None if request[name] is None else request[name].hex()
            requests.append(request)
        return requests

    def _add_tasks(self, rows: list[tuple[str, str, int, str]]) -> list[int]:
        tasks = tasks_from(self._next_task, rows)
        with self._store.transaction():
            self.fleet.add_tasks(self._cycle, tasks)
        self._next_task += len(tasks)
        self._pages |= {task.task: task.page for task in tasks if task.kind == "page"}
        return [task.task for task in tasks]

    async def run(self, beside: asyncio.Future[Any], new: int) -> None:
        """Wait for answers, until all are in or the round has lasted long enough (see `Lanes`)."""
        loop = asyncio.get_running_loop()
        begun_s, half_s, goal = loop.time(), float("inf"), self._answered + max(1, new // 2)
        while self._open and not self._stopping.is_set():
            if beside.done():
                beside.result()
            found = self._take()
            if half_s == float("inf") and self._answered >= goal:
                half_s = loop.time() - begun_s
            lasted_s = loop.time() - begun_s
            if new and (
                lasted_s >= max(self.patience_s, 2 * half_s) or (lasted_s > half_s and self._all_slow(lasted_s))
            ):
                return
            await asyncio.sleep(0 if found else POLL_S)

    def _all_slow(self, lasted_s: float) -> bool:
        """Whether a round that has lasted so long would wait for hosts alone that hold up all others."""
        return all(self._round > since or self._slow_s(host) > lasted_s for host, since in self._open.values())

    async def close(self) -> None:
        """Nothing is under way here; workers go on with what they have."""

    async def ask(self, kind: str, url: str, request: dict[str, Any]) -> Reply | None:
        """Let a worker ask for a single file; None where nobody does in time."""
        loop = asyncio.get_running_loop()
        request = {"url": url, **request}
        (task,) = self._add_tasks([(registrable_domain(host_of(url)), kind, -1, json.dumps(request))])
        future = self._files[task] = loop.create_future()
        self._asks[task] = request
        until_s = loop.time() + NOBODY_S
        while not future.done() and loop.time() < until_s:
            self._take_files()
            if not future.done():
                await asyncio.sleep(POLL_S)
        for number in [number for number, each in self._files.items() if each is future]:
            del self._files[number], self._asks[number]
        return future.result() if future.done() else None

    def _take_files(self) -> None:
        """Look for answers to single files; those of pages wait: before a cycle it is not known yet what is planned."""
        self.check()
        for task, record in self.fleet.answers_to(self._cycle, list(self._files)):
            if task in self._files:
                self._answer_file(task, unpack_reply(record))

    def _take(self) -> int:
        """Read the inbox once: each visit is recorded together with how far it was read."""
        self.check()
        entries = self.fleet.read_inbox(self._cycle, MANY)
        for entry in entries:
            if entry.number <= self._read.get(entry.worker, 0):
                continue
            self._read[entry.worker] = entry.number
            page = self._pages.get(entry.task, -1)
            if page in self._open:
                self._dispatch(page, unpack_reply(entry.record))
        self._recorder.record()
        if self._read != self._marked:
            with self._store.transaction():
                self._mark_read()
        return len(entries)

    def _mark_read(self) -> None:
        """Note how far was read, within a transaction."""
        self.fleet.mark_read(self._read)
        self._marked = dict(self._read)

    def _answer_file(self, task: int, reply: Reply) -> None:
        if reply.kind != "moved":
            if not self._files[task].done():
                self._files[task].set_result(reply)
            return
        (moved,) = self._add_tasks([self._moved_row("file", -1, self._asks[task], reply)])
        self._files[moved], self._asks[moved] = self._files.pop(task), self._asks.pop(task)

    def _moved_row(self, kind: str, page: int, request: dict[str, Any], reply: Reply) -> tuple[str, str, int, str]:
        """Let the worker that owns the site where a redirect leads go on with it."""
        assert reply.extra is not None, "of a page that moved"
        more = {name: reply.extra[name] for name in ("hops", "attempts")}
        return str(reply.extra["site"]), kind, page, json.dumps(request | more)

    def _dispatch(self, page: int, reply: Reply) -> None:
        if reply.kind == "moved":
            (request,) = self._requests([page])
            self._add_tasks([self._moved_row("page", page, request, reply)])
            return
        self._open.pop(page, None)
        self._sent.discard(page)
        self._answered += 1
        assert reply.result is not None, "every reply names its URL"
        if reply.record is not None:
            self._standing.note_visit(page, reply.result)
            self._recorder.add(Arrived(reply.result, reply.record, False, reply.feeds))
            return
        if reply.kind == "away":
            self._standing.turned_away(page, reply.result)
        elif reply.kind == "full":
            self.shut.append(page)
        self.released.append(page)


class FleetRobots(Robots):
    """The workers' robots.txt files; to read one again is a task."""

    lanes: FleetLanes
    reload: Callable[[], None]

    async def ask_again(self, url: Url) -> bool:
        """Let a worker ask for a host's robots.txt now; return whether the host answered."""
        reply = await self.lanes.ask("robots", url.href, {"again": True})
        self.reload()
        return reply is not None and bool((reply.extra or {}).get("answered"))

    async def verdict(self, url: Url) -> tuple[Verdict, str]:
        """Let a worker read a robots.txt if it is due, and then judge by it."""
        await self.lanes.ask("robots", url.href, {"again": False})
        self.reload()
        return ("allowed", "") if self.asked_at(url.origin) is not None else ("unreachable", "nobody has read it")


class FleetFetcher(Fetcher):
    """In the place of a fetcher: sitemaps, feeds and robots.txt are asked for by workers."""

    lanes: FleetLanes

    def __init__(self, fleet: FleetTables, clock: Clock, **kept: Any) -> None:
        super().__init__(clock=clock, **kept)
        self._fleet = fleet
        self.robots = FleetRobots(clock, self.settings, self._ask_robots)
        self.reload()

    def reload(self) -> None:
        """Take over what workers left of hosts' politeness."""
        gates, robots = self._fleet.manners()
        self.gate.restore(HostState(**json.loads(state)) for state in gates)
        self.robots.restore(RobotsRecord(**json.loads(record)) for record in robots)
        self.gate.export_changed()
        self.robots.export_changed()

    def use(self, lanes: FleetLanes) -> None:
        """Ask through these lanes."""
        assert isinstance(self.robots, FleetRobots), "made above"
        self.lanes = self.robots.lanes = lanes
        self.robots.reload = self.reload

    async def fetch(self, request: Request | str, *, scoped: bool = True) -> FetchResult:
        """Let a worker fetch a file."""
        request = Request(request) if isinstance(request, str) else request
        reply = await self.lanes.ask("file", request.url, {"validators": asdict(request.validators)})
        if reply is None or reply.result is None:
            return FetchResult(request.url, Kind.HOST_PAUSED, self.clock.now(), reason="no worker asked in time")
        return reply.result


class FleetWorld(LiveWorld):
    """A live world whose visits are made by workers."""

    fleet: FleetTables

    def use(self, fleet: FleetTables, check: Callable[[], None]) -> None:
        """Work on these tables; `check` raises where nobody will answer."""
        assert isinstance(self.fetcher, FleetFetcher), "of a planner"
        self.fleet = fleet
        lanes = FleetLanes(fleet, self.recorder, self.standing, self.site, self.stopping, self._pace_of_slow_s)
        lanes.check = check
        if self.signals is not None:
            self.signals.patience_s = None  # a file that nobody asks for in time is given up
        self.lanes = lanes  # type: ignore[assignment]
        self.fetcher.use(lanes)

    def _pace_of_slow_s(self, host: str) -> float:
        """Seconds per request to a host that is slower than most, by what workers had left as the cycle began; or 0."""
        gate = self.fetcher.gate
        pace_s = gate.pace_s(host)
        return pace_s if pace_s > max(SLOW_S, 2 * gate.settings.min_delay_s) else 0.0

    def begin(self, cycle: int, at: float, budget: int) -> Opening:
        """Open the cycle for workers, too."""
        assert isinstance(self.fetcher, FleetFetcher), "of a planner"
        lasts_s = max(self.memory.cycle_days * DAY_S, LEAST_CYCLE_S) if self.room_s is None else self.room_s
        self.fleet.open_cycle(cycle, lasts_s if self.hurries else None)
        self.fetcher.reload()
        self.fetcher.lanes.begin(cycle)
        return super().begin(cycle, at, budget)
