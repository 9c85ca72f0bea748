"""What the dashboard reads: lists of pages piece by piece, and the expected freshness of copies."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.live.expected_freshness import SHRINK, ExpectedFreshness, expected_freshness
from recrawl.live.store import Store
from recrawl.live.store_dashboard import SORTS, WHICH
from recrawl.visits import Outcome
from support.dashboard_crawls import ordinary, page
from support.feed_crawls import BEGAN, filled, many


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store.open(many(tmp_path_factory.mktemp("many") / "crawl", 60, 5, changed=0.3).state, read_only=True)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    sort=st.sampled_from(sorted(SORTS)),
    which=st.sampled_from(WHICH),
    most=st.integers(1, 25),
    contains=st.sampled_from(["", "1", "s7.", "nowhere"]),
)
def test_pieces_of_a_list_add_up_to_the_whole(store: Store, sort: str, which: str, most: int, contains: str) -> None:
    """Piece after piece gives every page once, in order, whatever the size of a piece."""
    whole = store.page_list(sort=sort, which=which, contains=contains, most=1000)
    assert whole.after is None
    assert all(contains in row["url"] for row in whole.rows)
    pieces, after = [], ""
    while True:
        piece = store.page_list(sort=sort, which=which, contains=contains, most=most, after=after)
        assert len(piece.rows) <= most
        pieces += piece.rows
        if piece.after is None:
            break
        after = piece.after
    assert pieces == whole.rows
    column, down = SORTS[sort]
    values = [row[column] for row in pieces]
    assert values == sorted(values, reverse=down)


def test_a_place_that_is_none_begins_at_the_beginning(store: Store) -> None:
    """A stranger's `after` is no error."""
    assert store.page_list(after="nonsense").rows == store.page_list().rows
    assert store.page_list(after="1.x").rows == store.page_list().rows


def test_expected_freshness_by_hand(tmp_path: Path) -> None:
    """One page, 3 of 4 gaps of a day with a change: the formula worked out by hand, two days after the last visit."""
    url = "https://a.example/"
    found = [Outcome.FIRST, Outcome.CHANGED, Outcome.UNCHANGED, Outcome.CHANGED, Outcome.CHANGED]
    folder = filled(tmp_path / "crawl", [[(url, what, page("t", f"text {i}"))] for i, what in enumerate(found)])
    store = Store.open(folder.state, read_only=True)
    told = expected_freshness(store, 1, now=BEGAN + 5 + 2)
    store.close()
    crawl = (3 + 0.5) / (4 + 1)
    host = (3 + SHRINK * crawl) / (4 + SHRINK)
    p = (3 + SHRINK * host) / (4 + SHRINK)
    gap = 5 / 4  # first seen a day before the first visit, four gaps
    rate = -math.log(1 - p) / gap
    assert told is not None
    assert told.fresh == pytest.approx(math.exp(-2 * rate))
    assert told.age_days == pytest.approx(2 - (1 - math.exp(-2 * rate)) / rate)
    assert (told.pages, told.found, told.judged) == (1, 3, 4)
    assert told.calibration is None, "four visits are too few to judge"


def test_a_calibrated_estimate_says_so() -> None:
    """With enough visits, changes found over changes expected is the calibration."""
    told = ExpectedFreshness(fresh=0.9, age_days=1.0, pages=10, expected=40.0, found=50, judged=200)
    assert told.calibration == pytest.approx(1.25)
    assert "expected 40 to find a change, 50 did" in told.sentence


def test_nothing_is_expected_before_pages_were_visited_twice(tmp_path: Path) -> None:
    """A crawl with first visits only has no estimate."""
    folder = filled(tmp_path / "crawl", [[("https://a.example/", Outcome.FIRST, page("t", "text"))]])
    store = Store.open(folder.state, read_only=True)
    assert expected_freshness(store, 1) is None
    store.close()


def test_failures_carry_their_reason(tmp_path: Path) -> None:
    """The newest failed visits come first, with the reason."""
    store = Store.open(ordinary(tmp_path / "crawl").state, read_only=True)
    rows = store.failures_lately()
    store.close()
    assert [row[2] for row in rows] == [BEGAN + 5, BEGAN + 4, BEGAN + 3, BEGAN + 2]
    assert rows[0][4] == "connect-timeout: no answer"
