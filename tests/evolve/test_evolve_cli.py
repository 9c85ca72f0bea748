"""`recrawl evolve` and `recrawl experiment gp4c`: tables for people, files for programs, one line for mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from recrawl.cli import main
from recrawl.evaluate.measures.ranking import NDCG, ChangeRate
from recrawl.evolve.evolution import EvolutionSettings
from recrawl.papers.gp4c.gp4c_protocol import Gp4cProtocol, Variant, run_experiment, windows
from recrawl.papers.gp4c.gp4c_tables import contests, formulas, overall
from recrawl.plan import Plan
from recrawl.policies.formulas.formula import load_formula
from recrawl.recording.recording import Recording
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


# -- the experiment --------------------------------------------------------------------------------------------------


def test_the_protocol_respects_time_and_pages() -> None:
    """Training, validation and test are different pages, each later than the last; every fold is tested once."""
    recording = Recording.from_arrays(random_tables(200, 30.0, 5, births=True))
    protocol = Gp4cProtocol(Plan(1.0, 0.1, 2, seed=3), cycles=(10, 9, 8))
    repetitions = windows(recording, protocol)
    assert len(repetitions) == 5
    tested: set[int] = set()
    for data in repetitions:
        ids = [set(part.page_ids.tolist()) for part in (data.train, data.validation, data.test)]
        assert sum(map(len, ids)) == len(set.union(*ids))
        spans = [(part.start, part.end) for part in (data.train, data.validation, data.test)]
        assert spans == [(0.0, 10.0), (10.0, 19.0), (19.0, 27.0)]
        tested |= ids[2]
    assert tested == set(recording.window(0, 27).fixed().page_ids.tolist())


def test_training_on_more_folds() -> None:
    """Two folds to train on, two to validate, one to test."""
    recording = Recording.from_arrays(random_tables(100, 30.0, 5))
    data = windows(recording, Gp4cProtocol(Plan(1.0, 0.1, 2), cycles=(9, 9, 9), train_folds=2))[0]
    assert (len(data.train), len(data.validation), len(data.test)) == (40, 40, 20)


def test_experiment_measures_what_compare_measures() -> None:
    """The tables hold the values of the crawls; baselines and formulas are judged alike."""
    recording = Recording.from_arrays(random_tables(300, 30.0, 5))
    settings = EvolutionSettings(population=12, generations=2, seeds=1, archive=4, depth=4)
    protocol = Gp4cProtocol(Plan(1.0, 0.1, 2, seed=3), cycles=(10, 10, 10), settings=settings)
    experiment = run_experiment(recording, protocol)
    test = windows(recording, protocol)[0].test
    from test_evolve_fitness import by_pages

    variant = Variant("all", "ndcg")
    want = by_pages(experiment.folds[0].discoveries[variant].best.formula, test, protocol.plan)
    assert [curve.tolist() for curve in experiment.folds[0].curves[variant, "best"]] == list(want)
    rows = {row[0]: row for row in overall(experiment).rows}
    mean = experiment.values("cg", NDCG()).mean()
    assert rows["cg"][3].startswith(f"{mean:.4f}")
    assert experiment.values("oracle", ChangeRate()).mean() >= experiment.values("cg", ChangeRate()).mean()
    assert [len(table.rows) for table in contests(experiment)] == [11, 11]
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
    names = {path.name for path in out.iterdir()}
    assert {"report.html", "results.json", "figure3.svg", "figure6.png", "all-ndcg-5.json"} <= names
    held = json.loads((out / "results.json").read_text())
    assert set(held["evolved"]) == {"basic/changerate", "basic/ndcg", "all/changerate", "all/ndcg"}
    assert main(words) == 2
    assert "--force" in capsys.readouterr().err


def test_quick_is_quick(web: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--quick overrides population and generations."""
    assert (
        main(["experiment", "gp4c", str(web), "--quick", "--cycles", "9,9,9", "--budget", "10%", "--sets", "basic"])
        == 0
    )
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
