"""How a crawl is run, live or simulated: one value for the length of a cycle, the budget, the warm-up and the caps."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Protocol

from recrawl.columns import FloatArray
from recrawl.errors import InputError
from recrawl.spans import MAX_VISITS, budget_of, days_of

MOST_WAITING = 1_000  # pages without a copy that count for a share budget, however few are held


class Period(Protocol):
    """Recorded time: the days of its start and end, and of each page's birth."""

    start: float
    end: float

    @property
    def born(self) -> FloatArray:
        """One day per page."""


UNLIMITED = MAX_VISITS  # a budget that no cycle spends


@dataclass(frozen=True)
class Plan:
    """How a crawl is run. A float budget is a share of the pages, an int a number of visits; text ("7d", "5%") is read.

    A simulation takes the share of the pages that exist at its start, the same number in every cycle: there, policies
    are compared at one price. A live crawl goes on for years and grows, and so does its budget; give a number to
    have it fixed.
    """

    cycle_days: float = 1.0
    budget: float | int = 0.05
    warmup: int = 2  # first cycles, in which every page is visited; they are not judged
    site_cap: int = 0  # most visits to one site in a cycle after the warm-up; 0: no cap
    seed: int = 0
    discover: str = "links"  # in simulation, how the crawler learns of new pages: links or birth
    importance: str = "uniform"  # in simulation, what a page's importance is
    discovery: float = 0.5  # most of a cycle's budget for pages without a copy, while others are left to visit
    exact_links: bool = True  # compare links exactly, where recorded; it must not depend on what is measured

    def __post_init__(self) -> None:
        """Read spans and shares that are given as text; InputError for what is neither."""
        try:
            if isinstance(self.cycle_days, str):
                object.__setattr__(self, "cycle_days", days_of(self.cycle_days))
            if isinstance(self.budget, str):
                object.__setattr__(self, "budget", budget_of(self.budget))
            days, budget = float(self.cycle_days), float(self.budget)
        except (TypeError, ValueError) as error:
            raise InputError(f"plan: {error}") from None
        if not 0.0 < days < inf:
            raise InputError(f"plan: a cycle of {days:g} days; take more than 0, or text such as '12h' or '7d'")
        if not 0.0 <= budget < inf:
            raise InputError(f"plan: a budget of {budget:g}; take visits per cycle (100) or a share (0.05)")

    def cycles(self, period: Period) -> int:
        """Whole cycles in the recorded time, warm-up included."""
        days = period.end - period.start
        cycles = int(days / self.cycle_days + 1e-9)
        if not cycles:
            raise InputError(f"{days:g} days are too few: a cycle has {self.cycle_days:g} days")
        if not 0 <= self.warmup < cycles:
            raise InputError(
                f"a warm-up of {self.warmup} cycles is not shorter than the crawl: "
                f"{days:g} days are {cycles} cycles of {self.cycle_days:g} days"
            )
        return cycles

    def visits(self, period: Period) -> int:
        """Visits per cycle of a simulation: the same number in every cycle, for every policy."""
        pages = int((period.born <= period.start).sum())
        if not pages:
            raise InputError("no page exists when the crawl begins")
        visits = self.budget if isinstance(self.budget, int) else round(self.budget * pages)
        if not 0 < visits <= pages:
            budget = f"{self.budget}" if isinstance(self.budget, int) else f"{self.budget * 100:g}%"
            raise InputError(f"a budget of {budget} is {visits} visits per cycle; with {pages} pages take 1 to {pages}")
        return visits

    def visits_among(self, held: int, waiting: int = 0) -> int:
        """Visits in a cycle of a live crawl that holds and waits for so many pages now: at least one.

        Of the pages without a copy a share counts as many as are held, and 1,000 in any case: a site that names pages
        without end does not make the budget grow without end.
        """
        counted = held + min(waiting, max(held, MOST_WAITING))
        return self.budget if isinstance(self.budget, int) else max(1, round(self.budget * counted))


def spent_text(visits: int, budget: int) -> str:
    """Say how much of a budget was spent.

    >>> spent_text(3, 10), spent_text(3, UNLIMITED)
    ('3 of 10 visits', '3 visits, without a limit')
    """
    return f"{visits:,} visits, without a limit" if budget >= UNLIMITED else f"{visits:,} of {budget:,} visits"
