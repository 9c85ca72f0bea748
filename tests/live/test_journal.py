"""The log of a crawl that runs for months."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recrawl.clock import SystemClock
from recrawl.live import journal
from recrawl.live.journal import Journal


def test_a_log_is_set_aside_also_while_the_run_lasts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log and the one before take a bounded part of the disk, however long one run is; lines stay whole."""
    monkeypatch.setattr(journal, "MAX_BYTES", 2_000)
    with Journal(tmp_path, SystemClock()) as log:
        for number in range(500):
            log.note("visit", number=number)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.1.jsonl", "log.jsonl"]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 4_500
    lines = [line for name in ("log.1.jsonl", "log.jsonl") for line in (tmp_path / name).read_text().splitlines()]
    numbers = [json.loads(line)["number"] for line in lines]
    assert numbers == list(range(500 - len(numbers), 500))


def test_a_log_that_could_not_be_written_goes_on_when_it_can(tmp_path: Path) -> None:
    """A disk that was full for a while does not end the log of a run that goes on for months."""
    (tmp_path / "log.jsonl").mkdir()
    with Journal(tmp_path, SystemClock()) as log:
        log.note("cycle", number=1)
        (tmp_path / "log.jsonl").rmdir()
        log.note("cycle", number=2)
    assert json.loads((tmp_path / "log.jsonl").read_text())["number"] == 2
