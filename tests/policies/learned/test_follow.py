"""Following surprises: a few pages around a change that was hardly expected, from the smallest place that has some."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recrawl.columns import PageIds, tie_order
from recrawl.evaluate.crawl import crawl
from recrawl.evaluate.measures.all_measures import make_measures
from recrawl.plan import Plan
from recrawl.policies.learned.follow import NEIGHBOURS, neighbours, surprises
from recrawl.policies.learned.places import DIRECTORY, PLACED, SITE, Places
from recrawl.simulate.synthetic.synthesis import synthesize
from recrawl.visits import Outcome, Visits

NOBODY = np.empty(0, np.int64)


def places_of(directories: list[int], sites: list[int]) -> Places:
    """Return places of pages that share only these directories and sites; all else is a page's own."""
    count = len(sites)
    ids = np.arange(count * PLACED, dtype=np.int32).reshape(count, PLACED) + 100
    ids[:, DIRECTORY], ids[:, SITE] = np.array(directories), np.array(sites) + 50
    return Places.of(ids, 100 + count * PLACED)


def follow(found: list[int], pages: PageIds, taken: PageIds, places: Places, last: list[int]) -> list[int]:
    """Return the neighbours; equals come in the order of their numbers."""
    tie = np.arange(len(last), dtype=np.uint64)
    return neighbours(np.array(found, dtype=np.int64), pages, taken, places, np.array(last), tie).tolist()


def test_only_a_change_that_was_hardly_expected_is_a_surprise() -> None:
    """Pages 0 and 1 changed, page 1 as expected; page 2 did not."""
    outcome = np.array([Outcome.CHANGED, Outcome.CHANGED, Outcome.UNCHANGED], dtype=np.uint8)
    none = np.zeros(3, dtype=np.int32)
    visits = Visits(np.arange(3), np.ones(3), outcome, none, none, np.zeros(3), NOBODY)
    assert surprises(visits, np.array([0.01, 0.5, 0.01])).tolist() == [0]


def test_the_longest_unvisited_of_the_directory_come_first_then_others_of_the_site() -> None:
    """Page 0 surprised; its directory has two more pages, then one, then none, and page 4 is on another site."""
    places = places_of([0, 0, 0, 1, 0], [0, 0, 0, 0, 1])
    last = [9, 3, 2, 1, 0]
    assert follow([0], np.array([1, 2, 3, 4]), NOBODY, places, last) == [2, 1]
    assert follow([0], np.array([1, 3, 4]), NOBODY, places, last) == [1, 3]
    assert follow([0], np.array([4]), NOBODY, places, last) == []
    assert follow([], np.array([1, 2, 3, 4]), NOBODY, places, last) == []


def test_pages_that_the_scores_have_taken_count() -> None:
    """Of five pages of the directory the scores take page 4, so only one more is needed."""
    places = places_of([0] * 5, [0] * 5)
    assert follow([0], np.arange(1, 5), np.array([4]), places, [9, 1, 2, 3, 4]) == [4, 1]


@given(st.integers(0, 1_000))
def test_never_more_than_two_for_each_surprise_nor_a_page_twice(seed: int) -> None:
    """And as many as that where the sites of the surprises have them."""
    rng = np.random.default_rng(seed)
    count = 40
    site = rng.integers(0, 4, count)
    places = places_of((site * 5 + rng.integers(0, 3, count)).tolist(), site.tolist())
    found = rng.permutation(count)[: rng.integers(1, 10)]
    pages = np.setdiff1d(np.arange(count), found)
    sent = neighbours(found, pages, NOBODY, places, rng.integers(0, 9, count), tie_order(np.arange(count), seed))
    assert len(set(sent.tolist())) == len(sent)
    assert np.isin(sent, pages).all()
    for number in range(4):
        wanted = NEIGHBOURS * int((site[found] == number).sum())
        assert int((site[sent] == number).sum()) == min(wanted, int((site[pages] == number).sum()))


def test_a_small_site_that_wakes_is_followed() -> None:
    """Edited whole every other day once the warm-up is over: found within days (.19; unfollowed it was .05)."""
    web = synthesize("small-late", 20_000, 57.0, seed=1, only=("sites", "pages", "changes")).window(0.0, 14.0)
    plan, measures = Plan(1.0, 0.01, seed=1, exact_links=False, discover="birth"), make_measures("ChangeRate")
    assert crawl(web, "learned", plan, measures).value(measures[0]) > 0.15


def test_a_scout_and_a_follower_are_never_the_same_page() -> None:
    """On this web a page around the last cycle's surprise is also the scout of another group: it is chosen once."""
    web = synthesize("late", pages=4_000, days=40, seed=0)
    found = crawl(web, "learned", Plan(1.0, 0.08, warmup=2, seed=0), make_measures("Spent"))
    assert found.spent == 1.0
