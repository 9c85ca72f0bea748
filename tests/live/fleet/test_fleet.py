"""A fleet: any number of workers choose and find what one process would; leases keep hosts apart."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest

from recrawl.clock import SystemClock
from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.live.facade import Crawl
from recrawl.live.fleet.fleet_worker import DatabaseClock, FleetWorker, WorkerThread
from recrawl.live.fleet.inbox_format import Reply, pack_reply, unpack_reply
from recrawl.live.fleet.store_fleet import FleetTables, LeaseLostError, tasks_from
from recrawl.live.postgres.store_postgres import PostgresStore
from recrawl.live.store_place import StoreSettings
from support.fleet_ordeal import fleet_ordeal
from support.fleets import Web, chosen, in_database, place_of, visits_in, wait_until, workers
from support.live_crawls import begun, seeds, settings
from support.loopback_servers import Answer, Asked, Loopback
from support.postgres_server import LocalServer

WEEKS = 3


def test_sqlite_one_worker_and_four_choose_the_same_pages(web: Web, postgres: LocalServer, tmp_path: Path) -> None:
    """The same seed visits the same pages with the same outcomes, whoever fetches them."""
    server, calendar = web
    toml, found = settings("bayes", signals=True), []
    for count in (0, 1, 4):
        calendar.day = 0.0
        text = toml if count == 0 else in_database(postgres, toml)
        directory = begun(tmp_path / f"crawl{count}", seeds(server), text)
        crawl = Crawl(directory, calendar)
        with workers(directory, max(0, count - 1), calendar), crawl:
            for week in range(WEEKS):
                calendar.day = 7.0 * week
                assert crawl.run(1, now=True).cycles == 1
        found.append(chosen(directory))
    assert len(found[0]) == WEEKS
    assert found[1] == found[0]
    assert found[2] == found[0]


def test_kills_lose_nothing_and_stay_polite(postgres: LocalServer, tmp_path: Path) -> None:
    """After kill -9 of planner and workers every visit that the database took is recorded once; no host is hurried."""
    found = fleet_ordeal(tmp_path, postgres, kills=4, workers=2, pages=60, sites=6)
    assert found.wrong == []
    assert found.visits >= 60


def test_a_drained_worker_gives_its_sites_to_the_others(web: Web, postgres: LocalServer, tmp_path: Path) -> None:
    """A worker that is asked to stop records what it found and frees its sites at once, not when its lease is over."""
    server, calendar = web
    calendar.day = 0.0
    directory = begun(tmp_path / "crawl", seeds(server), in_database(postgres, settings(delay_s=0.05), lease_s=300.0))
    done: list[int] = []
    planner = threading.Thread(
        target=lambda: done.append(Crawl(directory).run(1, planner_only=True).cycles), daemon=True
    )
    with workers(directory, 1) as first:
        planner.start()
        wait_until(lambda: visits_in(directory) > 0)
        assert [each["name"] for each in Crawl(directory).status()["workers"]] == ["w0"]
        first[0].end()
        assert Crawl(directory).status()["workers"] == []
        with workers(directory, 1):
            planner.join(60)
    assert done == [1]
    assert len(chosen(directory)[1]) == len(seeds(server))


# -- leases -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def fleet(postgres: LocalServer) -> Iterator[FleetTables]:
    place = StoreSettings(postgres.new_database())
    PostgresStore.create_in(place, "")
    store = PostgresStore.open_in(place)
    yield FleetTables(store.db)
    store.close()


def end_lease(fleet: FleetTables, worker: int) -> None:
    fleet.db.execute("update workers set alive_until = clock_timestamp() where worker = ?", (worker,))


def test_a_session_whose_lease_is_over_records_nothing(fleet: FleetTables) -> None:
    """Fenced: once another may own its sites, a late worker can neither record nor renew; the inbox stays as it was."""
    one, two = fleet.join("one", 60), fleet.join("two", 60)
    fleet.open_cycle(1, None)
    fleet.add_tasks(1, tasks_from(1, [("a.org", "page", 0, "{}"), ("b.org", "page", 1, "{}")]))
    assert fleet.claim(one, 9) == {"a.org": 1, "b.org": 2}
    assert fleet.claim(two, 9) == {}
    record = pack_reply(Reply("released"))
    fleet.send(one, [(1, 1, 1, record)], [("a.org", "a.org", "{}")], [])
    end_lease(fleet, one)
    assert fleet.claim(two, 9) == {"a.org": 1, "b.org": 2}
    assert [task.task for task in fleet.tasks_of(1, ["a.org", "b.org"], 0)] == [2]
    for late in (
        lambda: fleet.send(one, [(1, 2, 2, record)], [], []),
        lambda: fleet.renew(one, 60),
        lambda: fleet.claim(one, 1),
        lambda: fleet.leave(one),
    ):
        with pytest.raises(LeaseLostError):
            late()
    assert [(entry.worker, entry.number) for entry in fleet.read_inbox(1, 10)] == [(one, 1)]
    fleet.mark_read({one: 1})
    assert fleet.read_inbox(1, 10) == []


def test_a_redirect_does_not_lead_onto_another_workers_site(fleet: FleetTables) -> None:
    """A site that another living worker owns cannot be claimed; a free one and one's own can."""
    one, two = fleet.join("one", 60), fleet.join("two", 60)
    assert fleet.claim_site(one, "a.org")
    assert fleet.claim_site(one, "a.org")
    assert not fleet.claim_site(two, "a.org")
    fleet.release(one, {"a.org": 0})
    assert fleet.claim_site(two, "a.org")


