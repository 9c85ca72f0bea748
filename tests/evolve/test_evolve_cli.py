"""`recrawl evolve`: a table for people, files for programs, one line for mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recrawl.cli import main
from recrawl.policies.formulas.formula import load_formula
from support.small_recordings import random_tables, write

TINY = ["--population", "20", "--generations", "3", "--seeds", "2", "--archive", "5", "--depth", "4"]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(random_tables(400, 30.0, 5), tmp_path_factory.mktemp("evolve") / "web")


def test_evolve_writes_a_formula_that_compare_can_use(
    web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """best.json is a policy; results, exports, curve and report lie beside it; a second run gives the same bytes."""
    out = tmp_path / "out"
    assert main(["evolve", str(web), *TINY, "--budget", "10%", "--out", str(out)]) == 0
    assert "classical" in capsys.readouterr().out
    names = {"results.json", "report.html", "best.json", "best.py", "best.sql", "fitness.png", "fitness.svg"}
    assert {path.name for path in out.iterdir()} == names
    found = json.loads((out / "results.json").read_text())
    assert str(load_formula(out / "best.json")) == found["chosen"]["best"]["formula"]
    assert "http://" not in (out / "report.html").read_text().replace("http://www.w3.org", "")
    policies = f"age,gp:{out / 'best.json'}"
    assert main(["compare", str(web), "--policies", policies, "--measures", "NDCG", "--budget", "10%"]) == 0
    again = tmp_path / "again"
    assert main(["evolve", str(web), *TINY, "--budget", "10%", "--jobs", "3", "--out", str(again)]) == 0
    for name in ("best.json", "best.sql", "results.json", "report.html"):
        assert (out / name).read_bytes() == (again / name).read_bytes()


def test_evolve_prints_json(web: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--json prints what results.json would hold."""
    assert main(["evolve", str(web), *TINY, "--fitness", "changerate", "--terminals", "basic", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["fitness"] == "ChangeRate"
    assert len(found["generations"]) == 2 * 3


def test_evolve_with_extended_terminals_and_all_pages(web: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The slow way works too."""
    few = ["--population", "6", "--generations", "2", "--seeds", "1", "--depth", "3", "--pages", "60"]
    assert main(["evolve", str(web), *few, "--terminals", "extended", "--all-pages", "--budget", "10%"]) == 0
    assert main(["evolve", str(web), *few, "--fitness", "Freshness", "--budget", "10%"]) == 0
    assert "judged by Freshness" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--fitness", "beauty"], "unknown measure 'beauty'"),
        (["--population", "0"], "population must be at least 1"),
        (["--cycle", "20d"], "too short"),
        (["--crossover", "2"], "crossover rate"),
        (["--jobs", "0"], "jobs"),
        (["--budget", "0.0001%"], "budget"),
    ],
)
def test_mistakes_are_said_in_one_line(
    web: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 and one line."""
    assert main(["evolve", str(web), *TINY, *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_bad_formula_file_stops_compare_in_one_line(
    web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown terminal in a policy's file."""
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({"format": "recrawl-formula", "version": 1, "nodes": [{"terminal": "PR"}]}))
    assert main(["compare", str(web), "--policies", f"age,gp:{path}"]) == 2
    error = capsys.readouterr().err
    assert "unknown terminal 'PR'" in error
    assert error.count("\n") == 1
