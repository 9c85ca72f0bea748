"""Databases that are wrong, full, old, away or in use: one line, and no visit is lost."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import psycopg
import pytest

from recrawl.cli import main
from recrawl.errors import StoreError
from recrawl.live.directory import CrawlDirectory
from recrawl.live.facade import Crawl
from recrawl.live.fleet import worker_session
from recrawl.live.postgres import store_pg_schema
from recrawl.live.session import Session
from support.fleets import Web, chosen, in_database, place_of, visits_in
from support.live_crawls import begun, seeds, settings
from support.postgres_server import LocalServer


def one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    assert "Traceback" not in error
    return error


def test_a_database_that_cannot_be_used(
    postgres: LocalServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong address, no such database, no permission, a password in the address: one line, and no folder is left."""
    url = postgres.new_database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create role guest_of_tests login")
        connection.execute("revoke all on schema public from public")
    for bad, said in (
        ("mysql://x/y", "must be postgresql://"),
        ("postgresql://u:hunter2@127.0.0.1/x", "has a password"),
        ("postgresql://u@127.0.0.1:1/x", "nobody answers"),
        ("postgresql://u@127.0.0.1:port/x", "no number"),
        (postgres.url("nothing_here"), "does not exist"),
        (url.replace("postgres@", "guest_of_tests@"), "permission"),
    ):
        error = one_line(["init", str(tmp_path / "crawl"), "--store", bad], capsys)
        assert said in error or "no such database" in error, error
        assert "hunter2" not in error
        assert not (tmp_path / "crawl").exists()
        error = one_line(["work", "--store", bad, "--name", "w1", "-C", str(tmp_path / "w")], capsys)
        assert "hunter2" not in error
    assert main(["init", str(tmp_path / "crawl"), "--store", url]) == 0
    assert "has a crawl already" in one_line(["init", str(tmp_path / "other"), "--store", url], capsys)
    guest = url.replace("postgres@", "guest_of_tests@")
    assert "no permission" in one_line(["work", "--store", guest, "--name", "w", "-C", str(tmp_path / "w")], capsys)
    assert "letters" in one_line(["work", "--store", url, "--name", "../w", "-C", str(tmp_path)], capsys)
    assert "no recrawl.toml" in one_line(["work", "--name", "w", "-C", str(tmp_path / "none")], capsys)


