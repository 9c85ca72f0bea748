"""A fleet: any number of workers choose and find what one process would, and bad input is one line."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import psycopg
import pytest

from recrawl.cli import main
from recrawl.clock import SystemClock
from recrawl.errors import StoreError
from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.live.bodies import Bodies
from recrawl.live.directory import CrawlDirectory
from recrawl.live.facade import Crawl
from recrawl.live.fleet import worker_session
from recrawl.live.fleet.fleet_worker import DatabaseClock, FleetWorker, WorkerThread
from recrawl.live.fleet.fleet_world import FleetFetcher, FleetLanes
from recrawl.live.fleet.inbox_format import Reply, pack_reply, unpack_reply
from recrawl.live.fleet.store_fleet import FleetTables, LeaseLostError, tasks_from
from recrawl.live.postgres import store_pg_schema
from recrawl.live.postgres.store_postgres import PostgresStore
from recrawl.live.recorder import Recorder
from recrawl.live.session import Session
from recrawl.live.site_settings import SiteSettings
from recrawl.live.standing import Standing
from recrawl.live.store_place import StoreSettings
from recrawl.memory import Memory
from recrawl.simulate.replay import ReplayServer
from recrawl.urls.traps import DiscoveryBudget
from recrawl.urls.url import host_of
from support.fleet_ordeal import fleet_ordeal
from support.live_crawls import Days, begun, seeds, settings
from support.loopback_servers import Answer, Asked, Loopback
from support.postgres_server import LocalServer

WEEKS = 3
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


def wait_until(true: Callable[[], bool]) -> None:
    until_s = time.monotonic() + 60
    while not true() and time.monotonic() < until_s:
        time.sleep(0.02)
    assert true()


def visits_in(directory: CrawlDirectory) -> int:
    return int(Crawl(directory).status()["visits"])


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


@contextmanager
def planner_lanes(
    postgres: LocalServer, folder: Path, urls: Sequence[str], slow_s: Callable[[str], float] = lambda _: 0.0
) -> Iterator[Callable[[], FleetLanes]]:
    """Yield a maker of a planner's lanes, each as after a restart, on one database with these pages, in cycle 1."""
    place = StoreSettings(postgres.new_database())
    PostgresStore.create_in(place, "")
    store = PostgresStore.open_in(place)
    store.load_index()
    hosts = [host_of(url) for url in urls]
    with store.transaction():
        store.add_pages(urls, hosts, 1.0)
    sites = np.unique(hosts, return_inverse=True)[1].astype(np.int32)
    fleet, memory = FleetTables(store.db), Memory(np.arange(len(urls)), sites)
    recorder = Recorder(store, Bodies(folder), None, lambda _: True, DiscoveryBudget(), lambda _: None)
    standing = Standing(store, FleetFetcher(fleet, SystemClock()), memory)
    fleet.open_cycle(1, None)

    def begun_lanes() -> FleetLanes:
        lanes = FleetLanes(fleet, recorder, standing, lambda _: SiteSettings(), asyncio.Event(), slow_s)
        lanes.begin(1)
        return lanes

    yield begun_lanes
    store.close()


def released(url: str) -> bytes:
    return pack_reply(Reply("released", FetchResult(url, Kind.HOST_PAUSED, 1.0)))


async def round_s(lanes: FleetLanes, new: int) -> float:
    began_s = time.monotonic()
    await lanes.run(asyncio.get_running_loop().create_future(), new)
    return time.monotonic() - began_s


