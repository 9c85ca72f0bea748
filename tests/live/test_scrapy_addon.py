"""A real Scrapy project with the one line, against a recorded web served on loopback."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recrawl.live.facade import Crawl
from recrawl.live.store import Store
from recrawl.recording.recording import Recording
from recrawl.simulate.replay import ReplayServer
from support import live_crawls
from support.live_crawls import Days
from support.scrapy_runs import Project
from support.served_crawls import served_here, serving
from support.small_recordings import tables

PAGES = 40


@pytest.fixture
def calendar() -> Days:
    return Days(0.5)


@pytest.fixture
def server(calendar: Days) -> Iterator[ReplayServer]:
    """One site: page 0 links to 1 to 6, each of those to six more; every third page changes each day."""
    links = [(0, 0.0, page) for page in range(1, 7)]
    links += [(1 + (page - 7) % 6, 0.0, page) for page in range(7, PAGES)]
    changes = [[day + 0.25 for day in range(1, 9)] if page % 3 == 0 else [] for page in range(PAGES)]
    recording = Recording.from_arrays(tables(10.0, changes, links=links))
    with live_crawls.served(recording, calendar) as server:
        yield server


def test_the_budget_is_exact_and_items_are_the_changed_pages(
    tmp_path: Path, server: ReplayServer, calendar: Days
) -> None:
    """Run 1 sees all pages; later runs ask exactly the budget, and give items of what changed, deep pages too."""
    project = Project(tmp_path, server)
    stats, items = project.run()
    assert (stats, sorted(items)) == ({"recrawl/first": PAGES}, list(range(PAGES)))
    assert len(project.asked) == PAGES
    held = dict.fromkeys(range(PAGES), 0)
    for day in (2, 3, 4):
        calendar.day = day + 0.5
        stats, items = project.run(RECRAWL_BUDGET=15, RECRAWL_ONLY_CHANGED=True)
        assert len(project.asked) == 15
        version = {page: server.rendering.version(page, calendar.day) for page, _ in project.asked}
        truth = {page for page in version if version[page] != held[page]}
        assert sorted(items) == sorted(truth)
        assert stats.get("recrawl/changed", 0) == len(truth)
        assert stats.get("recrawl/unchanged", 0) == 15 - len(truth)
        assert {page for page, status in project.asked if status == 304} == set(version) - truth
        held |= version
    assert any(page > 6 for page, _ in project.asked)


def test_a_killed_run_loses_nothing(tmp_path: Path, server: ReplayServer, calendar: Days) -> None:
    """After kill -9 the next run goes on: what is recorded gave its item, what had not is fetched again."""
    project = Project(tmp_path, server)
    project.run()
    calendar.day = 2.5
    _, before = project.run(-9, RECRAWL_BUDGET=30, RECRAWL_ONLY_CHANGED=True, DIE_AFTER=4)
    asked = [page for page, _ in project.asked]
    assert len(before) == 4
    store = Store.open(tmp_path / "crawl" / "state.sqlite", read_only=True)
    cycle, recorded = store.last_cycle(), store.visits_in(2)
    store.close()
    assert cycle is not None
    assert not cycle.done
    _, after = project.run(RECRAWL_BUDGET=30, RECRAWL_ONLY_CHANGED=True)
    assert len(project.asked) == 30 - recorded
    asked += [page for page, _ in project.asked]
    changed = {page for page in asked if page % 3 == 0}
    assert set(before) | set(after) == changed
    store = Store.open(tmp_path / "crawl" / "state.sqlite", read_only=True)
    assert store.visits_in(2) == 30
    store.close()
    assert set(Counter(asked).values()) <= {1, 2}


def test_a_project_with_its_own_scheduler_keeps_it(tmp_path: Path, server: ReplayServer) -> None:
    """Requests that pass recrawl by go to the scheduler that the project had, and only those."""
    project = Project(tmp_path, server)
    passed = f"{project.start}?login=1"
    stats, items = project.run(passed=passed, SCHEDULER="__main__.OwnScheduler", RECRAWL_BUDGET=5)
    assert (stats["recrawl/first"], len(items)) == (5, 5)
    assert set((tmp_path / "own.txt").read_text().split()) == {passed}
    assert stats["recrawl/passed"] == 5
    assert len(project.asked) == 6  # five pages, and the passed request once: the others are its duplicates


def test_without_the_switch_every_answer_reaches_its_callback(
    tmp_path: Path, server: ReplayServer, calendar: Days
) -> None:
    """By default callbacks see unchanged pages too, where the server sends them; 304 has nothing to show."""
    project = Project(tmp_path, server)
    project.run()
    calendar.day = 2.5
    stats, items = project.run()
    changed = [page for page in range(PAGES) if page % 3 == 0]
    assert sorted(items) == changed
    assert stats == {"recrawl/changed": len(changed), "recrawl/unchanged": PAGES - len(changed)}


def steering(budget: int, policy: str = "bayes", every: str = "1d") -> str:
    return f'[crawl]\npolicy = "{policy}"\nevery = "{every}"\nbudget = "{budget}"\nwarmup = 1\n'


def test_two_processes_share_the_planner_of_a_server(tmp_path: Path, server: ReplayServer, calendar: Days) -> None:
    """Together they ask exactly the cycle's budget, no page twice, and give items of the changed pages only."""
    project = Project(tmp_path, server)
    crawl = Crawl.create(tmp_path / "served", steering(15), clock=calendar)
    crawl.add(*(server.rendering.url(page, server.port) for page in range(PAGES)))
    with served_here(tmp_path / "served", calendar) as planner:
        shared: dict[str, Any] = {"RECRAWL_URL": f"http://127.0.0.1:{planner.port}", "RECRAWL_ONLY_CHANGED": True}
        stats, items = project.run_two(**shared)
        assert (dict(stats), sorted(items)) == ({"recrawl/first": PAGES}, list(range(PAGES)))
        assert sorted(page for page, _ in project.asked) == list(range(PAGES))
        held = dict.fromkeys(range(PAGES), 0)
        for day in (2, 3):
            calendar.day = day + 0.5
            stats, items = project.run_two(**shared)
            version = {page: server.rendering.version(page, calendar.day) for page, _ in project.asked}
            assert len(project.asked) == len(version) == 15
            truth = sorted(page for page in version if version[page] != held[page])
            assert sorted(items) == truth
            assert stats["recrawl/changed"] == len(truth)
            assert stats["recrawl/unchanged"] == 15 - len(truth)
            held |= version
        status = planner.get("/v1/status").json
        assert (status["visits"], status["pages"]) == (PAGES + 30, PAGES)
        assert planner.get("/v1/leases").lines == []
    assert not (tmp_path / "crawl").exists()


