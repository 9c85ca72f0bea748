"""SQLite and PostgreSQL hold the same crawl: what is exported, listed and shown is the same on both."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from recrawl.cli import main
from recrawl.live.directory import CrawlDirectory
from recrawl.live.facade import Crawl
from recrawl.live.feed import EventFeed
from recrawl.live.packed_links import unpack_stored
from recrawl.live.planner import Planner
from recrawl.live.reported import Seen
from recrawl.live.session import Session
from recrawl.live.store import Store
from recrawl.live.store_dashboard import SORTS, WHICH
from recrawl.live.store_history import KEYSETS, PageFilter
from recrawl.live.store_history import SORTS as ORDERS
from recrawl.simulate.replay import ReplayServer
from support.live_crawls import Days, begun, seeds, settings
from support.loopback_servers import Answer, Asked, Loopback
from support.postgres_server import DEBIAN, LocalServer, local_server


def crawled(folder: Path, server: ReplayServer, calendar: Days, toml: str) -> CrawlDirectory:
    """Four weeks of a crawl that fetches by itself."""
    calendar.day = 0.0
    directory = begun(folder, seeds(server), toml)
    name, plan = Crawl(directory).steering()
    with Session(directory, name, plan, clock=calendar) as session:
        for week in range(4):
            calendar.day = 7.0 * week
            session.world.lanes.patience_s = 60.0
            assert session.run_cycle()
    return directory


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def test_characters_that_a_database_cannot_keep_end_no_crawl(postgres: LocalServer, tmp_path: Path) -> None:
    """Pages with NUL and half characters in titles, words, links and headers are recorded alike in both stores."""
    day = 0

    def answer(asked: Asked) -> Answer:
        if asked.path == "/robots.txt":
            return 200, {}, b"User-agent: *\nAllow: /\0\nSitemap: /s\0.xml\n"
        head, link = f"<!-- {'x' * 3_000} --><title>a\0b {day}</title>", f"<a href='/{day}\0'>n\0 \t{day}</a>"
        text = f"{head}<h1>\0</h1><p>w\0x &#0; &#xD800; {link}"
        if asked.path == "/wide":
            return 200, {"Content-Type": "text/html; charset=utf-16"}, f"{text}\ud800".encode("utf-16", "surrogatepass")
        return 200, {"Content-Type": "text/html", "ETag": f'"\x01{day}"'}, text.encode()

    found = []
    with Loopback(answer) as server:
        urls = [f"http://{host}.replay:{server.port}/{path}" for host, path in (("one", ""), ("two", "wide"))]
        for name, store in (("sqlite", ""), ("postgres", f'\n[store]\nurl = "{postgres.new_database()}"\n')):
            crawl, day = Crawl(begun(tmp_path / name, urls, f"{settings(budget='1000', signals=True)}{store}")), 0
            for day in range(3):  # noqa: B007  # the server reads it
                assert crawl.run(1, now=True).cycles == 1
            pages = [page for page in crawl.pages() if page["url"] in urls]
            found.append([(page["url"], page["title"], page["visits"], page["changes"]) for page in pages])
        assert found[0] == found[1]
        assert [row[1:] for row in found[0]] == [("a\ufffdb 2", 3, 2)] * 2


def test_the_same_crawl_exports_the_same_bytes(
    web: tuple[ReplayServer, Days], postgres: LocalServer, tmp_path: Path
) -> None:
    """A crawl that fetches from the same web leaves the same recording in both stores."""
    toml = settings(signals=True)
    there = f'{toml}\n[store]\nurl = "{postgres.new_database()}"\n'
    found = []
    for name, text in (("sqlite", toml), ("postgres", there)):
        directory = crawled(tmp_path / name, *web, text)
        Crawl(directory).export("recording", tmp_path / f"{name}-out")
        found.append(files_of(tmp_path / f"{name}-out"))
    assert found[0].keys() == found[1].keys()
    assert "changes.parquet" in found[0]
    assert found[0] == found[1]


def reported(folder: Path, toml: str) -> CrawlDirectory:
    """A crawl that another crawler reported to, with every outcome, links that come and go, and a page that returns."""
    return reported_to(CrawlDirectory.init(folder, toml))


def reported_to(directory: CrawlDirectory) -> CrawlDirectory:
    """The same, of a crawl that was made before."""
    _report_days(directory, range(1, 6))
    crawl = Crawl(directory, Days())
    crawl.remove("https://a.example/3")
    crawl.pause("b.example")
    crawl.visit_soon("https://a.example/1")
    return directory


def _report_days(directory: CrawlDirectory, days: range) -> None:
    clock = Days()
    planner = Planner.open(directory.path, clock=clock, policy="bayes", every="1d", budget=8)
    planner.add([f"https://{host}.example/{page}" for host in "ab" for page in range(6)])
    for day in days:
        clock.day = float(day)
        seen = []
        for lease in planner.next(8):
            page = int(lease.url[-1])
            status = 404 if page == 5 else 200
            text = f"<title>T {page}</title><p>{'word ' * (30 + day * (page % 3))}<a href='/n{page}-{day % 2}'>n</a>"
            seen.append(Seen(lease.url, status=status, body=text.encode() if status == 200 else None))
        planner.report(seen)
    planner.close()


def asked(store: Store) -> dict[str, Any]:
    """What every list, search and count of a store answers."""
    calls: dict[str, Callable[[], Any]] = {
        name: getattr(store, name)
        for name in (
            *("status", "count_barred", "cycles", "lives", "changes", "all_visits", "hosts", "pages_by_host", "barred"),
            *("waiting_by_host", "hosts_barred", "in_scope", "due_at", "budgets", "visited_at", "latest_at", "bags"),
            *("changes_by_cycle", "all_urls", "hosts_at_work", "host_states", "changed_lately", "failures_lately"),
            *("feeds_known", "announced_pending", "newest_visit", "host_rates", "first_versions", "body_ends", "links"),
            *("kept_bodies", "bodies", "templates", "hosts_of_disallowed", "leases", "next_lease_end", "last_cycle"),
        )
    }
    calls |= {f"page_list {s} {w}": partial(store.page_list, sort=s, which=w) for s in SORTS for w in WHICH}
    calls |= {f"pages_after {s}": partial(store.pages_after, None, contains="/n", sort=s) for s in KEYSETS}
    wanted = [PageFilter(part, limit=most) for part in ("", "/4", "A.EX", "_", "%", "\\") for most in (3, None)]
    wanted += [PageFilter("a.ex", changed=True, since=1.0, sort=sort, limit=2) for sort in ("url", "last", "waiting")]
    calls |= {f"pages {each}": partial(store.pages, each) for each in wanted}
    more: dict[str, Callable[[], Any]] = {
        "page_list": lambda: store.page_list(contains="a.ex", most=3),
        "sample": lambda: sorted(store.page_sample(2)),
        "compared": lambda: sorted(store.visits_compared(50)),
        "trust": lambda: store.signal_trust(5),
        "answers": lambda: sorted(row[1:] for row in store.answers_after(3)),
        "like": lambda: store.url_like("/4"),
        "visits": lambda: store.visits_to(1),
        "chosen": lambda: store.chosen_in(5),
        "waiting": lambda: store.waiting(5),
        "order": lambda: [rows.tolist() for rows in store.visits_in_order()],
        "contents": lambda: store.contents([1, 2, 3]).tolist(),
        "due": lambda: store.due_feeds(9, 5),
        "announced": lambda: store.pages_announced(0.1, 5),
        "bodies of": lambda: store.bodies_of(1),
        "first": lambda: store.first_pages([1, 2]),
    }
    return {name: _plain(call()) for name, call in (calls | more).items()}


def _plain(found: Any) -> Any:
    found = list(found) if hasattr(found, "__next__") else found
    return sorted(found) if isinstance(found, list) and all(isinstance(row, tuple) for row in found) else found


def test_every_question_has_the_same_answer(postgres: LocalServer, tmp_path: Path) -> None:
    """Counters, lists, searches, the feed and the CSV files of a reported crawl are those of SQLite."""
    _compare(postgres, tmp_path)


@pytest.mark.skipif(not DEBIAN.is_dir(), reason="only one version of PostgreSQL is installed")
def test_every_question_has_the_same_answer_on_postgresql_15(tmp_path: Path) -> None:
    """An older server answers the same."""
    with local_server(DEBIAN) as server:
        _compare(server, tmp_path)


def _compare(postgres: LocalServer, tmp_path: Path) -> None:
    toml = settings(policy="bayes")
    there = f'{toml}\n[store]\nurl = "{postgres.new_database()}"\n'
    answers, events, exports = [], [], []
    for name, text in (("sqlite", toml), ("postgres", there)):
        directory = reported(tmp_path / name, text)
        store = directory.open_store(read_only=True)
        store.read_one_moment()
        answers.append(asked(store))
        store.close()
        crawl = Crawl(directory)
        answers[-1] |= {f"pages {sort}": crawl.pages(sort=sort) for sort in ORDERS}
        answers[-1] |= {
            "since": crawl.pages("a.", changed=True, since=2.0, sort="last", limit=3),
            "s": crawl.status() | {"workers": []},
        }
        feed = EventFeed(directory.path, None, include=["diff", "links_added"], now=lambda: 9.0)
        events.append([{**event, "crawl": ""} for event in feed])
        feed.close()
        crawl.export("csv", tmp_path / f"{name}-csv")
        exports.append(files_of(tmp_path / f"{name}-csv"))
    for question in answers[0]:
        assert answers[0][question] == answers[1][question], question
    assert len(events[0]) > 20
    assert events[0] == events[1]
    assert exports[0] == exports[1]


OLD_COUNTERS = """
drop function take_arrived(bigint);
drop index pages_changes;
drop trigger page_updated on pages;
delete from meta where key = 'counters';
create function count_fetched() returns trigger language plpgsql as $$ begin
    update hosts set fetched = fetched + 1 where host = new.host;
    return null;
