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
    assert "The classifier reads all words (--vocabulary all); the 2 best strategies" in shown
    results = json.loads((out / "results.json").read_text())
    assert results["paper"]["table1"]["COMM_out"] == 0.312661
    [topic] = results["topics"]
    assert topic["pages"] == [150, 300, 450]
    assert len(topic["findings"]) == 15
    assert {finding["holds"] for finding in topic["findings"]} == {False}  # too small to judge, and so it says
    assert "too small to judge" in shown
    assert set(topic["options"]) >= {"anchors and hosts", "rewards exploration", "parts by distance"}
    assert len(topic["trials"]) == 2
    for name in ("harvest", "cohesiveness", "distance", "depth", "evolution", "curves"):
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


def test_strategies_are_tested_on_a_topic_they_were_not_evolved_for(capsys: pytest.CaptureFixture[str]) -> None:
    """The second topic has no evolution of its own; two evolutions give an interval; levels are a parameter."""
    command = ["experiment", "focus", *WEB, "--quick", "--pages", "150", "--topic", "label:popular", "--topic"]
    command += ["label:common", "--evolutions", "2", "--levels", "2", "--no-options", "--json"]
    assert main(command) == 0
    results = json.loads(capsys.readouterr().out)
    first, second = results["topics"]
    [between] = results["findings"]  # Fig 4 beside Fig 3, of a run that is too small to judge
    assert "higher harvest on label:common than on label:popular" in between["claim"]
    assert between["verdict"] == "too small to judge"
    assert [len(topic["evolutions"]) for topic in (first, second)] == [2, 0]
    assert first["evolutions"][0]["best"] != first["evolutions"][1]["best"]
    assert second["evolved_on"] == "label:popular"
    assert [s["weights"] for s in second["evolved"]] == [s["weights"] for s in first["evolved"]]
    assert "evolved 1 on label:popular" in second["trials"][0]["measures"]["harvest"]
    [weights] = first["evolved"][0]["weights"]
    assert set(weights) == {"HUB", "AUTHORITY", "COMM_in", "COMM_out", "PARENT_1", "PARENT_2"}
    assert "(Fig 4)" in str(second["findings"])
    assert "(Fig 4)" not in str(first["findings"][1:4])


def test_crawls_beyond_reach_are_said_and_not_judged(capsys: pytest.CaptureFixture[str]) -> None:
    """A crawl of 3 x 1,200 pages of 3,000: a note, no verdict; fewer seeds than asked for: a note."""
    command = [
        "experiment",
        "focus",
        *WEB,
        *TOPIC,
        "--pages",
        "1200",
        "--runs",
        "5",
        "--population",
        "10",
        "--generations",
    ]
    command += ["50", "--simulations", "1", "--seed-sets", "400,300", "--no-options", "--json"]
    assert main(command) == 0
    [topic] = json.loads(capsys.readouterr().out)["topics"]
    notes = " ".join(topic["notes"])
    assert "crawls of 3,600 pages are more than 80% of the 3,000 pages in reach" in notes
    assert "seeds instead of 400: at most one relevant page in 8" in notes
    assert "the same size" in notes
    late = [finding for finding in topic["findings"] if "3,600 pages" in finding["claim"]]
    assert late
    assert all("takes nearly all of the 3,000 in reach" in finding["seen"] for finding in late)
    assert not any(finding["holds"] for finding in late)


@pytest.mark.parametrize(
    "words",
    [
        ["focus", "evolve", *WEB, *TOPIC, "--levels", "6"],
        ["experiment", "focus", *WEB, *TOPIC, *TOPIC],
        ["experiment", "focus", *WEB, *TOPIC, "--evolutions", "0"],
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
        ["experiment", "focus", *WEB, *TOPIC, "--quick", "--mutation", "2"],
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
