"""The budget goes where it counts: on a web with dead, slow, shut and growing hosts, every request is a useful one."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.living import DEAD, NEWCOMER, OUTAGE, SHUT, SLOW, TRAP, LivingWeb, add, begin, run

from recrawl.cli import main
from recrawl.live.directory import CrawlDirectory
from recrawl.live.facade import Crawl
from recrawl.live.session import Session
from recrawl.plan import Plan
from support.loopback_servers import Answer, Asked, Loopback

BUDGET = 30
PLAN = Plan(1.0, BUDGET, warmup=0, discovery=1.0)
HOSTS = ("a.test", "b.test", "c.test")


def settled(folder: Path, web: LivingWeb) -> CrawlDirectory:
    """A crawl that has a copy of every page that can be had."""
    directory = begin(folder, web)
    run(directory, web, "age", replace(PLAN, budget=1_000))
    return directory


def test_visits_that_cannot_succeed_cost_no_budget(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of 60 pages 25 are disallowed and 5 on a dead host: the other 30 get all the budget but one probe."""
    with LivingWeb(HOSTS, pages=5, slow_delay_s=0) as web:
        directory = settled(tmp_path / "crawl", web)
        row = run(directory, web, "age", replace(PLAN, budget=20))
        assert row.requests.total() == row.outcomes.total() == 19
        assert not row.requests[SHUT] + row.requests[DEAD] + row.outcomes["failed"]
        assert row.barred == {"disallowed": 25, "host-down": 5}
    assert main(["status", "-C", str(directory.path)]) == 0
    assert "25 disallowed" in capsys.readouterr().out


def test_after_an_outage_visits_go_on_in_the_cycle_in_which_it_ends(tmp_path: Path) -> None:
    """While a host is down a cycle asks it once; when its robots.txt answers again, so do its pages."""
    with LivingWeb(HOSTS, pages=5, slow_delay_s=0) as web:
        directory = settled(tmp_path / "crawl", web)
        web.begin_outage()
        first = run(directory, web, "age", PLAN)
        assert (first.outcomes["failed"], first.barred["host-down"]) == (1, 10)
        second = run(directory, web, "age", PLAN)
        assert (second.outcomes["failed"], second.requests[OUTAGE]) == (0, 0)
        web.end_outage()
        third = run(directory, web, "age", PLAN)
        assert (third.outcomes["failed"], third.requests[OUTAGE], third.barred["host-down"]) == (0, 5, 5)


def test_a_site_of_4000_new_pages_does_not_starve_the_known_ones(tmp_path: Path) -> None:
    """In three cycles after 4,000 pages were added, known pages had half of every budget."""
    with LivingWeb(HOSTS, pages=12, slow_delay_s=0) as web:
        directory = settled(tmp_path / "crawl", web)
        add(directory, web.urls(NEWCOMER, 4_000))
        rows = [run(directory, web, "age", replace(PLAN, discovery=0.5)) for _ in range(3)]
        known = [sum(row.requests[host] for host in (*HOSTS, SLOW, OUTAGE)) for row in rows]
        assert known == [14, 14, 14]  # a probe of the dead host is the thirtieth request
        assert [row.requests[NEWCOMER] for row in rows] == [15, 15, 15]


def test_an_endless_site_leaves_first_visits_to_others(tmp_path: Path) -> None:
    """A trap of words that grows by eight pages a visit gets no more first visits than another new site."""
    with LivingWeb(HOSTS, pages=12, slow_delay_s=0) as web:
        directory = settled(tmp_path / "crawl", web)
        add(directory, [f"http://{TRAP}:{web.port}/", *web.urls(NEWCOMER, 100)])
        plan = replace(PLAN, budget=40, discovery=0.5)
        rows = [run(directory, web, "age", plan) for _ in range(4)]
        trapped, welcome = (sum(row.requests[host] for row in rows) for host in (TRAP, NEWCOMER))
        assert trapped <= welcome
        assert [row.outcomes["first"] for row in rows] == [20, 20, 20, 20]
        assert [row.outcomes["changed"] + row.outcomes["unchanged"] for row in rows] == [19, 19, 19, 19]


class MazeAtHome(LivingWeb):
    """An honest host whose pages below /maze link to words below themselves, without end."""

    def _page(self, host: str, name: str) -> str:
        if not name.startswith("maze"):
            return super()._page(host, name)
        words = ("stone", "river", "light", "hand", "winter", "paper", "glass", "letter", "harbour", "engine")
        return " ".join(f"<a href='/{name}/{word}'>{word}</a>" for word in words)


def test_an_endless_maze_on_an_honest_host_does_not_delay_its_new_pages(tmp_path: Path) -> None:
    """Thirty numbered pages, added when hundreds of the maze wait, get a fair part of their host's first visits."""
    with MazeAtHome(HOSTS, pages=5, slow_delay_s=0) as web:
        directory = settled(tmp_path / "crawl", web)
        home = f"http://a.test:{web.port}"
        add(directory, [f"{home}/maze"])
        plan = replace(PLAN, budget=40, discovery=0.5)
        for _ in range(3):
            run(directory, web, "age", plan)
        numbered = [f"{home}/{number}" for number in range(100, 130)]
        add(directory, [*numbered, *web.urls(NEWCOMER, 60)])
        known = set(web.log)
        rows = [run(directory, web, "age", plan) for _ in range(3)]
        first = Counter(path.startswith("/maze") for host, path in set(web.log) - known if host == "a.test")
        assert first[False] >= 8
        assert first[True] <= 24
        assert sum(row.requests[NEWCOMER] for row in rows) >= 24
        assert [row.outcomes["changed"] + row.outcomes["unchanged"] for row in rows] == [19, 19, 19]


