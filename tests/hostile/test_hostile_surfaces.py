"""Hostile input that reaches our own surfaces: files, reports, tables, logs, the database, models (cases 67 to 72)."""

from __future__ import annotations

import csv
import io
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from recrawl.cli import main
from recrawl.demo.demo_report import render, word_diff
from recrawl.demo.living_demo import MEASURES, Judged
from recrawl.evaluate.crawl import crawl
from recrawl.live.bodies import Bodies
from recrawl.live.directory import CrawlDirectory
from recrawl.live.journal import Journal
from recrawl.live.recorder import Noted
from recrawl.live.store import Store
from recrawl.live.store_visits import VisitRecord
from recrawl.plan import Plan
from recrawl.recording.recording import Recording
from recrawl.visits import Outcome
from support.live_crawls import begun
from support.manual_clock import ManualClock
from support.small_recordings import random_tables

SCRIPT = "<script>alert(1)</script>"
ESCAPE = "\x1b[2J\x1b]0;owned\x07\nrecrawl: all is well\r\u202e"


def visited(folder: Path, title: str, note: str | None = None, url: str = "http://a.example/") -> CrawlDirectory:
    """A crawl of one page that was visited twice, with a hostile title."""
    directory = begun(folder, [url])
    store = Store.open(directory.state)
    bodies = Bodies(directory.warc)
    bodies.open({})
    with store.transaction():
        for cycle, outcome in ((1, Outcome.FIRST), (2, Outcome.CHANGED)):
            body = f"<title>{title}</title><p>{SCRIPT} version {cycle} of some words".encode()
            place = bodies.write(url, 200, (("content-type", "text/html"),), body)
            store.db.execute(
                "insert into cycles (cycle, at, budget, policy, done) values (?, ?, 1, 'age', 1)", (cycle, float(cycle))
            )
            record = VisitRecord(0, float(cycle), int(outcome), 200, note=note, title=title, digest=b"d", warc=place)
            store.add_visits(cycle, [record], [(0, 0)])
    bodies.close()
    store.close()
    return directory


def test_67_no_file_is_named_by_a_stranger(tmp_path: Path) -> None:
    """Path tricks, device names and 300-byte names in URLs never become file names."""
    directory = begun(tmp_path / "crawl", ["http://a.example/"])
    bodies = Bodies(directory.warc)
    bodies.open({})
    for path in ("../../../../etc/passwd", "..%2f..%2fx", "CON", "nul.txt", "x" * 300, "a\\..\\b", ".lock"):
        bodies.write(f"http://a.example/{path}", 200, (), b"body")
    bodies.close()
    assert [file.name for file in directory.warc.iterdir()] == ["crawl-00001.warc.gz"]
    assert {file.name for file in directory.path.iterdir()} <= {
        "recrawl.toml", "state.sqlite", "state.sqlite-wal", "state.sqlite-shm", "warc", "models", "reports", ".lock",
    }  # fmt: skip


def test_68_a_script_in_a_title_or_a_text_is_text_in_the_report(tmp_path: Path) -> None:
    """URLs and diffs are escaped, and the page's policy lets no script run."""
    visited(tmp_path / "age", SCRIPT)
    recording = Recording.from_arrays(random_tables(20, 84.0, 1))
    result = crawl(recording, "age", Plan(7.0, 5, 1), MEASURES)
    html = render([Judged("age", True, [1] * 11, 0, result)] * 2, recording, tmp_path)
    assert "<script" not in html
    assert "default-src 'none'" in html
    changed = word_diff("one <b>x</b>", f"two <b>y</b> {SCRIPT}")
    assert "<b>" not in changed
    assert "&lt;script&gt;alert(1)" in changed


