"""Run the experiment on clusters: every part is cut into crawls that do not depend on each other.

They run one after the other in this process, or on an engine; what they found is put together in the same order.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.evaluate.crawl import crawl
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.measures.ranking import ChangeRate
from recrawl.evaluate.measures.view import CycleView
from recrawl.evaluate.parallel import SentRecording
from recrawl.evaluate.search.queries import Query, draw_queries
from recrawl.evaluate.search.search_quality import Searcher, SearchQuality, quality_of
from recrawl.evaluate.statistics import mean_of
from recrawl.evaluate.work_engine import LOCAL, Shared, open_engine
from recrawl.features.bisection import bisect
from recrawl.features.one_thread import one_thread
from recrawl.papers.base import domains_of
from recrawl.papers.clusters.clusters_protocol import (
    CLS,
    COLD,
    ESTIMATORS,
    IDEAL,
    PARTS,
    RIVALS,
    WAITING,
    ClusterCrawl,
    ClustersExperiment,
    ClustersProtocol,
    Newborn,
)
from recrawl.papers.clusters.elbow import NUMBERS, CrossValidation, cross_validate
from recrawl.plan import Plan
from recrawl.policies.clusters.page_features import SETS, PageFeatures
from recrawl.progress import Advance, silent
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld

COUNTS = ("results", "promised", "lucky", "embarrassing")
COUNTED = 20_000  # pages of the cross-validation


class Piece(NamedTuple):
    """A piece of work: a set of features, a repeat or a policy; where it matters at a cycle length and budget."""

    part: str
    name: str
    cycle: float = 0.0
    budget: float | int = 0

    def __str__(self) -> str:
        return f"{self.part}, {self.name}" + (f", {self.cycle:g} d" if self.cycle else "")


def run_experiment(
    recording: Recording,
    protocol: ClustersProtocol,
    queries: Sequence[Query] | None = None,
    advance: Advance = silent,
    engine: str = LOCAL,
) -> ClustersExperiment:
    """Run the parts that the protocol names, here or on an engine, with the same results."""
    protocol.check(recording)
    protocol = protocol.settled(recording)
    pages = int((recording.born <= recording.start).sum())
    made = ClustersExperiment(protocol, recording.name, pages, domains_of(recording), lacking(recording))
    if "policies" in protocol.parts:
        made.asked = list(queries) if queries is not None else draw_queries(recording, protocol.queries, protocol.seed)
    pieces = [piece for part in PARTS if part in protocol.parts for piece in _pieces(part, protocol)]
    found: dict[int, Any] = {}
    for number, result in _results(recording, made, pieces, engine):
        found[number] = result
        advance(len(found), len(pieces), str(pieces[number]))
    for number, piece in enumerate(pieces):
        _keep(made, piece, found[number])
    if "units" in protocol.parts:
        sites = recording.site[recording.born <= recording.start]
        made.units["site"] = [np.unique(sites, return_counts=True)[1]]
    return made


def lacking(recording: Recording) -> tuple[str, ...]:
    """Say what the recording lacks, and what follows for the features of its pages."""
    has = recording.tables.has
    lines = []
    if not has("texts"):
        lines.append("No texts are recorded: the words of a page are those of its first version, whatever is held.")
    if not has("terms"):
        lines.append("No words are recorded: pages are clustered without the words of their contents.")
    if not recording.has_links:
        lines.append("No links are recorded: PageRank and links to a page are unknown, and 0 for all pages.")
    return tuple(lines)


def _pieces(part: str, protocol: ClustersProtocol) -> list[Piece]:
    if part == "counts":
        return [Piece(part, which) for which in ("url", "content")]
    if part == "units":
        return [Piece(part, str(repeat)) for repeat in range(protocol.repeats)]
    if part == "features":
        return [Piece(part, which, protocol.middle, budget) for which in SETS for budget in protocol.budgets]
    if part == "cold":
        return [Piece(part, policy) for policy in COLD]
    policies = (*RIVALS, *ESTIMATORS, *CLS, WAITING, IDEAL)
    return [Piece(part, p, cycle, budget) for cycle in protocol.cycles for budget in protocol.budgets for p in policies]


def _results(
    recording: Recording, made: ClustersExperiment, pieces: list[Piece], engine: str
) -> Iterator[tuple[int, Any]]:
    if engine == LOCAL:
        bench = Bench(recording, made.protocol, made.asked)
        yield from ((number, bench.run(piece)) for number, piece in enumerate(pieces))
        return
    with open_engine(engine) as opened:
        shared = opened.share(_SentBench(SentRecording.of(recording), made.protocol, made.asked))
        yield from opened.each(_work, ((shared, piece) for piece in pieces))


@dataclass
class _SentBench:
    """A bench as it is sent to workers."""

    recording: SentRecording
    protocol: ClustersProtocol
    asked: list[Query]

    @cached_property
    def bench(self) -> Bench:
        """The bench, set up once where it is used."""
        return Bench(self.recording.open(), self.protocol, self.asked)


def _work(piece: tuple[Shared, Piece]) -> Any:
    sent: _SentBench = piece[0].load()
    return sent.bench.run(piece[1])


def _keep(made: ClustersExperiment, piece: Piece, result: Any) -> None:
    """Put the result of a piece where it belongs."""
    if piece.part == "counts":
        made.counts[piece.name] = result
    elif piece.part == "units":
        made.units.setdefault("cluster", []).append(result)
    elif piece.part == "features":
        made.features[piece.name, piece.budget] = result
    elif piece.part == "policies":
        made.runs[piece.cycle, piece.budget, piece.name] = result
    else:
        made.cold.append(result)


class Bench:
    """Runs pieces of work on one recording; the searcher's index is kept from one to the next."""

    def __init__(self, recording: Recording, protocol: ClustersProtocol, asked: list[Query]) -> None:
        self.recording = recording
        self.protocol = protocol
        self.asked = asked

    def run(self, piece: Piece) -> Any:
        """Run a piece; products of matrices in one thread, since their last digits depend on the number of threads."""
        with one_thread(openmp=False):
            return getattr(self, piece.part)(piece)

    @cached_property
    def searcher(self) -> Searcher:
        """Searches the copies with the queries."""
        return Searcher(self.recording, self.asked, relevant=self.protocol.relevant)

    def counts(self, piece: Piece) -> CrossValidation:
        """Cross-validate the number of clusters."""
        vectors = _first_vectors(self.recording, self.protocol, piece.name)[:COUNTED]  # by hashes: a random part
        folds = min(self.protocol.folds, len(vectors))
        return cross_validate(vectors, NUMBERS, folds=folds, seed=self.protocol.seed)

    def units(self, piece: Piece) -> IntArray:
        """Cluster the pages with a seed; return the sizes."""
        repeat, protocol = int(piece.name), self.protocol
        vectors = _first_vectors(self.recording, protocol, "combined", repeat)
        return bisect(vectors, protocol.clusters, seed=protocol.seed + repeat).sizes()

    def features(self, piece: Piece) -> FloatArray:
        """Crawl by clusters of a set of features; return ChangeRatio by cycle."""
        spec = self.protocol.spec("cls-nad", features=piece.name)
        result = crawl(self.recording, spec, self.protocol.plan(piece.cycle, piece.budget), [ChangeRate()])
        return result.per_cycle(ChangeRate())

    def policies(self, piece: Piece) -> ClusterCrawl:
        """Crawl by a policy with every seed, and search the copies."""
        if piece.name == IDEAL:
            return _ideal(self.recording, self.protocol.plan(piece.cycle, piece.budget), self.searcher)
        seeds = []
        for repeat in range(self.protocol.repeats):
            kept = Kept(self.searcher)
            plan = self.protocol.plan(piece.cycle, piece.budget, repeat)
            result = crawl(self.recording, self.protocol.spec(piece.name), plan, [ChangeRate(), kept])
            seeds.append(_run(piece.name, result.per_cycle(ChangeRate()), kept.found))
        return _mean_of_seeds(piece.name, seeds)

    def cold(self, piece: Piece) -> Newborn:
        """Crawl by a policy, and count what it does for pages born in the window."""
        protocol = self.protocol
        plan = replace(protocol.plan(min(protocol.cycles), min(protocol.budgets)), discover="birth")
        births = _Births(self.recording.born > self.recording.start)
        result = crawl(self.recording, protocol.spec(piece.name), plan, [ChangeRate(), births])
        visits, found, stale = (int(count) for count in births.counts)
        return Newborn(piece.name, visits, found, stale, result.value(ChangeRate()))


def _first_vectors(recording: Recording, protocol: ClustersProtocol, which: str, repeat: int = 0) -> Any:
    """Describe the pages as a crawl sees them when it begins."""
    seed = protocol.seed + repeat
    memory = RecordedWorld(recording, links=False).memory(cycle_days=protocol.middle, seed=seed)
    pages = np.flatnonzero(memory.held())
    pages = pages[np.argsort(memory.tie[pages])]
    return PageFeatures(which, protocol.clusters, seed).learn(memory, pages)


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