def test_a_share_budget_does_not_grow_without_end_with_pages_that_wait() -> None:
    """10% of 500 pages and a million that wait is a visit for each tenth of 1,500."""
    plan = Plan(1.0, 0.1)
    assert plan.visits_among(500, 0) == 50
    assert plan.visits_among(500, 100) == 60
    assert plan.visits_among(500, 1_000_000) == 150
    assert plan.visits_among(0, 20) == 2


def test_a_slow_host_gets_what_it_can_take_and_stalls_nobody(tmp_path: Path) -> None:
    """A host with a Crawl-delay of 1 s gets 2 or 3 visits in a cycle of 2.5 s, the others all the rest in time."""
    with LivingWeb(HOSTS, pages=12) as web:
        directory = begin(tmp_path / "crawl", web)
        rows = [run(directory, web, "age", PLAN, cycle_s=2.5) for _ in range(3)]
        assert all(1 <= row.requests[SLOW] <= 3 for row in rows)
        assert all(row.seconds < 6.0 for row in rows)
        assert rows[2].requests.total() == BUDGET - 1  # what the slow host could not take went to others


SETTINGS = """
[crawl]
policy = "age"
signals = {signals}
[fetch]
allow_networks = ["127.0.0.0/8"]
connect_to = [["*.test", "127.0.0.1"]]
[fetch.gate]
min_delay_s = 0.0
latency_factor = 0.0
"""


def test_pages_that_others_link_to_do_not_wait_for_a_slow_host(tmp_path: Path) -> None:
    """Front pages of two hosts, one with a Crawl-delay of 6 s: the other's pages come long before its second page."""
    asked_s: dict[str, float] = {}

    def answer(asked: Asked) -> Answer:
        name = asked.headers["host"].split(":")[0] + asked.path
        asked_s.setdefault(name, time.monotonic())
        if asked.path == "/robots.txt":
            return 200, {}, b"User-agent: *\nCrawl-delay: 6\n" if name.startswith("slow") else b""
        return 200, {}, b"".join(b'<a href="/%d">%d</a>' % (n, n) for n in range(5)) + name.encode()

    with Loopback(answer) as server:
        crawl = Crawl.create(tmp_path / "crawl", SETTINGS.format(signals="false"))
        crawl.add(*(f"http://{host}.test:{server.port}/" for host in ("slow", "a")))
        crawl.run(1, budget=7)
    gap_s = asked_s["slow.test/"] - asked_s["slow.test/robots.txt"]
    assert gap_s >= 6
    assert all(asked_s[f"a.test/{n}"] < asked_s["slow.test/"] - 2 for n in range(5))


def test_a_sitemap_that_takes_long_holds_up_nobody(tmp_path: Path) -> None:
    """A cycle's visits wait for sitemaps for a while; what comes later is taken in by the next cycle."""
    slow = threading.Event()

    def answer(asked: Asked) -> Answer:
        port = asked.headers["host"].split(":")[1]
        if asked.path == "/robots.txt":
            return 200, {}, f"Sitemap: http://maps.test:{port}/sitemap.xml\n".encode()
        if asked.path == "/sitemap.xml":
            slow.wait(15)
            return 200, {}, f"<urlset><url><loc>http://a.test:{port}/named</loc></url></urlset>".encode()
        return 200, {}, b"<p>A page</p>" + asked.path.encode()

    plan, visited = Plan(1.0, 50, warmup=0), list[str]()
    with Loopback(answer) as server:
        crawl = Crawl.create(tmp_path / "crawl", SETTINGS.format(signals="true"))
        crawl.add(f"http://a.test:{server.port}/")
        with Session(crawl.directory, "age", plan, watch=lambda noted: visited.append(noted.url)) as session:
            assert session.signals is not None
            session.signals.patience_s = 0.3
            for cycle in range(3):
                session.at_once = True
                session.run_cycle()
                if cycle == 1:
                    assert len(visited) == 2  # the page, twice; its sitemap was asked for and did not come
                    slow.set()
                    session.signals.patience_s = 30.0
    paths = [url.rpartition("/")[2] for url in visited]
    assert paths.count("named") == 1
    assert sum(asked.path == "/sitemap.xml" for asked in server.asked) == 1


def test_pages_that_a_new_exclude_takes_out_of_the_scope_cost_nothing(tmp_path: Path) -> None:
    """With one of three hosts excluded, all visits go to the other two; when it is let in again, so do its pages."""
    with LivingWeb(HOSTS, pages=12, slow_delay_s=0) as web:
        directory = settled(tmp_path / "crawl", web)
        settings = directory.path / "recrawl.toml"
        before = settings.read_text()
        settings.write_text(before.replace("[fetch]", '[scope]\nexcludes = ["*a.test*"]\n[fetch]'))
        row = run(directory, web, "age", replace(PLAN, budget=50))
        assert (row.requests.total(), row.requests["a.test"], row.barred["out-of-scope"]) == (48, 0, 12)
        settings.write_text(before)
        row = run(directory, web, "age", replace(PLAN, budget=50))
        assert (row.requests["a.test"], row.barred.get("out-of-scope")) == (12, None)