@pytest.mark.parametrize("title", ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1)", "\t=1+1", "\r\n=1+1", "|x", "%0A"])
def test_69_a_csv_cell_is_never_a_formula(title: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In `pages --csv` and `export csv`, no cell begins with what a spreadsheet computes, and no row is broken."""
    directory = visited(tmp_path / "crawl", title, note=title)
    assert main(["pages", "-C", str(directory.path), "--csv"]) == 0
    tables = [capsys.readouterr().out]
    assert main(["export", "-C", str(directory.path), "csv", str(tmp_path / "out")]) == 0
    tables += [(tmp_path / "out" / name).read_text() for name in ("pages.csv", "visits.csv")]
    for table in tables:
        rows = list(csv.reader(io.StringIO(table)))
        assert len({len(row) for row in rows}) == 1
        assert not any(cell[:1] in tuple("=+@|%\t\r\n") for row in rows for cell in row)
        assert not any(cell.startswith("-") and not cell[1:2].isdigit() for row in rows for cell in row)


def test_69_nothing_in_logs_or_on_the_terminal_is_obeyed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Escape sequences, newlines and direction marks in titles and notes are shown, not sent."""
    directory = visited(tmp_path / "crawl", ESCAPE, note=ESCAPE)
    for verb in (["show", "http://a.example/"], ["pages"], ["status"], ["pages", "--csv"]):
        assert main([verb[0], "-C", str(directory.path), *verb[1:]]) == 0
    said = capsys.readouterr().out
    assert not any(bad in said for bad in ("\x1b", "\x07", "\r", "\u202e"))
    assert "\nrecrawl: all is well" not in said
    with Journal(tmp_path, ManualClock()) as journal:
        record = VisitRecord(0, 1.0, int(Outcome.FAILED), note=ESCAPE)
        journal.visit(Noted("http://a.example/", record, (0, 0), 0))
    text = (tmp_path / "log.jsonl").read_bytes()
    assert text.count(b"\n") == 1
    assert b"\x1b" not in text
    assert json.loads(text)["note"] == ESCAPE


def test_70_sql_in_a_url_is_a_url(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Quotes and semicolons go into the database as data, and come out of it again."""
    url = "http://a.example/'; DROP TABLE pages; --?q=\"'"
    directory = begun(tmp_path / "crawl", ["http://a.example/"])
    assert main(["add", "-C", str(directory.path), url]) == 0
    assert "2 in all" in capsys.readouterr().out
    assert main(["pages", "-C", str(directory.path), "--contains", "'; DROP", "--json"]) == 0
    capsys.readouterr()
    assert main(["show", "-C", str(directory.path), url]) == 0
    assert "DROP" in capsys.readouterr().out


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps({"policy": "age"}),
        b"\x80\x04.",
        b"[]",
        b'{"format": 99, "policy": "age"}',
        b'{"format": 1, "policy": "__import__"}',
        b"{",
        b"\xff" * 9,
    ],
)
def test_71_a_model_that_is_not_our_json_is_refused(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pickles, other versions and rubbish in models/ end in one line; nothing of them is run."""
    directory = begun(tmp_path / "crawl", ["http://a.example/"])
    (directory.path / "models" / "policy.json").write_bytes(content)
    assert main(["run", "-C", str(directory.path), "--policy", "auto", "--cycles", "1"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "policy.json cannot be used" in said


def test_71_nothing_in_the_project_unpickles() -> None:
    """No module imports pickle, joblib, shelve or marshal, and numpy loads no objects.

    The exceptions are the pipe between a crawl and its own reading process, where what comes from the web passes as
    bytes, and tasks for this program's own processes or the user's Dask cluster, which sends pickles itself.
    """
    source = Path(__file__).parents[2] / "src" / "recrawl"
    for path in source.rglob("*.py"):
        text = path.read_text()
        if path.name in ("page_reader.py", "reading_process.py", "work_engine.py"):
            continue
        assert not any(f"import {name}" in text for name in ("pickle", "joblib", "shelve", "marshal")), path
        assert "allow_pickle=True" not in text, path
    assert np.load.__defaults__ is not None
