"""New links expected of a visit: by hand, from the crawl down to the page."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.policies.learned.evidence import MEMORY
from recrawl.policies.learned.linkyield import MOST, LinkYield
from recrawl.policies.learned.page_history import History
from recrawl.policies.learned.places import Places


def two_pages() -> tuple[Places, History]:
    """Return two pages of one directory, both with a copy from cycle 0."""
    places, history = Places(), History()
    places.place(np.arange(2), np.zeros(2, np.int32), np.array(["blog/a", "blog/b"], dtype=object), 2)
    history.make_room(2)
    history.begin(np.arange(2), 0)
    places.regroup(np.arange(2), history)
    return places, history


def test_link_paces_by_hand() -> None:
    """One of two pages had 6 new links after 2 cycles: 6.1 / 14 in the crawl, (6 + 3 above) / (4 + 3) in each place.

    Its own pace is (6 + 3 above) / (2 + 3), that of the other 3 above / (2 + 3).
    """
    (places, history), links = two_pages(), LinkYield()
    links.learn(np.arange(2), np.array([6, 0]), places, history, 2)
    pace = 6.1 / 14.0
    for _ in range(3):  # site, shape, directory
        pace = (6.0 + 3.0 * pace) / 7.0
    own, other = links.paces(np.arange(2), places, history, 2)
    assert own == pytest.approx((6.0 + 3.0 * pace) / 5.0)
    assert other == pytest.approx(3.0 * pace / 5.0)


def test_link_paces_are_forgotten() -> None:
    """After MEMORY cycles what was seen counts half, so that a page is nearer to its surroundings."""
    (places, history), links = two_pages(), LinkYield()
    links.learn(np.arange(2), np.array([6, 0]), places, history, 2)
    now, later = (links.paces(np.arange(2), places, history, cycle) for cycle in (2, 2 + int(MEMORY)))
    assert later[0] < now[0]
    assert later[1] > now[1]


def test_one_page_written_anew_does_not_outweigh_the_rest() -> None:
    """Of a visit at most MOST links count."""
    found = []
    for count in (MOST, 50 * MOST):
        (places, history), links = two_pages(), LinkYield()
        links.learn(np.arange(2), np.array([count, 0]), places, history, 1)
        found.append(links.paces(np.arange(2), places, history, 1))
    assert np.array_equal(found[0], found[1])
