"""A fleet on one PostgreSQL: kill -9 and crashes of the database, rates of the inbox, and what a second worker brings.

python -m benchmarks.fleet kills [300]      planner and 4 workers are killed, PostgreSQL crashes 5 times
python -m benchmarks.fleet rate [20]        visits per second that one PostgreSQL carries, for so many seconds
python -m benchmarks.fleet workers [3000]   pages per second of 1 and 2 workers, each a process
python -m benchmarks.fleet uploads [35]     workers are killed around their uploads to S3, the bucket is gone and back
"""

from __future__ import annotations

import asyncio
import gc
import json
import multiprocessing
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
import psutil

from benchmarks.throughput import TOML, serve, urls_of
from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.live.bodies import Bodies
from recrawl.live.facade import Crawl
from recrawl.live.fleet.fleet_world import FleetLanes
from recrawl.live.fleet.inbox_format import Reply, pack_reply, unpack_reply
from recrawl.live.fleet.store_fleet import FleetTables, tasks_from
from recrawl.live.packed_links import LinkLookup, PackedLinks
from recrawl.live.postgres.store_postgres import PostgresStore
from recrawl.live.recorder import Recorder
from recrawl.live.session import COLLECT_AFTER
from recrawl.live.site_settings import SiteSettings
from recrawl.live.store import Store
from recrawl.live.store_place import StoreSettings
from recrawl.live.store_visits import SeenLinks, VisitRecord
from recrawl.see.version_contents import Contents
from recrawl.see.words import Bag, bag_of
from recrawl.urls.traps import DiscoveryBudget
from recrawl.urls.url import registrable_domain
from recrawl.visits import Outcome
from support.fleet_ordeal import DELAY_S, LEASE_S, fleet_ordeal
from support.live_crawls import begun
from support.postgres_server import LocalServer, local_server
from support.upload_ordeal import s3_server, upload_ordeal

GROUP, SITES, LINKS, WORDS, WORKERS = 200, 60, 70, 400, 4
PAGES = 20_000


def kills(count: int = 300) -> None:
    """Kill -9 at random, and 5 immediate restarts of the database."""
    with tempfile.TemporaryDirectory() as folder, local_server() as postgres:
        began = time.monotonic()
        found = fleet_ordeal(Path(folder), postgres, kills=count, restarts=min(5, count))
        print(f"{count} kills in {time.monotonic() - began:.0f} s; delay {DELAY_S} s, lease {LEASE_S} s")
        print(json.dumps({**vars(found), "wrong": found.wrong[:20]}, indent=1))


def uploads(count: int = 35) -> None:
    """Kill -9 at every step of an upload; every body that was recorded must be there."""
    with tempfile.TemporaryDirectory() as folder, local_server() as postgres, s3_server() as s3:
        began = time.monotonic()
        found = upload_ordeal(Path(folder), postgres, s3, kills=count)
        print(f"{sum(found.kills.values())} kills in {time.monotonic() - began:.0f} s")
        print(json.dumps({**vars(found), "wrong": found.wrong[:20]}, indent=1))


def rate(seconds: int = 20) -> None:
    """Visits through the fleet's tables alone, then as the planner records them, on PostgreSQL and on SQLite."""
    with local_server() as postgres, tempfile.TemporaryDirectory() as folder:
        for name, links in (("unchanged", 0), (f"first, {LINKS} links", LINKS)):
            _through_the_tables(postgres, name, links, seconds)
        place = StoreSettings(postgres.new_database())
        PostgresStore.create_in(place, "")
        for store in (Store.create(Path(folder) / "state.sqlite"), PostgresStore.open_in(place)):
            _as_recorded(store, postgres, seconds)
        for found in (0, 1):
            _as_planned(Path(folder), postgres, found)


@cache
def _bag(number: int) -> Bag:
    drawn = np.random.default_rng(number).zipf(1.3, WORDS) % 20_000
    return bag_of(" ".join(f"word{each}" for each in drawn))