def test_a_run_on_a_served_crawl_keeps_its_own_budget(tmp_path: Path, server: ReplayServer) -> None:
    """By `recrawl serve` with a token: RECRAWL_BUDGET bounds this process; the next one goes on; kill -9 loses none."""
    project = Project(tmp_path, server)
    crawl = Crawl.create(tmp_path / "served", steering(30))
    crawl.add(*(server.rendering.url(page, server.port) for page in range(30)))
    with serving(tmp_path / "served", "--token-file", str(tmp_path / "token")) as planner:
        planner.token = (tmp_path / "token").read_text().strip()
        shared: dict[str, Any] = {"RECRAWL_URL": f"http://127.0.0.1:{planner.port}", "RECRAWL_TOKEN": planner.token}
        stats, first = project.run(RECRAWL_BUDGET=10, **shared)
        assert (stats, len(project.asked), len(first)) == ({"recrawl/first": 10}, 10, 10)
        _, before = project.run(-9, RECRAWL_BUDGET=12, DIE_AFTER=3, **shared)
        assert len(before) == 3
        assert planner.get("/v1/status").json["visits"] == 10
        leased = planner.get("/v1/leases").lines
        assert len(leased) == 12
        for row in leased:  # as when their time is over
            assert planner.ask("DELETE", f"/v1/leases/{row['lease']}").status == 204
        stats, after = project.run(**shared)
        assert (stats, len(project.asked)) == ({"recrawl/first": 20}, 20)
        assert set(before) <= set(after)
        assert set(first).isdisjoint(after)
        assert planner.get("/v1/status").json["visits"] == 30


def test_items_are_the_changed_pages_of_several_days_by_a_server_process(
    tmp_path: Path, server: ReplayServer, calendar: Days
) -> None:
    """By `recrawl serve`, cycle for cycle: items equal the recording's truth among the pages that were asked for."""
    project = Project(tmp_path, server)
    crawl = Crawl.create(tmp_path / "served", steering(15, every="1d"), clock=calendar)
    crawl.add(*(server.rendering.url(page, server.port) for page in range(PAGES)))
    version = dict.fromkeys(range(PAGES), -1)
    today = tmp_path / "day"
    today.write_text("0")
    with serving(tmp_path / "served", day=today) as planner:
        shared: dict[str, Any] = {"RECRAWL_URL": f"http://127.0.0.1:{planner.port}", "RECRAWL_ONLY_CHANGED": True}
        for day, budget in ((0, PAGES), (2, 15), (3, 15)):
            calendar.day = day + 0.5
            (tmp_path / "next day").write_text(str(calendar.day))
            (tmp_path / "next day").replace(today)  # at once: the server may be reading it
            stats, items = project.run(RECRAWL_BUDGET=budget, RECRAWL_POLICY=None, **shared)
            now = {page: server.rendering.version(page, calendar.day) for page, _ in project.asked}
            truth = sorted(page for page in now if now[page] != version[page])
            assert (len(project.asked), sorted(items), project.reason) == (budget, truth, "finished")
            assert sum(stats.values()) == budget
            version |= now
        assert planner.get("/v1/status").json["visits"] == PAGES + 30
    assert any(page % 3 == 0 for page in truth)


@pytest.mark.parametrize(
    ("settings", "line", "reason"),
    [
        ({"RECRAWL_URL": "http://127.0.0.1:9"}, "http://127.0.0.1:9 cannot be reached", "recrawl_unreachable"),
        ({"RECRAWL_POLICY": "agee"}, "unknown policy 'agee'", "recrawl_error"),
    ],
)
def test_a_run_that_cannot_begin_says_why_in_one_line(
    tmp_path: Path, server: ReplayServer, settings: dict[str, str], line: str, reason: str
) -> None:
    """No traceback and no request, also none that would pass by: the spider closes with the reason."""
    project = Project(tmp_path, server)
    told: dict[str, Any] = {"RECRAWL_POLICY": None, **settings}
    stats, items = project.run(passed=f"{project.start}?login=1", **told)
    assert (stats, items, project.asked, project.reason) == ({}, [], [], reason)
    assert [line in each for each in project.log.splitlines()].count(True) == 1
    assert line in project.log.splitlines()[0]
