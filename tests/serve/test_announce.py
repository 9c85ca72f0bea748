"""IndexNow: what a site announces, and proves to be its own, is visited first."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from recrawl.live.facade import Crawl
from recrawl.live.planner import Planner
from recrawl.live.reported import Seen
from support.live_crawls import settings
from support.served_crawls import served_here

KEY = "0123456789abcdef"


class Site(BaseHTTPRequestHandler):
    """A site with the file of its key, and another in a folder."""

    asked: list[str] = []  # noqa: RUF012

    def do_GET(self) -> None:
        self.asked.append(self.path)
        there = self.path in (f"/{KEY}.txt", f"/blog/{KEY}.txt")
        self.send_response(200 if there else 404)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(KEY.encode() if there else b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    Site.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def test_announced_pages_are_visited_first_if_the_key_is_proved(tmp_path: Path, port: int) -> None:
    """The key's file is fetched once from the host; known pages become hints, new ones pages; strangers are refused."""
    folder, site = tmp_path / "c", f"http://a.replay:{port}"
    Crawl.create(folder, settings("age", "2", signals=True).replace("warmup = 1", "warmup = 0"))
    with Planner.open(folder, every="1h") as planner:
        planner.add([f"{site}/{page}" for page in range(9)], at=1.0)
        for page in range(9):
            planner.begin(at=1.0 + page)
            planner.report([Seen(f"{site}/{page}", digest="x", at=1.0 + page)], at=1.0 + page)
        planner.finish()
    asked = {"host": f"a.replay:{port}", "key": KEY, "keyLocation": f"{site}/{KEY}.txt"}
    with served_here(folder) as server:
        told = server.post("/v1/announce", {**asked, "urlList": [f"{site}/7", f"{site}/new"]})
        assert (told.status, told.json) == (200, {"announced": 1, "new": 1})
        told = server.get(f"/v1/announce?url={site}/8&key={KEY}&keyLocation={site}/{KEY}.txt")
        assert (told.status, told.json) == (200, {"announced": 1, "new": 0})
        assert Site.asked == ["/robots.txt", f"/{KEY}.txt"]  # it is believed for an hour
        chosen = [page["url"] for page in server.get("/v1/next?budget=1").lines]
        assert chosen in ([f"{site}/7"], [f"{site}/8"])  # by age it would be 0
        for wrong, status in (
            ({"urlList": ["http://b.replay/"]}, 422),
            ({"host": "b.replay", "keyLocation": "http://b.replay/k.txt", "urlList": ["http://b.replay/"]}, 422),
            ({"key": "f" * 16, "keyLocation": f"{site}/{'f' * 16}.txt", "urlList": [f"{site}/1"]}, 403),
            ({"keyLocation": f"{site}/blog/{KEY}.txt", "urlList": [f"{site}/1"]}, 422),
            ({"keyLocation": f"{site}/blog/{KEY}.txt", "urlList": [f"{site}/blog/1"]}, 200),
            ({"keyLocation": "http://elsewhere.replay/k.txt", "urlList": [f"{site}/1"]}, 400),
            ({"urlList": []}, 400),
            ({"key": "short", "urlList": [f"{site}/1"]}, 400),
        ):
            assert server.post("/v1/announce", {**asked, **wrong}).status == status, wrong
