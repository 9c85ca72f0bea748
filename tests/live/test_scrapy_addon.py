"""A real Scrapy project with the one line, against a recorded web served on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recrawl.live.store import Store
from recrawl.recording.recording import Recording
from recrawl.simulate.replay import ReplayServer
from support import live_crawls
from support.live_crawls import Days
from support.small_recordings import tables

pytest.importorskip("scrapy")
PROJECT = Path(__file__).parents[1] / "support" / "scrapy_project.py"
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


class Project:
    """A Scrapy project in a folder, run as often as one likes."""

    def __init__(self, folder: Path, server: ReplayServer) -> None:
        self.folder, self.server = folder, server
        self.start = server.rendering.url(0, server.port)
        self.asked: list[tuple[int, int]] = []  # page and status of the last run's requests
        self.env = {**os.environ, "http_proxy": f"http://127.0.0.1:{server.port}", "no_proxy": ""}
        self.env["OWN_SCHEDULER"] = str(folder / "own.txt")

    def run(self, code: int = 0, passed: str = "", **settings: Any) -> tuple[dict[str, int], list[int]]:
        """Run the spider; return its stats, and the pages of its items."""
        items, logged = self.folder / "items.jsonl", len(self.server.log)
        items.write_text("")
        told = {"RECRAWL_DIR": str(self.folder / "crawl"), "ITEMS": str(items), "RECRAWL_POLICY": "bayes", **settings}
        command = [sys.executable, str(PROJECT), json.dumps(told), self.start, *([passed] if passed else [])]
        ran = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=120)
        assert ran.returncode == code, ran.stderr[-3000:]
        assert "Traceback" not in ran.stderr, ran.stderr[-3000:]
        assert "DeprecationWarning" not in ran.stderr, ran.stderr[-3000:]
        self.asked = [(int(each.path.strip("/")), each.status) for each in self.server.log[logged:]]
        lines = [json.loads(line) for line in items.read_text().splitlines()]
        pages = [int(line["url"].rsplit("/", 1)[1]) for line in lines if "url" in line]
        return json.loads(ran.stdout.splitlines()[-1]) if not code else {}, pages


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