end $$;
create trigger page_fetched after update of digest on pages for each row
    when (old.digest is null and new.digest is not null) execute function count_fetched();
"""


@pytest.mark.parametrize("by", ["upgrade", "recording"])
def test_a_store_that_an_earlier_recrawl_made(postgres: LocalServer, tmp_path: Path, by: str) -> None:
    """Its counters are kept by this recrawl's triggers, after `upgrade` and also without: the answers are SQLite's."""
    toml = settings(policy="bayes")
    url = postgres.new_database()
    there = f'{toml}\n[store]\nurl = "{url}"\n'
    first = reported(tmp_path / "sqlite", toml)
    second = CrawlDirectory.init(tmp_path / "postgres", there)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(OLD_COUNTERS.encode())
    if by == "upgrade":
        assert main(["upgrade", "-C", str(second.path)]) == 0
    reported_to(second)
    with psycopg.connect(url) as connection:
        left = connection.execute("select tgname from pg_trigger where tgname like 'page%' order by 1").fetchall()
        assert left == [("page_added",), ("page_updated",)]
        assert connection.execute("select to_regclass('pages_changes')").fetchone() != (None,)
    answers = []
    for directory in (first, second):
        store = directory.open_store(read_only=True)
        answers.append(asked(store))
        store.close()
    assert answers[0] == answers[1]


def lines_of(links: bytes, targets: bytes) -> str:
    rows = unpack_stored(0.0, links, targets)
    return "\n".join(f"{inside:d}\t{page}\t{target}\t{anchor}" for target, page, inside, anchor, _, _ in rows)


def _as_format_4(sqlite: Path, url: str) -> int:
    """Make the tables of a store what they were in format 4, where links were lines of text."""
    with closing(sqlite3.connect(sqlite / "state.sqlite")) as file:
        asked = file.execute("select links, targets, page from first_links").fetchall()
    rows = [(lines_of(links, targets), page) for links, targets, page in asked]
    with psycopg.connect(url) as connection:
        connection.execute("alter table first_links drop column targets")
        connection.execute("alter table first_links alter column links type text using ''")
        connection.cursor().executemany("update first_links set links = %s where page = %s", rows)
        connection.execute("create index pages_visits on pages (visits desc, page)")
        connection.execute("update meta set value = '4' where key = 'format'")
        connection.execute("delete from meta where key = 'counters'")
        assert connection.execute("select count(*) from first_links").fetchone() == (len(rows),)
    return len(rows)


def test_a_store_of_format_4_is_upgraded(
    postgres: LocalServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is refused in one line until `upgrade`; then it answers as SQLite does, also after more visits."""
    toml = settings(policy="bayes")
    url = postgres.new_database()
    first = reported(tmp_path / "sqlite", toml)
    second = reported(tmp_path / "postgres", f'{toml}\n[store]\nurl = "{url}"\n')
    assert _as_format_4(first.path, url)
    assert main(["status", "-C", str(second.path)]) == 2
    assert "has format 4; this recrawl reads format 5; `recrawl upgrade` brings it there" in capsys.readouterr().err
    assert main(["upgrade", "-C", str(second.path)]) == 0
    assert main(["upgrade", "-C", str(second.path)]) == 0
    with psycopg.connect(url) as connection:
        assert connection.execute("select to_regclass('pages_visits')").fetchone() == (None,)
    for days in (range(0), range(6, 9)):
        answers = []
        for directory in (first, second):
            _report_days(directory, days)
            store = directory.open_store(read_only=True)
            answers.append(asked(store))
            store.close()
        assert answers[0] == answers[1]
