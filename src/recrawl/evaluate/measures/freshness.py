"""Measures of how true the copies are, over exact time, and of how soon changes are found."""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.evaluate.measures.measure import Measure, Weighable, measures
from recrawl.evaluate.measures.view import CycleView, Held


def _held(view: CycleView, weighted: bool) -> Held:
    return view.held_weighted if weighted and len(view.stage.weights) else view.held


@dataclass(frozen=True, repr=False)
class Freshness(Weighable):
    """The time-averaged share of copies that equal the live page (Cho & Garcia-Molina 2003), by exact change times.

    A copy is fresh from its visit until the next change or the page's death. Copies of dead pages count as stale
    until a visit finds the page gone; pages without a copy do not count.
    """

    name = "Freshness"
    meaning = "share of the copies that are up to date, over exact time"

    def parts(self, view: CycleView) -> tuple[float, float]:
        """Days fresh over days held, summed over the copies."""
        held = _held(view, self.weighted)
        return held.fresh_days, held.page_days


@dataclass(frozen=True, repr=False)
class Age(Weighable):
    """The time-averaged age of the copies: 0 while fresh, then the days since the first unseen change.

    Cho & Garcia-Molina 2003; the integral over (a, b] of a copy stale since s is ((b-s)^2 - (max(a,s)-s)^2)/2.
    """

    name = "Age"
    better = "lower"
    unit = "days"
    meaning = "days that the copies are out of date, over exact time"

    def parts(self, view: CycleView) -> tuple[float, float]:
        """Integral of the age over days held, summed over the copies."""
        held = _held(view, self.weighted)
        return held.age_days2, held.page_days


@dataclass(frozen=True, repr=False)
class FreshnessEnd(Measure):
    """Freshness right after the visits of each cycle, as simulations in whole cycles report it (Radinsky & Bennett)."""

    name = "FreshnessEnd"
    meaning = "share of the copies that are up to date at the end of a cycle, after its visits"

    def parts(self, view: CycleView) -> tuple[float, float]:
        """Fresh copies over copies."""
        return view.fresh_at_end


@dataclass(frozen=True, repr=False)
class Delay(Measure):
    """Mean days from a copy's first unseen change to the visit that found it.

    Only changes that were found have a delay: read it beside ChangesFound, or look at Age, which counts the rest too.
    """

    name = "Delay"
    better = "lower"
    pooled = True
    unit = "days"
    meaning = "days from a change to its detection, of the changes that were found"

    def parts(self, view: CycleView) -> tuple[float, float]:
        """Sum of the delays over detections."""
        return float(view.delays.sum()), len(view.delays)


@dataclass(frozen=True, repr=False)
class ChangesFound(Measure):
    """Visits that found a change over the changes that happened.

    Several changes between two visits are found as one, and changes of pages that are not known yet are missed, so
    even a clairvoyant stays below 1. A cycle's value is over all judged cycles so far: a visit may find a change of
    long ago.
    """

    name = "ChangesFound"
    pooled = True
    running = True
    meaning = "visits that found a change, as a share of all changes that happened"

    def parts(self, view: CycleView) -> tuple[float, float]:
        """Visits that found a change over changes."""
        return view.found, view.events


measures.add("Freshness", formula="Freshness or Freshness(weighted)", source="Cho & Garcia-Molina 2003")(Freshness.made)
measures.add("Age", formula="Age or Age(weighted)", source="Cho & Garcia-Molina 2003")(Age.made)
measures.add("FreshnessEnd", formula="FreshnessEnd", source="Radinsky & Bennett 2013 §8")(FreshnessEnd)
measures.add("Delay", formula="Delay")(Delay)
measures.add("ChangesFound", formula="ChangesFound")(ChangesFound)
