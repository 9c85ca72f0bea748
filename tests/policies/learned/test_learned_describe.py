"""What the learned policy knows of a page: its places, its own past, and what was found around it."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recrawl.policies.learned import evidence
from recrawl.policies.learned import page_history as history
from recrawl.policies.learned.evidence import Evidence
from recrawl.policies.learned.page_history import History
from recrawl.policies.learned.places import LEVELS, Places


def placed(*paths: str, site: list[int] | None = None) -> Places:
    places = Places()
    pages = np.arange(len(paths))
    places.place(pages, np.array(site or [0] * len(paths)), np.array(paths, dtype=object), len(paths))
    past = History()
    past.make_room(len(paths))
    places.regroup(pages, past)
    return places


def same(places: Places, level: str, a: int, b: int) -> bool:
    column = LEVELS.index(level)
    return bool(places.ids[a, column] == places.ids[b, column])


def test_pages_share_the_groups_of_their_path() -> None:
    """Pages of one directory share it, a name is shared over the site."""
    places = placed("docs/en/release-1.md", "docs/en/release-2.md", "docs/fr/release-1.md", "docs/en/start.md")
    assert same(places, "directory", 0, 1)
    assert not same(places, "directory", 0, 2)
    assert same(places, "parent", 0, 2)
    assert same(places, "name", 0, 2)
    assert not same(places, "name", 0, 1)


def test_pages_alone_in_their_directories_share_the_shape_of_their_path() -> None:
    """Years, numbers, dates and words are told apart; their values, and the names of directories, are not."""
    places = placed(
        "tools/a/x.md", "tools/b/y.md", "2021/05/post.md", "2020/11/other.md", "log/2020-11-05-x.md", "log/v2.1.md"
    )  # fmt: skip
    assert same(places, "shape", 0, 1)
    assert same(places, "shape", 2, 3)
    assert len(np.unique(places.ids[:, LEVELS.index("shape")])) == 4


def test_an_index_page_stands_for_its_directory() -> None:
    """`a/b/index.md` is a page of `a`, beside `a/c.md`."""
    places = placed("a/b/index.md", "a/c.md")
    assert same(places, "directory", 0, 1)


def test_groups_end_at_the_site() -> None:
    """The same path on two sites shares nothing."""
    places = placed("a/b.md", "a/b.md", site=[0, 1])
    assert not any(same(places, level, 0, 1) for level in LEVELS)


def test_pages_may_come_later() -> None:
    """A page placed later joins the groups that are there; pages without a path share their site."""
    places = placed("a/b.md")
    assert places.missing(np.array([0, 1])).tolist() == [1]
    places.place(np.array([1]), np.array([0, 0]), np.array(["a/b.md", "a/c.md"], dtype=object), 2)
    assert same(places, "directory", 0, 1)
    bare = Places()
    bare.place(np.arange(2), np.zeros(2, dtype=np.int64), None, 2)
    assert (bare.ids[0] == bare.ids[1]).all()


def test_history_by_hand() -> None:
    """A copy at 0, visits at 1 (changed), 2 and 5 (not), seen from cycle 8."""
    past = History()
    past.make_room(1)
    page = np.array([0])
    past.begin(page, 0)
    for cycle, changed in ((1, True), (2, False), (5, False)):
        past.update(page, np.array([changed]), cycle)
    out = np.empty((1, len(history.FEATURES)), dtype=np.float32)
    past.describe(page, 8, out)
    told = dict(zip(history.FEATURES, out[0].tolist(), strict=True))
    assert told["t"] == 3
    assert (told["visits"], told["changes"], told["last_changed"], told["recent_changes"]) == (3, 1, 0, 1)
    assert (told["since_change"], told["gap"]) == (7, 3)
    assert math.isclose(told["own_rate"], 1.3 / 8.0, rel_tol=1e-6)
    assert math.isnan(told["words"])


def test_the_length_of_a_copy_is_what_the_last_visit_that_told_it_saw() -> None:
    """300 words, then a visit that does not tell, then 310."""
    past, page = History(), np.array([0])
    past.make_room(1)
    seen = []
    for words in (300.0, math.nan, 310.0):
        past.read(page, np.array([words]))
        out = np.empty((1, len(history.FEATURES)), dtype=np.float32)
        past.describe(page, 1, out)
        seen.append(out[0, history.FEATURES.index("words")])
    assert seen == [300.0, 300.0, 310.0]


Rounds = list[list[tuple[int, bool]]]
rounds = st.lists(
    st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=6, unique_by=lambda visit: visit[0]),
    min_size=1,
    max_size=6,
)


@given(rounds)
def test_evidence_is_what_a_recount_gives(cycles: Rounds) -> None:
    """Counts since a page's last visit and in this cycle equal a count over all visits, whatever came in between."""
    places = placed("a/x.md", "a/y.md", "a/z.md", "b/x.md", "b/y.md", "c.md")
    around, last, visits = Evidence(), np.zeros(6, dtype=np.int64), []
    around.make_room(len(places), 6)
    for cycle, found in enumerate(cycles, start=1):
        around.begin_cycle(np.unique(places.ids[:, 0]), cycle)
        pages = np.array([page for page, _ in found], dtype=np.int64)
        changed = np.array([change for _, change in found], dtype=np.bool_)
        around.update(pages, places.ids, changed, (cycle - last[pages]).astype(np.float64), cycle)
        around.settle(pages, places.ids)
        last[pages] = cycle
        visits += [(cycle, page, change) for page, change in found]
    out = np.empty((6, len(LEVELS) * len(evidence.FEATURES)), dtype=np.float32)
    around.describe(np.arange(6), places.ids, len(cycles), out)
    names = [f"{level}:{name}" for level in LEVELS for name in evidence.FEATURES]
    for page in range(6):
        told = dict(zip(names, out[page].tolist(), strict=True))
        for column, level in enumerate(LEVELS):
            mates = [v for v in visits if places.ids[v[1], column] == places.ids[page, column]]
            for name, begin in (("since", int(last[page])), ("now", len(cycles) - 1)):
                counted = [change for cycle, _, change in mates if cycle > begin]
                assert told[f"{level}:visits_{name}"] == len(counted)
                share = told[f"{level}:share_{name}"]
                assert math.isnan(share) if not counted else math.isclose(share, np.mean(counted), abs_tol=1e-6)


