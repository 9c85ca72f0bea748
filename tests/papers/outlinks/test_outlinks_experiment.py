"""The experiment of new links, as a user runs it."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits  # type: ignore[import-untyped,unused-ignore]

from recrawl.cli import main
from recrawl.errors import InputError
from recrawl.features.one_thread import one_thread
from recrawl.papers.outlinks.outlinks_findings import compared, counted
from recrawl.papers.outlinks.outlinks_protocol import OutlinksProtocol, prepare
from recrawl.papers.outlinks.outlinks_statistics import statistics
from recrawl.papers.outlinks.outlinks_training import class_scores, r_squared
from recrawl.recording.recording import Recording
from support.real_recordings import THREE_SITES
from support.small_recordings import recording


def test_statistics_by_hand() -> None:
    """Two weeks of three pages: means, groups and the pages that go from group to group."""
    new = np.array([[[0, 1, 12], [0, 4, 12]], [[0, 0, 2], [1, 0, 0]]], dtype=np.int32)
    held = statistics(new, np.array(["/a", "/b", "/c"], dtype=object))
    assert held.mean[1].tolist() == pytest.approx([13 / 3, 16 / 3])
    assert held.gaining[1].tolist() == pytest.approx([1 / 3, 1 / 3])
    assert held.sizes["internal"].tolist() == [[1, 1, 0, 1], [1, 0, 1, 1]]
    assert held.flows["internal"][0][1].tolist() == [0, 0, 1, 0]
    assert held.rates["internal"].tolist() == [1, 0, 2]
    assert held.busiest[0][0] == "/c"
    assert held.tails["internal"][0][1].tolist() == pytest.approx([2 / 3, 1 / 3])


def test_features_are_counted_among_the_most_important() -> None:
    """All there: yes; some: in part; none: no; where no feature matters nothing is judged."""
    verdicts = [counted("q", "c", hits, 2, ["a", "b"]).verdict for hits in (2, 1, 0)]
    assert verdicts == ["yes", "in part", "no"]
    assert counted("q", "c", 0, 2, []).verdict == "too small to judge"


def test_not_worse_has_to_be_shown() -> None:
    """Draws that agree to .002 are not worse by .01; draws that scatter tell nothing; sure losses are a no."""
    cases = (
        ([0.70, 0.71, 0.72], [0.701, 0.712, 0.719]),
        ([0.7, 0.6, 0.8], [0.6, 0.7, 0.81]),
        ([0.5, 0.51], [0.7, 0.712]),
    )
    verdicts = [compared("q", "c", first, second, near=0.01).verdict for first, second in cases]
    assert verdicts == ["yes", "too small to judge", "no"]


def test_scores_by_hand() -> None:
    """Of 4 pages with and 6 without, 3 are recalled and 1 is wrong: recall 3/4, precision 3/4, balanced 19/24."""
    truth = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0], dtype=np.bool_)
    told = np.array([1, 1, 1, 0, 1, 0, 0, 0, 0, 0], dtype=np.bool_)
    found = class_scores(truth, told)
    assert found["recall"] == found["precision"] == found["F1"] == 0.75
    assert found["accuracy (b)"] == pytest.approx((3 / 4 + 5 / 6) / 2)
    assert np.isnan(class_scores(np.zeros(3, dtype=np.bool_), told[:3])["recall"])
    assert r_squared(np.array([0.0, 2.0]), np.array([1.0, 1.0])) == 0.0
    assert np.isnan(r_squared(np.ones(2), np.ones(2)))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"weeks": 1}, "at least 2 weeks"),
        ({"repeats": 0}, "1 repeat"),
        ({"rows": 3}, "40 rows"),
        ({"histories": (0, 9)}, "0 to 8"),
        ({"histories": ()}, "0 to 8"),
        ({"neighbours": 0}, "1 neighbour"),
    ],
)
def test_bad_protocols(options: dict[str, int], says: str) -> None:
    """A protocol that cannot be run is refused before any work."""
    with pytest.raises(InputError, match=says):
        OutlinksProtocol(**options).check()  # type: ignore[arg-type]


def test_bad_recordings() -> None:
    """Too short a recording, or too few pages that live through all crawls, are said."""
    with pytest.raises(InputError, match="more than the 20 days"):
        prepare(recording(20.0, [[1.0]] * 50), OutlinksProtocol())
    with pytest.raises(InputError, match="too few to learn from"):
        prepare(recording(70.0, [[1.0]]), OutlinksProtocol())


def test_pages_without_text_can_be_studied() -> None:
    """Without any words there are no related pages, and all else goes on."""
    ground = prepare(recording(70.0, [[1.0, 30.0]] * 50, new_internal=[1, 2] * 50), OutlinksProtocol())
    assert ground.crawls.related is not None
    assert (ground.crawls.related.pages == -1).all()
    split = ground.splits()[0]
    assert len(split.test) == len(split.develop) == 12
    assert not set(split.test) & set(split.train)
    assert set(split.develop) < set(split.train)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One command writes the page, the figures and the numbers; results are not replaced unasked."""
    words = ["experiment", "outlinks", str(THREE_SITES), "--quick", "--trees", "3", "--no-ngboost"]
    words += ["--repeats", "1", "--out"]
    assert main([*words, str(tmp_path / "out")]) == 0
    told = capsys.readouterr().out
    assert "NNL-ET LBLA" in told
    assert "Learners see TrustRank alone, which starts from the page of highest PageRank of all sites" in told
    assert "of related pages is over the weeks before the predicted one." in told
    assert "LBLA is not worse than all features for NNL" in told
    held = json.loads((tmp_path / "out" / "results.json").read_text())
    assert held["paper"]["table3"]["internal"][0] == [300, 2]
    assert set(held["rankings"]) == {"internal", "external"}
    assert held["history"]["internal"]["history 8"]["recall"] is not None
    assert {"ranks": "trust", "related_rate": "past", "trusted_sites": []}.items() <= held["protocol"].items()
    claims = {(finding["links"], finding["claim"]): finding for finding in held["findings"]}
    for shown in ("Table 2", "Fig 3", "Fig 4", "Fig 5", "Fig 8", "Fig 11", "Fig 12", "Fig 13", "Fig 14", "Fig 15"):
        assert any(shown in claim for _, claim in claims), shown
    assert {links for links, _ in claims} == {"all", "internal", "external"}
    assert claims["internal", "most pages stay in their group from week to week (Fig 3)"]["verdict"] == "yes"
    assert "text size, content size" in told  # the paper's correlations of Fig 8 beside ours
    assert 0 < len(held["lbla_importance"]["internal"]) <= 10
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"report.html", *(f"figure{n}.png" for n in (2, 3, 4, 5, 6, 8, 9, 11, 12, 13, 14, 15))} <= names
    assert main([*words, str(tmp_path / "out")]) == 2
    assert "add --force" in capsys.readouterr().err


