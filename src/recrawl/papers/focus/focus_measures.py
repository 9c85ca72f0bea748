"""What a focused crawl is judged by: harvest, recall, cohesiveness, and how far from the seeds it went.

The paper counts "the number of links from the seed set the downloaded URLs are found". Two readings are measured: the
distance, links on the shortest path from the seeds in the whole graph, and the depth, links that the crawler knew of on
its way there when it downloaded the page. The depth is never smaller.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds
from recrawl.focus.crawl_graph import UNREACHED, CrawlGraph
from recrawl.focus.mission import Mission, Seeding
from recrawl.focus.simulator import FocusedCrawl

MEASURES = (
    "harvest",
    "recall",
    "community cohesiveness",
    "overall cohesiveness",
    "mean distance",
    "maximum distance",
    "mean depth",
    "maximum depth",
)


def measure(mission: Mission, start: Seeding, crawl: FocusedCrawl, size: int) -> tuple[float, ...]:
    """The values of MEASURES for the first `size` pages of a crawl."""
    distance = start.distance[crawl.pages[:size]]
    depth = crawl.depth[:size]
    return (
        harvest(crawl, size),
        recall(crawl, size, mission.topic.good, start.distance),
        *cohesiveness(mission.web.graph, crawl, size, start.seeds),
        *(float(value) for far in (distance, depth) for value in (far.mean() if len(far) else 0.0, far.max(initial=0))),
    )


def mean_histograms(crawls: Sequence[FocusedCrawl], fars: Sequence[IntArray]) -> tuple[FloatArray, FloatArray]:
    """Mean over the runs of the pages, and of the good pages, that lie so many links away."""
    parts = [histogram(far, crawl.good) for crawl, far in zip(crawls, fars, strict=True)]
    size = max(len(pages) for pages, _ in parts)
    out = np.zeros((2, size))
    for pages, good in parts:
        out[0, : len(pages)] += pages / len(parts)
        out[1, : len(good)] += good / len(parts)
    return out[0], out[1]


def histogram(far: IntArray, good: BoolArray) -> tuple[IntArray, IntArray]:
    """How many pages, and how many good ones, lie how many links away."""
    size = int(far.max(initial=0)) + 1
    return np.bincount(far, minlength=size), np.bincount(far[good], minlength=size)


def harvest(crawl: FocusedCrawl, pages: int) -> float:
    """Good pages / downloaded pages among the first `pages` (eq. 1)."""
    first = crawl.good[:pages]
    return float(first.mean()) if len(first) else 0.0


def harvest_curve(crawl: FocusedCrawl, points: IntArray) -> FloatArray:
    """Harvest rate of the crawl so far, at these numbers of pages; NaN beyond its end."""
    so_far = np.cumsum(crawl.good) / np.arange(1, len(crawl.good) + 1)
    inside = (points >= 1) & (points <= len(so_far))
    curve = np.full(len(points), np.nan)
    curve[inside] = so_far[points[inside] - 1]
    return curve


def recall(crawl: FocusedCrawl, pages: int, good: BoolArray, distance: IntArray) -> float:
    """Good pages downloaded / good pages that can be reached from the seeds at all."""
    there = int((good & (distance != UNREACHED)).sum())
    return float(crawl.good[:pages].sum()) / there if there else 0.0


def cohesiveness(graph: CrawlGraph, crawl: FocusedCrawl, pages: int, seeds: PageIds) -> tuple[float, float]:
    """Mean number of links into the community, of its own pages and of all downloaded pages (eq. 13).

    sum over i in G of |L_i and C| / |G|, with G the community C (the seeds and the good pages, as far as they are
    downloaded) or all downloaded pages.
    """
    downloaded = crawl.pages[:pages]
    member = np.zeros(len(graph), dtype=np.bool_)
    member[downloaded[crawl.good[:pages]]] = True
    member[np.intersect1d(seeds, downloaded)] = True
    inside = np.concatenate([[0], np.cumsum(member[graph.out])])
    into = (inside[graph.start[1:]] - inside[graph.start[:-1]])[downloaded]
    own = into[member[downloaded]]
    return float(own.mean()) if len(own) else 0.0, float(into.mean()) if len(into) else 0.0
