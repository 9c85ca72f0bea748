"""Sitemaps tell a live crawl of new and changed pages, within the budget, and lies are found out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from recrawl.clock import DAY_S
from recrawl.columns import PageIds
from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.fetch.validators import NO_VALIDATORS
from recrawl.live.directory import CrawlDirectory
from recrawl.live.judge import judge
from recrawl.live.open_crawl import hints
from recrawl.live.session import Session
from recrawl.live.signals import Heard
from recrawl.live.store import Store
from recrawl.live.store_visits import Copy
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policies.signalled import Signalled
from recrawl.policies.topk import LongestUnvisited, TopK
from recrawl.recording.recording import Recording
from recrawl.simulate.render import Rendering
from recrawl.simulate.replay import EPOCH, Lastmod, ReplayServer
from recrawl.visits import Outcome
from support.live_crawls import Days, begun, seeds, settings
from support.small_recordings import random_tables, tables

EPOCH_DAY = EPOCH.timestamp() / DAY_S
WEEKS, BUDGET = 12, 12


@contextmanager
def web(lastmod: Lastmod, calendar: Days, robots: str = "User-agent: *\nAllow: /\n") -> Iterator[ReplayServer]:
    """Serve 80 pages of which one in fifteen changes in a week; a tenth is born on the way."""
    draw = np.random.default_rng(4)
    born = [float(draw.uniform(5.0, 60.0)) if draw.random() < 0.1 else 0.0 for _ in range(80)]
    changes = [sorted(draw.uniform(start + 0.1, 99.0, draw.poisson(0.01 * (99 - start))).tolist()) for start in born]
    recording = Recording.from_arrays(tables(100.0, changes, born=born, site=[page % 2 for page in range(80)]))
    with ReplayServer(Rendering(recording), lambda: calendar.day - EPOCH_DAY, lastmod=lastmod, robots=robots) as server:
        yield server


def crawled(
    server: ReplayServer, calendar: Days, folder: Path, *, signals: bool = True
) -> tuple[CrawlDirectory, list[Heard]]:
    calendar.day = EPOCH_DAY
    directory = begun(folder, seeds(server), settings(signals=signals), at=EPOCH_DAY)
    said: list[Heard] = []
    with Session(directory, "age", Plan(7.0, BUDGET, warmup=1), clock=calendar, heard=said.append) as session:
        for week in range(1, WEEKS + 1):
            calendar.day = EPOCH_DAY + 7.0 * week
            assert session.run_cycle()
    return directory, said


def one(directory: CrawlDirectory, ask: str) -> int:
    store = Store.open(directory.state, read_only=True)
    found = store.db.execute(ask).fetchone()[0]
    store.close()
    return int(found or 0)


CHANGES = f"select sum(outcome = {int(Outcome.CHANGED)}) from visits where cycle > 1"


def test_an_honest_sitemap_finds_more_changes_at_the_same_price(tmp_path: Path) -> None:
    """With the same number of requests, a crawl that listens finds more of what changed than one that does not."""
    calendar = Days()
    with web(Lastmod.HONEST, calendar) as server:
        deaf, _ = crawled(server, calendar, tmp_path / "deaf", signals=False)
        asked = len(server.log)
        directory, said = crawled(server, calendar, tmp_path / "crawl")
        requests = [line for line in server.log[asked:] if line.path != "/robots.txt"]
    assert one(directory, CHANGES) > 1.2 * one(deaf, CHANGES)
    assert one(directory, "select sum(signals_true) from hosts") > 4 * one(
        directory, "select sum(signals_false) from hosts"
    )
    assert sum(heard.announced for heard in said) > 0
    spent = one(directory, "select sum(budget) from cycles")
    assert len(requests) <= spent
    assert one(directory, "select count(*) from visits") + sum(heard.visits for heard in said) <= spent


def test_pages_that_only_a_sitemap_names_become_known(tmp_path: Path) -> None:
    """A page that was born on the way, and that no page links to, is visited."""
    calendar = Days()
    with web(Lastmod.ABSENT, calendar) as server:
        directory, said = crawled(server, calendar, tmp_path / "crawl")
        born = len(server.rendering.recording) - len(seeds(server))
    assert 0 < sum(heard.found for heard in said) <= born
    assert one(directory, f"select count(*) from pages where first_seen_at > {EPOCH_DAY + 1} and digest is not null")
    assert one(directory, "select count(*) from announced") == 0


def test_a_sitemap_that_always_says_now_is_found_out(tmp_path: Path) -> None:
    """Where what a site says is mostly wrong, its word no longer moves a visit."""
    calendar = Days()
    with web(Lastmod.NOW, calendar) as server:
        directory, _ = crawled(server, calendar, tmp_path / "crawl")
        with Session(directory, "age", Plan(7.0, BUDGET, warmup=0), clock=calendar) as session:
            doubted = session.store.db.execute("select name from hosts where signals_false > signals_true").fetchall()
            assert session.signals is not None
            believed = session.store.urls(hints(session.store).tolist())
    assert doubted
    assert not [url for url in believed for (host,) in doubted if f"//{host}:" in url]


def test_a_sitemap_that_robots_txt_forbids_is_not_read(tmp_path: Path) -> None:
    """robots.txt names the sitemap and disallows it: it is not asked for."""
    calendar = Days()
    with web(Lastmod.HONEST, calendar, "User-agent: *\nDisallow: /sitemap.xml\n") as server:
        directory, said = crawled(server, calendar, tmp_path / "crawl")
        assert not [line for line in server.log if line.path == "/sitemap.xml"]
    assert sum(heard.found + heard.announced for heard in said) == 0
    assert one(directory, "select count(*) from visits")


def test_a_feed_that_brings_nothing_is_asked_less_and_less_often(tmp_path: Path) -> None:
    """A sitemap without dates on a web without births is asked in cycles 2, 4, 8: its wait doubles."""
    calendar = Days()
    recording = Recording.from_arrays(random_tables(20, 100.0, 3, sites=1))
    with ReplayServer(Rendering(recording), lambda: calendar.day - EPOCH_DAY) as server:
        _, said = crawled(server, calendar, tmp_path / "crawl")
    assert [week for week, heard in enumerate(said, 1) if heard.visits] == [2, 4, 8]


def test_a_feed_of_a_page_and_of_an_index_is_noted_once(tmp_path: Path) -> None:
    """Adding a feed again keeps its place, and takes over when its index says that it changed."""
    store = Store.create(tmp_path / "state.sqlite")
    with store.transaction():
        store.add_feeds([("a.example", "http://a.example/feed", None), ("a.example", "http://a.example/map", 5.0)])
        store.db.execute("update feeds set asked_cycle = 3, read_said_at = said_at")
        store.add_feeds([("a.example", "http://a.example/feed", None), ("a.example", "http://a.example/map", 6.0)])
    rows = store.db.execute("select url, asked_cycle, said_at is not read_said_at from feeds order by url").fetchall()
    assert rows == [("http://a.example/feed", 3, 0), ("http://a.example/map", 3, 1)]


def test_hints_take_half_of_the_budget_at_most_and_then_the_policy_chooses() -> None:
    """Ten pages, budget 4, all hinted: two hinted pages first, in the order of the hints; without hints, the policy."""
    memory = Memory(np.arange(10), np.zeros(10, dtype=np.int32))
    memory.hold_copies(np.arange(10), 0.0)
    memory.begin_cycle()
    policy = Signalled(TopK(LongestUnvisited()), lambda _: np.array([7, 3, 5]))
    assert policy.choose(memory, 4, 1.0).tolist() == [7, 3]
    assert len(policy.choose(memory, 2, 1.0)) == 2
    silent = Signalled(TopK(LongestUnvisited()), lambda _: np.empty(0, dtype=np.int64))
    assert silent.choose(memory, 4, 1.0).tolist() == TopK(LongestUnvisited()).choose(memory, 4, 1.0).tolist()


def test_hints_must_earn_what_other_visits_earn() -> None:
    """Where 8 of 10 visits found a change, sites must have been right 8 times of 10; at least every other time."""
    memory = Memory(np.arange(10), np.zeros(10, dtype=np.int32))
    memory.hold_copies(np.arange(10), 0.0)
    asked: list[float] = []

    def said(least: float) -> PageIds:
        asked.append(least)
        return np.empty(0, dtype=np.int64)

    policy = Signalled(TopK(LongestUnvisited()), said)
    for changes in (0, 8):
        memory.n[:], memory.changes[:changes] = 1, 1
        memory.begin_cycle()
        policy.choose(memory, 4, 1.0)
    assert asked == [0.5, 0.8]


@pytest.mark.parametrize(
    ("status", "misses", "digest", "outcome", "counted"),
    [
        (404, 0, b"copy", Outcome.FAILED, 1),
        (404, 1, b"copy", Outcome.FAILED, 2),
        (404, 2, b"copy", Outcome.GONE, 3),
        (404, 0, None, Outcome.FAILED, 1),
        (404, 1, None, Outcome.GONE, 2),
        (410, 0, b"copy", Outcome.GONE, 0),
    ],
)
def test_not_found_once_is_not_gone(
    status: int, misses: int, digest: bytes | None, outcome: Outcome, counted: int
) -> None:
    """A page that we have a copy of is gone after three answers 404 in a row, one that was never there after two."""
    copy = Copy(0, "http://a.example/", "{}", digest, None, misses)
    record, _ = judge(copy, FetchResult("http://a.example/", Kind.GONE, status=status), NO_VALIDATORS)
    assert (record.outcome, record.misses) == (outcome, counted)


def test_a_failure_in_between_leaves_the_count_and_an_answer_clears_it() -> None:
    """A timeout says nothing of the page; 304 says that it is there."""
    copy = Copy(0, "http://a.example/", "{}", b"copy", None, 2)
    assert judge(copy, FetchResult(copy.url, Kind.RESET), NO_VALIDATORS)[0].misses == 2
    assert judge(copy, FetchResult(copy.url, Kind.NOT_MODIFIED, status=304), NO_VALIDATORS)[0].misses == 0