def test_the_digits_do_not_depend_on_threads_or_processes(capsys: pytest.CaptureFixture[str]) -> None:
    """Two threads for every library, or two processes: the same bytes as with one of each."""
    line = f"experiment outlinks {THREE_SITES} --quick --trees 3 --repeats 1 --histories 1 --no-ngboost --json"
    words = [*line.split(), "--pages", "150"]
    results = []
    for threads, jobs in ((1, 1), (2, 1), (1, 2)):
        with threadpool_limits(threads):
            assert main([*words, "--jobs", str(jobs)]) == 0
        results.append(capsys.readouterr().out)
    assert len(results[0]) > 1000
    assert results[0] == results[1] == results[2]


def test_limits_hold_until_the_last_leaves() -> None:
    """Where two threads compute, the first to end does not give BLAS its threads back."""
    entered, leave = threading.Event(), threading.Event()

    def compute() -> None:
        with one_thread():
            entered.set()
            leave.wait(10)

    with threadpool_limits(2, user_api="blas"):
        beside = threading.Thread(target=compute)
        with one_thread():
            beside.start()
            entered.wait(10)
        assert _blas_threads() == {1}
        leave.set()
        beside.join()
        assert _blas_threads() == {2}


def _blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_weeks_that_are_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that is no recording is said in one line, with exit code 2."""
    assert main(["experiment", "outlinks", str(tmp_path / "nothing")]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_a_recording_is_left_as_it_is() -> None:
    """The ground is made of a slice: the recording keeps its own window."""
    whole = recording(70.0, [[1.0]] * 50)
    ground = prepare(whole, OutlinksProtocol(weeks=4))
    assert isinstance(ground.crawls.recording, Recording)
    assert (whole.start, whole.end) == (0.0, 70.0)
    assert ground.crawls.times.tolist() == [0.0, 7.0, 14.0, 21.0, 28.0]
