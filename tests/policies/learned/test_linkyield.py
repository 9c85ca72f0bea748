"""New links expected of a change: by hand, from the crawl down to the page."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.policies.learned.evidence import Evidence
from recrawl.policies.learned.linkyield import LinkYield
from recrawl.policies.learned.page_history import History
from recrawl.policies.learned.places import LEVELS, Places


def test_links_expected_by_hand() -> None:
    """One of two pages brought 6 links with its change: crawl 7/3, then (6 + 3 above) / 4 for site, directory, page."""
    places, evidence, history, links = Places(), Evidence(), History(), LinkYield()
    places.place(np.arange(2), np.zeros(2, np.int32), np.array(["blog/a", "blog/b"], dtype=object), 2)
    history.make_room(2)
    history.begin(np.arange(2), 0)
    places.regroup(np.arange(2), history)
    evidence.make_room(len(places), 2)
    changed = np.array([True, False])
    links.learn(np.arange(2), np.array([6, 0]), 1, places, history)
    evidence.update(np.arange(2), places.ids, changed, np.ones(2), 1)
    history.update(np.arange(2), changed, 1)
    site = (6 + 3 * 7 / 3) / 4
    directory = (6 + 3 * site) / 4
    assert places.ids.shape == (2, len(LEVELS))
    expected = links.expected(np.arange(2), places, evidence, history)
    assert expected == pytest.approx([(6 + 3 * directory) / 4, directory])
