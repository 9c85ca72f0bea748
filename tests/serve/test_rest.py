"""The REST interface: leases, reports and looks, by real requests to a real server."""

from __future__ import annotations

import base64
import gzip
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from recrawl.client import Client, ServerError
from recrawl.live.facade import Crawl
from recrawl.live.planner import Planner
from recrawl.live.reported import Seen
from recrawl.live.settings_template import TEMPLATE
from recrawl.serve.application import application
from support.served_crawls import Answer, ServedCrawl, served_here, serving

SPEC = json.loads((Path(__file__).parents[2] / "docs" / "openapi.json").read_text())
LINES = "application/x-ndjson"


def made(folder: Path, pages: int = 10, budget: int = 4) -> Path:
    """A crawl of some pages of one site, by age."""
    toml = TEMPLATE.replace('policy = "auto"', 'policy = "age"').replace('budget = "10%"', f'budget = "{budget}"')
    assert toml.count('policy = "age"') == 1
    assert toml.count(f'budget = "{budget}"') == 1
    Crawl.create(folder, toml).add(*(f"https://a.example/{page}" for page in range(pages)))
    return folder


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServedCrawl]:
    with served_here(made(tmp_path / "c")) as served:
        yield served


def checked(answer: Answer, method: str, path: str) -> Any:
    """The content of an answer, as the OpenAPI file says it must look."""
    told = SPEC["paths"][path][method]["responses"][str(answer.status)]
    kinds = told.get("content", {})
    if not kinds:
        assert not answer.body
        return None
    kind = answer.headers["content-type"].partition(";")[0]
    schema = {**kinds[kind]["schema"], "components": SPEC["components"]}
    if kind == "text/csv":
        return answer.body.decode()
    content = answer.lines if kind == LINES else [answer.json]
    for each in content:
        jsonschema.validate(each, schema, format_checker=jsonschema.FormatChecker())
    return content if kind == LINES else content[0]


def report(server: ServedCrawl, *visits: dict[str, Any], **headers: str) -> Any:
    body = "\n".join(json.dumps(visit) for visit in visits).encode()
    return checked(server.post("/v1/visits", body, Content_Type=LINES, **headers), "post", "/v1/visits")


def lease(server: ServedCrawl, query: str = "budget=9") -> list[Any]:
    answer = server.get(f"/v1/next?{query}")
    return checked(answer, "get", "/v1/next") or []


def test_pages_are_leased_reported_and_not_given_twice(server: ServedCrawl) -> None:
    """Best first within the budget; a second asker gets what is left; when the budget is reported nothing is due."""
    one, two = lease(server, "budget=3"), lease(server)
    assert [page["rank"] for page in one + two] == [1, 2, 3, 4]
    assert len({page["url"] for page in one + two}) == 4
    assert lease(server) == []
    told = report(server, *({"url": page["url"], "digest": "x", "lease": page["lease"]} for page in one + two))
    assert told == {"recorded": 4, "folded": 0, "outcomes": {"first": 4}, "refused": []}
    assert server.get("/v1/next").status == 204
    assert checked(server.get("/v1/leases"), "get", "/v1/leases") == []
    status = checked(server.get("/v1/status"), "get", "/v1/status")
    assert (status["visits"], status["cycle"]["done"], status["planned_here"]) == (4, True, True)


def test_what_is_read_before_the_first_lease_does_not_hide_it(server: ServedCrawl) -> None:
    """A crawl that never had a planner has no leases; once it has some, every reader shows them."""
    for _ in range(6):
        assert server.get("/v1/leases").lines == []
    leased = lease(server, "budget=3")
    for _ in range(6):
        assert [row["lease"] for row in server.get("/v1/leases").lines] == [page["lease"] for page in leased]