def test_a_redirect_to_another_workers_site_is_followed_by_its_owner(postgres: LocalServer, tmp_path: Path) -> None:
    """Pages of one worker's site that lead to another's are visited at once and politely, as in one process."""
    delay_s, asked = 0.05, list[tuple[float, str, str]]()

    def answer(request: Asked) -> Answer:
        host = request.headers["host"]
        asked.append((time.monotonic(), host, request.path))
        if request.path == "/robots.txt":
            return 404, {}, b""
        if host.startswith("from"):
            return 301, {"Location": f"http://{host.replace('from', 'to')}/moved{request.path[1:]}"}, b""
        return 200, {}, f"<html><title>{request.path}</title><p>words of {request.path}</html>".encode()

    with Loopback(answer) as server:
        urls = [f"http://{host}.replay:{server.port}/{i}" for host in ("from", "to") for i in range(30)]
        found = []
        for count in (0, 2):
            asked.clear()
            text = settings(delay_s=delay_s)
            directory = begun(tmp_path / str(count), urls, text if count == 0 else in_database(postgres, text))
            with workers(directory, count):
                began = time.monotonic()
                assert Crawl(directory).run(1, planner_only=count > 0).cycles == 1
                took_s = time.monotonic() - began
            found.append(chosen(directory)[1])
            times = sorted(at for at, host, _ in asked if host.startswith("to"))
            assert min(b - a for a, b in pairwise(times)) >= delay_s
            assert sum(path.startswith("/moved") for _, _, path in asked) == 30
    assert took_s < 20
    with psycopg.connect(place_of(directory).url) as connection:
        handed_on = connection.execute("select count(*) from tasks where request like '%\"hops\"%'").fetchone()
    assert handed_on is not None
    assert handed_on[0] > 0
    assert {outcome for _, outcome in found[0]} == {"first"}
    assert found[1] == found[0]


def test_a_new_cycle_drops_the_tables_of_the_last(fleet: FleetTables) -> None:
    """Plan and inbox do not grow: the partitions of a cycle go when the next begins, with the sessions that ended."""
    worker = fleet.join("one", 60)
    for cycle in (1, 2, 11):
        fleet.open_cycle(cycle, 60.0)
        fleet.add_tasks(cycle, tasks_from(fleet.last_task() + 1, [("a.org", "page", 0, "{}")]))
    rows = fleet.db.execute("select relname from pg_class where relname ~ '^(tasks|inbox)_[0-9]+$' order by 1")
    assert [name for (name,) in rows] == ["inbox_11", "tasks_11"]
    assert fleet.look().cycle == 11
    assert list(fleet.claim(worker, 5)) == ["a.org"]


def test_records_are_read_as_they_were_written(web: Web, tmp_path: Path) -> None:
    """What a worker writes of an answer is what the planner reads, headers and body included."""
    result = FetchResult("http://a.org/", Kind.OK, 1.5, "http://a.org/x", status=200, attempts=2, body=b"\0\xff")
    result = result._replace(headers=(("etag", '"x"'),))
    assert unpack_reply(pack_reply(Reply("answer", result))) == Reply("answer", result)


class Skewed(SystemClock):
    """A machine whose clock is wrong by some days, and is set by as much again whenever somebody looks."""

    def __init__(self, days: float) -> None:
        self.days = self._more = days

    def now(self) -> float:
        self.days += self._more
        return super().now() + self.days


def test_clocks_of_workers_are_set_by_the_database(web: Web, postgres: LocalServer, tmp_path: Path) -> None:
    """Workers a year ahead, a day behind, and of a clock that jumps date visits alike, and hold their leases alike."""
    server, calendar = web
    calendar.day = 0.0
    directory = begun(tmp_path / "crawl", seeds(server), in_database(postgres, settings(delay_s=0.2), lease_s=3.0))
    threads = [
        WorkerThread(FleetWorker(place_of(directory), f"w{i}", directory.path, machine_clock=Skewed(days)))
        for i, days in enumerate((365.0, -1.0))
    ]
    for thread in threads:
        thread.start()
    planner = threading.Thread(target=lambda: Crawl(directory).run(1, planner_only=True), daemon=True)
    try:
        wait_until(lambda: len(Crawl(directory).status()["workers"]) == 2)
        planner.start()
        left: list[float] = []
        while planner.is_alive():
            alive = Crawl(directory).status()["workers"]
            assert len(alive) == 2  # neither lost its lease, nor holds one for a year
            left += [each["lease_left_s"] for each in alive]
            time.sleep(0.05)
    finally:
        for thread in threads:
            thread.end()
    assert max(left) <= 3.0
    assert [thread.worker.fault for thread in threads] == [None, None]
    store = directory.open_store(read_only=True)
    times = [visit["at"] for visit in store.all_visits()]
    store.close()
    assert len(times) == len(seeds(server))
    assert max(abs(at - SystemClock().now()) for at in times) < 0.01
    assert DatabaseClock(Skewed(365.0), 86_400.0 * 3).now() == pytest.approx(3.0, abs=1e-3)
