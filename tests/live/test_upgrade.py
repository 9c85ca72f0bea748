"""A crawl's store of an older version is brought to this one, whatever happens meanwhile."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recrawl.cli import main
from recrawl.errors import StoreError
from recrawl.live import upgrade as upgrading
from recrawl.live.facade import Crawl
from recrawl.live.store import Store
from recrawl.live.storeschema import FORMAT
from support.counted_store import recounted

STORES = Path(__file__).parent.parent / "data" / "stores"  # dumps of stores that the old versions made, live
OLD = (2, 3)


def old_crawl(folder: Path, number: int) -> Crawl:
    """Make a crawl with the store of an older version."""
    crawl = Crawl.create(folder)
    crawl.directory.state.unlink()
    db = sqlite3.connect(crawl.directory.state)
    db.executescript((STORES / f"format-{number}.sql").read_text())
    db.execute("pragma journal_mode = wal")
    db.close()
    return crawl


def rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Read the tables that every version has."""
    db = sqlite3.connect(path)
    asked = {
        "pages": "select page, url, digest, title, found_on from pages order by page",
        "visits": "select * from visits order by visit",
        "links": "select * from links order by page, target",
        "versions": "select visit, page, digest, words from versions order by visit",
        "cycles": "select cycle, at, budget, policy from cycles order by cycle",
    }
    found = {name: db.execute(ask).fetchall() for name, ask in asked.items()}
    db.close()
    return found


def shape(path: Path) -> set[tuple[object, ...]]:
    """Describe tables, columns, indexes and triggers, whatever their order."""
    db = sqlite3.connect(path)
    tables = [name for (name,) in db.execute("select name from sqlite_schema where type = 'table'")]
    found: set[tuple[object, ...]] = {
        (table, *column[1:]) for table in tables for column in db.execute(f"pragma table_info({table})")
    }
    others = "select type, name, sql from sqlite_schema where type in ('index', 'trigger') and sql is not null"
    found |= set(db.execute(others))
    db.close()
    return found


@pytest.mark.parametrize("number", OLD)
def test_an_old_store_keeps_everything_and_gains_the_counters(tmp_path: Path, number: int) -> None:
    """All pages, visits, versions and links are there after an upgrade; counters agree with a recount; it is kept."""
    crawl = old_crawl(tmp_path / "crawl", number)
    before = rows(crawl.directory.state)
    with pytest.raises(StoreError, match=rf"has format {number}.*`recrawl upgrade -C .*crawl`"):
        crawl.status()
    assert crawl.upgrade() == (number, FORMAT)
    assert rows(crawl.directory.state) == before
    assert rows(crawl.directory.path / f"state.sqlite.format-{number}") == before
    with crawl.reading() as store:
        assert recounted(store)
    found = crawl.status()
    assert [found[name] for name in ("pages", "fetched", "visits", "changed", "gone", "failed", "links")] == [
        10, 10, 40, 10, 2, 6, 8,
    ]  # fmt: skip
    assert [page["url"] for page in crawl.pages("/b", sort="url") if page["gone"]] == [
        "http://one.test/b",
        "http://two.test/b",
    ]
    assert crawl.upgrade() == (FORMAT, FORMAT)


@pytest.mark.parametrize("number", OLD)
def test_an_upgraded_store_has_the_shape_of_a_new_one(tmp_path: Path, number: int) -> None:
    """Tables, columns, indexes and triggers are those of a store made today."""
    crawl = old_crawl(tmp_path / "crawl", number)
    crawl.upgrade()
    Store.create(tmp_path / "new.sqlite").close()
    assert shape(crawl.directory.state) == shape(tmp_path / "new.sqlite")


LINES = (
    "1\t0\thttp://one.test/\tHome \u2003\U0001f600",
    "0\tNone\thttps://else.test/?a=b\t",
    "1\t3\thttp://one.test/b\t1\u00e9",
)


