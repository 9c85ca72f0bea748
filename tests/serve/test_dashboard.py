"""The dashboard: every page shows what the store says, nothing of a page is executed, actions reach the crawl."""

from __future__ import annotations

import http.client
import json
import re
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from prometheus_client.parser import text_string_to_metric_families

from recrawl.eligibility import Bar
from recrawl.live.store import Store
from recrawl.visits import Outcome
from support.dashboard_crawls import EVIL_URL, hostile, ordinary, page
from support.feed_crawls import Found, filled
from support.served_crawls import ServedCrawl, serving

PAGES = ("/", "/hosts", "/pages", "/plan", "/whatif", "/errors", "/signals", "/deliveries", "/settings")
NEWS = "https://a.example/news"


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ordinary(tmp_path_factory.mktemp("served") / "weather").path


@pytest.fixture(scope="module")
def server(crawl: Path) -> Iterator[ServedCrawl]:
    with serving(crawl) as served:
        yield served


def csrf(server: ServedCrawl) -> str:
    found = re.search(r'name="csrf" value="(\w+)"', server.get("/hosts").body.decode())
    assert found is not None
    return found[1]


def act(server: ServedCrawl, action: str, **fields: str) -> tuple[int, str]:
    """Post a form as the dashboard's own pages do."""
    body = urlencode({"csrf": csrf(server), **fields}).encode()
    origin = f"http://127.0.0.1:{server.port}"
    kind = "application/x-www-form-urlencoded"
    told = server.post(f"/actions/{action}", body, Content_Type=kind, Origin=origin, Sec_Fetch_Site="same-origin")
    return told.status, told.headers.get("location", "")


@pytest.mark.parametrize("path", PAGES)
def test_every_page_answers_with_a_policy_that_lets_nothing_foreign_in(server: ServedCrawl, path: str) -> None:
    """Each page is HTML, and its Content-Security-Policy admits our own files only."""
    told = server.get(path)
    assert told.status == 200
    assert told.headers["content-type"].startswith("text/html")
    assert told.headers["content-security-policy"].startswith("default-src 'self'")
    assert b"style=" not in told.body, "inline styles would be blocked"


def test_the_overview_says_what_was_found(server: ServedCrawl) -> None:
    """Pages, visits and changes of the crawl are on its first page."""
    text = server.get("/").body.decode()
    assert re.search(r'data-live="pages">3<', text)
    assert re.search(r'data-live="visits">18<', text)
    assert re.search(r'data-live="changes">5<', text)
    assert "50.0 per 100 visits to known pages" in text
    assert NEWS in text


def test_charts_add_up(server: ServedCrawl) -> None:
    """The chart of what was found holds each cycle's visits by outcome."""
    told = server.get("/charts/found").json
    found = {one["name"]: one["values"] for one in told["series"]}
    assert told["x"] == [1, 2, 3, 4, 5, 6]
    assert found["changed"] == [0, 1, 1, 1, 1, 1]
    assert found["failed"] == [0, 1, 1, 1, 1, 0]
    assert server.get("/charts/known").json["series"][1]["values"] == [3, 6, 9, 12, 15, 18]
    assert server.get("/charts/none").status == 404


def test_a_page_shows_the_words_that_changed_between_any_two_versions(server: ServedCrawl) -> None:
    """Added words are marked as such, removed ones too; versions can be chosen."""
    text = server.get(f"/page?url={quote(NEWS)}&old=1&new=2").body.decode()
    assert "<del>It rains </del>" in text
    assert "<ins>Sun number 0 shines </ins>" in text
    assert "6 visits, 5 found a change, 6 versions kept" in text
    assert "did you mean https://a.example/news?" in server.get("/page?url=a.example/new").body.decode()
    assert server.get("/page").status == 400


def test_the_next_visit_is_explained(server: ServedCrawl) -> None:
    """Why a page comes next is said in the policy's words; a page that is gone is never visited."""
    assert len(server.get(f"/page/why?url={quote(NEWS)}").body) > 20
    assert server.get(f"/page/why?url={quote('https://b.example/old')}").body == b"never: the page is gone"


