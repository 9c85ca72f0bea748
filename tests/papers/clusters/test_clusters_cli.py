"""recrawl experiment clusters, from end to end."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recrawl.cli import main
from recrawl.papers.clusters.clusters_findings import alike, as_normal, judged
from recrawl.papers.clusters.clusters_protocol import ClusterCrawl, ClustersProtocol
from recrawl.recording.recording import Recording
from support.real_recordings import THREE_SITES


def test_all_parts_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The tables are printed, figures, numbers and one page are written, and a second run must be forced."""
    out = tmp_path / "clusters"
    options = "--quick --days 112 --cycles 28d --warmup 1 --budgets 20% --pages 150 --queries 10"
    words = ["experiment", "clusters", str(THREE_SITES), *options.split(), "--out", str(out)]
    assert main(words) == 0
    shown = capsys.readouterr().out
    for word in ("clusters at the elbow", "fewest pages", "freshness@10", "vs sls", "the paper says"):
        assert word in shown
    assert "over all pages of the live web that answer a query (--relevant web)" in shown
    names = {f"figure{i}.{kind}" for i in range(1, 5) for kind in ("png", "svg")}
    assert {path.name for path in out.iterdir()} == names | {"results.json", "report.html"}
    held = json.loads((out / "results.json").read_text())
    assert {run["policy"] for run in held["policies"]} >= {"cls-nad", "cls-gad", "sls", "freq", "rand", "ideal"}
    assert all(0 <= run["MAP@10"] <= 1 for run in held["policies"])
    assert main(words) == 2


@pytest.mark.parametrize(
    "wrong", [["--parts", "colours"], ["--repeats", "0"], ["--queries", "nowhere.txt"], ["--warmup", "99"]]
)
def test_what_cannot_be_run_is_said(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """One line on standard error and exit code 2."""
    assert main(["experiment", "clusters", str(THREE_SITES), *wrong]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_a_budget_of_few_visits_per_cluster_is_not_judged(capsys: pytest.CaptureFixture[str]) -> None:
    """Where a cluster gets fewer visits than two of the smallest samples, no finding has a verdict."""
    options = "--quick --days 84 --cycles 28d --budgets 20 --pages 150 --queries 5 --parts policies --clusters 10"
    assert main(["experiment", "clusters", str(THREE_SITES), *options.split()]) == 0
    shown = capsys.readouterr().out
    assert "every budget leaves fewer than 8 visits per cluster" in shown


def test_verdicts_need_significant_tests() -> None:
    """All better: yes; none differs: too small; some worse and none better: no; else in part."""
    verdicts = [judged("q", "c", tests).verdict for tests in ([3.0, 4.0], [1.0, -1.0], [-3.0, 1.0], [3.0, -3.0])]
    assert verdicts == ["yes", "too small to judge", "no", "in part"]


def test_few_pairs_need_a_larger_t() -> None:
    """2.571 is the 5% point of t with 5 degrees of freedom, so of six pairs it is a deviate of 1.96."""
    assert as_normal(2.5706, 6) == pytest.approx(1.96, abs=1e-3)
    assert as_normal(-2.5706, 6) == pytest.approx(-1.96, abs=1e-3)
    assert as_normal(2.0, 6) < 1.96 < as_normal(2.0, 1000)


def test_what_is_alike_must_be_shown_to_be() -> None:
    """Small gaps that are sure: yes; large ones: no; some of each: in part; gaps too wide, or none: too small."""
    small, large, wide = (np.array(gaps) for gaps in ([0.001, -0.001, 0.0], [0.1, 0.11, 0.1], [0.2, -0.2, 0.1]))
    cases = ([small, small], [large, large], [small, large], [wide, wide], [np.empty(0)])
    verdicts = [alike("q", "c", gaps).verdict for gaps in cases]
    assert verdicts == ["yes", "no", "in part", "too small to judge", "too small to judge"]
    assert alike("q", "c (Fig. 3)", cases[0]).claim == "c (Fig. 3; within 0.01)"


def test_every_claim_of_the_paper_is_judged(tmp_path: Path) -> None:
    """results.json has the claims of Figs 1 to 4 and Tables 2 and 3, each with a verdict and what was seen."""
    out = tmp_path / "clusters"
    options = "--quick --days 112 --cycles 14d --budgets 30%,60% --pages 150 --queries 10 --clusters 5"
    assert main(["experiment", "clusters", str(THREE_SITES), *options.split(), "--out", str(out)]) == 0
    held = json.loads((out / "results.json").read_text())["findings"]
    for shown in ("Fig. 1", "Fig. 2", "Fig. 3", "Fig. 4a", "Fig. 4b", "Fig. 4c", "Table 2", "Table 3"):
        assert any(shown in finding["claim"] for finding in held), shown
    assert all(finding["verdict"] and finding["seen"] for finding in held)
    by_claim = {finding["claim"]: finding for finding in held}
    unit = by_claim["a cluster is a larger unit than a site (Table 2)"]
    assert unit["verdict"] == "no"  # 150 pages in 5 clusters, and on 3 sites


def test_a_single_seed_has_intervals_over_cycles_and_queries() -> None:
    """Of three cycles and two queries by hand; of several seeds the interval is over them, and `ideal` has none."""
    change, found = np.array([0.1, 0.2, 0.3]), np.array([[0.2, 0.6], [0.4, 0.8], [0.3, np.nan]])
    one = {what: np.array([0.5]) for what in ("change", "fresh", "precision")}
    run = ClusterCrawl("cls-sad", change, found, found, seeds=one)
    assert run.half("change") == pytest.approx(4.3027 * 0.1 / math.sqrt(3), rel=1e-4)
    assert run.half("fresh") == pytest.approx(12.7062 * np.std([0.3, 0.7], ddof=1) / math.sqrt(2), rel=1e-4)
    several = replace(run, seeds={"change": np.array([0.2, 0.4])})
    assert several.half("change") == pytest.approx(12.7062 * np.std([0.2, 0.4], ddof=1) / math.sqrt(2), rel=1e-4)
    assert math.isnan(replace(run, seeds={}).half("fresh"))


def test_clusters_are_in_proportion_to_the_papers() -> None:
    """A cluster has about 3,000 pages, as in the paper; there are at least 5 and at most 100; a given number stands."""
    held = Recording.open(THREE_SITES)
    assert ClustersProtocol().settled(held).clusters == 5
    assert ClustersProtocol(clusters=7).settled(held).clusters == 7
    assert ClustersProtocol().warmup == 0
