"""`recrawl experiment gp4c`: the protocol of the paper, its tables and its report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recrawl.cli import main
from recrawl.evaluate.measures.ranking import NDCG, ChangeRate
from recrawl.evolve.evolution import EvolutionSettings
from recrawl.papers.gp4c.gp4c_findings import never_behind, tied
from recrawl.papers.gp4c.gp4c_protocol import Gp4cProtocol, Variant
from recrawl.papers.gp4c.gp4c_tables import contests, formulas, overall
from recrawl.papers.gp4c.gp4c_trials import never_before, not_last_time, prepare, run_experiment, windows
from recrawl.plan import Plan
from recrawl.recording.recording import Recording
from support.formula_crawls import by_pages
from support.small_recordings import random_tables, write

TINY = ["--population", "20", "--generations", "3", "--seeds", "2", "--archive", "5", "--depth", "4"]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(random_tables(400, 30.0, 5), tmp_path_factory.mktemp("evolve") / "web")


def test_the_protocol_respects_time_and_pages() -> None:
    """Training, validation and test are different pages, each later than the last; every fold is tested once."""
    recording = Recording.from_arrays(random_tables(200, 30.0, 5, births=True))
    protocol = Gp4cProtocol(Plan(1.0, 0.1, 2, seed=3), cycles=(10, 9, 8))
    repetitions = windows(prepare(recording, protocol)[0], protocol)
    assert len(repetitions) == 5
    tested: set[int] = set()
    for data in repetitions:
        ids = [set(part.page_ids.tolist()) for part in (data.train, data.validation, data.test)]
        assert sum(map(len, ids)) == len(set.union(*ids))
        spans = [(part.start, part.end) for part in (data.train, data.validation, data.test)]
        assert spans == [(0.0, 10.0), (10.0, 19.0), (19.0, 27.0)]
        tested |= ids[2]
    assert tested == set(recording.window(0, 27).fixed().page_ids.tolist())


def test_folds_as_printed_and_as_in_the_program() -> None:
    """Two folds to train on, two to validate, one to test; or three, one and one."""
    recording = Recording.from_arrays(random_tables(100, 30.0, 5))
    protocol = Gp4cProtocol(Plan(1.0, 0.1, 2), cycles=(9, 9, 9))
    data = windows(prepare(recording, protocol)[0], protocol)[0]
    assert (len(data.train), len(data.validation), len(data.test)) == (40, 40, 20)
    program = replace(protocol, split=(3, 1))
    data = windows(prepare(recording, program)[0], program)[0]
    assert (len(data.train), len(data.validation), len(data.test)) == (60, 20, 20)


def test_experiment_measures_what_compare_measures() -> None:
    """The tables hold the values of the crawls; baselines and formulas are judged alike."""
    recording = Recording.from_arrays(random_tables(300, 30.0, 5))
    settings = EvolutionSettings(population=12, generations=2, seeds=1, archive=4, depth=4)
    protocol = Gp4cProtocol(Plan(1.0, 0.1, 2, seed=3), cycles=(10, 10, 10), settings=settings)
    experiment = run_experiment(recording, protocol)
    test = windows(prepare(recording, protocol)[0], protocol)[0].test
    variant = Variant("all", "ndcg")
    want = by_pages(experiment.folds[0].discoveries[variant].best.formula, test, protocol.plan, form="rate")
    assert [curve.tolist() for curve in experiment.folds[0].curves[variant, "best"]] == list(want)
    rows = {row[0]: row for row in overall(experiment).rows}
    mean = experiment.values("cg", NDCG()).mean()
    assert rows["cg"][4].startswith(f"{mean:.4f}")
    assert experiment.values("oracle", ChangeRate()).mean() >= experiment.values("cg", ChangeRate()).mean()
    assert [len(table.rows) for table in contests(experiment)] == [12, 12]
    assert [len(table.rows) for table in formulas(experiment)] == [5, 5]
    fold = experiment.folds[0]
    assert fold.interrupted[variant][1, -1] == pytest.approx(experiment.values(variant, NDCG())[0].mean())
    assert fold.new_picks[variant][0] == 1.0
    assert np.isfinite(fold.changed).all()


def test_experiment_writes_a_report(web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables 2 to 4, Figures 3 to 6, formulas and results.json; a second run needs --force."""
    out = tmp_path / "gp4c"
    words = ["experiment", "gp4c", str(web), *TINY, "--cycles", "10,10,10", "--budget", "10%", "--out", str(out)]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "GP4C All" in shown
    assert "their weights run over visits; the depth limit of crossover is of the trees that it makes." in shown
    names = {path.name for path in out.iterdir()}
    assert {"report.html", "results.json", "figure3.svg", "figure6.png", "all-ndcg-5.json"} <= names
    held = json.loads((out / "results.json").read_text())
    assert set(held["evolved"]) == {"basic/changerate", "basic/ndcg", "all/changerate", "all/ndcg"}
    assert main(words) == 2
    assert "--force" in capsys.readouterr().err


