"""recrawl synth: what it writes, what it says, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recrawl.cli import main
from recrawl.recording.recording import Recording
from recrawl.simulate.synthetic.presets import presets

NAMES = [entry.name for entry in presets]
SMALL = ["--pages", "60", "--days", "10"]


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("name", NAMES)
def test_every_preset_writes_a_recording(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The folder opens as a valid recording with all tables, and one line says what is in it."""
    assert main(["synth", name, *SMALL, "--out", str(tmp_path / "web")]) == 0
    words = "texts" if name == "stories" else "terms"
    assert set(files(tmp_path / "web")) == {f"{t}.parquet" for t in ("sites", "pages", "changes", "links", words)}
    assert len(Recording.open(tmp_path / "web")) == 60
    said = capsys.readouterr()
    assert said.out.count("\n") == 1
    assert "60 pages" in said.out
    assert said.err == ""


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    """Two runs with one seed write identical files; another seed writes others."""
    for out, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert main(["synth", "mixed", *SMALL, "--seed", seed, "--out", str(tmp_path / out)]) == 0
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert files(tmp_path / "a")["changes.parquet"] != files(tmp_path / "c")["changes.parquet"]


def test_json_says_what_was_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--json prints the counts of all tables; --days takes weeks; parent folders are made."""
    out = tmp_path / "deep" / "web"
    assert main(["synth", "poisson", "--pages", "50", "--days", "2w", "--out", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    crawl = Recording.open(out)
    assert found["pages"] == len(crawl) == 50
    assert found["days"] == crawl.end == 14
    assert found["changes"] == crawl.tables.rows("changes")
    assert 0 <= found["changed_a_day"] <= 1


def test_days_default_to_the_preset(tmp_path: Path) -> None:
    """Without --days, brdc12 is 57 days long."""
    assert main(["synth", "brdc12", "--pages", "30", "--out", str(tmp_path / "web")]) == 0
    assert Recording.open(tmp_path / "web").end == 57


def test_help_describes_every_preset(capsys: pytest.CaptureFixture[str]) -> None:
    """--help lists each preset with what it imitates, and examples."""
    with pytest.raises(SystemExit) as left:
        main(["synth", "--help"])
    assert left.value.code == 0
    said = capsys.readouterr().out
    assert all(entry.name in said and entry.formula in said and entry.source in said for entry in presets)
    assert "examples:" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["mixd"], "unknown preset 'mixd'; did you mean 'mixed'?"),
        (["mixed", "--pages", "0"], "at least one page"),
        (["mixed", "--pages", "-5"], "at least one page"),
        (["mixed", "--pages", "many"], "invalid int value"),
        (["mixed", "--pages", "99999999999"], "too many"),
        (["mixed", "--days", "0"], "not a positive span"),
        (["mixed", "--days", "-3"], "not a positive span"),
        (["mixed", "--days", "nan"], "not a finite number"),
        (["mixed", "--days", "1e6"], "page-days"),
        (["mixed", "--days", "1e9"], "longer than the 1,000,000 days"),
        (["mixed", "--seed", "-1"], "a seed is zero or a positive number"),
    ],
)
def test_bad_input_is_one_clear_line(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What cannot be used is named in one line, exit code 2, and nothing is written."""
    assert exit_code(["synth", *words, "--out", str(tmp_path / "web")]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def exit_code(words: list[str]) -> int:
    try:
        return main(words)
    except SystemExit as left:
        return int(left.code or 0)


def test_an_existing_folder_needs_force(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that is there is refused before any work, and replaced with --force."""
    words = ["synth", "mixed", *SMALL, "--out", str(tmp_path / "web")]
    assert main(words) == 0
    before = files(tmp_path / "web")
    capsys.readouterr()
    assert main([*words, "--seed", "5"]) == 2
    assert capsys.readouterr().err == f"recrawl: {tmp_path / 'web'} exists; use --force to replace it\n"
    assert files(tmp_path / "web") == before
    assert main([*words, "--seed", "5", "--force"]) == 0
    assert files(tmp_path / "web") != before


def test_an_unwritable_place_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder below a file cannot be made: one line, exit code 2."""
    (tmp_path / "file").write_text("")
    assert main(["synth", "mixed", *SMALL, "--out", str(tmp_path / "file" / "web")]) == 2
    assert "is not a folder" in capsys.readouterr().err
    assert main(["synth", "mixed", *SMALL, "--out", str(tmp_path / "file")]) == 2
    assert "is not a folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
