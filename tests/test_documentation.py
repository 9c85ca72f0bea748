"""The documentation says what is: figures as measured, links that lead somewhere, commands and examples that run."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import results

from recrawl.cli import build_parser
from recrawl.evaluate.measures.measure import make_measure, measures
from recrawl.memory import Memory
from recrawl.policies.catalogue import make_policy, policies
from recrawl.policy import Setting
from recrawl.recording.recording import Recording

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.M)
SOURCES = (ROOT, ROOT / "src" / "recrawl", ROOT / "src" / "recrawl" / "policies" / "learned")
MODULES = {path.name for path in (ROOT / "src").rglob("*.py")}
MADE = {"best.py", "settings.py", "yours.py"}  # files that users or commands make


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def code_blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def test_results_are_rendered_from_their_data() -> None:
    """Every page of results, and BENCHMARKS.md, is what `make results` renders from the committed JSON."""
    stale = [name_of(path) for path, text in results.render().items() if path.read_text() != text]
    assert not stale


def test_every_result_says_how_it_was_made() -> None:
    """No figure without its question, answer, command, data, seed, date and commit."""
    for path in results.DATA.glob("*.json"):
        for result in json.loads(path.read_text()).get("results", []):
            for key in ("question", "answer", "command", "data", "seed", "date", "commit"):
                assert result[key], f"{path.name}: {result['question']}: {key}"
            assert re.match(r"20\d\d-\d\d-\d\d", result["date"])


def test_headlines_are_figures_of_their_results() -> None:
    """BENCHMARKS.md shows no number that is not in the result that it links to."""
    order = json.loads((results.DATA / "headlines.json").read_text())
    pages = {name: json.loads((results.DATA / f"{name}.json").read_text()) for name in order["pages"]}
    for line in order["headlines"]:
        shown = results.result(results.find(pages, line["result"]))
        for number in re.findall(r"\d[\d,.]*\d|\.\d+|\d", line["figure"]):
            assert number in shown, f"{line['what']}: {number}"


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    """Every relative link names a file, and every anchor a heading; the reference is made by `make docs`."""
    for link in LINK.findall(path.read_text()):
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", target) or target.startswith("reference/"):
            continue
        file = (path.parent / target).resolve() if target else path
        assert file.exists(), link
        if anchor:
            assert anchor in {results.slug(heading) for heading in HEADING.findall(file.read_text())}, link


def commands() -> Iterator[tuple[str, str]]:
    """Yield every recrawl command of the documentation and of the results that has no placeholder."""
    for path in PAGES:
        text = path.read_text().replace("\\\n", " ")
        for line in re.findall(r"^(?: {4,}|\t)(?:\$ )?(recrawl .*)$", text, re.M):
            for part in re.split(r" && | *; ", line):
                if part.startswith("recrawl ") and "..." not in part and not re.search(r"[\[|]| DATA\b", part):
                    yield name_of(path), part


@pytest.mark.parametrize(("where", "command"), sorted(set(commands())))
def test_commands_are_understood(where: str, command: str) -> None:
    """Every command shown is one that the parser takes."""
    words = shlex.split(command.partition(" > ")[0], comments=True)[1:]
    if "--help" not in words:
        assert build_parser(words[0]).parse_args(words).verb == words[0]


@pytest.mark.parametrize("path", [p for p in PAGES if "notebook" not in p.parts], ids=name_of)
def test_named_files_exist(path: Path) -> None:
    """A Python file that a page names in code is there."""
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.S)
    for name in re.findall(r"`((?:[\w-]+/)*[a-z_]+\.py)`", text):
        alone = "/" not in name and name in MODULES  # no module name stands twice
        assert name in MADE or alone or any((source / name).exists() for source in SOURCES), name


def test_a_history_becomes_a_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The how-to's program makes a recording of a CSV file."""
    monkeypatch.chdir(tmp_path)
    Path("changes.csv").write_text("site,path,day\na.org,/x,7\na.org,/x,1.5\na.org,/y,3\nb.org,/z,80\n")
    run(ROOT / "docs" / "howto" / "compare-on-my-history.md")
    recording = Recording.open("mine")
    assert (len(recording), recording.end) == (3, 90.0)


def test_the_planner_of_the_howto_plans(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The how-to's program visits both pages and says why."""
    monkeypatch.chdir(tmp_path)
    run(ROOT / "docs" / "howto" / "with-csv.md")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["1", "2"]
    assert len(lines) >= 3


def run(path: Path) -> dict[str, Any]:
    """Run the first Python program of a page."""
    names: dict[str, Any] = {"__name__": "shown"}
    exec(compile(code_blocks(path.read_text(), "python")[0], name_of(path), "exec"), names)
    return names


def test_the_policy_and_the_measure_of_contributing_work() -> None:
    """What CONTRIBUTING.md shows can be pasted into a file and used by name."""
    for code in code_blocks((ROOT / "CONTRIBUTING.md").read_text(), "python"):
        exec(compile(code, "CONTRIBUTING.md", "exec"), {"__name__": "shown"})
    try:
        memory = Memory(np.arange(3), np.zeros(3, dtype=np.int64))
        memory.hold_copies(np.arange(3), 0.0)
        memory.begin_cycle()
        assert len(make_policy("yours", Setting()).choose(memory, 2, 1.0)) == 2
        assert make_measure("Wasted").better == "lower"
    finally:
        policies._entries.pop("yours")
        measures._entries.pop("Wasted")
