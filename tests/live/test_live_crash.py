"""A live crawl survives kill -9, full disks, broken stores, signals and clocks that jump."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from aiohttp.web import BaseRequest, StreamResponse
from benchmarks.crash import restarts

from recrawl.cli import main
from recrawl.errors import StoreError
from recrawl.live.calendar import Calendar
from recrawl.live.directory import CrawlDirectory
from recrawl.live.recorder import Noted
from recrawl.live.session import Session
from recrawl.live.store import Store
from recrawl.plan import Plan
from recrawl.recording.recording import Recording
from recrawl.simulate.render import Rendering
from recrawl.simulate.replay import ReplayServer
from support import forked, killed_process
from support.forked import forkserver
from support.kill_ordeal import ordeal
from support.live_crawls import Days, begun, seeds, settings
from support.manual_clock import ManualClock
from support.small_recordings import tables

POLICY, PLAN = "bayes", Plan(7.0, 10, warmup=1)


def weeks(crawl: CrawlDirectory, calendar: Days, first: int, last: int) -> None:
    with Session(crawl, POLICY, PLAN, clock=calendar) as session:
        for week in range(first, last + 1):
            calendar.day = 7.0 * week
            assert session.run_cycle()


def visits_of(crawl: CrawlDirectory) -> list[tuple[int, int]]:
    store = Store.open(crawl.state, read_only=True)
    rows = store.db.execute("select page, cycle from visits order by visit").fetchall()
    store.close()
    return rows


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "Traceback" not in said
    return said


def test_kill_9_at_random_moments_loses_nothing_doubles_nothing_and_stays_polite(tmp_path: Path) -> None:
    """Five kills: the server's log and the store agree, bodies have their digests, no host is asked too soon."""
    found = ordeal(tmp_path, kills=5, seed=7)
    assert not found.wrong
    assert found.visits >= 240
    assert found.slowest_restart_s < 5.0


def test_a_restart_takes_a_few_cpu_seconds_to_its_first_request(tmp_path: Path) -> None:
    """`recrawl run`, killed after its first requests and started again, computes for less than 4 s before it asks."""
    first_s, cpu_s = restarts(tmp_path, 2)
    assert max(first_s) < 120, "each of them came to ask"
    assert cpu_s[1] < 4.0, "CPU time, since other work may hold the processor; the first may compile kernels"


class HeldSitemaps(ReplayServer):
    """Answers the first sitemap, and lets the others wait for as long as it is told to."""

    holds = False
    answered = 0

    async def answer(self, request: BaseRequest) -> StreamResponse:
        while self.holds and self.answered and request.path == "/sitemap.xml":
            await asyncio.sleep(0.01)
        self.answered += request.path == "/sitemap.xml"
        return await super().answer(request)


@pytest.mark.parametrize("lives", [-1, 7], ids=["while asking", "while recording"])
def test_kill_9_amid_sitemaps_leaves_them_unheard_and_the_next_run_hears_them_once(tmp_path: Path, lives: int) -> None:
    """Whether some sitemaps are still to come or half of what they name is written: all of it counts, or nothing."""
    born = [10.0 if page % 3 == 0 else 0.0 for page in range(60)]
    recording = Recording.from_arrays(tables(100.0, [[] for _ in born], born=born, site=[p % 4 for p in range(60)]))
    days, policy, plan = Days(), killed_process.POLICY, killed_process.PLAN
    server = HeldSitemaps(Rendering(recording), days.now)
    with server:
        crawl = begun(tmp_path / "crawl", seeds(server), settings(signals=True))
        with Session(crawl, policy, plan) as session:
            assert session.run_cycle()
        known = asked_of(crawl, "select count(*) from pages")
        server.holds, days.day = lives < 0, 50.0
        child = forkserver().Process(target=killed_process.listen, args=(str(crawl.path), lives))
        child.start()
        deadline = time.monotonic() + 20
        while lives < 0 and not server.answered and time.monotonic() < deadline:
            time.sleep(0.01)
        if lives < 0:
            time.sleep(0.1)
            child.kill()
        child.join(20)
        server.holds = False
        assert (child.exitcode, server.answered > 0) == (-signal.SIGKILL, True)
        assert asked_of(crawl, "select count(*) from pages") == known == 40
        assert asked_of(crawl, "select count(*) from feeds where asked_cycle is not null") == 0
        assert asked_of(crawl, "select count(*) from cycles where heard is not null and cycle = 2") == 0
        with Session(crawl, policy, plan) as session:
            assert session.run_cycle()
    assert (
        asked_of(crawl, "select count(*) from pages") == asked_of(crawl, "select count(distinct url) from pages") == 60
    )
    assert asked_of(crawl, "select sum(pages) from templates") == 20
    assert asked_of(crawl, "select heard from cycles where cycle = 2 and done") == 4
    assert asked_of(crawl, "select count(*) from cycles") == 2
    assert sorted(visits_of(crawl)) == sorted([(p, 1) for p in range(40)] + [(p, 2) for p in visited(crawl, 2)])
    assert len(visited(crawl, 2)) <= plan.budget - 4