def test_a_run_whose_own_worker_cannot_work_ends(
    postgres: LocalServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a bucket that does not answer, `run` does not wait for a worker that never comes: one line says why."""
    folder = tmp_path / "crawl"
    assert main(["init", str(folder), "--store", postgres.new_database()]) == 0
    settings = folder / "recrawl.toml"
    bucket = '[bodies]\nto = "s3://none/x"\nendpoint = "http://127.0.0.1:9"\n'
    settings.write_text(settings.read_text().replace("[bodies]\n", bucket))
    assert main(["add", "-C", str(folder), "http://127.0.0.1:9/"]) == 0
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    capsys.readouterr()
    assert main(["run", "-C", str(folder), "--cycles", "1", "--now"]) == 2
    said = capsys.readouterr().err
    assert [line for line in said.splitlines() if "s3://none/x" in line] == said.splitlines()[-1:], said


def test_a_store_of_another_version(
    postgres: LocalServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer format is refused in one line by everything; an older one is brought here by its steps, in one go."""
    url = postgres.new_database()
    folder = str(tmp_path / "crawl")
    assert main(["init", folder, "--store", url]) == 0
    set_format(url, 99)
    for words in (["status", "-C", folder], ["run", "-C", folder, "--cycles", "1"], ["upgrade", "-C", folder]):
        assert "use a newer recrawl" in one_line(words, capsys)
    assert "use a newer recrawl" in one_line(["work", "--store", url, "--name", "w", "-C", folder], capsys)
    set_format(url, 3)
    assert "recrawl upgrade" in one_line(["status", "-C", folder], capsys)
    assert "from format 4 on" in one_line(["upgrade", "-C", folder], capsys)
    monkeypatch.setitem(store_pg_schema.STEPS, 3, AS_IN_FORMAT_4)
    assert main(["upgrade", "-C", folder]) == 0
    assert main(["status", "-C", folder]) == 0


def test_a_server_that_is_too_old(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A server that says it is PostgreSQL 13 is refused in one line, by everything that opens a store."""
    with socket.create_server(("127.0.0.1", 0)) as listens:
        threading.Thread(target=greet_as, args=(listens, b"13.4"), daemon=True).start()
        url = f"postgresql://u@127.0.0.1:{listens.getsockname()[1]}/x?sslmode=disable&gssencmode=disable"
        for words in (["init", str(tmp_path / "crawl")], ["work", "--name", "w", "-C", str(tmp_path)]):
            assert "PostgreSQL 13; take 14 or newer" in one_line([*words, "--store", url], capsys)
    assert not (tmp_path / "crawl").exists()


def greet_as(listens: socket.socket, version: bytes) -> None:
    """Let clients in as a server of this version does: authenticated, its version, ready."""
    said = b"server_version\0" + version + b"\0"
    while True:
        try:
            client, _ = listens.accept()
        except OSError:
            return
        client.recv(1_000)
        client.sendall(b"R\0\0\0\x08\0\0\0\0S" + (len(said) + 4).to_bytes(4, "big") + said + b"Z\0\0\0\x05I")


AS_IN_FORMAT_4 = """
alter table pages add column extra bigint;
alter table first_links drop column targets;
alter table first_links alter column links type text using '';
"""


def set_format(url: str, number: int) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("update meta set value = %s where key = 'format'", (str(number),))


def test_a_database_that_becomes_read_only_loses_no_visit(
    web: Web, postgres: LocalServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A full or read-only database stops a run in one line; what was recorded is there, and a later run goes on."""
    server, calendar = web
    calendar.day = 0.0
    directory = begun(tmp_path / "crawl", seeds(server), in_database(postgres, settings()))
    url = place_of(directory).url
    name = url.partition("@/")[2].partition("?")[0]
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(f"alter database {name} set default_transaction_read_only = on".encode())
        assert "read-only" in one_line(["run", "-C", str(directory.path), "--cycles", "1", "--quiet"], capsys)
        assert "read-only" in one_line(["work", "--name", "w", "-C", str(directory.path)], capsys)
        connection.execute(f"alter database {name} reset default_transaction_read_only".encode())
    assert Crawl(directory).run(1).cycles == 1
    assert visits_in(directory) == len(seeds(server))


def test_a_full_database_loses_no_visit(
    web: Web, postgres: LocalServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the database's disk is full while visits are recorded, a run ends in one line, and a later one goes on."""
    server, calendar = web
    calendar.day = 0.0
    directory = begun(tmp_path / "crawl", seeds(server), in_database(postgres, settings()))
    with psycopg.connect(place_of(directory).url, autocommit=True) as connection:
        connection.execute(
            "create function full_disk() returns trigger language plpgsql as"
            " $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$"
        )
        connection.execute("create trigger full_disk before insert on visits execute function full_disk()")
        assert "disk is full" in one_line(["run", "-C", str(directory.path), "--cycles", "1", "--quiet"], capsys)
        connection.execute("drop trigger full_disk on visits")
    assert Crawl(directory).run(1).cycles == 1
    assert visits_in(directory) == len(seeds(server))
    pages = [url for url, _ in chosen(directory)[1]]
    assert len(pages) == len(set(pages))


def test_a_cycle_whose_end_is_on_disk_is_not_run_again(web: Web, postgres: LocalServer, tmp_path: Path) -> None:
    """A connection that is lost just after a cycle was recorded as done does not make the next cycle come early."""
    server, calendar = web
    calendar.day = 0.0
    directory = begun(tmp_path / "crawl", seeds(server), in_database(postgres, settings()))
    with psycopg.connect(place_of(directory).url, autocommit=True) as connection:
        connection.execute(
            "create sequence ends; create function cut() returns trigger language plpgsql as $$ begin"
            " if nextval('ends') = 1 then perform pg_terminate_backend(pg_backend_pid()); end if; return old; end $$;"
            "create trigger cut before delete on fleet for each row execute function cut()"
        )
        assert Crawl(directory).run(1).cycles == 1
        assert connection.execute("select last_value from ends").fetchone() == (2,)
        assert connection.execute("select count(*), sum(done) from cycles").fetchone() == (1, 1)


def test_a_worker_that_cannot_record_ends_its_run(
    web: Web, postgres: LocalServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is lost in the middle of a host's tasks, for a moment only, is one line; a later run asks it again."""
    server, calendar = web
    calendar.day = 0.0
    directory = begun(tmp_path / "crawl", seeds(server), in_database(postgres, settings(), lease_s=2.0))
    monkeypatch.setattr(worker_session, "GROUP", 1)  # recorded by the task itself, not at the next look
    with psycopg.connect(place_of(directory).url, autocommit=True) as connection:
        connection.execute(
            "create sequence sends; create function full_disk() returns trigger language plpgsql as $$ begin"
            " if nextval('sends') = 5 then raise exception 'could not extend file' using errcode = '53100'; end if;"
            " return new; end $$;"
            "create trigger full_disk before insert on inbox for each row execute function full_disk()"
        )
        assert "disk is full" in one_line(["run", "-C", str(directory.path), "--cycles", "1", "--quiet"], capsys)
    assert Crawl(directory).run(1).cycles == 1
    assert visits_in(directory) == len(seeds(server))


def test_only_one_planner(web: Web, postgres: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second planner, from another folder or machine, is refused; what is added meanwhile waits for the first."""
    from recrawl.live.postgres import store_postgres

    monkeypatch.setattr(store_postgres, "LOCK_S", 0.1)
    directory = begun(tmp_path / "crawl", seeds(web[0]), in_database(postgres, settings()))
    name, plan = Crawl(directory).steering()
    with Session(directory, name, plan, clock=web[1]):
        assert Crawl(directory).is_held()
        with pytest.raises(StoreError, match="another process"):
            Crawl(CrawlDirectory.open(directory.path)).run(1)
        assert Crawl(directory).add("http://s0.replay/more")[0] == 1
    until_s = time.monotonic() + store_postgres.LOCK_S * 100
    while Crawl(directory).is_held() and time.monotonic() < until_s:  # the database notices it in a moment
        time.sleep(0.01)
    assert not Crawl(directory).is_held()
