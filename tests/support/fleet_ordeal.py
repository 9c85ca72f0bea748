"""Kill planner and workers of a fleet at random, restart the database, and judge by the web server's own log."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
from aiohttp import web

from recrawl.errors import StoreError
from recrawl.live.config import CrawlConfig
from recrawl.live.facade import Crawl
from recrawl.live.fleet.fleet_worker import FleetWorker
from recrawl.live.fleet.inbox_format import unpack_reply
from recrawl.live.fleet.worker_session import WorkerSession
from recrawl.live.postgres.store_postgres import PostgresStore
from recrawl.live.store_place import StoreSettings
from recrawl.recording.recording import Recording
from recrawl.simulate.render import Rendering
from recrawl.simulate.replay import ReplayServer
from recrawl.urls.url import registrable_domain
from support.forked import forkserver
from support.live_crawls import begun, seeds, settings
from support.postgres_server import LocalServer
from support.small_recordings import random_tables

DELAY_S, LEASE_S = 0.05, 2.0
PLANNER = "planner"


class SigningWorker(FleetWorker):
    """Signs its requests with its name and session, and writes down every visit that the database has taken."""

    said = ""

    def _config(self, store: PostgresStore) -> CrawlConfig:
        config = super()._config(store)
        return replace(
            config, fetch=replace(config.fetch, user_agent=f"ordeal/1 {self.name}.{os.getpid()}.{time.time_ns()}")
        )

    def _session(self, store: PostgresStore) -> WorkerSession:
        session = super()._session(store)
        send = session.fleet.send

        def noted(worker: int, entries: Any, gates: Any, robots: Any) -> None:
            send(worker, entries, gates, robots)
            lines = []
            for cycle, _, _, record in entries:
                reply = unpack_reply(record)
                if reply.record is not None:
                    lines.append(f"{cycle} {reply.record.page}\n")
            if lines and self.said:
                with open(self.said, "a") as file:
                    file.write("".join(lines))

        session.fleet.send = noted  # type: ignore[method-assign]
        return session


def work(url: str, name: str, folder: str, said: str) -> None:
    """The process of a worker."""
    worker = SigningWorker(StoreSettings(url), name, Path(folder))
    worker.said = said
    worker.run(stop_on_signals=True)


def plan(folder: str, cycles: int | None) -> None:
    """The process of a planner; cycles follow each other without a pause."""
    while True:
        try:
            Crawl.open(folder).run(cycles, every=1e-7, now=True, planner_only=True, stop_on_signals=True)
            return
        except StoreError as error:
            if "another process" not in str(error):
                raise


class SignedServer(ReplayServer):
    """Also logs who asked."""

    def __enter__(self) -> SignedServer:
        self.signed: list[tuple[float, str, str, str]] = []  # monotonic seconds, host, path, user agent
        super().__enter__()
        return self

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request and log it."""
        asked_s = time.monotonic()
        response = await super().answer(request)
        self.signed.append(
            (asked_s, self.log[-1].host, request.path, request.headers.get("User-Agent", "").partition(" ")[2])
        )
        return response


@dataclass
class FleetOrdeal:
    """What the kills came to."""

    kills: int = 0
    restarts: int = 0
    visits: int = 0
    cycles: int = 0
    requests: int = 0
    asked_again: int = 0
    sessions: int = 0
    shortest_gap_s: float = float("inf")
    started_again: int = 0  # processes that ended with an error, while the database was away
    returns: int = 0  # a session asked a domain, another did, and the first again within a lease
    wrong: list[str] = field(default_factory=list)


class _Fleet:
    """The processes."""

    def __init__(self, folder: Path, url: str, workers: int) -> None:
        self.folder, self.url = folder, url
        self.context = forkserver()
        self.processes: dict[str, Any] = {}
        for name in (PLANNER, *(f"w{number}" for number in range(workers))):
            self.start(name)

    def start(self, name: str, cycles: int | None = None) -> None:
        """Start a process, or start it again."""
        said = str(self.folder / f"said-{name}")
        target, args = (
            (plan, (str(self.folder / "crawl"), cycles))
            if name == PLANNER
            else (work, (self.url, name, str(self.folder / name), said))
        )
        self.processes[name] = self.context.Process(target=target, args=args)
        self.processes[name].start()

    def kill(self, name: str) -> None:
        """kill -9."""
        self.processes[name].kill()
        self.processes[name].join(30)

    def revive(self) -> list[str]:
        """Start what has ended by itself; returns which."""
        dead = [name for name, process in self.processes.items() if not process.is_alive()]
        for name in dead:
            self.start(name)
        return dead

    def end(self) -> None:
        """SIGTERM to all; kill what does not end."""
        for process in self.processes.values():
            if process.is_alive():
                os.kill(process.pid, signal.SIGTERM)
        for process in self.processes.values():
            process.join(30)
            if process.is_alive():
                process.kill()
                process.join(10)


