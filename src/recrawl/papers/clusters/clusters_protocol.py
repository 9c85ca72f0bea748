"""Cluster-level sampling and what freshness does to search results (Tan et al. 2007, section 6), on any recording.

counts    how many clusters there are: cross-validation by words of addresses and of contents (Fig. 1)
units     pages in a cluster and in a site (Table 2)
features  sets of features by budget, at the middle cycle length (Fig. 2)
policies  every policy at every cycle length and budget: ChangeRatio, freshness@10, MAP@10 (Figs 3, 4; Table 3)
cold      pages born in the window: what their cluster's estimate does for them
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.errors import InputError
from recrawl.evaluate.crawl import crawl
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.measures.ranking import ChangeRate
from recrawl.evaluate.measures.view import CycleView
from recrawl.evaluate.search.queries import Query, draw_queries
from recrawl.evaluate.search.search_quality import Searcher, SearchQuality, quality_of
from recrawl.evaluate.statistics import mean_of
from recrawl.features.bisection import bisect
from recrawl.papers.base import domains_of
from recrawl.papers.clusters.elbow import NUMBERS, CrossValidation, cross_validate
from recrawl.plan import Plan
from recrawl.policies.clusters.page_features import SETS, PageFeatures
from recrawl.progress import Advance, silent
from recrawl.recording.recording import Recording
from recrawl.registry import parse_spec
from recrawl.simulate.recorded import RecordedWorld

Step = tuple[str, Callable[[], None]]  # what is done, and how
PARTS = ("counts", "units", "features", "policies", "cold")
CLS = ("cls-nad", "cls-sad", "cls-aad", "cls-gad")
RIVALS = ("rand", "round-robin", "freq", "sls")
ESTIMATORS = ("nad", "sad", "aad", "gad")
WAITING = "cls-nad(wait=yes)"  # not in the paper: a page's chance grows while it waits
IDEAL = "ideal"  # every copy is the live page
COLD = ("cls-nad", "cls-nad(cold=no)", "cls-sad", "cls-sad(cold=no)", "nad", "sls", "round-robin")
COUNTS = ("results", "promised", "lucky", "embarrassing")
COUNTED = 20_000  # pages of the cross-validation
PAGES_EACH = 3_000  # pages of a cluster, as in the paper
FEWEST = 5  # clusters
ENOUGH = 8  # visits per cluster and cycle, below which a sample says nothing: two of the smallest samples


@dataclass(frozen=True)
class ClustersProtocol:
    """How the experiment is run; the paper's values: cycles of 2, 4, 8 weeks, and 25, 50, 100 of 300 thousand pages.

    The crawl begins without any history, as in the paper. With `clusters` 0 there are as many pages in a cluster as
    the paper has (300,000 pages in 100 clusters), so that a cluster gets as many visits.
    """

    cycles: tuple[float, ...] = (14.0, 28.0, 56.0)
    budgets: tuple[float | int, ...] = (1 / 12, 1 / 6, 1 / 3)
    warmup: int = 0
    clusters: int = 0
    queries: int = 100
    folds: int = 10
    parts: tuple[str, ...] = PARTS
    seed: int = 0
    repeats: int = 3  # seeds of the crawls of Fig 4 and of the clusterings of Table 2

    def check(self, recording: Recording) -> None:
        """Raise InputError for what cannot be run."""
        unknown = [part for part in self.parts if part not in PARTS]
        if unknown:
            raise InputError(f"unknown part {unknown[0]!r}; the parts are {', '.join(PARTS)}")
        if not self.cycles or not self.budgets or min(self.queries, self.repeats) < 1 or self.clusters < 0:
            raise InputError("give at least one cycle length, budget, repeat and query; clusters cannot be negative")
        if "policies" in self.parts and not recording.tables.has("terms"):
            raise InputError(
                f"{recording.name} has no table of terms, which queries are drawn from and answered by; "
                "--parts units,features,cold leaves the search out"
            )
        for plan in (self.plan(cycle, budget) for cycle in self.cycles for budget in self.budgets):
            plan.cycles(recording)
            plan.visits(recording)

    def settled(self, recording: Recording) -> ClustersProtocol:
        """The same with a number of clusters: as given, or as many as there are to the paper's pages per cluster."""
        pages = int((recording.born <= recording.start).sum())
        return self if self.clusters else replace(self, clusters=min(max(round(pages / PAGES_EACH), FEWEST), 100))

    def plan(self, cycle_days: float, budget: float | int, repeat: int = 0) -> Plan:
        """The plan of a crawl."""
        return Plan(cycle_days, budget, self.warmup, seed=self.seed + repeat)

    @property
    def middle(self) -> float:
        """The cycle length of Fig. 2."""
        return sorted(self.cycles)[len(self.cycles) // 2]

    def spec(self, policy: str, **options: object) -> str:
        """Write the spec of a policy, with the number of clusters where it has them and it is not the default."""
        parsed = parse_spec(policy)
        if parsed.name not in CLS:
            return policy
        named = {"clusters": self.clusters} if self.clusters != 100 else {}
        options_text = ", ".join(f"{name}={value}" for name, value in (named | dict(parsed.options) | options).items())
        return f"{parsed.name}({options_text})" if options_text else parsed.name


@dataclass(frozen=True)
class ClusterCrawl:
    """What one policy did at one cycle length and budget, as means over the seeds; NaN where a query has no value."""

    policy: str
    change: FloatArray  # ChangeRatio of each judged cycle
    fresh: FloatArray  # cycles x queries
    precision: FloatArray  # cycles x queries
    results: int = 0
    promised: int = 0
    lucky: int = 0
    embarrassing: int = 0
    seeds: Mapping[str, FloatArray] = field(default_factory=dict)  # change, fresh, precision -> mean of each seed


@dataclass(frozen=True)
class Newborn:
    """How a policy treats pages born in the window: visits to those it has a copy of, and what they find."""

    policy: str
    visits: int
    found: int
    stale: int  # copies of such pages that were stale when a cycle's visits began, summed over the cycles
    change: float  # ChangeRatio of all visits


@dataclass
class ClustersExperiment:
    """All parts that were run."""

    protocol: ClustersProtocol
    name: str
    pages: int
    domains: dict[str, int] = field(default_factory=dict)  # pages by top-level domain (Table 1)
    asked: list[Query] = field(default_factory=list)
    counts: dict[str, CrossValidation] = field(default_factory=dict)
    units: dict[str, list[IntArray]] = field(default_factory=dict)  # pages of every cluster (by seed), of every site
    features: dict[tuple[str, float | int], FloatArray] = field(default_factory=dict)  # ChangeRatio by cycle
    runs: dict[tuple[float, float | int, str], ClusterCrawl] = field(default_factory=dict)
    cold: list[Newborn] = field(default_factory=list)

    @property
    def policies(self) -> list[str]:
        """All policies that were run, in order."""
        return list(dict.fromkeys(policy for _, _, policy in self.runs))

    def visits_each(self, budget: float | int) -> float:
        """Visits per cluster in a cycle."""
        visits = budget if isinstance(budget, int) else round(budget * self.pages)
        return visits / max(self.protocol.clusters, 1)

    def places(self, *, sound: bool = False) -> list[tuple[float, float | int]]:
        """Cycle lengths and budgets that were run; `sound` leaves out those with too few visits per cluster."""
        found = dict.fromkeys((cycle, budget) for cycle, budget, _ in self.runs)
        return [(c, b) for c, b in found if not sound or self.visits_each(b) >= ENOUGH]


def run_experiment(
    recording: Recording, protocol: ClustersProtocol, queries: Sequence[Query] | None = None, advance: Advance = silent
) -> ClustersExperiment:
    """Run the parts that the protocol names."""
    protocol.check(recording)
    protocol = protocol.settled(recording)
    pages = int((recording.born <= recording.start).sum())
    made = ClustersExperiment(protocol, recording.name, pages, domains_of(recording))
    steps: list[Step] = []
    for part, work in (("counts", _count), ("units", _units)):
        steps += [(part, partial(work, recording, made))] * (part in protocol.parts)
    if "features" in protocol.parts:
        steps += _feature_steps(recording, made)
    if "policies" in protocol.parts:
        steps += _policy_steps(recording, made, queries)
    if "cold" in protocol.parts:
        steps += _cold_steps(recording, made)
    for number, (what, step) in enumerate(steps, 1):
        advance(number - 1, len(steps), what)
        step()
        advance(number, len(steps), what)
    return made


def _first_vectors(recording: Recording, protocol: ClustersProtocol, which: str, repeat: int = 0) -> Any:
    """Describe the pages as a crawl sees them when it begins."""
    seed = protocol.seed + repeat
    memory = RecordedWorld(recording, links=False).memory(cycle_days=protocol.middle, seed=seed)
    pages = np.flatnonzero(memory.held())
    pages = pages[np.argsort(memory.tie[pages])]
    return PageFeatures(which, protocol.clusters, seed).learn(memory, pages)


def _count(recording: Recording, made: ClustersExperiment) -> None:
    protocol = made.protocol
    for which in ("url", "content"):
        vectors = _first_vectors(recording, protocol, which)[:COUNTED]  # in the order of hashes: a random part
        folds = min(protocol.folds, len(vectors))
        made.counts[which] = cross_validate(vectors, NUMBERS, folds=folds, seed=protocol.seed)


def _units(recording: Recording, made: ClustersExperiment) -> None:
    protocol = made.protocol
    sites = recording.site[recording.born <= recording.start]
    made.units["cluster"] = [
        bisect(_first_vectors(recording, protocol, "combined", at), protocol.clusters, seed=protocol.seed + at).sizes()
        for at in range(protocol.repeats)
    ]
    made.units["site"] = [np.unique(sites, return_counts=True)[1]]


def _feature_steps(recording: Recording, made: ClustersExperiment) -> list[Step]:
    protocol = made.protocol

    def run(which: str, budget: float | int) -> None:
        spec = protocol.spec("cls-nad", features=which)
        result = crawl(recording, spec, protocol.plan(protocol.middle, budget), [ChangeRate()])
        made.features[which, budget] = result.per_cycle(ChangeRate())

    return [(f"features {which}", partial(run, which, budget)) for which in SETS for budget in protocol.budgets]


@dataclass(frozen=True, repr=False, eq=False)
class Kept(Measure):
    """Keeps the search results of the queries in every cycle."""

    name = "Search"
    meaning = "mean average precision of the first ten search results"
    searcher: Searcher
    found: list[SearchQuality] = field(default_factory=list)

    def parts(self, view: CycleView) -> tuple[float, float]:
        """Judge the cycle and keep the answer."""
        self.found.append(quality_of(view, self.searcher))
        return float(np.nansum(self.found[-1].precision)), 1.0


def _policy_steps(recording: Recording, made: ClustersExperiment, queries: Sequence[Query] | None) -> list[Step]:
    protocol = made.protocol
    made.asked = list(queries) if queries is not None else draw_queries(recording, protocol.queries, protocol.seed)

    @cache
    def searcher() -> Searcher:
        return Searcher(recording, made.asked)

    def run(cycle: float, budget: float | int, policy: str) -> None:
        if policy == IDEAL:
            made.runs[cycle, budget, policy] = _ideal(recording, protocol.plan(cycle, budget), searcher())
            return
        seeds = []
        for repeat in range(protocol.repeats):
            kept = Kept(searcher())
            plan = protocol.plan(cycle, budget, repeat)
            result = crawl(recording, protocol.spec(policy), plan, [ChangeRate(), kept])
            seeds.append(_run(policy, result.per_cycle(ChangeRate()), kept.found))
        made.runs[cycle, budget, policy] = _mean_of_seeds(policy, seeds)

    policies = (*RIVALS, *ESTIMATORS, *CLS, WAITING, IDEAL)
    return [
        (f"{policy}, {cycle:g} d", partial(run, cycle, budget, policy))
        for cycle in protocol.cycles
        for budget in protocol.budgets
        for policy in policies
    ]


def _ideal(recording: Recording, plan: Plan, searcher: Searcher) -> ClusterCrawl:
    cycles = range(plan.warmup + 1, plan.cycles(recording) + 1)
    found = [searcher.ideal(recording.start + cycle * plan.cycle_days) for cycle in cycles]
    return _run(IDEAL, np.full(len(found), np.nan), found)


def _run(policy: str, change: FloatArray, found: Sequence[SearchQuality]) -> ClusterCrawl:
    fresh, precision = (np.stack([getattr(quality, name) for quality in found]) for name in ("fresh", "precision"))
    counts = [sum(getattr(quality, name) for quality in found) for name in COUNTS]
    return ClusterCrawl(policy, change, fresh, precision, *counts)


def _mean_of_seeds(policy: str, seeds: Sequence[ClusterCrawl]) -> ClusterCrawl:
    """Average the crawls of all seeds by cycle and query, and keep the mean of each."""
    with warnings.catch_warnings():  # a query without a value in any seed has none
        warnings.simplefilter("ignore", RuntimeWarning)
        means = [np.nanmean([getattr(run, what) for run in seeds], axis=0) for what in ("change", "fresh", "precision")]
    results, promised, lucky, embarrassing = (sum(getattr(run, name) for run in seeds) for name in COUNTS)
    each = {what: np.array([mean_of(getattr(run, what)) for run in seeds]) for what in ("change", "fresh", "precision")}
    return ClusterCrawl(policy, means[0], means[1], means[2], results, promised, lucky, embarrassing, each)


@dataclass(frozen=True, repr=False, eq=False)
class _Births(Measure):
    """Counts visits to pages born in the window that the crawler had a copy of, what they found, and what was stale."""

    name = "Births"
    meaning = "changes found on pages born in the window"
    born: Any
    counts: IntArray = field(default_factory=lambda: np.zeros(3, dtype=np.int64))

    def parts(self, view: CycleView) -> tuple[float, float]:
        """Add the cycle's counts."""
        stale = (view.since <= view.at) & (view.stage.truth.died > view.at)
        visited = self.born[view.picks] & ~np.isnan(view.since[view.picks])
        found = visited & view.changed
        self.counts[:] += (int(visited.sum()), int(found.sum()), int((stale & self.born).sum()))
        return float(found.sum()), 1.0


def _cold_steps(recording: Recording, made: ClustersExperiment) -> list[Step]:
    protocol = made.protocol
    plan = replace(protocol.plan(min(protocol.cycles), min(protocol.budgets)), discover="birth")

    def run(policy: str) -> None:
        births = _Births(recording.born > recording.start)
        result = crawl(recording, protocol.spec(policy), plan, [ChangeRate(), births])
        visits, found, stale = (int(count) for count in births.counts)
        made.cold.append(Newborn(policy, visits, found, stale, result.value(ChangeRate())))

    return [(f"cold start, {policy}", partial(run, policy)) for policy in COLD]