@pytest.mark.parametrize("pace_s", [0.0, 30.0])
def test_a_round_does_not_wait_for_a_slow_host(pace_s: float, postgres: LocalServer, tmp_path: Path) -> None:
    """It ends when all but the pages of a host with a long delay are in; a host not known to be slow gets patience."""
    urls = ["http://fast.org/1", "http://fast.org/2", "http://slow.org/"]
    paces = {"slow.org": pace_s}
    with planner_lanes(postgres, tmp_path, urls, lambda host: paces.get(host, 0.0)) as begun_lanes:
        lanes = begun_lanes()
        lanes.patience_s = 1.0
        lanes.add(enumerate(map(host_of, urls)))
        worker = lanes.fleet.join("one", 60)
        lanes.fleet.send(worker, [(1, number, number, released(urls[number - 1])) for number in (1, 2)], [], [])
        assert (asyncio.run(round_s(lanes, 3)) < 1.0) == (pace_s > 0)
        assert sorted(lanes.released) == [0, 1]
        lanes.fleet.send(worker, [(1, 3, 3, released(urls[2]))], [], [])
        asyncio.run(round_s(lanes, 3))
        assert sorted(lanes.released) == [0, 1, 2]


def test_answers_that_wait_are_not_passed_over_while_a_file_is_asked_for(postgres: LocalServer, tmp_path: Path) -> None:
    """A planner that is started again probes hosts and reads sitemaps before it knows which pages are still planned."""
    urls = ["http://a.org/1", "http://a.org/2"]
    with planner_lanes(postgres, tmp_path, urls) as begun_lanes:
        before = begun_lanes()
        before.add(enumerate(map(host_of, urls)))
        worker = before.fleet.join("one", 60)
        before.fleet.send(worker, [(1, number, number, released(urls[number - 1])) for number in (1, 2)], [], [])

        lanes = begun_lanes()

        async def asked_and_visited() -> Reply | None:
            asking = asyncio.ensure_future(lanes.ask("robots", "http://b.org/", {"again": True}))
            while lanes.fleet.last_task() < 3:
                await asyncio.sleep(0.01)
            lanes.fleet.send(worker, [(1, 3, 3, pack_reply(Reply("answer", extra={"answered": True})))], [], [])
            reply = await asking
            lanes.add(enumerate(map(host_of, urls)))
            await asyncio.wait_for(round_s(lanes, 0), 10)
            return reply

        reply = asyncio.run(asked_and_visited())
        assert reply is not None
        assert reply.extra == {"answered": True}
        assert sorted(lanes.released) == [0, 1]


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


# -- bad input --------------------------------------------------------------------------------------------------------


def one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    assert "Traceback" not in error
    return error


