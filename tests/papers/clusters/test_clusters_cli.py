"""recrawl experiment clusters, from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recrawl.cli import main
from support.real_recordings import THREE_SITES


def test_all_parts_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The tables are printed, figures, numbers and one page are written, and a second run must be forced."""
    out = tmp_path / "clusters"
    options = "--quick --days 112 --cycles 28d --warmup 1 --budgets 20% --pages 150 --queries 10"
    words = ["experiment", "clusters", str(THREE_SITES), *options.split(), "--out", str(out)]
    assert main(words) == 0
    shown = capsys.readouterr().out
    for word in ("clusters at the elbow", "fewest pages", "freshness@10", "vs sls", "the paper says"):
        assert word in shown
    names = {f"figure{i}.{kind}" for i in range(1, 5) for kind in ("png", "svg")}
    assert {path.name for path in out.iterdir()} == names | {"results.json", "report.html"}
    held = json.loads((out / "results.json").read_text())
    assert {run["policy"] for run in held["policies"]} >= {"cls-nad", "cls-gad", "sls", "freq", "rand", "ideal"}
    assert all(0 <= run["MAP@10"] <= 1 for run in held["policies"])
    assert main(words) == 2


@pytest.mark.parametrize(
    "wrong", [["--parts", "colours"], ["--clusters", "0"], ["--queries", "nowhere.txt"], ["--warmup", "99"]]
)
def test_what_cannot_be_run_is_said(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """One line on standard error and exit code 2."""
    assert main(["experiment", "clusters", str(THREE_SITES), *wrong]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
