"""Evolving strategies for focused crawling (Johnson, Tsioutsiouliklis and Giles 2003): Table 1 and Figs 3-10.

For each topic strategies are evolved on crawls of P pages from the pages that the topic was taught with, and the three
best are compared with Best-First and the other baselines on crawls of P, 2P and 3P pages, from a large and a small set
of other seeds, with 15 seeds of chance. P is 10,000, or what the graph allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds
from recrawl.errors import InputError
from recrawl.evaluate.statistics import Interval, interval
from recrawl.focus.crawl_graph import UNREACHED, CrawlGraph
from recrawl.focus.genetic import Evolution, GeneticSettings, Search, evolve
from recrawl.focus.mission import Mission, Seeding, check_room, default_pages
from recrawl.focus.scores import EXTRAS, SCORES
from recrawl.focus.simulator import FocusedCrawl, chances
from recrawl.focus.strategy import BASELINES, BEST_FIRST, PUBLISHED, Strategy, normalised
from recrawl.focus.web import TopicalWeb
from recrawl.progress import Advance, silent

MEASURES = ("harvest", "recall", "community cohesiveness", "overall cohesiveness", "mean distance")
GROUPS = {
    "without COMM": ("COMM_in", "COMM_out"),
    "without PARENT": ("PARENT_1", "PARENT_2", "PARENT_3", "PARENT_4", "PARENT_5"),
    "without HUB, AUTHORITY": ("HUB", "AUTHORITY"),
}
POINTS = 40  # of a harvest curve


@dataclass(frozen=True)
class FocusPlan:
    """What to run."""

    pages: int = 0  # of the crawls that strategies are evolved on; 0: what the graph allows
    seed_sets: tuple[int, ...] = (250, 50)
    runs: int = 15
    settings: GeneticSettings = field(default_factory=GeneticSettings)
    best: int = 3
    options: bool = True  # evolve with each of the paper's ideas for future work, too
    seed: int = 0

    @classmethod
    def quick(cls, seed: int = 0) -> FocusPlan:
        """A small version of everything, for a first look."""
        return cls(
            pages=300, seed_sets=(60, 20), runs=3, settings=GeneticSettings(8, 3, simulations=1), best=2, seed=seed
        )


@dataclass(frozen=True)
class FocusTrial:
    """Every strategy from one set of seeds: values[measure][strategy] is sizes x runs."""

    seeds: int
    reach: int
    good: int
    values: Mapping[str, Mapping[str, FloatArray]]
    curves: Mapping[str, FloatArray]  # harvest at each of the points, mean of the runs
    points: FloatArray
    histograms: Mapping[str, tuple[FloatArray, FloatArray]]  # pages and good pages by distance, of the longest crawls

    def summary(self, measure: str, strategy: str, size: int) -> Interval:
        """Mean over the runs with its 95% interval."""
        return interval(self.values[measure][strategy][size])


@dataclass(frozen=True)
class TopicResult:
    """All about one topic."""

    name: str
    quality: Mapping[str, Any]
    web: Mapping[str, Any]
    sizes: tuple[int, ...]
    evolved: tuple[Strategy, ...]
    evolution: Evolution
    trials: tuple[FocusTrial, ...]
    ablation: Mapping[str, FloatArray]  # harvest of the best strategy without some scores: sizes x runs
    options: Mapping[str, tuple[Strategy, FloatArray]]  # by idea: the best strategy, and its harvest: sizes x runs


def run(
    web: TopicalWeb, topics: Sequence[str], plan: FocusPlan, jobs: int = 1, advance: Advance = silent
) -> list[TopicResult]:
    """Run the experiment for every topic."""
    if not topics:
        raise InputError("the experiment needs at least one topic")
    return [run_topic(Mission.learn(web, spec, seed=plan.seed, jobs=jobs), plan, advance) for spec in topics]


def run_topic(mission: Mission, plan: FocusPlan, advance: Advance = silent) -> TopicResult:
    """Evolve, compare, take apart, and try the paper's ideas."""
    training = mission.examples(plan.seed)
    check_room(training, plan.pages)
    starts = [mission.draw(count, plan.seed + 1 + i) for i, count in enumerate(plan.seed_sets)]
    pages = plan.pages or default_pages(training, mission.good_within(training))
    sizes = tuple(pages * k for k in (1, 2, 3))
    found, evolution = evolve(mission.fleet, training.seeds, pages, plan.settings, plan.seed, advance=advance)
    evolved = tuple(found[: plan.best])
    rivals = [*BASELINES, PUBLISHED, *evolved]
    trials = tuple(_trial(mission, start, rivals, sizes, plan, advance) for start in starts)
    parts = {name: _without(evolved[0], scores) for name, scores in GROUPS.items()}
    ablation = {name: _harvests(mission, starts[0], part, sizes, plan) for name, part in parts.items()}
    options = _options(mission, training, starts[0], found, sizes, plan, advance) if plan.options else {}
    graph = mission.web.graph
    about = {
        "name": mission.web.name,
        "pages": len(graph),
        "links": graph.links,
        "reach": training.reach,
        "good": mission.good_within(training),
    }
    quality = mission.topic.quality.to_json()
    return TopicResult(mission.topic.name, quality, about, sizes, evolved, evolution, trials, ablation, options)


