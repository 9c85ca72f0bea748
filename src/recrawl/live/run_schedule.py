"""Where a run of another crawler gets its pages: from the planner of a crawl's folder, held by this process."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from recrawl.live.reported import Refusal, Seen
from recrawl.plan import UNLIMITED
from recrawl.visits import Outcome

if TYPE_CHECKING:
    from recrawl.live.planner import PlannedVisit

log = logging.getLogger(__name__)
LEASE_S = 86_400.0


class RunSchedule(Protocol):
    """What a run asks: a planner in this process, or one that a server has."""

    left: int  # requests that the run may still make

    def add(self, urls: Sequence[str], requests: Sequence[str]) -> None:
        """Add pages with how they are asked for, as JSON."""

    def next(self, most: int) -> Sequence[PlannedVisit]:
        """Lease the pages to visit now; none: nothing is due."""
        ...

    def request_of(self, page: int) -> str | None:
        """Return how a leased page is asked for, as JSON."""
        ...

    def judge(self, seen: Seen) -> tuple[Outcome, Seen]:
        """Return what a visit found, and its report; nothing is recorded."""
        ...

    def report(self, seen: Sequence[Seen]) -> Sequence[Refusal]:
        """Record visits; return those that were refused."""
        ...

    def close(self, *, finished: bool) -> None:
        """Give back what was not visited; `finished`: the run came to its end."""


class HeldSchedule:
    """The planner of a crawl's folder, which this process alone holds."""

    def __init__(self, folder: str | Path, policy: str | None, budget: int | None) -> None:
        """Go on with a cycle that was cut, or begin one where a run is a cycle: `budget` is not 0."""
        from recrawl.live.planner import Planner

        budget = UNLIMITED if budget is None else budget
        self.left = UNLIMITED
        self.planner = planner = Planner.open(folder, policy=policy, budget=budget or None, discover=False)
        planner.release_all()  # leases of an earlier process: one process at a time has the planner
        if budget:
            if planner.cycle is None or planner.cycle.done or planner.is_over():
                planner.begin(budget=budget)
            planner.by_time = False
            assert planner.cycle is not None, "a cycle has begun"
            self.left = planner.cycle.budget - planner.store.visits_in(planner.cycle.cycle)
        log.info("recrawl: %d pages known, policy %s", len(planner.store.index), planner.policy_name)

    def add(self, urls: Sequence[str], requests: Sequence[str]) -> None:
        """Add pages with how they are asked for."""
        self.planner.add_requests(urls, requests)

    def next(self, most: int) -> Sequence[PlannedVisit]:
        """Lease pages."""
        return self.planner.next(most, lease_s=LEASE_S)

    def request_of(self, page: int) -> str | None:
        """Return how a page is asked for."""
        return self.planner.store.request_of(page)

    def judge(self, seen: Seen) -> tuple[Outcome, Seen]:
        """Compare a visit with our copy."""
        judged = self.planner.judge(seen)
        assert judged.record is not None, "judged"
        return Outcome(judged.record.outcome), judged

    def report(self, seen: Sequence[Seen]) -> Sequence[Refusal]:
        """Record visits."""
        return self.planner.report(seen).refused

    def close(self, *, finished: bool) -> None:
        """Give back what is leased, end the cycle if the run came to its end, and let go of the crawl."""
        self.planner.release_all()
        if finished:
            self.planner.finish()
        self.planner.close()