def test_the_plan_is_a_dry_run(server: ServedCrawl, crawl: Path) -> None:
    """What the next cycle would fetch is shown and can be had as CSV; nothing is planned by looking."""
    assert "Would be visited" in server.get("/plan").body.decode()
    lines = server.get("/plan.csv").body.decode().splitlines()
    assert lines[0] == "rank,url,score"
    assert lines[1].startswith("1,https://a.example/")
    store = Store.open(crawl / "state.sqlite", read_only=True)
    assert not len(store.planned(7))
    store.close()


def test_a_plan_is_whole_though_its_policy_waits_for_answers(tmp_path: Path) -> None:
    """`learned` spends a budget in rounds: the plan shows all of them, each page once, with a score."""
    urls = [f"https://a.example/{number}" for number in range(60)]
    cycles: list[list[Found]] = [
        [(url, Outcome.FIRST, page("t", f"words of {url}")) for url in urls],
        [(url, Outcome.CHANGED, page("t", f"other words of {url}")) for url in urls[:30]],
    ]
    with serving(filled(tmp_path / "c", cycles).path) as server:
        rows = server.get("/plan.csv").body.decode().splitlines()[1:]
    assert len(rows) == len({row.split(",")[1] for row in rows}) == 6  # 10% of 60
    assert all(float(row.split(",")[2]) > 0 for row in rows)


