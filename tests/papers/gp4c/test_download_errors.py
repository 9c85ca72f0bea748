"""Download errors as in the paper's data: pages with more than two go, gaps are guessed from the usual period."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.errors import InputError
from recrawl.papers.gp4c.download_errors import changes_by_cycle, noted_changes, with_errors
from recrawl.plan import Plan
from recrawl.recording.recording import Recording
from support.small_recordings import random_tables, recording


def noted(changes: str, failures: str) -> str:
    """One page: x is a change or a failed download, . is none."""
    rows = [np.array([[letter == "x" for letter in text]]) for text in (changes, failures)]
    return "".join("x" if value else "." for value in noted_changes(rows[0], rows[1])[0])


@pytest.mark.parametrize(
    ("changes", "failures", "want"),
    [
        ("x.x.x...", "........", "x.x.x..."),  # no errors: as it is
        (
            "x.x.x.x.",
            "......x.",
            "x.x.x.xx",
        ),  # every second day so far: guessed rightly, yet the next download differs, too
        ("x.x.x...", ".....x..", "x.x.x..."),  # one day after a change is too early
        ("x.x.x...", "......x.", "x.x.x.x."),  # guessed, wrongly; the next download finds nothing new
        ("x.......", "..x.....", "x......."),  # one change is no period
        ("....x...", "....x...", ".....x.."),  # a change that was missed is found by the next download
        ("x.x..x..", ".......x", "x.x..x.x"),  # periods of 2 and 3 are equally frequent: the shorter
    ],
)
def test_gaps_are_guessed_by_hand(changes: str, failures: str, want: str) -> None:
    """The most frequent period without changes says whether the page counts as changed."""
    assert noted(changes, failures) == want


def test_pages_with_more_than_two_errors_go() -> None:
    """The pages that are left have at most two errors; without errors nothing changes."""
    data = Recording.from_arrays(random_tables(500, 30.0, 5))
    kept, share = with_errors(data, Plan(1.0, 0.1, 2, seed=3), 0.05)
    assert 0 < len(kept) < len(data)
    assert 0 < share <= 2 / 30
    same, none = with_errors(data, Plan(1.0, 0.1, 2, seed=3), 0.0)
    ends = np.arange(1.0, 31.0)
    assert none == 0
    assert np.array_equal(changes_by_cycle(same, ends), changes_by_cycle(data, ends))
    with pytest.raises(InputError, match="nothing is left"):
        with_errors(recording(30.0, [[3.0]]), Plan(1.0, 1, 2), 0.49)