def test_ties_have_to_be_shown() -> None:
    """Of 5 folds x 4 cycles: values within 1% are tied, scattered ones tell nothing, sure 5% are no tie."""
    level = np.linspace(0.5, 0.6, 5)[:, None] * np.ones(4)
    scatter = np.array([1.05, 0.95, 1.04, 0.97, 1.0])[:, None] * np.ones(4)
    others = {"tied": level * 1.001, "unknown": level * scatter, "apart": level * 1.05}
    verdicts = {name: tied("c", level, {name: other}).verdict for name, other in others.items()}
    assert verdicts == {"tied": "yes", "unknown": "too small to judge", "apart": "no"}
    behind = {name: never_behind("c", level, [level, other]).verdict for name, other in others.items()}
    assert behind == {"tied": "yes", "unknown": "too small to judge", "apart": "no"}
    assert never_behind("c", level, [level * 0.9]).verdict == "yes"
    assert never_behind("c", level[:, :0], [level[:, :0]]).verdict == "too small to judge"


def test_quick_is_quick(web: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--quick overrides population and generations."""
    words = "--quick --cycles 5,5,5 --budget 10% --sets basic --folds 3 --split 1,1"
    assert main(["experiment", "gp4c", str(web), *words.split()]) == 0
    assert "2 seeds x 12 generations of 60" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cycles", "19,19"], "three whole numbers"),
        (["--cycles", "40,40,40"], "are more than the 30 days"),
        (["--folds", "2"], "too few"),
        (["--sets", "magic"], "unknown terminal set"),
        (["--cycles", "2,9,9"], "warm-up"),
    ],
)
def test_mistakes_of_the_experiment_are_said_in_one_line(
    web: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 and one line."""
    try:
        code: object = main(["experiment", "gp4c", str(web), *words])
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_small_run_judges_nothing(web: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A few pages and generations: every finding is too small to judge, and the first lines say why."""
    words = [
        "experiment",
        "gp4c",
        str(web),
        *TINY,
        "--cycles",
        "10,10,10",
        "--budget",
        "10%",
        "--errors",
        "2%",
        "--json",
    ]
    assert main(words) == 0
    held = json.loads(capsys.readouterr().out)
    assert "visits per cycle and test fold, at least 50 needed" in held["too_small"]
    assert not any(finding["holds"] for finding in held["findings"])
    assert 0 < held["table1"]["error_share"] < 0.04
    assert set(held["paper"]["table2"]) > {"nad", "cg(form=rate)", "GP4C All"}
    one = held["evolved"]["all/ndcg"]
    assert len(one["new_picks"]) == len(one["other_picks"]) == 8
    assert set(one["interrupted"]["NDCG"]["values"][0]) == {"mean", "ci95"}
    assert set(one["correlations"]["NDCG"]) == {"r", "p", "later_r", "later_p"}
    assert held["protocol"]["rates"]["crossover"] == 0.9
    assert len(held["table4"]) == 20
    assert set(one["selections"]) >= {"best", "best in training", "sum by cycles"}


def test_new_pages_by_hand() -> None:
    """Three cycles of two visits: 0 and 1, 1 and 2, 0 and 3."""
    log = [np.array([0, 1]), np.array([1, 2]), np.array([0, 3])]
    assert never_before(log).tolist() == [1.0, 0.5, 0.5]
    assert not_last_time(log).tolist() == [1.0, 0.5, 1.0]


def test_one_week_is_too_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The paper's 57 days on a recording of one week: one line."""
    web = write(random_tables(50, 7.0, 5), tmp_path / "week")
    assert main(["experiment", "gp4c", str(web)]) == 2
    assert "57 cycles of 1 days are more than the 7 days of the recording" in capsys.readouterr().err