def test_a_database_that_cannot_be_used(
    postgres: LocalServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong address, no such database, no permission, a password in the address: one line, and no folder is left."""
    url = postgres.new_database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create role guest_of_tests login")
        connection.execute("revoke all on schema public from public")
    for bad, said in (
        ("mysql://x/y", "must be postgresql://"),
        ("postgresql://u:hunter2@127.0.0.1/x", "has a password"),
        ("postgresql://u@127.0.0.1:1/x", "nobody answers"),
        ("postgresql://u@127.0.0.1:port/x", "no number"),
        (postgres.url("nothing_here"), "does not exist"),
        (url.replace("postgres@", "guest_of_tests@"), "permission"),
    ):
        error = one_line(["init", str(tmp_path / "crawl"), "--store", bad], capsys)
        assert said in error or "no such database" in error, error
        assert "hunter2" not in error
        assert not (tmp_path / "crawl").exists()
        error = one_line(["work", "--store", bad, "--name", "w1", "-C", str(tmp_path / "w")], capsys)
        assert "hunter2" not in error
    assert main(["init", str(tmp_path / "crawl"), "--store", url]) == 0
    assert "has a crawl already" in one_line(["init", str(tmp_path / "other"), "--store", url], capsys)
    guest = url.replace("postgres@", "guest_of_tests@")
    assert "no permission" in one_line(["work", "--store", guest, "--name", "w", "-C", str(tmp_path / "w")], capsys)
    assert "letters" in one_line(["work", "--store", url, "--name", "../w", "-C", str(tmp_path)], capsys)
    assert "no recrawl.toml" in one_line(["work", "--name", "w", "-C", str(tmp_path / "none")], capsys)


def test_a_run_whose_own_worker_cannot_work_ends(
    postgres: LocalServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a bucket that does not answer, `run` does not wait for a worker that never comes: one line says why."""
    folder = tmp_path / "crawl"
    assert main(["init", str(folder), "--store", postgres.new_database()]) == 0
    settings = folder / "recrawl.toml"
    bucket = '[bodies]\nto = "s3://none/x"\nendpoint = "http://127.0.0.1:9"\n'
    settings.write_text(settings.read_text().replace("[bodies]\n", bucket))
    assert main(["add", "-C", str(folder), "http://127.0.0.1:9/"]) == 0
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    capsys.readouterr()
    assert main(["run", "-C", str(folder), "--cycles", "1", "--now"]) == 2
    said = capsys.readouterr().err
    assert [line for line in said.splitlines() if "s3://none/x" in line] == said.splitlines()[-1:], said


def test_a_store_of_another_version(
    postgres: LocalServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer format is refused in one line by everything; an older one is brought here by its steps, in one go."""
    url = postgres.new_database()
    folder = str(tmp_path / "crawl")
    assert main(["init", folder, "--store", url]) == 0
    set_format(url, 99)
    for words in (["status", "-C", folder], ["run", "-C", folder, "--cycles", "1"], ["upgrade", "-C", folder]):
        assert "use a newer recrawl" in one_line(words, capsys)
    assert "use a newer recrawl" in one_line(["work", "--store", url, "--name", "w", "-C", folder], capsys)
    set_format(url, 3)
    assert "recrawl upgrade" in one_line(["status", "-C", folder], capsys)
    assert "from format 4 on" in one_line(["upgrade", "-C", folder], capsys)
    monkeypatch.setitem(store_pg_schema.STEPS, 3, AS_IN_FORMAT_4)
    assert main(["upgrade", "-C", folder]) == 0
    assert main(["status", "-C", folder]) == 0


def test_a_server_that_is_too_old(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A server that says it is PostgreSQL 13 is refused in one line, by everything that opens a store."""
    with socket.create_server(("127.0.0.1", 0)) as listens:
        threading.Thread(target=greet_as, args=(listens, b"13.4"), daemon=True).start()
        url = f"postgresql://u@127.0.0.1:{listens.getsockname()[1]}/x?sslmode=disable&gssencmode=disable"
        for words in (["init", str(tmp_path / "crawl")], ["work", "--name", "w", "-C", str(tmp_path)]):
            assert "PostgreSQL 13; take 14 or newer" in one_line([*words, "--store", url], capsys)
    assert not (tmp_path / "crawl").exists()


def greet_as(listens: socket.socket, version: bytes) -> None:
    """Let clients in as a server of this version does: authenticated, its version, ready."""
    said = b"server_version\0" + version + b"\0"
    while True:
        try:
            client, _ = listens.accept()
        except OSError:
            return
        client.recv(1_000)
        client.sendall(b"R\0\0\0\x08\0\0\0\0S" + (len(said) + 4).to_bytes(4, "big") + said + b"Z\0\0\0\x05I")


AS_IN_FORMAT_4 = """
alter table pages add column extra bigint;
alter table first_links drop column targets;
alter table first_links alter column links type text using '';
"""


def set_format(url: str, number: int) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("update meta set value = %s where key = 'format'", (str(number),))


def test_a_database_that_becomes_read_only_loses_no_visit(
    web: Web, postgres: LocalServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A full or read-only database stops a run in one line; what was recorded is there, and a later run goes on."""
    server, calendar = web
    calendar.day = 0.0
    directory = begun(tmp_path / "crawl", seeds(server), in_database(postgres, settings()))
    url = place_of(directory).url
    name = url.partition("@/")[2].partition("?")[0]
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(f"alter database {name} set default_transaction_read_only = on".encode())
        assert "read-only" in one_line(["run", "-C", str(directory.path), "--cycles", "1", "--quiet"], capsys)
        assert "read-only" in one_line(["work", "--name", "w", "-C", str(directory.path)], capsys)
        connection.execute(f"alter database {name} reset default_transaction_read_only".encode())
    assert Crawl(directory).run(1).cycles == 1
    assert visits_in(directory) == len(seeds(server))


def test_a_full_database_loses_no_visit(
    web: Web, postgres: LocalServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the database's disk is full while visits are recorded, a run ends in one line, and a later one goes on."""
    server, calendar = web
    calendar.day = 0.0
    directory = begun(tmp_path / "crawl", seeds(server), in_database(postgres, settings()))
    with psycopg.connect(place_of(directory).url, autocommit=True) as connection:
        connection.execute(
            "create function full_disk() returns trigger language plpgsql as"
            " $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$"
        )
        connection.execute("create trigger full_disk before insert on visits execute function full_disk()")
        assert "disk is full" in one_line(["run", "-C", str(directory.path), "--cycles", "1", "--quiet"], capsys)
        connection.execute("drop trigger full_disk on visits")
    assert Crawl(directory).run(1).cycles == 1
    assert visits_in(directory) == len(seeds(server))
    pages = [url for url, _ in chosen(directory)[1]]
    assert len(pages) == len(set(pages))


def test_a_cycle_whose_end_is_on_disk_is_not_run_again(web: Web, postgres: LocalServer, tmp_path: Path) -> None:
    """A connection that is lost just after a cycle was recorded as done does not make the next cycle come early."""
    server, calendar = web
    calendar.day = 0.0
    directory = begun(tmp_path / "crawl", seeds(server), in_database(postgres, settings()))
    with psycopg.connect(place_of(directory).url, autocommit=True) as connection:
        connection.execute(
            "create sequence ends; create function cut() returns trigger language plpgsql as $$ begin"
            " if nextval('ends') = 1 then perform pg_terminate_backend(pg_backend_pid()); end if; return old; end $$;"
            "create trigger cut before delete on fleet for each row execute function cut()"
        )
        assert Crawl(directory).run(1).cycles == 1
        assert connection.execute("select last_value from ends").fetchone() == (2,)
        assert connection.execute("select count(*), sum(done) from cycles").fetchone() == (1, 1)


def test_a_worker_that_cannot_record_ends_its_run(
    web: Web, postgres: LocalServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is lost in the middle of a host's tasks, for a moment only, is one line; a later run asks it again."""
    server, calendar = web
    calendar.day = 0.0
    directory = begun(tmp_path / "crawl", seeds(server), in_database(postgres, settings()))
    monkeypatch.setattr(worker_session, "GROUP", 1)  # recorded by the task itself, not at the next look
    with psycopg.connect(place_of(directory).url, autocommit=True) as connection:
        connection.execute(
            "create sequence sends; create function full_disk() returns trigger language plpgsql as $$ begin"
            " if nextval('sends') = 5 then raise exception 'could not extend file' using errcode = '53100'; end if;"
            " return new; end $$;"
            "create trigger full_disk before insert on inbox for each row execute function full_disk()"
        )
        assert "disk is full" in one_line(["run", "-C", str(directory.path), "--cycles", "1", "--quiet"], capsys)
    assert Crawl(directory).run(1).cycles == 1
    assert visits_in(directory) == len(seeds(server))


def test_only_one_planner(web: Web, postgres: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second planner, from another folder or machine, is refused; what is added meanwhile waits for the first."""
    from recrawl.live.postgres import store_postgres

    monkeypatch.setattr(store_postgres, "LOCK_S", 0.1)
    directory = begun(tmp_path / "crawl", seeds(web[0]), in_database(postgres, settings()))
    name, plan = Crawl(directory).steering()
    with Session(directory, name, plan, clock=web[1]):
        assert Crawl(directory).is_held()
        with pytest.raises(StoreError, match="another process"):
            Crawl(CrawlDirectory.open(directory.path)).run(1)
        assert Crawl(directory).add("http://s0.replay/more")[0] == 1
    assert not Crawl(directory).is_held()