def test_pages_found_changed_together_share_a_cohort() -> None:
    """Of three pages two change in cycle 3: they share a cohort, until one is found changed again."""
    places, past, pages = placed("a/x.md", "b/y.md", "a/z.md"), History(), np.arange(3)
    past.make_room(3)
    past.begin(pages, 0)
    past.update(pages, np.array([True, True, False]), 3)
    places.regroup(pages, past)
    assert same(places, "cohort", 0, 1)
    assert not same(places, "cohort", 0, 2)
    past.update(pages[1:], np.array([True, True]), 4)
    places.regroup(pages, past)
    assert not same(places, "cohort", 0, 1)
    assert same(places, "cohort", 1, 2)


def test_many_visits_of_one_cycle_count_as_few_and_are_forgotten() -> None:
    """1,000 visits after one cycle count as 1,000 / (1 + 999 ALIKE); half of that is left after MEMORY cycles."""
    around, ids = Evidence(), np.zeros((1_000, len(LEVELS)), dtype=np.int32)
    around.make_room(1, 1_000)
    ids[:, 1:] = -1
    around.update(np.arange(1_000), ids[:, :1], np.arange(1_000) < 100, np.ones(1_000), 2)
    counted = 1_000 / (1 + 999 * evidence.ALIKE)
    assert math.isclose(evidence.pace(around.groups[0], 2.0, 0.0, 3.0), 0.1 * counted / (counted + 3.0))
    around.begin_cycle(np.array([0]), 3)
    later = 2.0 + evidence.MEMORY
    assert math.isclose(evidence.pace(around.groups[0], later, 0.0, 3.0), 0.05 * counted / (counted / 2 + 3.0))