def test_times_are_those_of_the_terminal(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The zone of the machine, by name; charts are drawn by its clocks, whatever the browser's zone is."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    with serving(crawl) as server:
        text, told = server.get("/").body.decode(), server.get("/charts/known").json
        shown = server.get("/pages").body.decode()
    assert re.search(r"has been due for \d+ days, since 2024-10-\d\d 09:00 JST", text)
    assert "when the last cycle ended; now" in text
    assert "09:00 JST" in shown
    assert (told["label"], {x % 86_400 for x in told["x"]}) == ("time (JST)", {9 * 3600})


def test_pages_are_found_and_sorted(server: ServedCrawl) -> None:
    """The list of pages can be searched, and is CSV too; wrong words are refused in one line."""
    rows = server.get("/pages/rows?contains=about").body.decode()
    assert "a.example/about" in rows
    assert "a.example/news" not in rows
    assert server.get("/pages.csv?sort=changes").body.decode().splitlines()[1].startswith(f"{NEWS},News,6,5,")
    assert "gone" in server.get("/pages/rows?which=gone").body.decode()
    told = server.get("/pages?sort=wrong")
    assert told.status == 400
    assert told.json["error"].startswith("which is one of")
    page = server.get("/pages?sort=wrong", Accept="text/html,*/*")
    assert (page.status, page.headers["content-type"]) == (400, "text/html; charset=utf-8")
    assert "which is one of" in page.body.decode()


def test_failures_are_counted_by_kind(server: ServedCrawl) -> None:
    """The page of errors counts failed visits by their typed kind."""
    text = server.get("/errors").body.decode()
    assert re.search(r"connect-timeout</td><td class=\"n\">4</td>", text)


def test_a_host_is_paused_and_resumed(server: ServedCrawl, crawl: Path) -> None:
    """Pausing from the page is what `recrawl pause` does; the crawl reads it before its next cycle."""
    assert act(server, "pause", host="a.example") == (303, "/hosts")
    store = Store.open(crawl / "state.sqlite", read_only=True)
    assert Bar.PAUSED in store.hosts_barred().values()
    assert "host paused by the user" in server.get("/hosts").body.decode()
    assert act(server, "resume", host="a.example") == (303, "/hosts")
    assert not store.hosts_barred()
    store.close()
    assert act(server, "pause", host="nobody.example")[0] == 400


def test_a_page_is_visited_soon_never_and_again(server: ServedCrawl, crawl: Path) -> None:
    """Wishes are kept in the store until the crawl takes them; a removed page can come back."""
    about = "https://a.example/about"
    assert act(server, "soon", url=about)[0] == 303
    assert act(server, "never", url=about)[0] == 303
    store = Store.open(crawl / "state.sqlite")
    assert store.bar_of(1) == Bar.REMOVED
    assert "Visit again" in server.get(f"/page?url={quote(about)}").body.decode()
    assert act(server, "again", url=about)[0] == 303
    assert store.bar_of(1) == Bar.OPEN
    with store.transaction():
        assert store.take_wished() == [1]
        assert store.take_wished() == []
    store.close()


def test_state_changes_without_the_value_of_our_pages_are_refused(server: ServedCrawl) -> None:
    """A form of another site, or one without the CSRF value, changes nothing."""
    body, kind = urlencode({"host": "a.example"}).encode(), "application/x-www-form-urlencoded"
    own = f"http://127.0.0.1:{server.port}"
    assert server.post("/actions/pause", body, Content_Type=kind, Origin="https://evil.example").status == 403
    assert server.post("/actions/pause", body, Content_Type=kind, Origin=own).status == 403
    assert server.get("/actions/pause").status == 405


def test_metrics_can_be_parsed(server: ServedCrawl) -> None:
    """Prometheus's own parser reads them, and they say what the store says."""
    text = server.get("/metrics").body.decode()
    found = {(s.name, *s.labels.values()): s.value for f in text_string_to_metric_families(text) for s in f.samples}
    assert found["recrawl_visits_total", "changed"] == 5
    assert found["recrawl_visits_total", "failed"] == 4
    assert found["recrawl_changes_found_total",] == 5
    assert found["recrawl_pages", "fetched"] == 3
    assert found["recrawl_fetches_total", "connect-timeout"] == 4
    assert 0 <= found["recrawl_expected_fresh_ratio",] <= 1
    assert found["recrawl_hosts", "ok"] == 2


def test_the_atom_feed_is_well_formed(server: ServedCrawl) -> None:
    """A feed reader gets the newest changes first, filtered by host."""
    space = "{http://www.w3.org/2005/Atom}"
    feed = ET.fromstring(server.get("/feed.atom").body)
    titles = [entry.findtext(f"{space}title") for entry in feed.iter(f"{space}entry")]
    assert titles[0] == "gone: Old"
    assert titles.count("changed: News") == 5
    only = ET.fromstring(server.get("/feed.atom?host=b.example").body)
    assert [entry.findtext(f"{space}title") for entry in only.iter(f"{space}entry")] == ["gone: Old", "new: Old"]


def test_the_stream_goes_on_after_an_event(server: ServedCrawl) -> None:
    """The stream begins with the numbers; with Last-Event-ID, what came after that event is sent first."""
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    link.request("GET", "/events", headers={"Last-Event-ID": "15"})
    answer = link.getresponse()
    lines = [answer.readline().decode().strip() for _ in range(11)]
    link.close()
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    assert [event["id"] for event in events[:2]] == [16, 18]
    assert events[2]["visits"] == "18"


def test_nothing_of_a_hostile_page_is_markup(tmp_path: Path) -> None:
    """Scripts in URLs, titles, texts and names of sinks are text on every page, in the feed and in CSV."""
    folder = hostile(tmp_path / "evil").path
    with serving(folder) as server:
        for path in (*PAGES, f"/page?url={quote(EVIL_URL)}", "/pages/rows", "/feed.atom"):
            body = server.get(path).body.decode()
            assert "<script>alert" not in body, path
            assert "<img src=x" not in body, path
        ET.fromstring(server.get("/feed.atom").body)
        assert "&lt;script&gt;alert(7)" in server.get("/deliveries").body.decode()


def test_what_if_answers_how_large_a_budget_must_be(server: ServedCrawl) -> None:
    """Replays run as a job; its page shows the rows, and says what a freshness takes."""
    body = urlencode({"csrf": csrf(server), "policies": "age,bayes", "budgets": "34%,67%", "target": "50%"}).encode()
    told = server.post("/whatif", body, Content_Type="application/x-www-form-urlencoded")
    assert told.status == 303
    where = told.headers["location"]
    for _ in range(600):
        text = server.get(where).body.decode()
        if "data-again" not in text:
            break
        time.sleep(0.2)
    assert "age: 50% fresh takes about" in text
    assert "freshness is an upper bound" in text
    job = re.search(r"job=(\d+)", where)
    assert job is not None
    assert server.get(f"/whatif/chart?job={job[1]}").json["x"] == pytest.approx([34, 67])
    assert server.get("/whatif?job=99").status == 404
