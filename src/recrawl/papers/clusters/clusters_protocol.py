"""Cluster-level sampling and what freshness does to search results (Tan et al. 2007, section 6), on any recording.

counts    how many clusters there are: cross-validation by words of addresses and of contents (Fig. 1)
units     pages in a cluster and in a site (Table 2)
features  sets of features by budget, at the middle cycle length (Fig. 2)
policies  every policy at every cycle length and budget: ChangeRatio, freshness@10, MAP@10 (Figs 3, 4; Table 3)
cold      pages born in the window: what their cluster's estimate does for them
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.errors import InputError
from recrawl.evaluate.search.queries import Query
from recrawl.evaluate.search.search_quality import Relevant
from recrawl.evaluate.statistics import interval, mean_of
from recrawl.papers.clusters.elbow import CrossValidation
from recrawl.plan import Plan
from recrawl.recording.recording import Recording
from recrawl.registry import parse_spec

PARTS = ("counts", "units", "features", "policies", "cold")
CLS = ("cls-nad", "cls-sad", "cls-aad", "cls-gad")
RIVALS = ("rand", "round-robin", "freq", "sls")
ESTIMATORS = ("nad", "sad", "aad", "gad")
WAITING = "cls-nad(wait=yes)"  # not in the paper: a page's chance grows while it waits
IDEAL = "ideal"  # every copy is the live page
COLD = ("cls-nad", "cls-nad(cold=no)", "cls-sad", "cls-sad(cold=no)", "nad", "sls", "round-robin")
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
    relevant: Relevant = "web"  # what AP@10 divides by: all answers of the live web, or those among the ten results
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
        if set(self.parts) & {"features", "policies", "cold"} and not len(recording.change_day):
            raise InputError(f"no page of {recording.name} changes: only --parts counts,units can be run")
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
    def spread(self) -> str:
        """What the intervals of Fig 4 are over."""
        return "seeds" if self.repeats > 1 else "cycles (ChangeRatio) and over the queries, of one seed"

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

    def half(self, what: str) -> float:
        """Half-width of the 95% interval over the seeds; of a single one over its cycles (change) or its queries."""
        each = self.seeds.get(what, np.empty(0))
        if len(each) == 1:
            values = getattr(self, what)
            each = values if what == "change" else np.array([mean_of(column) for column in values.T])
        return interval(each).half


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
    lacking: tuple[str, ...] = ()  # what is not recorded, and what follows
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
