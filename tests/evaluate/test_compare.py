"""`recrawl compare`: the right numbers, reproducible files, and clear words for bad input."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recrawl.cli import main
from recrawl.errors import InputError
from recrawl.evaluate.compare import compare
from recrawl.evaluate.crawl import clairvoyant, crawl
from recrawl.evaluate.measures.all_measures import make_measures
from recrawl.plan import Plan
from recrawl.recording.recording import Recording
from recrawl.report.comparison_table import rows
from recrawl.report.plots import spread
from support.real_recordings import THREE_SITES
from support.small_recordings import random_tables, write

ONE = ["--measures", "ChangeRate"]
QUICK = ["--policies", "age,cg,oracle", "--measures", "ChangeRate,NDCG,Age", "--budget", "10%"]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic recording on disk: 120 pages, 12 days."""
    return write(random_tables(120, 12, seed=3, births=True), tmp_path_factory.mktemp("data") / "web")


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["compare", *words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_json_holds_what_a_crawl_gives(web: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The printed numbers are those of a crawl of the same recording with the same plan."""
    found = run_json(capsys, str(web), *QUICK, "--seed", "7")
    assert [policy["name"] for policy in found["policies"]] == ["age", "cg", "oracle"]
    assert found["cycles"] == list(range(3, 13))
    slice_ = Recording.open(web).window(0, 12)
    for policy in found["policies"]:
        for measure in make_measures("ChangeRate,NDCG,Age"):
            result = crawl(slice_, policy["name"], Plan(1.0, 0.1, 2, seed=7), [measure])
            shown = policy["results"][measure.spec]
            assert shown["mean"] == pytest.approx(result.value(measure), rel=1e-9)
            assert shown["cycles"] == pytest.approx(result.per_cycle(measure).tolist(), rel=1e-9)
            assert shown["ci95"] is None


def test_real_recording(capsys: pytest.CaptureFixture[str]) -> None:
    """On three real sites: slices, folds, repeats and tests come out, and the oracle leads in ChangeRate."""
    found = run_json(
        capsys, str(THREE_SITES), *QUICK, "--days", "57", "--folds", "3", "--repeats", "2", "--kinds", "docs,crawl",
        "--budgets", "5%,10%", "--importance", "inlinks", "--fixed",
    )  # fmt: skip
    assert found["data"]["start_day"] == 307
    assert found["data"]["sites"] == 2
    assert len(found["cycles"]) == 55
    assert len(found["runs"]) == 6
    by_name = {policy["name"]: policy["results"]["ChangeRate"] for policy in found["policies"]}
    assert by_name["oracle"]["mean"] > max(by_name["age"]["mean"], by_name["cg"]["mean"])
    assert by_name["oracle"]["of_oracle"] == 1
    assert len(by_name["cg"]["runs"]) == 6
    assert 0 <= by_name["cg"]["versus_age"]["p"] <= 1
    assert [point["budget"] for point in by_name["cg"]["budgets"]] == [0.05, 0.1]
    assert by_name["cg"]["budgets"][1]["mean"] == by_name["cg"]["mean"]


def test_same_seed_same_bytes_whatever_the_jobs(web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two runs write the same files byte for byte, in one process or in two; another seed gives other numbers."""
    first, second = tmp_path / "a", tmp_path / "b"
    words = [str(web), *QUICK, "--folds", "2", "--budgets", "5%,20%", "--measures", "ChangeRate"]
    assert main(["compare", *words, "--out", str(first)]) == 0
    assert main(["compare", *words, "--out", str(second), "--jobs", "2"]) == 0
    capsys.readouterr()
    other = run_json(capsys, *words, "--seed", "1")
    names = {path.name for path in first.iterdir()}
    assert names == {"results.json", "report.html"} | {
        f"{name}.{kind}" for name in ("overview", "cycles", "budgets") for kind in ("png", "svg")
    }
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
    assert json.loads((first / "results.json").read_text())["policies"] != other["policies"]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_report_is_one_safe_page(tmp_path: Path) -> None:
    """The page loads nothing, runs nothing, and shows names as text."""
    data = write(random_tables(40, 6, seed=1), tmp_path / "<b>web & co")
    words = ["compare", str(data), "--policies", "age,explore(cg, 0.2),oracle", "--budget", "4", *ONE]
    assert main([*words, "--out", str(tmp_path / "report")]) == 0
    page = (tmp_path / "report" / "report.html").read_text()
    assert "&lt;b&gt;web &amp; co" in page
    assert "<b>web" not in page
    assert "<script" not in page
    assert not re.search(r"""(src|href)=["'](?!\#)|@import|url\((?!\#)""", page)
    assert page.count("<svg") == 4  # two figures, each for wide and for narrow screens
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_the_command_in_the_report_gives_the_report(web: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Running the command that a report shows gives the same results."""
    words = ["--sites", "1,2", "--days", "9", "--from-day", "1", "--pages", "15", "--site-cap", "3", "--cycle", "12h"]
    first = run_json(capsys, str(web), *QUICK, *words, "--active-within", "24h")
    said = shlex.split(first["command"])
    assert said[:2] == ["recrawl", "compare"]
    assert run_json(capsys, *said[2:]) == first


def test_what_is_left_out_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Sites that were not watched to the end, and days that are no whole cycle, are left out with a note."""
    made = random_tables(60, 8, seed=6, sites=3)
    made["sites"]["days"] = np.array([8.0, 5.0, 8.0])
    short = made["pages"]["site_id"][made["changes"]["page_id"]] == 1
    early = ~short | (made["changes"]["day"] < 5)
    made["changes"] = {name: column[early] for name, column in made["changes"].items()}
    found = run_json(capsys, str(write(made, tmp_path / "web")), *QUICK, "--cycle", "3d", "--warmup", "1")
    assert found["data"]["pages"] == int((made["pages"]["site_id"] != 1).sum())
    assert found["data"]["notes"] == [
        "1 site not watched up to day 8 left out",
        "the last 2 days are no whole cycle and are not crawled",
    ]


BAD = {
    "an unknown policy": (["--policies", "cgg"], "unknown policy 'cgg'; did you mean 'cg'?"),
    "a policy within a policy": (["--policies", "explore(cgg, 0.1)"], "cgg"),
    "a wrong argument of a policy": (["--policies", "gad(over=months)"], "over"),
    "no policy": (["--policies", ","], "no policy"),
    "an unknown measure": (["--measures", "NDGC"], "unknown measure 'NDGC'; did you mean 'NDCG'?"),
    "no budget": (["--budget", "0"], "must be a positive whole number"),
    "a negative budget": (["--budget=-3"], "must be a positive whole number"),
    "a budget of nothing": (["--budget", "0%"], "must be above 0%"),
    "more than all": (["--budget", "101%"], "at most 100%"),
    "more visits than pages": (["--budget", "5000"], "5000 visits per cycle"),
    "a share of less than a page": (["--budget", "0.01%"], "0 visits per cycle"),
    "a budget that is not a number": (["--budget", "nan%"], "not a finite number"),
    "too much in a budget curve": (["--budgets", "500,600"], "500 visits per cycle"),
    "more days than there are": (["--days", "400"], "400 days are more than the recording has"),
    "days outside": (["--from-day", "99"], "day 99 is not within"),
    "days that end outside": (["--from-day", "6", "--days", "9"], "end after the recording's last day"),
    "nothing selected": (["--active"], "the selection is empty"),
    "an unknown site": (["--sites", "nowhere"], "nowhere"),
    "more pages than there are": (["--pages", "9999"], "cannot draw 9999 pages"),
    "no pages": (["--pages", "0"], "cannot draw 0 pages"),
    "more folds than pages": (["--folds", "9999"], "a fold needs at least one page"),
    "no folds": (["--folds", "0"], "at least 1"),
    "only warm-up": (["--warmup", "12"], "not shorter than the crawl"),
    "a cycle longer than the window": (["--cycle", "30d"], "12 days are too few: a cycle has 30 days"),
    "a negative warm-up": (["--warmup=-1"], "negative"),
    "a negative cap": (["--site-cap=-1"], "negative"),
    "a negative seed": (["--seed=-1"], "negative"),
    "no jobs": (["--jobs", "0"], "at least 1"),
    "importance without links": (["--importance", "inlinks"], "links"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_clear_line(case: str, web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot work is said in one line with exit code 2, and nothing is written."""
    words, said = BAD[case]
    try:
        code = main(["compare", str(web), *words, "--out", str(tmp_path / "report")])
    except SystemExit as exit_:  # argparse
        code = int(exit_.code or 0)
    shown = capsys.readouterr()
    assert code == 2
    assert said in shown.err
    assert len(shown.err.strip().splitlines()) == 1
    assert shown.out == ""
    assert list(tmp_path.iterdir()) == []


def test_data_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that does not exist is an input error."""
    assert main(["compare", str(tmp_path / "nothing")]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_results_are_not_overwritten_by_accident(web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An existing report needs --force; other people's files are never replaced; a file is no folder."""
    words = ["compare", str(web), *QUICK, *ONE, "--out"]
    out = tmp_path / "report"
    out.mkdir()
    (out / "report.html").write_text("an older one")
    assert main([*words, str(out)]) == 2
    assert "--force" in capsys.readouterr().err
    (out / "thesis.txt").write_text("mine")
    assert main([*words, str(out), "--force"]) == 2
    assert main([*words, str(out / "thesis.txt")]) == 2
    assert main([*words, str(out / "thesis.txt" / "below")]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert (out / "thesis.txt").read_text() == "mine"
    (out / "thesis.txt").unlink()
    assert main([*words, str(out), "--force"]) == 0
    assert "an older one" not in (out / "report.html").read_text()


def test_a_policy_that_saves_visits_does_not_compete_per_visit() -> None:
    """A policy that uses less of its budget can have the highest ChangeRate, but is not called the best."""
    web = Recording.from_arrays(random_tables(60, 12, seed=2))
    found = compare(web, ["age", "coin", "oracle"], make_measures("ChangeRate,ChangesFound"), Plan(1.0, 0.5, 2))
    rate = found.measures[0]
    if found.spent("coin") < 0.9:
        assert found.best(rate) == "age"
        assert found.ranking(rate) == ["age", "coin", "oracle"]
        assert not rows(found)[1].cells[0].best
    assert not found.competes("oracle", rate)


def test_best_and_reference_of_a_comparison() -> None:
    """Best, ranking, share of the oracle and paired differences follow from the runs."""
    web = Recording.from_arrays(random_tables(90, 12, seed=2))
    found = compare(web, ["rand", "age", "cg", "oracle"], make_measures("ChangeRate,Age"), Plan(), folds=3, repeats=2)
    rate, age = found.measures
    assert found.values.shape == (4, 2, 6)
    assert found.curves.shape == (4, 2, 6, 10)
    best = found.best(rate)
    assert best == found.ranking(rate)[0]
    assert found.ranking(rate)[-1] == "oracle"
    assert found.summary(best or "", rate).mean == max(found.summary(p, rate).mean for p in ("rand", "age", "cg"))
    assert found.summary(found.best(age) or "", age).mean == min(
        found.summary(p, age).mean for p in ("rand", "age", "cg")
    )
    assert found.of_oracle("oracle", rate) == 1
    assert np.isnan(found.of_oracle("cg", age))
    difference = found.values[2, 0] - found.values[1, 0]
    assert found.versus("cg", "age", rate).test.difference == pytest.approx(difference.mean())


def test_folds_share_the_pages() -> None:
    """Every page is in exactly one fold, and a fold's crawl knows only its own pages."""
    web = Recording.from_arrays(random_tables(50, 6, seed=2))
    found = compare(web, ["age"], make_measures("Spent"), Plan(1.0, 0.2, 1), folds=4)
    assert sum(found.pages) == 50
    assert set(found.visits) <= {2, 3}


def test_clairvoyance_is_seen_through_a_wrapper() -> None:
    """explore(oracle) sees the truth as the oracle does; an unknown name within is an error."""
    assert clairvoyant("oracle")
    assert clairvoyant("explore(oracle, 0.1)")
    assert not clairvoyant("explore(cg, 0.1)")
    with pytest.raises(InputError):
        clairvoyant("nothing")


def test_labels_stand_apart() -> None:
    """Names at the ends of curves are moved as little as it takes not to overlap."""
    assert spread([0.0, 5.0], 1.0, 0.0, 10.0) == [0.0, 5.0]
    assert spread([5.0, 5.0, 5.0], 1.0, 0.0, 10.0) == [5.0, 6.0, 7.0]
    assert spread([9.8, 9.9], 1.0, 0.0, 10.0) == [9.0, 10.0]
