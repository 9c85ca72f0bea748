"""The dashboard and the metrics of a fleet show its workers; those of a crawl in a file do not mention any."""

from __future__ import annotations

import re
from pathlib import Path

from recrawl.live.directory import CrawlDirectory
from recrawl.live.fleet.store_fleet import FleetTables, tasks_from
from recrawl.live.postgres.store_postgres import PostgresStore
from support.live_crawls import settings
from support.postgres_server import LocalServer
from support.served_crawls import ServedCrawl, served_here


def shown(server: ServedCrawl) -> tuple[str, str]:
    """The overview and the metrics."""
    answers = [server.get(path) for path in ("/", "/metrics")]
    assert [answer.status for answer in answers] == [200, 200]
    return answers[0].body.decode(), answers[1].body.decode()


def test_workers_of_a_fleet_are_shown_while_they_are_alive(postgres: LocalServer, tmp_path: Path) -> None:
    """Name, sites, visits and lease of each; who left or whose lease is over is gone."""
    toml = f'{settings()}\n[store]\nurl = "{postgres.new_database()}"\n'
    directory = CrawlDirectory.init(tmp_path / "crawl", toml)
    assert directory.database is not None
    store = PostgresStore.open_in(directory.database)
    fleet = FleetTables(store.db)
    with served_here(directory.path) as server:
        overview, metrics = shown(server)
        assert "No worker is alive" in overview
        assert "recrawl_workers_alive 0.0" in metrics
        one, two = fleet.join("w-one", 500), fleet.join("w-two", 500)
        fleet.open_cycle(1, None)
        fleet.add_tasks(1, tasks_from(1, [("a.org", "page", 0, "{}"), ("b.org", "page", 1, "{}")]))
        fleet.claim(one, 9)
        overview, metrics = shown(server)
        number = r'<td class="n">(\d+)</td>'
        rows = re.findall(rf'<td>(w-\w+)</td>{number}{number}<td class="n">(\d+) s</td>', overview)
        assert [row[:3] for row in rows] == [("w-one", "2", "0"), ("w-two", "0", "0")]
        assert all(400 < int(row[3]) <= 500 for row in rows)
        assert "recrawl_workers_alive 2.0" in metrics
        fleet.leave(two)
        assert "w-two" not in shown(server)[0]
        assert "recrawl_workers_alive 1.0" in shown(server)[1]
    store.close()


def test_a_crawl_in_a_file_shows_no_workers(tmp_path: Path) -> None:
    """Neither the overview nor the metrics speak of a fleet."""
    directory = CrawlDirectory.init(tmp_path / "crawl", settings())
    with served_here(directory.path) as server:
        overview, metrics = shown(server)
    assert "orker" not in overview
    assert "recrawl_workers" not in metrics