def fleet_ordeal(
    folder: Path,
    postgres: LocalServer,
    *,
    kills: int,
    restarts: int = 0,
    workers: int = 4,
    pages: int = 400,
    sites: int = 24,
    seed: int = 1,
    every_s: tuple[float, float] = (0.1, 1.0),
) -> FleetOrdeal:
    """Kill processes so many times while the fleet crawls a living web; the last cycle is let to end."""
    draw, found, began = random.Random(seed), FleetOrdeal(kills, restarts), time.monotonic()
    recording = Recording.from_arrays(random_tables(pages, 400.0, seed, sites=sites))
    url = postgres.new_database()
    toml = f'{settings(delay_s=DELAY_S, signals=True)}\n[store]\nurl = "{url}"\nlease_s = {LEASE_S}\n'
    with SignedServer(Rendering(recording), lambda: min(400.0, (time.monotonic() - began) * 2)) as server:
        begun(folder / "crawl", seeds(server), toml)
        fleet = _Fleet(folder, url, workers)
        while len(server.signed) < 50 and time.monotonic() - began < 120:
            time.sleep(0.1)
        crashes = set(draw.sample(range(kills), restarts))
        before: set[tuple[Any, ...]] = set()
        for kill in range(kills):
            time.sleep(draw.uniform(*every_s))
            found.started_again += len(fleet.revive())  # as a supervisor does
            name = draw.choice(list(fleet.processes))
            fleet.kill(name)
            fleet.start(name)
            if kill in crashes:
                postgres.restart_at_once()
            if kill % 20 == 0:
                before = _still_there(url, before, found)
        time.sleep(2 * LEASE_S)
        fleet.end()
        fleet.start(PLANNER, 1)
        for name in list(fleet.processes):
            if name != PLANNER:
                fleet.start(name)
        fleet.processes[PLANNER].join(120)
        fleet.end()
        _still_there(url, before, found)
        _judge(url, folder, server, found)
    return found


def _visits(url: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute("select visit, page, cycle, at, outcome from visits").fetchall()


def _still_there(url: str, before: set[tuple[Any, ...]], found: FleetOrdeal) -> set[tuple[Any, ...]]:
    after = set(_visits(url))
    if not before <= after:
        found.wrong.append(f"{len(before - after)} recorded visits are lost or altered")
    return after


def _judge(url: str, folder: Path, server: SignedServer, found: FleetOrdeal) -> None:
    visits = _visits(url)
    pairs = [(cycle, page) for _, page, cycle, _, _ in visits]
    with psycopg.connect(url) as connection:
        left = connection.execute("select count(*) from plan p join cycles c using (cycle) where c.done = 1").fetchone()
        sums = connection.execute("select sum(unchanged + changed + first + gone + failed) from hosts").fetchone()
    found.visits, found.cycles = len(visits), max(cycle for cycle, _ in pairs)
    found.requests = sum(path not in ("/robots.txt", "/sitemap.xml") for _, _, path, _ in server.signed)
    found.asked_again = found.requests - found.visits
    if len(set(pairs)) != len(pairs):
        found.wrong.append("a page was recorded twice in a cycle")
    if _number(left):
        found.wrong.append("pages of a cycle that is done are still planned")
    if _number(sums) != len(visits):
        found.wrong.append(f"counters say {sums}, there are {len(visits)} visits")
    said = {
        (int(cycle), int(page))
        for file in folder.glob("said-*")
        for cycle, page in (line.split() for line in file.read_text().splitlines() if line.count(" ") == 1)
    }
    if lost := said - set(pairs):
        found.wrong.append(f"{len(lost)} visits that the database took are not recorded: {sorted(lost)[:5]}")
    _judge_log(server, found)


def _number(row: tuple[Any, ...] | None) -> int:
    return int(row[0] or 0) if row else 0


def _judge_log(server: SignedServer, found: FleetOrdeal) -> None:
    """Every host gets its delay, and no session asks a domain that another asks."""
    times: dict[str, list[float]] = defaultdict(list)
    domains: dict[str, list[tuple[float, str]]] = defaultdict(list)
    found.sessions = len({who for _, _, _, who in server.signed})
    for at_s, host, _, who in sorted(server.signed):
        times[host].append(at_s)
        domains[registrable_domain(host)].append((at_s, who))
    for host, asked in times.items():
        gap_s = min((b - a for a, b in pairwise(asked)), default=float("inf"))
        found.shortest_gap_s = min(found.shortest_gap_s, gap_s)
        if gap_s < DELAY_S:
            found.wrong.append(f"{host} was asked twice within {gap_s * 1e3:.1f} ms")
    for domain, asked_by in domains.items():
        last: dict[str, float] = {}
        for i, (at_s, who) in enumerate(asked_by):
            if i and asked_by[i - 1][1] != who and at_s - last.get(who, float("-inf")) < LEASE_S:
                found.returns += 1
                found.wrong.append(f"two sessions asked {domain} within a lease: {asked_by[i - 1][1]} and {who}")
            last[who] = at_s
