"""What all papers' reports promise: verdicts by tests, names of their own files, NaN as null."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from matplotlib.figure import Figure

from recrawl.evaluate.statistics import equivalence_test, paired_test
from recrawl.papers.base import Figures, Finding, PaperReport, domains_of, findings_table
from recrawl.recording.recording import Recording
from recrawl.report.layout import Section, Table
from recrawl.report.style import Plot, Sheet
from support.small_recordings import tables

ONES = np.ones(8)
NOISE = np.array([0.1, -0.1] * 4)


def line(sheet: Sheet, values: list[float]) -> Figure:
    figure, (axis,) = sheet.panels()
    axis.plot(values)
    sheet.values(axis)
    return figure


class TinyReport(PaperReport[list[float]]):
    """A report with one of everything."""

    title: ClassVar[str] = "Tiny"
    plots: ClassVar[Mapping[str, Plot]] = {"figure1": Plot(line, "A line.")}
    other_files: ClassVar[str] = r"part-\d+\.json"

    def intro(self) -> list[str]:
        return ["Small."]

    def findings(self) -> Mapping[str, Sequence[Finding]]:
        return {"": [Finding("Does it grow?", "it grows", "yes", "3 of 3")]}

    def sections(self, figures: Figures) -> list[Section]:
        return [Section("Numbers", tables=[Table(("a",), [["1"]])], pictures=figures("figure1", "figure2"))]

    def to_dict(self, command: str) -> dict[str, Any]:
        return {"command": command, "values": self.results, "more": (np.float64(math.nan), np.bool_(True), math.inf)}


@pytest.mark.parametrize(
    ("mine", "sign", "verdict"),
    [
        (ONES + 0.01 * NOISE, 1, "yes"),
        (ONES + 0.01 * NOISE, -1, "no"),
        (NOISE, 1, "too small to judge"),
    ],
)
def test_a_claim_is_judged_by_its_test(mine: Any, sign: int, verdict: str) -> None:
    """A significant difference of the claimed sign is a yes, of the other sign a no, any other is too small."""
    found = Finding.tested("?", "more", paired_test(mine, 0 * mine), "seen", sign=sign)
    assert (found.verdict, found.holds) == (verdict, verdict == "yes")
    assert found.to_dict() == {"claim": "more", "holds": verdict == "yes", "verdict": verdict, "seen": "seen"}


@pytest.mark.parametrize(
    ("gap", "low", "high", "verdict", "margin"),
    [
        (NOISE, -0.3, 0.3, "yes", "within ±0.3"),
        (NOISE, -0.01, 0.01, "too small to judge", "within ±0.01"),
        (ONES + NOISE, -0.3, 0.3, "no", "within ±0.3"),
        (ONES + NOISE, -0.3, math.inf, "yes", "at most 0.3 below"),
        (ONES + NOISE, -math.inf, 0.3, "no", "at most 0.3 above"),
    ],
)
def test_alike_needs_a_test_of_its_own(gap: Any, low: float, high: float, verdict: str, margin: str) -> None:
    """No difference is a yes only where it is shown to be within the margins, and the evidence names them."""
    found = Finding.alike("?", "the same", equivalence_test(gap, 0 * gap, low, high), "seen")
    assert found.verdict == verdict
    assert found.evidence.startswith(f"seen; {margin}: p = ")


def test_a_question_is_asked_once() -> None:
    """Claims that answer the same question stand below it."""
    found = [Finding("Why?", "a", "yes"), Finding("Why?", "b", "no"), Finding("How?", "c", "yes")]
    assert [row[0] for row in findings_table("", found).rows] == ["Why?", "", "How?"]


def test_files_of_a_report() -> None:
    """results.json is JSON without NaN, the page has every figure that was drawn, and all files are owned."""
    files = TinyReport([1.0, math.nan]).files("recrawl experiment tiny")
    assert set(files) == {"results.json", "figure1.png", "figure1.svg", "report.html"}
    assert all(TinyReport.owns(name) for name in (*files, "part-3.json"))
    assert not any(TinyReport.owns(name) for name in ("figure2.png", "figure1.txt", "part-x.json", "thesis.txt"))
    held = json.loads(files["results.json"], parse_constant=pytest.fail)
    assert (held["values"], held["more"]) == ([1.0, None], [None, True, None])
    page = files["report.html"].decode()
    assert "What of the paper holds" in page
    assert page.count("<svg") == 2  # one figure, for wide and for narrow screens
    assert [len(table.rows) for table in TinyReport([1.0]).tables()] == [1, 1]


def test_pages_of_small_domains_are_counted_together() -> None:
    """Of 23 domains with 1 to 23 pages the 20 largest are listed, and the 1 + 2 + 3 pages of the others add up."""
    names = [f"site.{chr(97 + at)}{chr(97 + at)}" for at in range(23)]
    site = np.repeat(np.arange(23), np.arange(1, 24))
    pages = tables(1.0, [[]] * len(site), site=site.tolist())
    pages["sites"] = {"site_id": np.arange(23), "repo": np.array(names, dtype=object), "days": np.full(23, 1.0)}
    found = domains_of(Recording.from_arrays(pages))
    assert next(iter(found.items())) == (".ww", 23)
    assert found["3 others"] == 6
    assert (len(found), sum(found.values())) == (21, len(site))
