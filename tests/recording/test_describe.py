"""`recrawl describe` says what is in a recording: numbers by hand, and those that the real data publish."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from recrawl.cli import main
from recrawl.recording.change_rates import periods, rates_by_site
from recrawl.recording.link_graph import link_graph
from recrawl.recording.recording import Recording
from recrawl.recording.summary import bins, summarise
from recrawl.simulate.recorded import RecordedWorld
from support.real_recordings import GITWEB, REAL_RECORDINGS, THREE_SITES

on_real_recordings = pytest.mark.parametrize("folder", REAL_RECORDINGS, ids=lambda folder: folder.name)
NAN = float("nan")


def web(links: bool = True) -> Recording:
    """Two sites, 4 days. Site 0: pages 0 (old), 1 (old, dies at 2), 2 (born at 1.5), 3 (born at 2); site 1: page 4."""
    tables: dict[str, dict[str, Any]] = {
        "sites": {"site_id": np.array([0, 1]), "days": np.array([4.0, 3.5])},
        "pages": {
            "page_id": np.arange(5),
            "site_id": np.array([0, 0, 0, 0, 1]),
            "born_day": np.array([-1.0, -1.0, 1.5, 2.0, 0.0]),
            "died_day": np.array([NAN, 2.0, NAN, NAN, NAN]),
        },
        "changes": {
            "page_id": np.array([0, 0, 0, 1, 2, 2, 4]),
            "day": np.array([0.5, 0.75, 3.0, 1.5, 1.75, 2.25, 3.25]),
            "new_internal": np.array([0, 1, 0, 0, 0, 2, 0]),
            "new_external": np.array([0, 0, 0, 0, 0, 0, 0]),
        },
    }
    if links:
        rows = [
            (0, 0.0, NAN, 1),
            (0, 0.0, NAN, 0),
            (0, 0.75, NAN, 2),
            (1, 0.0, 2.0, 3),
            (2, 1.5, NAN, 3),
            (4, 0.0, NAN, -1),
        ]
        page, opened, closed, target = (np.array(column) for column in zip(*rows, strict=True))
        tables["links"] = {
            "page_id": page, "day_from": opened, "day_to": closed, "target_page": target, "internal": target >= 0,
            "target": np.array([None] * 5 + ["x.org/"], dtype=object),
        }  # fmt: skip
    return Recording.from_arrays(tables)


def test_the_rate_is_the_mean_share_of_the_pages_alive_that_change() -> None:
    """By hand: site 0 has 1/2, 1/2, 1/3, 1/3 on its four days, site 1 nothing on its three whole days."""
    days = periods(web(), 1.0)
    # day 0: pages 0, 1 alive, 0 changes (twice counts once); day 1: 1 changes, 2 is not alive when the day begins;
    # day 2: 0, 2, 3 alive (3 is born just then), 2 changes; day 3: page 0 changes at its very beginning
    assert days.alive.tolist() == [[2, 2, 3, 3], [1, 1, 1, 0]]
    assert days.changed.tolist() == [[1, 1, 1, 1], [0, 0, 0, 0]]  # site 1 changes after its last whole day
    assert days.by_site().tolist() == [pytest.approx((1 / 2 + 1 / 2 + 1 / 3 + 1 / 3) / 4), 0.0]
    assert days.by_period().tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 4, 1 / 3])


def test_means_are_by_page_and_by_site() -> None:
    """Four pages at 5/12 and one at 0; rates that the columns do not give are unknown."""
    summary = summarise(web())
    assert summary.whole.rates.daily == pytest.approx(4 / 5 * 5 / 12)
    assert summary.mean_of_sites.daily == pytest.approx(5 / 24)
    assert np.isnan(summary.whole.rates.weekly)  # there is no whole week
    assert np.isnan(rates_by_site(web())["weekly_words"]).all()
    assert (summary.alive_at_start, summary.born, summary.died) == (3, 2, 1)
    assert summary.whole.never == pytest.approx(1 / 5)


def test_bins_double_in_width() -> None:
    """0, 1, 2, 3-4, 5-8, ..., 65 and more."""
    found = bins(np.array([0, 0, 1, 2, 3, 4, 5, 8, 9, 64, 65, 1000]))
    assert [b.label for b in found] == ["0", "1", "2", "3–4", "5–8", "9–16", "17–32", "33–64", "≥65"]
    assert [b.pages for b in found] == [2, 1, 1, 2, 2, 1, 0, 1, 2]


def test_the_link_graph_by_hand() -> None:
    """Links at the start, degrees, and which newborn pages can be found by links.

    Page 2 is linked from page 0 since before its birth: it shows when page 0 changes at 3. Page 3 is linked from
    page 1, which dies when 3 is born, and from page 2.
    """
    graph = link_graph(web())
    assert (graph.nodes, graph.edges, graph.internal, graph.known) == (3, 4, 3, 3)
    assert graph.out_degree.tolist() == [2, 1, 1]
    assert graph.in_degree.tolist() == [0, 1, 0]  # a page's link to itself does not count
    assert (graph.born, graph.linked, graph.discoverable) == (2, 2, 2)


def test_a_link_that_never_shows_again_discovers_nothing() -> None:
    """Without the change at 3, page 0 never shows its old link to page 2, nor can page 3 be found through 2."""
    recording = web()
    tables = {name: {c: recording.tables.column(name, c) for c in recording.tables.columns(name)} for name in
              ("sites", "pages", "changes", "links")}  # fmt: skip
    keep = tables["changes"]["day"] != 3.0
    tables["changes"] = {name: column[keep] for name, column in tables["changes"].items()}
    graph = link_graph(Recording.from_arrays(tables))
    assert (graph.born, graph.linked, graph.discoverable) == (2, 2, 0)


@on_real_recordings
def test_what_can_be_discovered_is_what_a_crawler_who_visits_everything_discovers(folder: Path) -> None:
    """Weekly visits to all known pages of three real sites discover the number that the link graph promises."""
    recording = Recording.open(folder)
    world = RecordedWorld(recording)
    known = np.flatnonzero(recording.born <= 0)
    for week in range(1, 53):
        known = np.concatenate([known, world.visit(known, 7.0 * week).discovered])
    assert (recording.born[known] > 0).sum() == link_graph(recording).discoverable == 33


@on_real_recordings
def test_rates_are_those_that_the_data_publish(folder: Path) -> None:
    """Every rate of every site as in the recording's stats.json.

    The rates of gitweb-mini were taken before the times were rounded to 32 bits, which moves changes at midnight to the
    other day: up to 0.3 points of a site whose pages all change at midnight, a tenth of that for others.
    """
    recording = Recording.open(folder)
    rates, rounded = rates_by_site(recording), folder != THREE_SITES
    names = {"weekly_no_mass": "weekly_small", "daily_no_mass": "daily_small"}
    for site in json.loads((folder / "stats.json").read_text())["sites"]:
        row = recording.site_names.index(site["repo"])
        for published in ("daily", "daily_no_mass", "weekly", "weekly_words", "weekly_no_mass"):
            expected = site[published]
            assert rates[names.get(published, published)][row] == pytest.approx(
                expected, abs=rounded * (0.003 if expected > 0.5 else 3e-4)
            )
        for published in ("weekly_new_internal", "weekly_new_external"):
            assert rates[published][row] == pytest.approx(
                site[published], abs=rounded * (0.0011 if site[published] > 0.1 else 3e-4)
            )


@dataclass(frozen=True)
class Published:
    """What is told of a recording as a whole, rates in per cent."""

    folder: Path
    by_page: dict[str, float]
    by_site: dict[str, float]
    histogram: list[int]


PUBLISHED = [
    Published(
        THREE_SITES,
        {"daily": 3.80, "daily_small": 0.89, "weekly": 8.4, "weekly_words": 6.9, "weekly_small": 4.9,
         "weekly_new_internal": 2.41, "weekly_new_external": 0.90},
        {"daily": 30.02, "weekly": 36.7, "weekly_new_internal": 14.51},
        [69, 83, 62, 58, 54, 19, 6, 6, 13],
    ),
    Published(
        GITWEB,
        {"daily": 0.76, "daily_small": 0.44, "weekly": 3.9, "weekly_words": 2.3, "weekly_small": 2.3,
         "weekly_new_internal": 0.42, "weekly_new_external": 0.68},
        {"daily": 2.52, "weekly": 7.0, "weekly_new_internal": 1.19},
        [117503, 47438, 15125, 12398, 9063, 4470, 6195, 847, 387],
    ),
]  # fmt: skip


@pytest.mark.parametrize("told", [p for p in PUBLISHED if p.folder.is_dir()], ids=lambda told: told.folder.name)
def test_the_whole_of_a_recording_is_as_published(told: Published) -> None:
    """Rates by page and by site to the last digit that is published, and changes per page to the page."""
    recording = Recording.open(told.folder)
    by_site, pages = rates_by_site(recording), np.bincount(recording.site)

    def rounded(name: str, share: float) -> float:
        return round(100 * share, 1 if name in ("weekly", "weekly_words", "weekly_small") else 2)

    assert {n: rounded(n, float(np.average(by_site[n], weights=pages))) for n in told.by_page} == told.by_page
    assert {n: rounded(n, float(by_site[n].mean())) for n in told.by_site} == told.by_site
    assert [b.pages for b in bins(np.diff(recording.change_start))] == told.histogram


def run(capsys: pytest.CaptureFixture[str], *args: object) -> tuple[int, str, str]:
    code = main(["describe", *(str(arg) for arg in args)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_it_prints_what_is_in_the_recording(capsys: pytest.CaptureFixture[str]) -> None:
    """Totals, kinds, histogram and links; --sites adds a line a site, --days takes the last days."""
    code, out, err = run(capsys, THREE_SITES)
    assert (code, err) == (0, "")
    assert "3 sites, 370 pages, 5,459 changes, day 0 to 364" in out
    assert "all, mean of sites" in out
    assert "docs" in out
    assert "reactjs/react.dev" not in out
    assert "can be discovered by following links" in out
    code, out, _ = run(capsys, THREE_SITES, "--sites", "--days", "7")
    assert code == 0
    assert "day 357 to 364" in out
    assert "reactjs/react.dev" in out


def test_json_is_plain_and_complete(capsys: pytest.CaptureFixture[str]) -> None:
    """Shares from 0 to 1, None instead of NaN, the selected sites alone."""
    code, out, _ = run(capsys, THREE_SITES, "--json", "--sites", "reactjs/react.dev")
    summary = json.loads(out, parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))
    assert code == 0
    assert summary["whole"]["pages"] == 226
    assert summary["whole"]["changes"] == 538
    assert [site["name"] for site in summary["sites"]] == ["reactjs/react.dev"]
    assert summary["sites"][0]["rates"]["weekly"] == pytest.approx(0.0360, abs=5e-5)
    assert sum(b["pages"] for b in summary["changes_per_page"]) == 226
    assert summary["links"]["nodes"] == summary["alive_at_start"] == 191


def test_it_draws_itself_and_repeats_to_the_byte(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Four files, the page self-contained, the same twice; an existing folder is replaced only with --force."""
    out = tmp_path / "about"
    assert run(capsys, THREE_SITES, "--out", out)[0] == 0
    files = {path.name: path.read_bytes() for path in out.iterdir()}
    assert sorted(files) == ["describe.html", "overview.png", "overview.svg", "summary.json"]
    assert files["overview.png"].startswith(b"\x89PNG")
    ElementTree.fromstring(files["overview.svg"])
    page = files["describe.html"].decode()
    assert "reactjs/react.dev" in page.replace("<wbr>", "")
    assert not re.search(r"<script|<link|<img|@import|\bsrc=|url\((?!#)", page)
    assert set(re.findall(r"https?://[^\"' )]+", page)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    code, _, err = run(capsys, THREE_SITES, "--out", out)
    assert (code, err.count("\n")) == (2, 1)
    assert run(capsys, THREE_SITES, "--out", out, "--force")[0] == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == files


def test_bad_input_is_one_line_and_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Unknown names suggest the nearest; too many days, an empty selection, an unwritable place; nothing is left."""
    file = tmp_path / "file"
    file.write_text("mine")
    for args, said in (
        (["--sites", "react"], "did you mean 'reactjs/react.dev'"),
        (["--kinds", "doc"], "did you mean 'docs'"),
        (["--days", "400"], "400 days are more than the recording has: 364"),
        (["--out", str(file)], "is a file, not a folder"),
        (["--out", str(file / "below")], "cannot be written"),
        (["--days", "7", "--kinds", "docs", "--fixed", "--sites", "EvanLi/Github-Ranking"], "the selection is empty"),
    ):
        code, out, err = run(capsys, THREE_SITES, *args)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert said in err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_recording_without_links_kinds_or_weeks_is_described(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """What is not known is a dash, not an error, also in the picture and the page."""
    from recrawl.report.recording_page import summary_files

    summary = summarise(web(links=False))
    assert summary.links is None
    files = summary_files(summary)
    assert json.loads(files["summary.json"])["whole"]["rates"]["weekly"] is None
    assert "–" in files["describe.html"].decode()