def asked_of(crawl: CrawlDirectory, question: str) -> int:
    store = Store.open(crawl.state, read_only=True)
    found = store.db.execute(question).fetchone()
    store.close()
    return int(found[0] or 0)


def visited(crawl: CrawlDirectory, cycle: int) -> set[int]:
    return {page for page, when in visits_of(crawl) if when == cycle}


def test_a_cycle_that_was_interrupted_goes_on_where_it_stopped(web: tuple[ReplayServer, Days], tmp_path: Path) -> None:
    """After a stop in mid-cycle, the next run visits the rest of the plan, each page once."""
    crawl = begun(tmp_path / "crawl", seeds(web[0]), settings(delay_s=0.1))
    calendar = web[1]
    calendar.day = 7.0
    seen = 0

    def stop_after_five(_: object) -> None:
        nonlocal seen
        seen += 1
        if seen == 5:
            session.stop()

    with Session(crawl, POLICY, PLAN, clock=calendar, watch=stop_after_five) as session:
        assert not session.run_cycle()
    stopped_with = len(visits_of(crawl))
    assert 5 <= stopped_with < 40
    with Session(crawl, POLICY, PLAN, clock=calendar) as session:
        opening = session.world.begin(1, 7.0, 40)
        assert (len(opening.announced), opening.spent) == (0, stopped_with)
        assert sorted([*opening.planned.tolist(), *visited(crawl, 1)]) == list(range(40))
        assert session.run_cycle()
    assert sorted(visits_of(crawl)) == [(page, 1) for page in range(40)]


@pytest.mark.parametrize("policy", ["bayes", "nutch(fill=yes)", "explore(lambdacrawl, 0.3)"])
def test_a_stop_in_the_middle_of_a_cycle_changes_no_choice(
    web: tuple[ReplayServer, Days], tmp_path: Path, policy: str
) -> None:
    """Stopped after a few of the second cycle's visits and started again, a crawl visits what it would have."""
    calendar, crawls = web[1], []
    for stops in (False, True):
        crawl = begun(tmp_path / f"{stops}", seeds(web[0]), settings(delay_s=0.1 if stops else 0.0))
        crawls.append(crawl)
        interrupted = 0

        def stop_early(noted: Noted, session: list[Session]) -> None:
            if stops and session[0].memory.cycle == 2 and len(visited(crawl, 2)) < 10:  # noqa: B023
                session[0].stop()

        while len(visited(crawl, 3)) < 10:
            held: list[Session] = []
            with Session(crawl, policy, PLAN, clock=calendar, watch=lambda n: stop_early(n, held)) as session:  # noqa: B023
                held.append(session)
                calendar.day = 7.0 * (session.memory.cycle + (session.store.running() is None))
                if not session.run_cycle():
                    interrupted += 1
                    stops = False
        assert interrupted == (crawl is not crawls[0])
    for cycle in (1, 2, 3):
        assert visited(crawls[0], cycle) == visited(crawls[1], cycle)


# -- disk -------------------------------------------------------------------------------------------------------------

FILL = """
import resource, sys
sys.path.insert(0, {tests!r})
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from recrawl.cli import main
sys.exit(main(["run", "-C", {crawl!r}, "--cycles", "9", "--every", "0.0000001", "--quiet"]))
"""


