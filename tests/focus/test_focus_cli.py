"""`recrawl focus` and `recrawl experiment focus` from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recrawl.cli import main
from recrawl.focus.strategy import load

WEB = ["synthetic", "--web-pages", "3000"]
TOPIC = ["--topic", "label:popular"]


def test_evolve_and_replay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What `focus evolve` writes, `focus run` replays, beside a baseline, in the same words twice."""
    out = tmp_path / "out"
    small = ["--pages", "300", "--population", "4", "--generations", "1", "--simulations", "1"]
    assert main(["focus", "evolve", *WEB, *TOPIC, *small, "--keep", "2", "--within", "2", "--out", str(out)]) == 0
    assert "COMM_out" in capsys.readouterr().out
    strategy = load(out / "strategy-1.json")
    assert strategy.within == (2,)
    assert strategy.found["topic"] == "label:popular"
    run = ["focus", "run", *WEB, *TOPIC, "--pages", "300", "--runs", "2", "--json"]
    shown = []
    for jobs in ("1", "2"):
        assert main([*run, "--jobs", jobs, "--strategy", str(out / "strategy-1.json"), "--strategy", "best-first"]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    rows = json.loads(shown[0])["results"]
    assert [row["strategy"] for row in rows] == ["evolved 1", "best-first"]
    assert 0 < rows[0]["harvest"]["mean"] <= 1
    assert main([*run, "--out", str(out)]) == 2
    assert "--force" in capsys.readouterr().err


def test_experiment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The quick experiment writes Table 1, Figs 3-10 and everything else, and can replace only its own files."""
    out = tmp_path / "focus"
    command = ["experiment", "focus", *WEB, "--quick", "--pages", "150", *TOPIC, "--out", str(out)]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "the paper says" in shown
    results = json.loads((out / "results.json").read_text())
    [topic] = results["topics"]
    assert topic["pages"] == [150, 300, 450]
    assert len(topic["findings"]) == 5
    assert set(topic["options"]) >= {"anchors and hosts", "rewards exploration", "parts by distance"}
    assert len(topic["trials"]) == 2
    for name in ("harvest", "cohesiveness", "distance", "curves"):
        assert (out / f"label-popular-{name}.png").stat().st_size > 1000
        assert (out / f"label-popular-{name}.svg").exists()
    page = (out / "report.html").read_text()
    for heading in ("Table 1", "Figs 3 and 4", "Figs 5 to 8", "Figs 9 and 10", "the topic classifier", "section 4"):
        assert heading in page
    assert 0 <= topic["classifier"]["f1"] <= 1
    assert "http://" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    )
    assert load(out / "label-popular-1.json").parts
    (out / "mine.txt").write_text("x")
    assert main([*command, "--force"]) == 2
    assert "mine.txt" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["focus", "run", *WEB, "--topic", "label:nothing"],
        ["focus", "run", *WEB, *TOPIC, "--seed-urls", "no.example/1"],
        ["focus", "run", *WEB, *TOPIC, "--seeds", "-1"],
        ["focus", "run", *WEB, *TOPIC, "--seeds", "5", "--seed-urls", "a"],
        ["focus", "run", *WEB, *TOPIC, "--strategy", "no-such"],
        ["focus", "run", *WEB, *TOPIC, "--runs", "0"],
        ["focus", "run", *WEB, *TOPIC, "--jobs", "0"],
        ["focus", "run", "synthetic", "--web-pages", "10", *TOPIC],
        ["focus", "run", "no/such/folder", *TOPIC],
        ["focus", "evolve", *WEB, *TOPIC, "--population", "1"],
        ["focus", "evolve", *WEB, *TOPIC, "--explore", "nan"],
        ["focus", "evolve", *WEB, *TOPIC, "--start", "no-such.json"],
        ["focus", "evolve", *WEB, *TOPIC, "--pages", "10"],
        ["focus", "run", *WEB, "--topic", "dir:no/such"],
        ["focus", "run", *WEB, "--topic", "words:"],
        ["focus", "run", *WEB, "--topic", "urls:@no-such-file"],
        ["experiment", "focus", "no/such/folder"],
        ["experiment", "focus", "no/such/folder", *TOPIC],
        ["experiment", "focus", *WEB, *TOPIC, "--runs", "0"],
    ],
    ids=" ".join,
)
def test_bad_input_is_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is wrong is said in one line, with exit code 2."""
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.startswith("recrawl: ")
    assert said.count("\n") == 1


def test_bad_lists_are_refused_by_the_parser(capsys: pytest.CaptureFixture[str]) -> None:
    """Distances that do not rise, and seed sets that are no numbers, are refused before any work."""
    for words in (
        ["focus", "evolve", *WEB, *TOPIC, "--within", "4,2"],
        ["experiment", "focus", *WEB, "--seed-sets", "x"],
    ):
        with pytest.raises(SystemExit) as stop:
            main(words)
        assert stop.value.code == 2
    assert "rise" in capsys.readouterr().err
