"""Evolving strategies for focused crawling (Johnson, Tsioutsiouliklis and Giles 2003): Table 1 and Figs 3-10.

Strategies are evolved for the first topic on crawls of P pages from the pages that the topic was taught with. The
three best are compared with Best-First and the other baselines on crawls of P, 2P and 3P pages, from a large and a
small set of other seeds, with 15 seeds of chance: on the first topic (Figs 3, 5, 6, 10) and on all others (Figs 4, 7,
8, 9), which they have never seen. With `each`, the others have an evolution of their own, too. P is 10,000, or what
the graph allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from recrawl.columns import FloatArray
from recrawl.errors import InputError
from recrawl.evaluate.statistics import Interval, interval
from recrawl.evaluate.work_engine import LOCAL
from recrawl.focus.genetic import GeneticSettings, Search
from recrawl.focus.mission import SEED_SHARE, Mission, Seeding, check_room, default_pages
from recrawl.focus.scores import EXTRAS, LEVELS, SCORES
from recrawl.focus.simulator import chances
from recrawl.focus.strategy import BASELINES, BEST_FIRST, PUBLISHED, Strategy, normalised
from recrawl.focus.web import TopicalWeb
from recrawl.papers.focus.focus_evolutions import Evolved, Hunt, HuntingGround, harvests, run_hunts
from recrawl.papers.focus.focus_measures import MEASURES, harvest_curve, mean_histograms, measure
from recrawl.progress import Advance, silent

GROUPS = {
    "without COMM": ("COMM_in", "COMM_out"),
    "without PARENT": ("PARENT_1", "PARENT_2", "PARENT_3", "PARENT_4", "PARENT_5"),
    "without HUB, AUTHORITY": ("HUB", "AUTHORITY"),
}
POINTS = 40  # of a harvest curve
MOST_OF_REACH = 0.8  # a crawl of more of the pages in reach finds what any other finds
LEAST_RUNS, LEAST_BRED = 5, 500  # below these a run judges nothing


@dataclass(frozen=True)
class FocusPlan:
    """What to run."""

    pages: int = 0  # of the crawls that strategies are evolved on; 0: what the graph allows
    seed_sets: tuple[int, ...] = (250, 50)
    runs: int = 15
    settings: GeneticSettings = field(default_factory=GeneticSettings)
    best: int = 3  # as in Table 1 and the figures; section 3.1 has "five best individuals" tested
    vocabulary: str = "all"  # what the classifier reads, see `focus.topic`
    options: bool = True  # evolve with each of the paper's ideas for future work, too
    levels: int = LEVELS  # generations of ancestors with a score (k)
    evolutions: int = 1  # with seeds of their own; the first is the one that is shown
    each: bool = False  # evolve for every topic, not for the first only
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

    asked: int  # seeds that were asked for
    seeds: int
    reach: int
    good: int
    values: Mapping[str, Mapping[str, FloatArray]]
    curves: Mapping[str, FloatArray]  # harvest at each of the points, mean of the runs
    points: FloatArray
    histograms: Mapping[str, tuple[FloatArray, FloatArray]]  # pages and good pages by distance, of the longest crawls
    depths: Mapping[str, tuple[FloatArray, FloatArray]]  # the same by depth

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
    evolved: tuple[Strategy, ...]  # of the first topic, or of this one
    evolved_on: str  # the topic that `evolved` was evolved for
    foreign: tuple[Strategy, ...]  # of the first topic, where `evolved` is of this one
    evolutions: tuple[Evolved, ...]  # for this topic; none where only the first topic has some
    trials: tuple[FocusTrial, ...]
    ablation: Mapping[str, FloatArray]  # harvest of the best strategy without some scores: sizes x runs
    options: Mapping[str, tuple[Strategy, FloatArray]]  # by idea: the best strategy, and its harvest: sizes x runs
    plan: FocusPlan

    @property
    def cross(self) -> bool:
        """Whether the strategies were evolved for another topic."""
        return self.evolved_on != self.name

    def too_long(self, size: int) -> bool:
        """Whether a crawl is longer than what its seeds reach, nearly: then all strategies find the same."""
        return any(self.sizes[size] > MOST_OF_REACH * trial.reach for trial in self.trials)

    def notes(self) -> list[str]:
        """Say what could not be done as asked."""
        notes = []
        for trial in self.trials:
            if trial.seeds < trial.asked:
                notes.append(
                    f"{self.name}: {trial.seeds} seeds instead of {trial.asked}: at most one relevant page in "
                    f"{SEED_SHARE} is a seed, and there are {self.quality['relevant']:,}"
                )
        if len({trial.seeds for trial in self.trials}) < len(self.trials):
            notes.append(f"{self.name}: two sets of seeds have the same size; they differ by chance only")
        reach = min(trial.reach for trial in self.trials)
        long = [f"{size:,}" for i, size in enumerate(self.sizes) if self.too_long(i)]
        if long:
            notes.append(
                f"{self.name}: crawls of {' and '.join(long)} pages are more than {100 * MOST_OF_REACH:.0f}% of the "
                f"{reach:,} pages in reach: all strategies find the same there, and nothing is judged"
            )
        return notes

    def too_small(self) -> str:
        """Say why nothing can be judged; empty if it can."""
        settings = self.plan.settings
        bred = settings.population * (settings.generations + 1)
        checks = ((self.plan.runs, LEAST_RUNS, "runs"), (bred, LEAST_BRED, "individuals bred"))
        return "; ".join(f"{have:,} {what}, at least {need:,} needed" for have, need, what in checks if have < need)


def run(
    web: TopicalWeb,
    topics: Sequence[str],
    plan: FocusPlan,
    jobs: int = 1,
    advance: Advance = silent,
    engine: str = LOCAL,
) -> list[TopicResult]:
    """Run the experiment for every topic; strategies evolved for the first are tested on all.

    The evolutions of a topic run on the engine, all else here, with the same results.
    """
    if not topics:
        raise InputError("the experiment needs at least one topic")
    if len(set(topics)) < len(topics):
        raise InputError("a topic is named twice")
    found: list[TopicResult] = []
    for spec in topics:
        mission = Mission.learn(web, spec, seed=plan.seed, jobs=jobs, vocabulary=plan.vocabulary)
        found.append(run_topic(mission, plan, found[0] if found else None, advance, engine))
    return found


def run_topic(
    mission: Mission,
    plan: FocusPlan,
    first: TopicResult | None = None,
    advance: Advance = silent,
    engine: str = LOCAL,
) -> TopicResult:
    """Evolve (or take what was evolved for the first topic), compare, take apart, and try the paper's ideas."""
    training = mission.examples(plan.seed)
    check_room(training, plan.pages)
    starts = [mission.draw(count, plan.seed + 1 + i) for i, count in enumerate(plan.seed_sets)]
    for start in starts:
        check_room(start, plan.pages)
    pages = plan.pages or default_pages(training, mission.good_within(training))
    sizes = tuple(pages * k for k in (1, 2, 3))
    drawn = chances(plan.seed + 100, plan.runs)
    ground = HuntingGround(mission.fleet.web, training.seeds, starts[0].seeds, sizes, plan.settings, drawn)
    own = _evolutions(ground, mission, plan, engine, advance) if first is None or plan.each else ()
    foreign = () if first is None else tuple(_of(first.name, s) for s in first.evolutions[0].strategies[: plan.best])
    evolved = own[0].strategies[: plan.best] if own else foreign
    foreign = foreign if own else ()
    rivals = [*BASELINES, PUBLISHED, *evolved, *foreign]
    trials = tuple(
        _trial(mission, start, asked, rivals, sizes, plan, advance)
        for start, asked in zip(starts, plan.seed_sets, strict=True)
    )
    parts = {name: _without(evolved[0], scores) for name, scores in GROUPS.items()}
    ablation = {name: harvests(mission.fleet, ground.start, part, sizes, drawn) for name, part in parts.items()}
    wanted = plan.options and bool(own)
    options = _options(ground, mission, own[0], plan, engine, advance) if wanted else {}
    graph = mission.web.graph
    about = {
        "name": mission.web.name,
        "pages": len(graph),
        "links": graph.links,
        "reach": training.reach,
        "good": mission.good_within(training),
    }
    name, quality = mission.topic.name, mission.topic.quality.to_json()
    on = name if own or first is None else first.name
    return TopicResult(name, quality, about, sizes, tuple(evolved), on, foreign, own, trials, ablation, options, plan)


