"""What a focused crawl is judged by."""

from __future__ import annotations

import numpy as np

from recrawl.focus.crawl_graph import make_graph
from recrawl.focus.simulator import FocusedCrawl
from recrawl.papers.focus.focus_measures import cohesiveness, harvest_curve, histogram, recall


def urls(count: int) -> np.ndarray:
    return np.array([f"h/{i}" for i in range(count)], dtype=object)


def test_measures_by_hand() -> None:
    """Harvest, recall, cohesiveness (eq. 13) and distances of a small crawl, by hand."""
    # 0 (seed) -> 1, 2; 1 -> 0, 2; 2 -> 3; 3 -> 1. Good: 0, 1, 3, 4; page 4 cannot be reached.
    graph = make_graph(np.array([0, 0, 1, 1, 2, 3]), np.array([1, 2, 0, 2, 3, 1]), np.zeros(5, dtype=np.int32), urls(5))
    good = np.array([True, True, False, True, True])
    pages = np.array([0, 2, 1, 3])
    seeds = np.array([0])
    crawl = FocusedCrawl(pages, np.array([0, 1, 1, 2], dtype=np.int32), good[pages])
    distance = graph.distances(seeds)
    np.testing.assert_allclose(harvest_curve(crawl, np.array([1, 2, 4, 9])), [1.0, 0.5, 0.75, np.nan])
    assert recall(crawl, 3, good, distance) == 2 / 3  # 0, 1 and 3 are in reach
    # community {0, 1, 3}: links into it are 0->1, 1->0, 3->1; of all pages also 2->3
    assert cohesiveness(graph, crawl, 4, seeds) == (3 / 3, 4 / 4)
    # after two pages the community is {0}: 0 and 2 have no links into it
    assert cohesiveness(graph, crawl, 2, seeds) == (0.0, 0.0)
    every, of_good = histogram(distance[crawl.pages], crawl.good)
    assert (every.tolist(), of_good.tolist()) == ([1, 2, 1], [1, 1, 1])