def _record(page: int, links: int) -> VisitRecord:
    """What a worker tells of a visit: a first one with links and words, or one that found nothing new."""
    urls = [f"https://site{(page + i) % 997}.example/section/p{i}.html" for i in range(links)]
    seen = SeenLinks(urls, ["some words"] * links, [False] * links) if links else None
    outcome = int(Outcome.FIRST if links else Outcome.UNCHANGED)
    return VisitRecord(
        page, 20_000.0, outcome, 200, 20_000, 0.1, title="A title", digest=bytes(16) if links else None,
        words=WORDS, links=seen, links_digest=bytes(16) if links else None,
        warc=("w1-00001.warc.gz", 5_000 * page, 5_000) if links else None,
        contents=Contents(WORDS, 2_500, 3, 0, 0, links, 0, _bag(page % 200)) if links else None,
    )  # fmt: skip


def _through_the_tables(postgres: LocalServer, name: str, links: int, seconds: int) -> None:
    """Tasks by COPY, claims, fenced COPY into the inbox by WORKERS at once, read by the planner, noted as read."""
    place = StoreSettings(postgres.new_database())
    PostgresStore.create_in(place, "")
    planner = PostgresStore.open_in(place)
    fleet, done, added, read = FleetTables(planner.db), 0, 0, dict[int, int]()
    replies = [pack_reply(Reply("visit", None, _record(page, links))) for page in range(GROUP)]
    fleet.open_cycle(1, None)
    server_s, own_s, began = _server_cpu_s(postgres), time.process_time(), time.monotonic()
    threads = [threading.Thread(target=_work, args=(place, replies, began + seconds)) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    while time.monotonic() < began + seconds:
        if added - done < 10 * GROUP * WORKERS:
            rows = [(f"s{i % SITES}.example", "page", i, '{"url": "https://example.org/"}') for i in range(20 * GROUP)]
            with planner.transaction():
                fleet.add_tasks(1, tasks_from(added + 1, rows))
            added += len(rows)
        found = fleet.read_inbox(1, 2_000)
        read |= {entry.worker: entry.number for entry in found}
        if found:
            with planner.transaction():
                fleet.mark_read(read)
        done += len(found)
    wall_s = time.monotonic() - began
    own_s, server_s = time.process_time() - own_s, _server_cpu_s(postgres) - server_s
    for thread in threads:
        thread.join()
    size = statistics.mean(map(len, replies))
    print(
        f"tables, {WORKERS} workers, {name} ({size:.0f} bytes per record): {done / wall_s:,.0f} visits/s wall,"
        f" {done / own_s:,.0f} per client CPU-s, {done / server_s:,.0f} per server CPU-s"
    )
    planner.close()


def _work(place: StoreSettings, replies: list[bytes], until_s: float) -> None:
    store = PostgresStore.open_in(place)
    fleet = FleetTables(store.db)
    me, number, newest, sites = fleet.join("w", 3_600.0), 0, 0, dict[str, int]()
    while time.monotonic() < until_s:
        if len(sites) < SITES // WORKERS:
            claimed = fleet.claim(me, SITES // WORKERS - len(sites))
            sites |= claimed
            newest = 0
        tasks = fleet.tasks_of(1, list(sites), newest) if sites else []
        for first in range(0, len(tasks), GROUP):
            some = tasks[first : first + GROUP]
            entries = [(1, number + i, task.task, replies[i - 1]) for i, task in enumerate(some, 1)]
            fleet.send(me, entries, [(site, site, "{}") for site in sites], [])
            number += len(some)
        newest = tasks[-1].task if tasks else newest
    store.close()


def _as_recorded(store: Store, postgres: LocalServer, seconds: int) -> None:
    """What the planner's transaction of a group costs: visits, versions, counters, links."""
    _with_pages(store)
    compared = _recorder(store, Path(), DiscoveryBudget()).compared
    for cycle, links in ((1, LINKS), (2, 0)):
        records = [compared(_as_it_comes(store, _record(page, links))) for page in range(PAGES)]
        server_s, own_s, began, done = _server_cpu_s(postgres), time.process_time(), time.monotonic(), 0
        while done < PAGES and time.monotonic() < began + seconds:
            group = records[done : done + GROUP]
            with store.transaction():
                store.add_visits(cycle, group, store.set_links(group, {}))
            done += len(group)
        wall_s = time.monotonic() - began
        own_s, server_s = time.process_time() - own_s, _server_cpu_s(postgres) - server_s
        print(
            f"recorded, {type(store).__name__}, {'first' if links else 'unchanged'}: {done / wall_s:,.0f} visits/s"
            f" wall, {done / own_s:,.0f} per client CPU-s, {done / (own_s + server_s):,.0f} per CPU-s of both"
        )
    store.close()


def _as_it_comes(store: Store, record: VisitRecord) -> VisitRecord:
    """Return a record as the planner has it: in PostgreSQL, as a worker sent it."""
    if not isinstance(store, PostgresStore):
        return record
    sent = unpack_reply(pack_reply(Reply("visit", None, record))).record
    assert sent is not None, "of a visit"
    if isinstance(sent.links, PackedLinks):
        LinkLookup([sent.links], store.index).settle()
    return sent


def _with_pages(store: Store) -> list[str]:
    store.load_index()
    urls = [f"https://s{i % SITES}.example/{i}" for i in range(PAGES)]
    with store.transaction():
        store.add_pages(urls, [f"s{i % SITES}.example" for i in range(PAGES)], 1.0)
        store.open_cycle(1, 1.0, PAGES, "age")
        store.open_cycle(2, 2.0, PAGES, "age")
        store.plan(1, 0, range(PAGES))
    return urls


def _recorder(store: Store, folder: Path, discovery: DiscoveryBudget) -> Recorder:
    recorder = Recorder(store, Bodies(folder), None, lambda url: True, discovery, lambda noted: None)
    recorder.begin(1)
    return recorder


def _as_planned(folder: Path, postgres: LocalServer, found: int) -> None:
    """All that the planner does with first visits: inbox, decoding, new pages (`found` per visit), links, recording."""
    place = StoreSettings(postgres.new_database())
    PostgresStore.create_in(place, "")
    store = PostgresStore.open_in(place)
    urls, fleet = _with_pages(store), FleetTables(store.db)
    fleet.open_cycle(1, None)
    rows = [(f"s{page % SITES}.example", "page", page, "{}") for page in range(PAGES)]
    with store.transaction():
        fleet.add_tasks(1, tasks_from(1, rows))
    for first in range(WORKERS):
        entries = []
        for number, page in enumerate(range(first, PAGES, WORKERS), 1):
            known = [urls[(page + i) % PAGES] for i in range(1, LINKS + 1 - found)]
            links = [*known, *(f"{urls[page]}/new{i}.html" for i in range(found))]
            record = _record(page, LINKS)._replace(links=SeenLinks(links, ["some words"] * LINKS, [True] * LINKS))
            result = FetchResult(urls[page], Kind.OK, 20_000.0, final_url=urls[page], status=200)
            entries.append((1, number, page + 1, pack_reply(Reply("visit", result, record))))
        fleet.send(fleet.join(f"w{first}", 3_600.0), entries, [], [])
    recorder = _recorder(store, folder, DiscoveryBudget())
    standing: Any = SimpleNamespace(note_visit=lambda page, result: None)
    lanes = FleetLanes(fleet, recorder, standing, lambda host: SiteSettings(), asyncio.Event())
    lanes.begin(1)
    registrable_domain("a.example")  # reads its list once
    gc.freeze()  # as a session does
    gc.set_threshold(*COLLECT_AFTER)
    lanes.add((page, f"s{page % SITES}.example") for page in range(PAGES))
    server_s, own_s, began = _server_cpu_s(postgres), time.process_time(), time.monotonic()
    asyncio.run(_until_all_are_in(lanes))
    wall_s, own_s, server_s = time.monotonic() - began, time.process_time() - own_s, _server_cpu_s(postgres) - server_s
    done = len(recorder.rows)
    print(
        f"planner, whole, first visits, {len(recorder.found) / done:.1f} new pages each: {done / wall_s:,.0f} visits/s"
        f" wall, {done / own_s:,.0f} per client CPU-s, {done / (own_s + server_s):,.0f} per CPU-s of both"
    )
    store.close()


async def _until_all_are_in(lanes: FleetLanes) -> None:
    await lanes.run(asyncio.get_running_loop().create_future(), 0)


def _server_cpu_s(postgres: LocalServer) -> float:
    """CPU-seconds of the server's processes, also of those that have ended."""
    main = psutil.Process(int((postgres.data / "postmaster.pid").read_text().split()[0]))
    own = main.cpu_times()
    total = own.user + own.system + own.children_user + own.children_system
    for child in main.children():
        with suppress(psutil.NoSuchProcess):
            total += sum(child.cpu_times()[:2])
    return total


def workers(pages: int = 3_000) -> None:
    """A first crawl of a plain web without delays, by 1 worker and by 2, in turns."""
    context = multiprocessing.get_context("spawn")
    ready, port = context.Event(), context.Value("i", 0)
    web = context.Process(target=serve, args=(pages, ready, port), daemon=True)
    web.start()
    ready.wait(60)
    rates: dict[int, list[float]] = {1: [], 2: []}
    with local_server() as postgres:
        for turn in range(3):
            for count in (1, 2) if turn % 2 == 0 else (2, 1):
                with tempfile.TemporaryDirectory() as folder:
                    rates[count].append(_crawled(Path(folder), postgres, count, urls_of(pages, port.value)))
    web.terminate()
    one, two = (statistics.median(rates[count]) for count in (1, 2))
    print(f"1 worker {one:.0f} pages/s, 2 workers {two:.0f} pages/s: {two / one:.2f} x")


def _crawled(folder: Path, postgres: LocalServer, count: int, urls: list[str]) -> float:
    url = postgres.new_database()
    directory = begun(folder / "crawl", urls, f'[crawl]\nwarmup = 1\nsignals = false\n{TOML}\n[store]\nurl = "{url}"\n')
    words = [sys.executable, "-m", "recrawl", "work", "--store", url]
    began_cpu_s = resource.getrusage(resource.RUSAGE_CHILDREN)
    processes = [subprocess.Popen([*words, "--name", f"w{i}", "-C", str(folder / f"w{i}")]) for i in range(count)]
    crawl = Crawl(directory)
    while len(crawl.status()["workers"]) < count:
        time.sleep(0.1)
    own_s, server_s, began = time.process_time(), _server_cpu_s(postgres), time.monotonic()
    crawl.run(1, planner_only=True, policy="age")
    wall_s = time.monotonic() - began
    own_s, server_s = time.process_time() - own_s, _server_cpu_s(postgres) - server_s
    for process in processes:
        os.kill(process.pid, signal.SIGTERM)
        process.wait(60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    work_s = after.ru_utime + after.ru_stime - began_cpu_s.ru_utime - began_cpu_s.ru_stime
    status: dict[str, Any] = crawl.status()
    print(
        f"{count} worker(s): {status['visits']:,} visits in {wall_s:.1f} s; CPU-s: workers {work_s:.1f} (with their"
        f" start), planner {own_s:.1f}, database {server_s:.1f}"
    )
    return float(status["visits"]) / wall_s


if __name__ == "__main__":
    what, *rest = sys.argv[1:] or ["kills"]
    globals()[what](*map(int, rest))