def _of(topic: str, strategy: Strategy) -> Strategy:
    """Name a strategy after the topic that it was evolved for."""
    return replace(strategy, name=f"{strategy.name} on {topic}")


def _evolutions(
    ground: HuntingGround, mission: Mission, plan: FocusPlan, engine: str, advance: Advance
) -> tuple[Evolved, ...]:
    """Evolve as often as asked, with seeds of their own."""
    search = Search(levels=plan.levels)
    hunts = [Hunt(search, plan.seed + 10_000 * number) for number in range(plan.evolutions)]
    return tuple(run_hunts(ground, mission.fleet, hunts, engine, advance))


def _trial(
    mission: Mission,
    start: Seeding,
    asked: int,
    rivals: Sequence[Strategy],
    sizes: tuple[int, ...],
    plan: FocusPlan,
    advance: Advance,
) -> FocusTrial:
    crawls = mission.fleet.crawls(rivals, start.seeds, sizes[-1], chances(plan.seed + 100, plan.runs), advance)
    points = np.unique(np.linspace(sizes[-1] / POINTS, sizes[-1], POINTS).astype(np.int64))
    values: dict[str, dict[str, FloatArray]] = {name: {} for name in MEASURES}
    curves, histograms, depths = {}, {}, {}
    for strategy, mine in zip(rivals, crawls, strict=True):
        table = np.array([[measure(mission, start, crawl, size) for crawl in mine] for size in sizes])
        for i, name in enumerate(MEASURES):
            values[name][strategy.name] = table[:, :, i]
        curves[strategy.name] = np.array([harvest_curve(crawl, points) for crawl in mine]).mean(axis=0)
        histograms[strategy.name] = mean_histograms(mine, [start.distance[crawl.pages] for crawl in mine])
        depths[strategy.name] = mean_histograms(mine, [crawl.depth for crawl in mine])
    good, at = mission.good_within(start), points.astype(np.float64)
    return FocusTrial(asked, len(start.seeds), start.reach, good, values, curves, at, histograms, depths)