@pytest.mark.parametrize("limit", [60_000, 250_000])
def test_a_full_disk_ends_the_run_in_one_line_and_loses_nothing(
    web: tuple[ReplayServer, Days], crawl: CrawlDirectory, limit: int
) -> None:
    """Whether the body file or the store hits the limit: what was recorded stays, and the crawl resumes with space."""
    script = FILL.format(tests=str(Path(__file__).parents[1]), limit=limit, crawl=str(crawl.path))
    ended = forked.python("-c", script)
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.count("\n") == 1
    assert "full" in ended.stderr or "I/O" in ended.stderr
    before = visits_of(crawl)
    web[1].day = 7.0
    weeks(crawl, web[1], 1, 1)
    after = visits_of(crawl)
    assert after[: len(before)] == before
    assert len(set(after)) == len(after) >= 40
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


# -- stores -----------------------------------------------------------------------------------------------------------


def test_no_such_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every verb says so in one line."""
    for verb in (["run"], ["status"], ["pages"], ["show", "http://a.example/"], ["replay"], ["learn"]):
        assert main([verb[0], "-C", str(tmp_path / "nothing"), *verb[1:]]) == 2
        assert "is not a crawl" in one_line(capsys)


def test_a_store_of_another_version(crawl: CrawlDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    """A newer format is refused, not misread."""
    db = sqlite3.connect(crawl.state)
    db.execute("pragma user_version = 99")
    db.close()
    assert main(["run", "-C", str(crawl.path)]) == 2
    assert "format 99" in one_line(capsys)


def test_some_other_file_in_the_place_of_the_store(crawl: CrawlDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is not a store is told from a damaged one."""
    crawl.state.write_bytes(b"hello" * 1000)
    assert main(["status", "-C", str(crawl.path)]) == 2
    assert "not a recrawl store" in one_line(capsys)


