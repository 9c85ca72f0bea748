"""What a focused crawl was worth."""

from __future__ import annotations

import numpy as np

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds
from recrawl.focus.crawl_graph import UNREACHED, CrawlGraph
from recrawl.focus.simulator import FocusedCrawl


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


def distance_histogram(crawl: FocusedCrawl, pages: int, distance: IntArray) -> tuple[IntArray, IntArray]:
    """How many of the downloaded pages, and of the good ones among them, lie how many links from the seeds."""
    far = distance[crawl.pages[:pages]]
    size = int(far.max(initial=0)) + 1
    return np.bincount(far, minlength=size), np.bincount(far[crawl.good[:pages]], minlength=size)


def mean_distance(crawl: FocusedCrawl, pages: int, distance: IntArray) -> float:
    """Mean number of links between the seeds and a downloaded page."""
    far = distance[crawl.pages[:pages]]
    return float(far.mean()) if len(far) else 0.0
