"""What tests of fleets share: crawls in a database, workers in threads, and what was visited."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from recrawl.live.directory import CrawlDirectory
from recrawl.live.facade import Crawl
from recrawl.live.fleet.fleet_worker import FleetWorker, WorkerThread
from recrawl.live.store_place import StoreSettings
from recrawl.simulate.replay import ReplayServer
from support.live_crawls import Days
from support.postgres_server import LocalServer

Web = tuple[ReplayServer, Days]


def in_database(postgres: LocalServer, toml: str, lease_s: float = 20.0) -> str:
    return f'{toml}\n[store]\nurl = "{postgres.new_database()}"\nlease_s = {lease_s}\n'


def place_of(directory: CrawlDirectory) -> StoreSettings:
    assert directory.database is not None
    return directory.database


@contextmanager
def workers(directory: CrawlDirectory, count: int, clock: Days | None = None) -> Iterator[list[WorkerThread]]:
    """Workers beside the planner."""
    threads = [
        WorkerThread(FleetWorker(place_of(directory), f"w{i}", directory.path, clock=clock)) for i in range(count)
    ]
    for thread in threads:
        thread.start()
    try:
        yield threads
    finally:
        for thread in threads:
            thread.end()
    assert [thread.worker.fault for thread in threads] == [None] * count


def chosen(directory: CrawlDirectory) -> dict[int, set[tuple[str, str]]]:
    """The URLs visited in each cycle, with what was found."""
    store = directory.open_store(read_only=True)
    found: dict[int, set[tuple[str, str]]] = {}
    for visit in store.all_visits():
        found.setdefault(visit["cycle"], set()).add((visit["url"], visit["outcome"]))
    store.close()
    return found


def wait_until(true: Callable[[], bool]) -> None:
    until_s = time.monotonic() + 60
    while not true() and time.monotonic() < until_s:
        time.sleep(0.02)
    assert true()


def visits_in(directory: CrawlDirectory) -> int:
    return int(Crawl(directory).status()["visits"])
