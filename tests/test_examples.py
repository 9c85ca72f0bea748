"""Every example runs, in a folder of its own."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from recrawl.cli import main
from support import forked

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(cwd: Path, *words: str) -> str:
    done = forked.python(*words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_own_policy(tmp_path: Path) -> None:
    """A policy in one file keeps the contract, competes, and is named by its file on the command line."""
    assert "hot(boost=9)" in run(tmp_path, str(EXAMPLES / "own_policy.py"))
    assert main(["synth", "mixed", "--pages", "200", "--days", "10", "--out", str(tmp_path / "web")]) == 0
    spec = f"{EXAMPLES / 'own_policy.py'}:hot(boost=2)"
    words = ["-m", "recrawl", "compare", "web", "--measures", "ChangeRate", "--json", "--policies", f"age,{spec}"]
    found = json.loads(run(tmp_path, *words))
    assert [policy["name"] for policy in found["policies"]] == ["age", spec]


def test_own_history(tmp_path: Path) -> None:
    """A CSV of visits becomes a recording that every policy can be compared on."""
    shown = run(tmp_path, str(EXAMPLES / "own_history.py"), str(EXAMPLES / "visits.csv"), "history")
    assert shown.startswith("30 pages of 2 sites, days 0 to 20")
    assert (tmp_path / "history" / "changes.parquet").is_file()


def test_live_crawl(tmp_path: Path) -> None:
    """A crawl from Python visits a served web, explains a page, learns from its history and replays it."""
    shown = run(tmp_path, str(EXAMPLES / "live_crawl.py"), "news")
    for words in ("visits found", "by learned", "likely to have changed", "fits this history best", "oracle"):
        assert words in shown


@pytest.mark.parametrize("name", ["compare", "own_history"])
def test_notebook(tmp_path: Path, name: str) -> None:
    """A notebook runs from its first cell to its last, and shows what it was stored with."""
    stored = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    ran = deepcopy(stored)
    NotebookClient(ran, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert shown(ran) == shown(stored)
    assert all(shown(stored))
    assert (EXAMPLES / f"{name}.ipynb").stat().st_size < 20_000


def shown(notebook: Any) -> list[list[str]]:
    """What each code cell printed or returned, as plain text."""
    return [
        [output.get("text") or output["data"]["text/plain"] for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]
