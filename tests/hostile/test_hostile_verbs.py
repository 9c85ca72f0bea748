"""Strangers against the verbs: robots.txt and sitemaps that would widen the scope, politeness, names with ESC."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recrawl.cli import main
from recrawl.live.facade import Crawl
from recrawl.plan import Plan
from recrawl.recording.write import write_recording
from support.loopback_servers import Answer, Asked, Loopback
from support.small_recordings import tables

SETTINGS = """
[crawl]
policy = "age"
every = "1d"
budget = "50"
signals = true
[fetch]
allow_networks = ["127.0.0.0/8"]
connect_to = [["*.test", "127.0.0.1"]]
[fetch.gate]
min_delay_s = 0.0
latency_factor = 0.0
"""


def host_of(asked: Asked) -> str:
    return asked.headers["host"].split(":")[0]


def begun(folder: Path, *urls: str) -> Crawl:
    crawl = Crawl.create(folder, SETTINGS)
    if urls:
        crawl.add(*urls)
    return crawl


def test_strangers_hosts_never_enter_the_scope(tmp_path: Path) -> None:
    """A robots.txt elsewhere, the sitemap it names and links name three hosts; over restarts none is crawled."""

    def answer(asked: Asked) -> Answer:
        port = asked.headers["host"].split(":")[1]
        if (host_of(asked), asked.path) == ("seed.test", "/robots.txt"):
            return 302, {"Location": f"http://third.test:{port}/robots.txt"}, b""
        if asked.path == "/robots.txt":
            return 200, {}, f"User-agent: *\nSitemap: http://smhost.test:{port}/sitemap.xml\n".encode()
        if asked.path == "/sitemap.xml":
            hosts = ("seed", "smhost", "bank", "third")
            pages = "".join(f"<url><loc>http://{host}.test:{port}/named</loc></url>" for host in hosts)
            return 200, {}, f"<urlset>{pages}</urlset>".encode()
        links = "".join(f'<a href="http://{host}.test:{port}/linked">x</a>' for host in ("seed", "third", "bank"))
        return 200, {}, f"<title>page</title><p>of {host_of(asked)}{links}".encode()

    with Loopback(answer) as server:
        folder, seed = tmp_path / "crawl", f"http://seed.test:{server.port}/"
        begun(folder, seed)
        for _ in range(3):  # each is a process of its own, as far as the store knows
            Crawl.open(folder).run(1, now=True)
        Crawl.open(folder).add(sitemap=f"{seed}sitemap.xml")
        Crawl.open(folder).run(1, now=True)
    pages = {host_of(asked) for asked in server.asked if asked.path not in ("/robots.txt", "/sitemap.xml")}
    assert pages == {"seed.test"}
    assert {asked.path for asked in server.asked} >= {"/", "/linked", "/named"}
    with Crawl.open(folder).reading() as store:
        assert store.in_scope() == ["seed.test"]


def timed(answer: Callable[[Asked], Answer]) -> tuple[Callable[[Asked], Answer], list[float]]:
    """Return the same answers, and when they were asked for."""
    times: list[float] = []

    def answered(asked: Asked) -> Answer:
        times.append(time.monotonic())
        return answer(asked)

    return answered, times


def test_sitemaps_that_are_added_keep_the_crawls_delay(tmp_path: Path) -> None:
    """Under Crawl-delay 1 every request is a second after the one before: of the run, of `add`, and of `add` again."""

    def answer(asked: Asked) -> Answer:
        port = asked.headers["host"].split(":")[1]
        if asked.path == "/robots.txt":
            return 200, {}, b"User-agent: *\nCrawl-delay: 1\n"
        if asked.path == "/sitemap.xml":
            return 200, {}, f"<urlset><url><loc>http://seed.test:{port}/named</loc></url></urlset>".encode()
        return 200, {}, b"<title>page</title><p>words"

    answered, times = timed(answer)
    with Loopback(answered) as server:
        seed = f"http://seed.test:{server.port}/"
        begun(tmp_path / "crawl", seed)
        Crawl.open(tmp_path / "crawl").run(1)
        for _ in range(2):
            Crawl.open(tmp_path / "crawl").add(sitemap=f"{seed}sitemap.xml")
    assert [asked.path for asked in server.asked].count("/sitemap.xml") == 2
    gaps = np.diff(times)
    assert len(gaps) >= 3
    assert gaps.min() > 0.99


def test_sitemaps_that_are_added_obey_retry_after(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A host that asks to be left alone for an hour is asked once, however often `add` is called; `add` says why."""

    def answer(asked: Asked) -> Answer:
        return (404, {}, b"") if asked.path == "/robots.txt" else (429, {"Retry-After": "3600"}, b"")

    with Loopback(answer) as server:
        begun(tmp_path / "crawl")
        words = ["add", "-C", str(tmp_path / "crawl"), "--sitemap", f"http://seed.test:{server.port}/sitemap.xml"]
        said = []
        for _ in range(3):
            assert main(words) == 2
            said.append(capsys.readouterr().err)
    assert [asked.path for asked in server.asked] == ["/robots.txt", "/sitemap.xml"]
    assert all("host-paused" in line for line in said[1:])


def test_sitemaps_are_left_to_the_process_that_crawls(tmp_path: Path) -> None:
    """While a run holds the crawl `add --sitemap` asks for nothing itself; the run reads it in its next cycle."""
    from recrawl.live.session import Session

    def answer(asked: Asked) -> Answer:
        port = asked.headers["host"].split(":")[1]
        if asked.path == "/sitemap.xml":
            return 200, {}, f"<urlset><url><loc>http://seed.test:{port}/named</loc></url></urlset>".encode()
        return (404, {}, b"") if asked.path == "/robots.txt" else (200, {}, b"<title>page</title><p>words")

    with Loopback(answer) as server:
        crawl = begun(tmp_path / "crawl", f"http://seed.test:{server.port}/")
        with Session(crawl.directory, "age", Plan(1.0, 50, warmup=0)) as session:
            session.run_cycle()
            before = len(server.asked)
            words = ["add", "-C", str(tmp_path / "crawl"), "--sitemap", f"http://seed.test:{server.port}/sitemap.xml"]
            assert main(words) == 0
            assert len(server.asked) == before
            session.at_once = True
            session.run_cycle()
    paths = [asked.path for asked in server.asked[before:]]
    assert paths.count("/sitemap.xml") == 1
    assert "/named" in paths


def test_describe_shows_no_escape_sequence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A site, its kind or a page named with ESC cannot clear the screen, as tables by site and by kind."""
    nasty = "evil\x1b[2J\x1b]0;owned\x07\u202e.test"
    made: dict[str, Any] = tables(10, [[1.0, 2.0], [3.0]])
    made["sites"]["repo"] = np.array([nasty], dtype=object)
    made["sites"]["kind"] = np.array([nasty], dtype=object)
    write_recording(made, tmp_path / "web")
    for words in ([], ["--sites"], ["--kinds"]):
        assert main(["describe", str(tmp_path / "web"), *words]) == 0
        said = capsys.readouterr()
        assert not any(bad in said.out + said.err for bad in ("\x1b", "\x07", "\u202e"))
        assert "evil?[2J" in said.out