def test_a_truncated_store_is_detected_at_open(
    web: tuple[ReplayServer, Days], crawl: CrawlDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half a store is refused before anything is fetched."""
    weeks(crawl, web[1], 1, 1)
    size = crawl.state.stat().st_size
    os.truncate(crawl.state, size // 2)
    asked = len(web[0].log)
    assert main(["run", "-C", str(crawl.path), "--cycles", "1"]) == 2
    assert "state.sqlite" in one_line(capsys)
    assert len(web[0].log) == asked


def test_a_corrupt_store_is_detected_at_open(
    web: tuple[ReplayServer, Days], crawl: CrawlDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rubbish in the middle of the file is found by the check on opening."""
    weeks(crawl, web[1], 1, 2)
    with crawl.state.open("r+b") as file:
        for page in range(2, crawl.state.stat().st_size // 4096):
            file.seek(4096 * page)
            file.write(b"\xff" * 200)
    assert main(["run", "-C", str(crawl.path), "--cycles", "1"]) == 2
    assert "corrupt" in one_line(capsys)


def test_a_second_run_on_the_same_crawl(crawl: CrawlDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    """Only one process crawls; readers, and pages for the next cycle, are welcome meanwhile."""
    with crawl.locked():
        assert main(["run", "-C", str(crawl.path)]) == 2
        assert "another process" in one_line(capsys)
        assert main(["add", "-C", str(crawl.path), "http://a.example/"]) == 0
        assert "the process that crawls adds them" in capsys.readouterr().out
        assert main(["status", "-C", str(crawl.path)]) == 0
    assert main(["status", "-C", str(crawl.path)]) == 0


def test_a_locked_store(
    crawl: CrawlDirectory, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program that holds the database is named as the reason."""
    monkeypatch.setattr("recrawl.live.store_file.BUSY_S", 0.1)
    other = sqlite3.connect(crawl.state, isolation_level=None)
    other.execute("begin immediate")
    assert main(["add", "-C", str(crawl.path), "http://a.example/"]) == 2
    assert "another process holds the store" in one_line(capsys)
    other.execute("rollback")
    other.close()


def test_missing_bodies_are_noticed(web: tuple[ReplayServer, Days], crawl: CrawlDirectory) -> None:
    """A store that knows of more bodies than there are is not continued."""
    weeks(crawl, web[1], 1, 1)
    shutil.rmtree(crawl.warc)
    crawl.warc.mkdir()
    with pytest.raises(StoreError, match="truncated"):
        weeks(crawl, web[1], 2, 2)


def test_what_a_crash_left_behind_the_last_record_is_cut_off(
    web: tuple[ReplayServer, Days], crawl: CrawlDirectory
) -> None:
    """Half a record at the end of the body file does no harm."""
    weeks(crawl, web[1], 1, 1)
    file = next(crawl.warc.glob("*.warc.gz"))
    size = file.stat().st_size
    with file.open("ab") as end:
        end.write(b"\x1f\x8b half a record")
    weeks(crawl, web[1], 2, 2)
    assert file.read_bytes()[size : size + 14] != b"\x1f\x8b half a rec"


# -- signals and clocks -----------------------------------------------------------------------------------------------


def test_sigterm_drains_in_under_ten_seconds_and_leaves_no_visit_half_done(
    web: tuple[ReplayServer, Days], tmp_path: Path
) -> None:
    """With a delay of two seconds a host the rest of the cycle would take minutes; the run ends at once, in order."""
    crawl = begun(tmp_path / "slow", seeds(web[0]), settings(delay_s=2.0))
    asked = len(web[0].log)
    process = subprocess.Popen(
        [sys.executable, "-m", "recrawl.cli", "run", "-C", str(crawl.path), "--cycles", "1"],
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 30
    while len(web[0].log) < asked + 8 and time.monotonic() < deadline:
        time.sleep(0.05)
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=15)
    assert time.monotonic() - began < 10
    assert process.returncode == 0, said
    assert "stopped" in said
    assert not crawl.is_locked()
    pages = [entry for entry in web[0].log[asked:] if entry.path != "/robots.txt"]
    assert len(visits_of(crawl)) == len(pages)


def test_a_crawl_that_sleeps_between_cycles_wakes_up_to_stop(
    web: tuple[ReplayServer, Days], crawl: CrawlDirectory
) -> None:
    """A signal during the long wait for the next cycle ends it."""
    with Session(crawl, POLICY, PLAN, clock=web[1]) as session:
        loop = session.runner.get_loop()
        threading.Timer(0.2, lambda: loop.call_soon_threadsafe(session.stop)).start()
        began = time.monotonic()
        session.wait_until(web[1].now() + 100.0)
        assert time.monotonic() - began < 5
        assert session.stopped


def test_a_clock_set_back_makes_no_negative_gaps_and_no_stall() -> None:
    """The crawl's calendar goes on from where it was; a jump ahead is taken over as it is."""
    clock = ManualClock(20_000.0)
    calendar = Calendar(clock, not_before=19_999.0)
    assert calendar.now() == 20_000.0
    clock.set_wall(19_000.0)
    assert calendar.now() == 20_000.0
    clock.advance(86_400.0)
    assert calendar.now() == pytest.approx(20_001.0)
    clock.set_wall(21_000.0)
    assert calendar.now() >= 21_000.0
    assert Calendar(ManualClock(10.0), not_before=500.0).now() == 500.0


@pytest.mark.parametrize("jump", [-3650.0, 3650.0])
def test_a_clock_that_jumps_ten_years_causes_no_mass_refetch(
    web: tuple[ReplayServer, Days], tmp_path: Path, jump: float
) -> None:
    """After a jump either way the next cycle makes the visits of one cycle, not those of ten years."""
    server, _ = web
    calendar = Days(5_000.0)
    crawl = begun(tmp_path / "jumps", seeds(server), settings())
    with Session(crawl, POLICY, PLAN, clock=calendar) as session:
        session.run_cycle()
        calendar.day += 7.0
        session.run_cycle()
        calendar.day += jump
        assert session.next_due_at() - session.clock.now() <= 7.0 + 1e-6
        calendar.day += 7.0
        session.run_cycle()
        due = session.next_due_at()
        assert due - session.clock.now() <= 7.0 + 1e-6
        assert float(np.nanmin(session.memory.unchanged_days)) >= 0
    assert len([cycle for _, cycle in visits_of(crawl) if cycle == 3]) == 10