def _trial(
    mission: Mission,
    start: Seeding,
    rivals: Sequence[Strategy],
    sizes: tuple[int, ...],
    plan: FocusPlan,
    advance: Advance,
) -> FocusTrial:
    crawls = mission.fleet.crawls(rivals, start.seeds, sizes[-1], chances(plan.seed + 100, plan.runs), advance)
    points = np.unique(np.linspace(sizes[-1] / POINTS, sizes[-1], POINTS).astype(np.int64))
    values: dict[str, dict[str, FloatArray]] = {name: {} for name in MEASURES}
    curves, histograms = {}, {}
    for strategy, mine in zip(rivals, crawls, strict=True):
        table = np.array([[measure(mission, start, crawl, size) for crawl in mine] for size in sizes])
        for i, name in enumerate(MEASURES):
            values[name][strategy.name] = table[:, :, i]
        curves[strategy.name] = np.array([harvest_curve(crawl, points) for crawl in mine]).mean(axis=0)
        histograms[strategy.name] = _histogram(mine, start)
    good = mission.good_within(start)
    return FocusTrial(len(start.seeds), start.reach, good, values, curves, points.astype(np.float64), histograms)


def measure(mission: Mission, start: Seeding, crawl: FocusedCrawl, size: int) -> tuple[float, ...]:
    """The values of MEASURES for the first `size` pages of a crawl."""
    return (
        harvest(crawl, size),
        recall(crawl, size, mission.topic.good, start.distance),
        *cohesiveness(mission.web.graph, crawl, size, start.seeds),
        mean_distance(crawl, size, start.distance),
    )


def _histogram(crawls: Sequence[FocusedCrawl], start: Seeding) -> tuple[FloatArray, FloatArray]:
    """Mean histogram of the runs."""
    parts = [distance_histogram(crawl, len(crawl.pages), start.distance) for crawl in crawls]
    size = max(len(pages) for pages, _ in parts)
    out = np.zeros((2, size))
    for pages, good in parts:
        out[0, : len(pages)] += pages / len(parts)
        out[1, : len(good)] += good / len(parts)
    return out[0], out[1]


def _harvests(
    mission: Mission, start: Seeding, strategy: Strategy, sizes: tuple[int, ...], plan: FocusPlan
) -> FloatArray:
    [crawls] = mission.fleet.crawls([strategy], start.seeds, sizes[-1], chances(plan.seed + 100, plan.runs))
    return np.array([[harvest(crawl, size) for crawl in crawls] for size in sizes])


def _without(strategy: Strategy, scores: Sequence[str]) -> Strategy:
    """The strategy with some weights set to 0 and the others scaled up."""
    kept = [{s: w for s, w in part.items() if s not in scores} for part in strategy.parts]
    parts = tuple(normalised(list(part.values()), list(part)) for part in kept)
    return Strategy(f"{strategy.name} without {', '.join(scores)}", parts, strategy.within)


def searches(found: Sequence[Strategy]) -> list[Search]:
    """The paper's future work (section 4), one idea each, all together, and a start from what is known to be good."""
    return [
        Search("anchors and hosts", anchor_and_host=True),
        Search("rewards exploration", explore=0.2),
        Search("parts by distance", within=(2,)),
        Search("starts from earlier runs", start=tuple(found[:10])),
        Search("starts from Best-First", start=(BEST_FIRST, PUBLISHED)),
        Search("all of them", anchor_and_host=True, explore=0.2, within=(2,), start=tuple(found[:10])),
    ]


def _options(
    mission: Mission,
    training: Seeding,
    start: Seeding,
    found: Sequence[Strategy],
    sizes: tuple[int, ...],
    plan: FocusPlan,
    advance: Advance,
) -> dict[str, tuple[Strategy, FloatArray]]:
    out = {}
    for search in searches(found):
        best, _ = evolve(mission.fleet, training.seeds, sizes[0], plan.settings, plan.seed, search, advance)
        out[search.name] = best[0], _harvests(mission, start, best[0], sizes, plan)
    return out


def weight_rows(strategies: Sequence[Strategy]) -> list[tuple[str, list[float]]]:
    """Rows of Table 1: each score with its weight in every strategy, part by part."""
    names = [s for s in (*SCORES, *EXTRAS) if any(part.get(s) for st in strategies for part in st.parts)]
    return [(name, [part.get(name, 0.0) for st in strategies for part in st.parts]) for name in names]


def with_topic(strategies: Sequence[Strategy], topic: str) -> list[Strategy]:
    """Note in each strategy which topic it was evolved for."""
    return [replace(strategy, found={"topic": topic, **strategy.found}) for strategy in strategies]


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
