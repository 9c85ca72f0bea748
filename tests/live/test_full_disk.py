"""A disk that is really full ends a run in one line; no visit is lost, and with room again the crawl goes on."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from pathlib import Path

import psycopg
import pytest

from recrawl.cli import main
from recrawl.live.directory import CrawlDirectory
from recrawl.live.facade import Crawl
from recrawl.simulate.replay import ReplayServer
from support.live_crawls import Days, begun, seeds, settings
from support.postgres_server import NOBODY, LocalServer
from support.small_disk import SmallDisk, small_disk

Web = tuple[ReplayServer, Days]


def visited(directory: CrawlDirectory) -> Counter[tuple[int, str]]:
    store = directory.open_store(read_only=True)
    found = Counter((visit["cycle"], visit["url"]) for visit in store.all_visits())
    store.close()
    return found


def ends_in_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    return error


def goes_on(
    directory: CrawlDirectory, disk: SmallDisk, server: ReplayServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Fill the disk, run, make room, and run again: each page is recorded once, and the store is sound."""
    run = ["run", "-C", str(directory.path), "--cycles", "1", "--quiet"]
    before = visited(directory)
    disk.fill(30_000)
    assert "full" in ends_in_one_line(run, capsys)
    during = visited(directory)
    disk.make_room()
    assert main(run) == 0
    after = visited(directory)
    assert before.keys() <= during.keys() <= after.keys()
    assert {url for _, url in after} == set(seeds(server))
    assert set(after.values()) == {1}


@pytest.mark.parametrize("what", ["all", "the store alone"])
def test_sqlite_on_a_full_disk(web: Web, tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str) -> None:
    """Whether bodies or the database itself cannot be written."""
    server, calendar = web
    calendar.day = 0.0
    with small_disk(tmp_path / "disk", 12) as disk:
        directory = begun(disk.folder / "crawl", seeds(server), settings())
        if what != "all":
            directory.warc.rmdir()
            (tmp_path / "elsewhere").mkdir()
            directory.warc.symlink_to(tmp_path / "elsewhere")
        goes_on(directory, disk, server, capsys)
        with sqlite3.connect(directory.state) as db:
            assert db.execute("pragma integrity_check").fetchone() == ("ok",)


def test_postgresql_on_a_full_disk(
    web: Web, postgres: LocalServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A tablespace that cannot grow: PostgreSQL's own disk_full (53100)."""
    server, calendar = web
    calendar.day = 0.0
    with small_disk(postgres.folder / "small", 24) as disk:
        space = disk.folder / "space"
        space.mkdir()
        if postgres.as_root:
            os.chown(space, NOBODY, NOBODY)
        with psycopg.connect(postgres.url(), autocommit=True) as connection:
            connection.execute(f"create tablespace small location '{space}'".encode())
            connection.execute("create database on_small tablespace small")
        url = postgres.url("on_small")
        directory = begun(tmp_path / "crawl", seeds(server), f'{settings()}\n[store]\nurl = "{url}"\n')
        goes_on(directory, disk, server, capsys)
        with psycopg.connect(postgres.url(), autocommit=True) as connection:
            assert Crawl(directory).status()["visits"] == len(seeds(server))
            connection.execute("drop database on_small with (force)")
            connection.execute("drop tablespace small")