def test_visits_can_be_judged_without_being_recorded(server: ServedCrawl) -> None:
    """record=no names outcomes and keeps nothing; discover=no keeps the links of a body from becoming pages."""
    html = b"<html><title>t</title><body><p>Some words. <a href='/found'>a link</a></p></body></html>"
    visit = {"url": "https://a.example/0", "body_base64": base64.b64encode(html).decode(), "content_type": "text/html"}
    lines = "\n".join(json.dumps(each) for each in (visit, {**visit, "url": "https://a.example/unknown"})).encode()
    for _ in range(2):
        told = checked(server.post("/v1/visits?record=no", lines, Content_Type=LINES), "post", "/v1/visits")
        assert (told["recorded"], told["outcomes"]) == (0, {"first": 1})
        assert [each["line"] for each in told["refused"]] == [2]
    assert server.get("/v1/status").json["visits"] == 0
    assert server.post("/v1/visits?discover=no", visit).json["recorded"] == 1
    assert server.get("/v1/status").json["pages"] == 10
    assert server.post("/v1/visits", {**visit, "url": "https://a.example/1"}).json["recorded"] == 1
    assert server.get("/v1/status").json["pages"] == 11
    client = Client(f"http://127.0.0.1:{server.port}")
    assert client.judge(visit) == "unchanged"
    with pytest.raises(ServerError, match="not a page of this crawl"):
        client.judge({**visit, "url": "https://a.example/unknown"})
    assert server.post("/v1/visits?record=maybe", lines, Content_Type=LINES).status == 400


def test_bad_lines_are_refused_by_number_and_the_others_recorded(server: ServedCrawl) -> None:
    """A line that is no JSON, no report or no URL is named with its reason; a body is compared as a page."""
    html = base64.b64encode(b"<html><title>t</title><body><p>Some words about a thing.</p></body></html>").decode()
    lines = [
        json.dumps({"url": "https://a.example/0", "digest": "x"}),
        "{not json",
        "[1]",
        json.dumps({"url": "https://a.example/1"}),
        json.dumps({"url": "nonsense:", "digest": "x"}),
        "",
        json.dumps({"url": "https://a.example/2", "body_base64": html, "content_type": "text/html", "status": 200}),
        json.dumps({"url": "https://a.example/3", "body_base64": "%%%"}),
        json.dumps({"url": "https://a.example/4", "status": "two"}),
    ]
    body = gzip.compress("\n".join(lines).encode())
    told = server.post("/v1/visits", body, Content_Type=LINES, Content_Encoding="gzip").json
    assert (told["recorded"], told["outcomes"]) == (2, {"first": 2})
    assert [each["line"] for each in told["refused"]] == [2, 3, 4, 5, 8, 9]


def test_too_much_is_refused_whole(server: ServedCrawl) -> None:
    """More than 10,000 lines, or a body that unpacks to more than the limit, is 413, and nothing is recorded."""
    line = json.dumps({"url": "https://a.example/0", "digest": "x"})
    assert server.post("/v1/visits", "\n".join([line] * 10_001).encode(), Content_Type=LINES).status == 413
    bomb = gzip.compress(b" " * (65 << 20), 1)
    assert server.post("/v1/visits", bomb, Content_Type=LINES, Content_Encoding="gzip").status == 413
    assert server.post("/v1/visits", b"no gzip", Content_Type=LINES, Content_Encoding="gzip").status == 400
    assert server.get("/v1/status").json["visits"] == 0


def test_an_idempotency_key_is_answered_once(server: ServedCrawl) -> None:
    """The same request again gets the same answer and records nothing; another body with the key is 422."""
    visit = {"url": "https://a.example/0", "digest": "x"}
    first = report(server, visit, Idempotency_Key="k1")
    assert report(server, visit, Idempotency_Key="k1") == first
    assert report(server, visit)["folded"] == 1
    body = json.dumps({**visit, "digest": "y"}).encode()
    assert server.post("/v1/visits", body, Content_Type=LINES, Idempotency_Key="k1").status == 422


def test_leases_and_answers_survive_kill_9(tmp_path: Path) -> None:
    """A server that is killed and started again goes on with the leases, the reports and the keys it had."""
    folder = made(tmp_path / "c")
    with serving(folder) as server:
        leased = lease(server, "budget=3")
        told = report(server, {"url": leased[0]["url"], "digest": "x"}, Idempotency_Key="k")
        server.kill()
    with serving(folder) as server:
        rows = checked(server.get("/v1/leases"), "get", "/v1/leases")
        assert [row["lease"] for row in rows] == [page["lease"] for page in leased[1:]]
        assert [page["rank"] for page in lease(server)] == [4]
        assert report(server, {"url": leased[0]["url"], "digest": "x"}, Idempotency_Key="k") == told
        assert server.ask("DELETE", f"/v1/leases/{leased[1]['lease']}").status == 204
        assert server.ask("DELETE", f"/v1/leases/{leased[1]['lease']}").status == 404
        assert [page["url"] for page in lease(server)] == [leased[1]["url"]]