def test_links_that_were_lines_of_text_are_packed(tmp_path: Path) -> None:
    """Up to format 4 the links of a first visit were lines of text: each one says the same after an upgrade."""
    crawl = old_crawl(tmp_path / "crawl", 3)
    db = sqlite3.connect(crawl.directory.state)
    for page, lines in ((4, LINES), (5, LINES[1:2]), (6, ())):
        db.execute("update first_links set links = ?, count = ? where page = ?", ("\n".join(lines), len(lines), page))
    db.commit()
    db.close()
    crawl.upgrade()
    with crawl.reading() as store:
        found = {page: [row[1:5] for row in store.links(page)] for page in (4, 5, 6)}
    said = [line.split("\t") for line in LINES]
    rows = [(target, None if page == "None" else int(page), inside == "1", text) for inside, page, target, text in said]
    assert found == {4: rows, 5: rows[1:2], 6: []}


def test_the_scope_of_an_old_crawl_is_what_was_added(tmp_path: Path) -> None:
    """Hosts of pages that the user added are in the scope after the upgrade."""
    crawl = old_crawl(tmp_path / "crawl", 2)
    crawl.upgrade()
    with crawl.reading() as store:
        assert store.in_scope() == ["one.test", "two.test"]


def test_a_newer_store_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a later version made is neither read nor changed."""
    crawl = Crawl.create(tmp_path / "crawl")
    db = sqlite3.connect(crawl.directory.state)
    db.execute(f"pragma user_version = {FORMAT + 1}")
    db.close()
    for verb in ("status", "upgrade"):
        assert main([verb, "-C", str(crawl.directory.path)]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert f"format {FORMAT + 1}" in said
        assert "newer recrawl" in said


def test_an_error_midway_leaves_the_store_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that fails changes nothing, and no copy stays behind."""
    crawl = old_crawl(tmp_path / "crawl", 3)
    before = rows(crawl.directory.state)
    monkeypatch.setitem(upgrading.STEPS, 3, ("alter table pages add column visits integer; update absent set x = 1;",))
    with pytest.raises(StoreError, match="no such table"):
        crawl.upgrade()
    assert rows(crawl.directory.state) == before
    assert sorted(path.name for path in crawl.directory.path.glob("state*")) == ["state.sqlite"]


def test_a_reader_makes_it_wait(tmp_path: Path) -> None:
    """While another process reads the old store, the upgrade says so in one line: its log must not stay behind."""
    crawl = old_crawl(tmp_path / "crawl", 3)
    reader = sqlite3.connect(crawl.directory.state)
    reader.execute("begin")
    reader.execute("select count(*) from pages").fetchone()
    with pytest.raises(StoreError, match="another process"):
        crawl.upgrade()
    reader.close()
    assert crawl.upgrade() == (3, FORMAT)


def test_killed_at_any_moment_it_is_the_old_store_or_the_new_one(tmp_path: Path) -> None:
    """kill -9 during an upgrade loses nothing; the next upgrade ends it."""
    crawl = old_crawl(tmp_path / "crawl", 3)
    before = rows(crawl.directory.state)
    old = (tmp_path / "old").with_suffix(".sqlite")
    shutil.copyfile(crawl.directory.state, old)
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom recrawl.live.upgrade import upgrade\n"
        "print('ready', flush=True)\nsys.stdin.readline()\nupgrade(Path(sys.argv[1]))\n"
    )
    for k in range(8):
        for stale in crawl.directory.path.glob("state*"):
            stale.unlink()
        shutil.copyfile(old, crawl.directory.state)
        words = [sys.executable, "-c", program, str(crawl.directory.state)]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdin is not None
            process.stdout.readline()
            process.stdin.write(b"\n")
            process.stdin.flush()
            time.sleep(0.004 * k)
            os.kill(process.pid, signal.SIGKILL)
        crawl.upgrade()
        assert rows(crawl.directory.state) == before
        assert not (crawl.directory.path / "state.sqlite.new").exists()


def test_the_verb_says_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`recrawl upgrade` names the formats and where the old store is."""
    crawl = old_crawl(tmp_path / "crawl", 3)
    where = str(crawl.directory.path)
    assert main(["upgrade", "-C", where]) == 0
    assert f"format 3 is format {FORMAT} now; the old store is state.sqlite.format-3" in capsys.readouterr().out
    assert main(["upgrade", "-C", where]) == 0
    assert "already" in capsys.readouterr().out
    assert main(["upgrade", "-C", where, "--json"]) == 0
    assert capsys.readouterr().out == f'{{"before": {FORMAT}, "after": {FORMAT}}}\n'
