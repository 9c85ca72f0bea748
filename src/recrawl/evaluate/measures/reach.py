"""Measures of reach: new links and pages found, and pages left unvisited."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from recrawl.errors import InputError
from recrawl.evaluate.measures.measure import Measure, measures
from recrawl.evaluate.measures.view import CycleView
from recrawl.spans import budget_of, days_of


@dataclass(frozen=True, repr=False)
class NewLinks(Measure):
    """Links on the visited pages that our copies did not have, per visit (Dang et al. 2022 rank pages by it).

    Exact where the recording has link times; otherwise the sum over the changes found of the links that each added,
    which counts a link again that comes and goes.
    """

    name = "NewLinks"
    pooled = True
    per_visit = True
    meaning = "new links found per visit"
    where: str = "all"  # or internal, external

    @property
    def detail(self) -> str:
        """What follows the name in the spec."""
        return "" if self.where == "all" else f"({self.where})"

    @property
    def description(self) -> str:
        """One line for people who read a table."""
        return self.meaning if self.where == "all" else f"new {self.where} links found per visit"

    def parts(self, view: CycleView) -> tuple[float, float]:
        """New links over visits."""
        internal = view.new_internal if self.where != "external" else 0
        external = view.new_external if self.where != "internal" else 0
        return internal + external, len(view.picks)


@dataclass(frozen=True, repr=False)
class NewPages(Measure):
    """Pages that the visits showed for the first time, per visit."""

    name = "NewPages"
    pooled = True
    per_visit = True
    meaning = "new pages discovered per visit"

    def parts(self, view: CycleView) -> tuple[float, float]:
        """New pages over visits."""
        return view.discovered, len(view.picks)


@dataclass(frozen=True, repr=False)
class NewPicks(Measure):
    """Visits to pages not picked before in the crawl, warm-up apart, over all visits."""

    name = "NewPicks"
    pooled = True
    per_visit = True
    meaning = "share of the visits that went to a page never picked before"

    def parts(self, view: CycleView) -> tuple[float, float]:
        """First picks over visits."""
        return view.first_picks, len(view.picks)


@dataclass(frozen=True, repr=False)
class UnvisitedShare(Measure):
    """Known pages whose last visit is more than so many days ago at the end of a cycle, as a share.

    Tan et al. (§8) call it the fairness problem: a policy that only maximises ChangeRate never visits some pages.
    """

    name = "Unvisited"
    better = "lower"
    meaning = "share of the pages not visited for so many days"
    days: float = 30.0

    @property
    def description(self) -> str:
        """One line for people who read a table."""
        return f"share of the pages not visited for {self.days:g} days"

    @property
    def detail(self) -> str:
        """What follows the name in the spec."""
        return f"@{self.days:g}d"

    def parts(self, view: CycleView) -> tuple[float, float]:
        """Pages that wait longer over pages."""
        # visits happen on a grid of cycle ends: a nanoday of slack keeps "more than" clear of rounding
        return float((view.waits > self.days + 1e-9).sum()), len(view.waits)


@dataclass(frozen=True, repr=False)
class UnvisitedDays(Measure):
    """The days since the last visit that this share of the pages stays within, at the end of a cycle."""

    name = "Unvisited"
    better = "lower"
    unit = "days"
    meaning = "percentile of the days since the pages' last visits"
    share: float = 0.99

    @property
    def description(self) -> str:
        """One line for people who read a table."""
        return f"days since the last visit that {self.share * 100:g}% of the pages stay within"

    @property
    def detail(self) -> str:
        """What follows the name in the spec."""
        return f"@{self.share * 100:g}%"

    def parts(self, view: CycleView) -> tuple[float, float]:
        """The percentile over 1."""
        waits = view.waits
        if not len(waits):
            return 0.0, 0.0
        rank = max(math.ceil(self.share * len(waits) - 1e-9), 1) - 1  # the nearest-rank percentile
        return float(np.partition(waits, rank)[rank]), 1.0


@measures.add("NewLinks", formula="NewLinks, NewLinks(internal) or NewLinks(external)", source="Dang et al. 2022")
def _new_links(where: str = "all") -> Measure:
    if where not in ("all", "internal", "external"):
        raise InputError(f"measure 'NewLinks' takes 'internal', 'external' or nothing, not {where!r}")
    return NewLinks(where)


measures.add("NewPages", formula="NewPages")(NewPages)
measures.add("NewPicks", formula="NewPicks")(NewPicks)


@measures.add("Unvisited", formula="Unvisited@30d (a share) or Unvisited@99% (days)", source="Tan et al. §8")
def _unvisited(cutoff: str = "30d") -> Measure:
    try:
        if cutoff.endswith("%"):
            return UnvisitedDays(budget_of(cutoff))
        if cutoff[-1:].isalpha():
            return UnvisitedShare(days_of(cutoff))
    except InputError:
        pass
    raise InputError(f"measure 'Unvisited@{cutoff}' is written Unvisited@30d (a share) or Unvisited@99% (days)")