def test_a_long_poll_ends_when_something_is_due(server: ServedCrawl) -> None:
    """Who waits for pages gets them as soon as a lease is given back, or ends; or the server stops."""
    leased = lease(server, "budget=4&lease=2")
    got: list[Any] = []
    waiter = threading.Thread(target=lambda: got.append(lease(server, "wait=30")))
    waiter.start()
    time.sleep(0.3)
    server.ask("DELETE", f"/v1/leases/{leased[0]['lease']}")
    waiter.join(20)
    assert [page["url"] for page in got[0]] == [leased[0]["url"]]
    assert len(lease(server, "wait=30")) == 3  # their leases of two seconds end


def test_sigterm_ends_long_polls(tmp_path: Path) -> None:
    """Twenty clients wait for pages and events: SIGTERM answers them, and the process ends."""
    with serving(made(tmp_path / "c", budget=1)) as server:
        lease(server)
        answers: list[int] = []
        paths = ["/v1/next?wait=50", "/v1/feed?wait=50"] * 10
        waiters = [threading.Thread(target=lambda path=path: answers.append(server.get(path).status)) for path in paths]
        for waiter in waiters:
            waiter.start()
        time.sleep(1.0)
        assert answers == []
        server.process.terminate()
        assert server.process.wait(40) == 0  # before any poll would have ended by itself; 0.2 s where nothing else runs
        for waiter in waiters:
            waiter.join(10)
        assert answers == [204] * 20


def test_a_crawl_that_another_process_holds_is_read_only(tmp_path: Path) -> None:
    """Where `run` fetches, leases and reports are 409 in one line; everything else is answered."""
    folder = made(tmp_path / "c")
    with served_here(folder) as server:
        with Planner.open(folder):
            for answer in (server.get("/v1/next"), server.post("/v1/visits", b"{}", Content_Type=LINES)):
                assert answer.status == 409
                assert "another process" in answer.json["error"]
            assert len(checked(server.get("/v1/plan"), "get", "/v1/plan")) == 4
            assert server.get("/v1/status").json["running"] is True
            assert server.get("/v1/page?url=https://a.example/0").json["next"]["why"]
            added = server.post("/v1/pages", {"urls": ["https://a.example/new"]}).json
            assert (added["new"], added["known"]) == (1, 0)
        assert len(lease(server)) == 4  # it is free now


def test_pages_are_added_once_and_within_scope(tmp_path: Path) -> None:
    """New, known, out of scope and wrong URLs are counted; what comes with a URL comes back with `next`."""
    folder = made(tmp_path / "c", 2, 9)
    toml = folder / "recrawl.toml"
    toml.write_text(toml.read_text().replace("hosts = []", 'hosts = ["a.example"]'))
    with served_here(folder) as server:
        text = b"https://a.example/0\nhttps://a.example/x\nhttps://b.example/\nnonsense\n"
        told = checked(server.post("/v1/pages", text, Content_Type="text/plain"), "post", "/v1/pages")
        assert (told["new"], told["known"], told["out_of_scope"]) == (1, 1, 1)
        assert [each["line"] for each in told["refused"]] == [4]
        asked = {"urls": ["https://a.example/y", "https://a.example/z"], "requests": [{"callback": "parse"}, None]}
        assert checked(server.post("/v1/pages", asked), "post", "/v1/pages")["new"] == 2
        kept = {page["url"]: page["request"] for page in lease(server)}
        assert kept["https://a.example/y"] == {"callback": "parse"}
        assert kept["https://a.example/z"] is None
        for wrong in (b"{", b"[]", b'{"urls": 3}', b'{"urls": ["a"], "requests": []}'):
            assert server.post("/v1/pages", wrong, Content_Type="application/json").status == 400


@pytest.mark.parametrize("sort", ["page", "url", "visits", "changes", "last", "waiting"])
def test_pages_are_listed_in_parts_without_gaps(tmp_path: Path, sort: str) -> None:
    """Keyset pages: three at a time give every page once, in the order of all at once."""
    with Planner.open(made(tmp_path / "c", 10, 20)) as planner:
        planner.report([Seen(f"https://a.example/{page}", digest="x") for page in range(0, 10, 2)])
    with served_here(tmp_path / "c") as server:
        whole = checked(server.get(f"/v1/pages?sort={sort}"), "get", "/v1/pages")["pages"]
        parts, after = [], ""
        while True:
            told = checked(server.get(f"/v1/pages?sort={sort}&limit=3{after}"), "get", "/v1/pages")
            parts += told["pages"]
            if told["next"] is None:
                break
            after = f"&after={told['next']}"
        assert parts == whole
        assert len(whole) == 10
        assert server.get(f"/v1/pages?sort={sort}&after=nonsense").status == 400
        assert len(server.get("/v1/pages?contains=/7").json["pages"]) == 1


