"""`recrawl experiment experts`, and the crawl of section 8.3."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from recrawl.cli import main
from recrawl.papers.experts.experts_experiment import CrawlSetting, run_crawls
from recrawl.papers.experts.experts_tables import crawl_findings, crawl_table
from recrawl.recording.recording import Recording
from support.real_recordings import THREE_SITES
from support.small_recordings import following_pages, write


def test_the_crawl_of_fig_8() -> None:
    """Every way to choose crawls the same pages, the table and findings name them all; five pages are too few."""
    found = run_crawls(Recording.from_arrays(following_pages()), {"all": np.arange(5)}, CrawlSetting(20.0, repeats=2))
    table = crawl_table("all", found["all"])
    assert len(table.rows) == 8
    assert "5 pages" in table.note
    claims = crawl_findings("all", found["all"])
    assert len(claims) == 6
    assert all(claim.verdict == "too small to judge" and "only 5 pages" in claim.evidence for claim in claims)


def test_the_experiment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`recrawl experiment experts` writes its tables beside the paper's numbers, and refuses what it cannot do."""
    out = tmp_path / "x"
    words = ["experiment", "experts", str(THREE_SITES), "--quick", "--no-crawl", "--steps", "weekly", "--out", str(out)]
    assert main(words) == 0
    results = json.loads((out / "results.json").read_text())
    assert results["paper"]["table1"]["3D multiple"] == 72.72
    [found] = results["protocols"]
    assert 0 < found["accuracy"]["3D multiple"]["mean"] <= 1
    assert found["judged_pages"] > 0
    assert {"report.html", "figures6-7.png", "figures6-7.svg"} <= {path.name for path in out.iterdir()}
    told = capsys.readouterr().out
    assert "cross-correlation" in told
    assert "Features look back l = 1 steps and predict sigma = 1 ahead" in told
    assert main(words) == 2  # there already
    assert main([*words[:6], "hourly"]) == 2
    assert "unknown steps" in capsys.readouterr().err


def test_the_experiment_with_its_crawl(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On any recording with texts the crawl of Fig 8 is part of the report; a window too short is refused."""
    long, short = write(following_pages(70), tmp_path / "long"), write(following_pages(40), tmp_path / "short")
    words = ["experiment", "experts", str(long), "--quick", "--steps", "daily", "--out", str(tmp_path / "out")]
    assert main(words) == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert set(results["crawls"]) == {"pages that pass the filter", "all pages with text"}
    assert (tmp_path / "out" / "figure8.png").stat().st_size > 0
    assert "expert-3d(pick=coin)" in capsys.readouterr().out
    assert main(["experiment", "experts", str(short), "--steps", "daily"]) == 2
    assert "too few to learn from" in capsys.readouterr().err
