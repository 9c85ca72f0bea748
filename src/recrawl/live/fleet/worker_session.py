"""One session of a worker: claim sites, ask their tasks politely, and record what was found while the lease lasts."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from recrawl.clock import Clock
from recrawl.fetch.fetcher import Request
from recrawl.fetch.gate import HostState
from recrawl.fetch.outcome import FetchResult, Hop, Kind
from recrawl.fetch.robots import RobotsRecord
from recrawl.fetch.validators import Validators
from recrawl.live.answer_reader import AnswerReader
from recrawl.live.bodies import Bodies
from recrawl.live.calendar import year_of
from recrawl.live.config import CrawlConfig, with_hosts
from recrawl.live.fetching import make_fetcher
from recrawl.live.fleet.inbox_format import Reply, pack_reply, visit_reply
from recrawl.live.fleet.store_fleet import CycleOverError, FleetTask, fleet_of
from recrawl.live.fleet.worker_lanes import WorkerLanes
from recrawl.live.fleet.worker_lease import WorkerLease
from recrawl.live.fleet.worker_segments import SegmentSender
from recrawl.live.judge import validators_of
from recrawl.live.lanes import DRAIN_S
from recrawl.live.page_reader import PageReader
from recrawl.live.postgres.store_postgres import PostgresStore
from recrawl.live.recorder import GROUP, GROUP_S, Arrived, state_json
from recrawl.live.standing import HOST_BARS, NO_ANSWER, PAGE_BARS
from recrawl.live.store_place import StoreSettings
from recrawl.live.store_visits import Copy
from recrawl.see.feeds import MAX_FEED_BYTES
from recrawl.urls.url import host_of, parse, registrable_domain

POLL_S = 0.05  # how often a worker looks for tasks
IDLE_LEASES = 1.0  # a site without tasks is kept so long
GRACE_POLLS = 400  # a robots.txt that leads to another worker's site waits so long for it
MANY_S = 1e9


class WorkerSession:
    """From joining to leaving; LeaseLostError or StoreLostError end it, and another begins."""

    def __init__(
        self,
        place: StoreSettings,
        store: PostgresStore,
        config: CrawlConfig,
        name: str,
        folder: Path,
        clock: Clock,
        stopping: asyncio.Event,
    ) -> None:
        self.place = place
        self.name = name
        self.store = store
        self.config = config
        self.clock = clock
        self.stopping = stopping
        self.fleet = fleet_of(store)
        self.lease = WorkerLease(self.fleet, name, config.store.lease_s, clock)
        self.bodies = Bodies(folder / "warc", f"{name}-{self.lease.worker}")
        self.lanes = WorkerLanes(self._ask)
        self.reader = PageReader()
        self.answers = AnswerReader(self.reader, self.bodies.folder)
        self._sites: dict[str, int] = {}  # owned: the newest task that is known
        self._idle: dict[str, float] = {}  # since when a site has had nothing to do
        self._replies: list[tuple[int, Reply | Arrived]] = []  # not on disk yet
        self._shut: dict[str, Reply] = {}  # hosts that answer nothing in this cycle
        self._cycle: int | None = None
        self._ends_s = float("inf")
        self._number = 0
        self._newest = 0  # task of the last general look
        self._has_bodies = False
        self._next_send_s = self._next_claim_s = clock.monotonic_s()  # each is a commit, so not at every look
        self._fair_s = clock.monotonic_s()  # when this session last had no more than its share

    async def run(self) -> None:
        """Work until asked to stop."""
        async with AsyncExitStack() as stack:
            scope = with_hosts(self.config, self.store.in_scope(), year_of(self.clock.now()))
            self.fetcher = await stack.enter_async_context(make_fetcher(self.config, self.clock, scope))
            self.fetcher.may_ask, self.fetcher.may_send = self._owns, lambda: not self.lease.is_late()
            self.fetcher.keep_manners = self._keep_manners
            stack.callback(self.bodies.close)
            if self.config.bodies.to:
                sender = SegmentSender(self.place, self.config.bodies, self.bodies, self.name, self.lease.worker)
                await sender.begin()
                stack.push_async_callback(sender.end)
            stack.push_async_callback(self.reader.close)
            stack.push_async_callback(self.lanes.close)
            while not self.stopping.is_set():
                self._check()
                self._renew()
                self._look()
                if self.clock.monotonic_s() >= self._next_send_s:
                    self._send()
                await asyncio.sleep(POLL_S)
            await self._drain()

    async def _drain(self) -> None:
        draining = asyncio.ensure_future(self.lanes.drain(DRAIN_S))
        while not draining.done():
            self._renew()
            await asyncio.wait({draining}, timeout=POLL_S)
        self._check()
        self._send()
        self.fleet.leave(self.lease.worker)

    def _check(self) -> None:
        """Raise what a task met: the planner would wait for ever for what was lost with it."""
        if self.lanes.fault is not None:
            raise self.lanes.fault

    def _renew(self) -> None:
        if self.lease.is_due():
            self.lease.renew(self.fleet)

    # -- sites and tasks ------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Take tasks of sites that are ours, claim others up to a fair share, give up what is more than that."""
        look = self.fleet.look()
        if look.cycle != self._cycle:
            self._begin(look.cycle)
        if look.cycle is None:
            return
        self._ends_s = float("inf") if look.left_s is None else self.clock.monotonic_s() + float(look.left_s)
        if self._sites:
            self._take(self.fleet.tasks_of(look.cycle, list(self._sites), self._newest), general=True)
        busy = self.lanes.sites()
        fair = -(-look.open_sites // max(look.workers, 1))
        if len(busy) < fair and self.clock.monotonic_s() >= self._next_claim_s:
            self._next_claim_s = self.clock.monotonic_s() + GROUP_S
            claimed = self.fleet.claim(self.lease.worker, fair - len(busy))
            if claimed:
                self._own(claimed)
                self._take(self.fleet.tasks_of(look.cycle, list(claimed), 0), general=False)
        self._give_up(busy, self._surplus(len(busy) - fair))

    def _surplus(self, more: int) -> int:
        """How many sites to give up: those beyond a fair share, once there have been some for a whole lease."""
        now_s = self.clock.monotonic_s()
        if more <= 0:
            self._fair_s = now_s
        return more if now_s - self._fair_s >= self.lease.lease_s else 0

    def _begin(self, cycle: int | None) -> None:
        self._cycle, self._newest = cycle, 0
        self._shut.clear()
        self._replies.clear()  # of a cycle that is over: whatever the planner waited for, it has
        self.lanes.forget_tasks()
        scope = with_hosts(self.config, self.store.in_scope(), year_of(self.clock.now()))
        self.fetcher.scope = scope

    def _take(self, tasks: list[FleetTask], *, general: bool) -> None:
        for task in tasks:
            self._sites[task.site] = max(self._sites.get(task.site, 0), task.task)
            self._newest = max(self._newest, task.task) if general else self._newest
        self.lanes.add((_asked_host(json.loads(task.request)), task) for task in tasks)

    def _own(self, sites: dict[str, int]) -> None:
        """Take over sites with what their last owner knew of them; every host waits its whole delay."""
        self._sites |= sites
        for site in sites:
            self._idle.pop(site, None)
            self.lanes.forget(site)
        gates, robots = self.fleet.manners_of(list(sites))
        states = [HostState(**json.loads(state)) for state in gates]
        self.fetcher.gate.take_over(lambda host: registrable_domain(host) in sites, states)
        self.fetcher.robots.restore(RobotsRecord(**json.loads(record)) for record in robots)

    def _give_up(self, busy: set[str], surplus: int) -> None:
        """Release sites that have nothing to do, and, of those that have, what is more than a fair share."""
        for site in sorted(busy)[len(busy) - surplus :]:
            self.lanes.give_up(site)
        unsent = {registrable_domain(host_of(_url(reply))) for _, reply in self._replies}
        free, now_s = {}, self.clock.monotonic_s()
        for site, newest in self._sites.items():
            if site in busy or site in unsent:
                self._idle.pop(site, None)
                continue
            idle_s = now_s - self._idle.setdefault(site, now_s)
            if self.lanes.is_given_up(site):
                free[site] = 0
            elif idle_s >= IDLE_LEASES * self.lease.lease_s:
                free[site] = newest
        if free:
            self._send()
            self.fleet.release(self.lease.worker, free)
            for site in free:
                del self._sites[site]
                self._idle.pop(site, None)
                self.lanes.forget(site)

    async def _owns(self, host: str, waits: bool) -> bool:
        """Own the site of a host before it is asked; where it `waits`, a while for another worker to give it up."""
        site = registrable_domain(host)
        for _ in range(GRACE_POLLS if waits else 1):
            if site in self._sites:
                return True
            if self.stopping.is_set():
                return False
            if self.fleet.claim_site(self.lease.worker, site):
                self._own({site: 0})
                return True
            if waits:
                await asyncio.sleep(POLL_S)
        return False

    # -- asking ---------------------------------------------------------------------------------------------------

    async def _ask(self, host: str, task: FleetTask) -> None:
        """Do a task; what is found is on disk with the next group."""
        while self.lease.is_late():  # renewed soon, or lost
            await asyncio.sleep(POLL_S)
        if task.kind == "robots":
            return self._add(task, await self._robots(json.loads(task.request)))
        request = json.loads(task.request)
        if task.kind == "file":
            validators = Validators(**request["validators"])
            asked = Request(request["url"], validators, max_body_bytes=MAX_FEED_BYTES, **_walked(request))
            result = await self.fetcher.fetch(asked, scoped=False)
            if not self._is_late(host, task, result, asked.attempts):
                self._add(task, self._handed_on(task, result) or Reply("answer", result))
            return None
        return await self._visit(host, task, _copy(task.page, request), _walked(request))

    async def _visit(self, host: str, task: FleetTask, copy: Copy, walked: dict[str, Any]) -> None:
        if host in self._shut or self._room(host) <= 0:
            return self._add(task, self._shut.get(host, Reply("full", FetchResult(copy.url, Kind.HOST_PAUSED))))
        validators = validators_of(copy)
        asked = Request(copy.url, validators, **walked)
        result = await self.fetcher.fetch(asked)
        if self._is_late(host, task, result, asked.attempts):
            return None
        if elsewhere := self._handed_on(task, result):
            return self._add(task, elsewhere)
        if not result.attempts and (result.kind in PAGE_BARS or result.kind in HOST_BARS):
            if result.kind in HOST_BARS:
                self._shut[host] = Reply("away", result)
            return self._add(task, Reply("away", result))
        if result.kind in NO_ANSWER and host_of(result.final_url or result.url) == host:
            self._shut[host] = Reply("released", FetchResult(copy.url, Kind.HOST_PAUSED))
        self._replies.append((task.task, await self.answers.read(copy, result, validators)))
        if len(self._replies) >= GROUP:
            self._send()
        return None

    def _is_late(self, host: str, task: FleetTask, result: FetchResult, before: int) -> bool:
        """Ask again what was not asked because the lease had not been renewed, or the session ends."""
        unasked = result.kind is Kind.HOST_PAUSED and result.attempts == before
        if unasked and (self.lease.is_late() or self.stopping.is_set()):
            if not self.stopping.is_set():
                self.lanes.put_back(host, task)
            return True
        return False

    def _handed_on(self, task: FleetTask, result: FetchResult) -> Reply | None:
        """Return the reply that lets the owner of another site go on where a redirect leads; None: it leads nowhere."""
        site = registrable_domain(host_of(result.final_url or result.url))
        if result.kind is not Kind.HOST_PAUSED or site == task.site or site in self._sites:
            return None
        hops = [(hop.url, hop.status, hop.target) for hop in result.hops]
        return Reply("moved", result, extra={"site": site, "hops": hops, "attempts": result.attempts})

    def _room(self, host: str) -> int:
        """How many requests a host can take before the cycle ends."""
        gate = self.fetcher.gate
        left_s = min(self._ends_s - self.clock.monotonic_s(), MANY_S) - gate.ready_in_s(host)
        return 0 if left_s <= 0 else 1

    async def _robots(self, request: dict[str, str]) -> Reply:
        """Read a robots.txt: again, whatever its age, or only if it is due."""
        url = parse(request["url"])
        assert url is not None, "the planner sends URLs"
        robots, answered = self.fetcher.robots, True
        if request["again"]:
            answered = await robots.ask_again(url)
        else:
            await robots.verdict(url)
        return Reply("answer", FetchResult(url.href, Kind.OK), extra={"answered": answered, "origin": url.origin})

    # -- recording ------------------------------------------------------------------------------------------------

    def _add(self, task: FleetTask, reply: Reply) -> None:
        self._replies.append((task.task, reply))

    def _send(self) -> None:
        """Put on disk what was found and how hosts are treated: bodies first; all of it only while the lease lasts."""
        self._next_send_s = self.clock.monotonic_s() + GROUP_S
        gates = [(state.host, registrable_domain(state.host), state_json(state)) for state in self._gates()]
        robots = [
            (record.origin, registrable_domain(host_of(f"{record.origin}/")), state_json(record))
            for record in self.fetcher.robots.export_changed()
        ]
        if not (self._replies or gates or robots):
            return
        replies, self._replies = self._replies, []
        packed = [(task, pack_reply(self._placed(reply))) for task, reply in replies]
        self.bodies.sync()
        first, self._number = self._number + 1, self._number + len(packed)
        cycle = -1 if self._cycle is None else self._cycle
        rows = [(cycle, number, task, record) for number, (task, record) in enumerate(packed, first)]
        try:
            self.fleet.send(self.lease.worker, rows if cycle >= 0 else [], gates, robots)
        except CycleOverError:
            self.fleet.send(self.lease.worker, [], gates, robots)

    def _keep_manners(self) -> None:
        """Put what must not be forgotten on disk in the middle of a fetch, which takes any error for the host's."""
        try:
            self._send()
        except Exception as error:
            self.lanes.fault = self.lanes.fault or error
            raise

    def _gates(self) -> list[HostState]:
        return self.fetcher.gate.export_changed()

    def _placed(self, reply: Reply | Arrived) -> Reply:
        """Return a reply whose body is in a file."""
        if isinstance(reply, Reply):
            return reply
        result, record = reply.result, reply.record
        if reply.keeps_body:
            if not self._has_bodies:
                self.bodies.open({})
                self._has_bodies = True
            place = self.bodies.write(result.url, result.status, result.headers, result.body, reply.packed)
            record = record._replace(warc=place)
        return visit_reply(reply, record)


def _url(reply: Reply | Arrived) -> str:
    assert reply.result is not None, "every reply names its URL"
    return reply.result.url


def _asked_host(request: dict[str, Any]) -> str:
    """Return the host that a task is of: where redirects that were followed lead, or the URL's own."""
    return host_of(request["hops"][-1][2] if request.get("hops") else request["url"])


def _walked(request: dict[str, Any]) -> dict[str, Any]:
    """Return what another worker has done of a task."""
    return {"hops": tuple(Hop(*hop) for hop in request.get("hops", ())), "attempts": request.get("attempts", 0)}


def _copy(page: int, request: dict[str, str]) -> Copy:
    digests = [None if request[name] is None else bytes.fromhex(request[name]) for name in ("digest", "links_digest")]
    return Copy(page, request["url"], request["validators"], digests[0], digests[1], int(request["misses"]))