def test_plan_shows_what_next_gives_and_why(server: ServedCrawl) -> None:
    """A dry run leases nothing, says why, and can be had as CSV."""
    dry = checked(server.get("/v1/plan?most=3"), "get", "/v1/plan")
    assert [page["why"] for page in dry] == ["never fetched"] * 3
    table = checked(server.get("/v1/plan?most=3&format=csv"), "get", "/v1/plan")
    assert table.splitlines()[0] == "url,page,rank,score,visits,changes,why"
    assert [page["url"] for page in lease(server, "budget=3")] == [page["url"] for page in dry]


def test_events_are_read_from_a_cursor_on(server: ServedCrawl) -> None:
    """The feed is read in parts, each from where the last one ended."""
    report(server, *({"url": f"https://a.example/{page}", "digest": "x"} for page in range(3)))
    one = server.get("/v1/feed?limit=2")
    assert [event["url"][-1] for event in checked(one, "get", "/v1/feed")] == ["0", "1"]
    two = server.get(f"/v1/feed?after={one.headers['x-next-after']}")
    assert [event["url"][-1] for event in two.lines] == ["2"]
    assert server.get(f"/v1/feed?after={two.headers['x-next-after']}").status == 204
    assert server.get("/v1/feed?after=nonsense").status == 400


def test_a_replay_is_a_job(server: ServedCrawl) -> None:
    """Policies and budgets are replayed beside the server; files and code cannot be named."""
    for day in range(1, 5):
        when = f"2026-01-0{day}T00:00:00Z"
        visits = ({"url": f"https://a.example/{p}", "digest": str(day * p), "time": when} for p in range(10))
        report(server, *visits)
    for wrong in ({"policies": ["x.py:f"]}, {"policies": ["gp:/etc/passwd"]}, {"budgets": ["much"]}, {"a": 1}):
        assert server.post("/v1/replay", wrong).status == 400
    told = server.post("/v1/replay", {"policies": ["age"], "budgets": [2, "50%"]})
    number = checked(told, "post", "/v1/replay")["job"]
    for _ in range(600):
        job = checked(server.get(f"/v1/jobs/{number}"), "get", "/v1/jobs/{job}")
        if job["state"] in ("done", "failed"):
            break
        time.sleep(0.1)
    assert job["state"] in ("done", "failed"), job
    assert checked(server.get("/v1/jobs"), "get", "/v1/jobs")[0]["job"] == number
    assert server.get("/v1/jobs/77").status == 404


def test_the_client_speaks_to_the_server(tmp_path: Path) -> None:
    """Add, lease, report, give back and look, by the standard library alone; refusals are one line with the status."""
    folder = made(tmp_path / "c", 2, 9)
    with serving(folder, "--token-file", str(tmp_path / "token")) as server:
        url = f"http://127.0.0.1:{server.port}"
        with pytest.raises(ServerError, match="401") as refused:
            Client(url).next()
        assert refused.value.status == 401
        client = Client(url, (tmp_path / "token").read_text().strip())
        assert client.add(["https://a.example/2"])["new"] == 1
        leased = client.next(3)
        assert len(leased) == 3
        client.release(leased[2]["lease"])
        visits = [{"url": page["url"], "digest": "x", "lease": page["lease"]} for page in leased[:2]]
        assert client.report([*visits, {"url": "nonsense:", "digest": "x"}])["refused"][0]["line"] == 3
        assert client.report(visits, key="k")["folded"] == 2
        assert [page["url"] for page in client.look("plan")] == [leased[2]["url"]]
        assert len(client.look("page", url=leased[0]["url"])[0]["visits"]) == 1
        assert len(list(client.feed())) == 2
    with pytest.raises(ServerError, match="cannot be reached"):
        client.next()


def test_every_route_is_in_the_openapi_file(tmp_path: Path) -> None:
    """The file names every route under /v1, and no other."""
    app = application(made(tmp_path / "c"))
    there = {
        (route.resource.canonical, route.method.lower())
        for route in app.router.routes()
        if route.resource is not None and route.method != "HEAD" and route.resource.canonical.startswith("/v1")
    }
    named = {(path, method) for path, methods in SPEC["paths"].items() for method in methods}
    assert there == named - {("/healthz", "get")}
