"""Recordings that lack what a paper needs: one clear line each, and no verdict on what cannot be seen."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from recrawl.cli import main
from recrawl.cli.options import command
from recrawl.recording.write import new_recording, write_tables
from recrawl.simulate.synthetic.synthesis import generate


def made(
    folder: Path,
    preset: str,
    days: float,
    *,
    without: tuple[str, ...] = (),
    emptied: tuple[str, ...] = (),
    pages: int = 200,
) -> str:
    """Write a synthetic web without some of its tables, or with some that have no rows."""
    tables = {name: table for name, table in generate(preset, pages, days, 1).items() if name not in without}
    tables |= {name: tables[name].slice(0, 0) for name in emptied}
    with new_recording(folder) as target:
        write_tables(tables, target)
    return str(folder)


@pytest.mark.parametrize(
    ("words", "without", "line"),
    [
        (["focus", "--topic", "words:art0"], ("links",), "no table of links: there is no graph to crawl"),
        (["focus", "--topic", "words:art0"], ("terms",), "neither terms nor texts"),
        (["focus", "--topic", "words:art0", "--features", "bigrams"], (), "has no texts: bi-grams cannot be read"),
        (["focus"], (), "name what to look for: --topic"),
        (["clusters"], ("terms",), "no table of terms, which queries are drawn from"),
        (["experts"], (), "no texts of its pages, so there are no words to learn from"),
    ],
)
def test_what_cannot_be_run_is_refused(
    words: list[str], without: tuple[str, ...], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A recording without the tables that an experiment stands on is refused in one line that names the table."""
    web = made(tmp_path / "web", "mixed", 70.0, without=without)
    assert main(["experiment", words[0], web, "--quick", *words[1:]]) == 2
    error = capsys.readouterr().err
    assert line in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("gp4c", "57 cycles of 1 days are more than the 7 days"),
        ("clusters", "7 days are too few: a cycle has 14 days"),
        ("outlinks", "63 days are more than the recording has: 7"),
    ],
)
def test_a_week_is_too_short(name: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One recorded week is refused with what would be needed."""
    web = made(tmp_path / "web", "mixed", 7.0)
    assert main(["experiment", name, web, "--quick"]) == 2
    assert line in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["gp4c"], "changes in the 57 days: there is nothing to schedule"),
        (["clusters"], "no page of web changes: only --parts counts,units can be run"),
        (["outlinks"], "no new link is recorded in the 9 weeks: there is nothing to predict"),
        (["focus", "--topic", "words:art0"], "no link of day 70 leads to a recorded page"),
    ],
)
def test_where_nothing_happens_nothing_is_run(
    words: list[str], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A recording whose tables of changes and links have no rows is refused in one line, with exit code 2."""
    web = made(tmp_path / "web", "mixed", 70.0, emptied=("changes", "links"))
    assert main(["experiment", words[0], web, "--quick", *words[1:]]) == 2
    error = capsys.readouterr().err
    assert line in error.replace(web, "web")
    assert error.count("\n") == 1


def test_a_week_of_texts_is_too_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The experiment on related pages names the steps that it would need."""
    web = made(tmp_path / "web", "stories", 7.0, pages=60)
    assert main(["experiment", "experts", web, "--quick", "--steps", "significant"]) == 2
    assert "7 steps of 1 days are too few to learn from 50 and judge the next" in capsys.readouterr().err


def test_without_words_nothing_is_said_of_looking_around(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """New links can be studied without words and links, but the claims that rest on them get no verdict."""
    web = made(tmp_path / "web", "weekly-links", 70.0, without=("terms", "links"))
    words = ["experiment", "outlinks", web, "--quick", "--trees", "3", "--no-ngboost", "--histories", "0,1"]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("No words are recorded: no page has related pages") for line in lines)
    assert any(line.startswith("No links are recorded, only their numbers") for line in lines)
    assert any(line.startswith("No texts are recorded: text quality") for line in lines)
    around = [line for line in lines if "of related pages is the most" in line or "LBLA is not worse" in line]
    assert len(around) == 8
    assert all("too small to judge" in line and "no words are recorded" in line for line in around)


def test_clusters_say_what_their_features_lack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without texts, words and links pages can be clustered by what is left, and the report says what is not there."""
    web = made(tmp_path / "web", "mixed", 70.0, without=("terms", "links"))
    words = ["--quick", "--parts", "units", "--clusters", "3"]
    assert main(["experiment", "clusters", web, *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    for start in (
        "No texts are recorded: the words",
        "No words are recorded: pages",
        "No links are recorded: PageRank",
    ):
        assert any(line.startswith(start) for line in lines)


def test_formulas_need_neither_words_nor_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """GP4C runs on changes alone."""
    web = made(tmp_path / "web", "brdc12", 57.0, without=("terms", "links"))
    words = ["--quick", "--population", "6", "--generations", "2", "--seeds", "1", "--archive", "3", "--sets", "basic"]
    assert main(["experiment", "gp4c", web, *words]) == 0
    assert "GP4C" in capsys.readouterr().out


def test_budgets_are_written_as_they_are_typed() -> None:
    """The command in results.json can be run again: shares of the pages are in percent, counts as they are."""
    args = argparse.Namespace(data="web", budgets=(1 / 12, 500), budget=0.05, cycles=(14.0,))
    assert command(args, "experiment clusters") == (
        "recrawl experiment clusters web --budgets 8.33333333333%,500 --budget 5% --cycles 14"
    )
