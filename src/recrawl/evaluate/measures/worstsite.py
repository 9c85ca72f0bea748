"""WorstSite: whether a policy starves a site, by what it finds on each site beside the oldest-first rule."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.errors import InputError
from recrawl.evaluate.measures.measure import Measure, measures
from recrawl.evaluate.measures.view import CycleView
from recrawl.recording.recording import Recording

LEAST = 50  # findable changes: on sites with fewer the ratio is chance


@dataclass
class SiteTally:
    """Changes found on each site so far, with what could be found there and what the oldest-first rule finds."""

    site: IntArray  # of each page
    findable: IntArray  # by site: what visits to every page in every judged cycle would find
    crawl_by_age: Callable[[], IntArray]  # changes found by `age` under the same plan, judged cycles x sites
    found: IntArray = field(init=False)
    cycles: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.found = np.zeros(len(self.findable), dtype=np.int64)

    @cached_property
    def by_age(self) -> IntArray:
        """Changes that age has found by each judged cycle on each site."""
        return np.cumsum(self.crawl_by_age(), axis=0)

    def add(self, view: CycleView) -> IntArray:
        """Count a judged cycle; return what it found on each site."""
        now = np.bincount(self.site[view.picks[view.changed]], minlength=len(self.found))
        self.found += now
        self.cycles += 1
        return now

    def worst(self, least: int) -> tuple[float, float]:
        """Return changes found so far and those of age, on the site where their ratio is smallest; zeros if on none."""
        age = self.by_age[self.cycles - 1]
        sites = np.flatnonzero((self.findable >= least) & (age > 0))
        if not len(sites):
            return 0.0, 0.0
        at = sites[np.argmin(self.found[sites] / age[sites])]
        return float(self.found[at]), float(age[at])


def findable_changes(recording: Recording, edges: FloatArray) -> IntArray:
    """Count by site the pages with a change in each of the cycles (edges[i], edges[i + 1]], once per page and cycle."""
    cycle = np.searchsorted(edges, recording.change_day, side="left")
    judged = (cycle >= 1) & (cycle < len(edges))
    keys = np.unique(recording.change_page[judged] * np.int64(len(edges)) + cycle[judged])
    return np.bincount(recording.site[keys // len(edges)], minlength=int(recording.site.max(initial=-1)) + 1)


@dataclass(frozen=True, repr=False)
class WorstSite(Measure):
    """The smallest ratio of the changes found on a site to those that `age` finds there under the same plan.

    1 is a policy that serves every site at least as well as visiting the longest unvisited pages first does. Sites
    count that have at least so many findable changes (once per page and judged cycle) and on which age finds any.
    Age crawls apart, with the same budget, warm-up and seed, whatever policies are compared. A cycle's value is the
    ratio so far, a crawl's that of its end.
    """

    name = "WorstSite"
    by_site = True
    meaning = "smallest ratio to the changes that age finds, over sites"
    least: int = LEAST

    @property
    def detail(self) -> str:
        """What follows the name in the spec."""
        return "" if self.least == LEAST else f"@{self.least}"

    @property
    def description(self) -> str:
        """One line for people who read a table."""
        return f"{self.meaning} with at least {self.least} findable changes"

    def parts(self, view: CycleView) -> tuple[float, float]:
        """Changes found so far on the worst site over those of age."""
        assert view.stage.tally is not None
        return view.stage.tally.worst(self.least)

    def total(self, parts: FloatArray) -> float:
        """Return the ratio at the end."""
        above, below = parts[-1].tolist()
        return above / below if below else math.nan


@measures.add("WorstSite", formula="WorstSite or WorstSite@50, the least number of findable changes", source="")
def _worst_site(cutoff: str = "") -> Measure:
    if cutoff and not (cutoff.isdecimal() and int(cutoff) > 0):
        raise InputError(f"measure 'WorstSite' takes a number of changes after @, not {cutoff!r}")
    return WorstSite(int(cutoff)) if cutoff else WorstSite()