def _without(strategy: Strategy, scores: Sequence[str]) -> Strategy:
    """The strategy with some weights set to 0 and the others scaled up."""
    kept = [{s: w for s, w in part.items() if s not in scores} for part in strategy.parts]
    parts = tuple(normalised(list(part.values()), list(part)) for part in kept)
    return Strategy(f"{strategy.name} without {', '.join(scores)}", parts, strategy.within)


def searches(found: Sequence[Strategy], levels: int = LEVELS) -> list[Search]:
    """The paper's future work (section 4), one idea each, all together, and a start from what is known to be good."""
    return [
        Search("anchors and hosts", anchor_and_host=True, levels=levels),
        Search("rewards exploration", explore=0.2, levels=levels),
        Search("parts by distance", within=(2,), levels=levels),
        Search("starts from earlier runs", start=tuple(found[:10]), levels=levels),
        Search("starts from Best-First", start=(BEST_FIRST, PUBLISHED)),
        Search("all of them", anchor_and_host=True, explore=0.2, within=(2,), start=tuple(found[:10]), levels=levels),
    ]


def _options(
    ground: HuntingGround, mission: Mission, own: Evolved, plan: FocusPlan, engine: str, advance: Advance
) -> dict[str, tuple[Strategy, FloatArray]]:
    hunts = [Hunt(search, plan.seed) for search in searches(own.strategies, plan.levels)]
    found = run_hunts(ground, mission.fleet, hunts, engine, advance)
    return {hunt.search.name: (each.strategies[0], each.harvest) for hunt, each in zip(hunts, found, strict=True)}


def weight_rows(strategies: Sequence[Strategy]) -> list[tuple[str, list[float]]]:
    """Rows of Table 1: each score with its weight in every strategy, part by part."""
    names = [s for s in (*SCORES, *EXTRAS) if any(part.get(s) for st in strategies for part in st.parts)]
    return [(name, [part.get(name, 0.0) for st in strategies for part in st.parts]) for name in names]


def with_topic(strategies: Sequence[Strategy], topic: str) -> list[Strategy]:
    """Note in each strategy which topic it was evolved for."""
    return [replace(strategy, found={"topic": topic, **strategy.found}) for strategy in strategies]
