"""Planner: the schedule of a crawl whose pages another program fetches and reports.

with Planner.open("news", policy="learned", every="1d", budget="10%") as planner:
    planner.add(["https://example.org/"])
    for choice in planner.next(20):
        planner.report([Seen(choice.url, digest=fetch_and_hash(choice.url, choice.validators))])

Pages returned by `next` are leased: no other caller gets them until the lease ends or the visit is reported. Reports
without a lease count too. A cycle ends when its time is over or its budget is reported; the next begins a whole cycle
after that began. Policies that use the outcomes of a round before they choose the next (`learned`) do so where reports
come in between; asked for many pages at once, they choose round after round without them. Everything is in the crawl's
store before it is returned, so that kill -9 loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from recrawl.clock import DAY_S, Clock, SystemClock
from recrawl.columns import PageIds
from recrawl.errors import InputError
from recrawl.live.crawl_views import Amount
from recrawl.live.dry_run import DryVisit, Picking, dry_run, scores_of
from recrawl.live.facade import Crawl
from recrawl.live.forecast import Forecast, forecast
from recrawl.live.judge import validators_of
from recrawl.live.open_crawl import OpenCrawl, resting
from recrawl.live.reported import Reported, Seen
from recrawl.live.reporting import Reporting
from recrawl.live.store import one_line_errors
from recrawl.live.store_leases import PlannedPage
from recrawl.plan import Plan
from recrawl.policy import notes_of
from recrawl.urls.url import host_of, normalise, why_not


@dataclass(frozen=True, slots=True)
class PlannedVisit:
    """A page to visit now."""

    url: str
    page: int
    rank: int  # place in the cycle, from 1
    score: float | None  # where the policy scores pages, and this one was fetched before
    validators: Mapping[str, str]  # request headers that ask "has it changed?"; empty: fetch the whole page
    lease: int


class Planner(OpenCrawl):
    """A crawl's schedule, held by one process. Use as a context manager, or close it."""

    def __init__(
        self, crawl: Crawl, policy: str, plan: Plan, *, clock: Clock | None = None, discover: bool = True
    ) -> None:
        """Open a crawl; with `discover`, links within its scope that reports show become pages."""
        self.directory = crawl.directory
        super().__init__(policy, plan, self.directory.config())
        self.by_time = True  # False: cycles begin only when told to
        self._clock = clock or SystemClock()
        with ExitStack() as stack:
            stack.enter_context(self.directory.locked())
            self.store = self.directory.open_store()
            stack.callback(self.store.close)
            with one_line_errors(self.directory.state):
                self.store.make_lease_tables()
                self._latest = self.store.latest_at() or float("-inf")
                self.reporting = Reporting(self.directory, self.store, self.config, discover)
                self.rebuild()
            self._stack = stack.pop_all()

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        policy: str | None = None,
        every: Amount = None,
        budget: Amount = None,
        clock: Clock | None = None,
        discover: bool = True,
    ) -> Planner:
        """Open a crawl, or begin one in a new or empty folder; what is not given is as its recrawl.toml says."""
        path = Path(path)
        crawl = Crawl.open(path) if (path / "recrawl.toml").exists() else Crawl.create(path)
        return cls(crawl, *crawl.steering(policy, every, budget), clock=clock, discover=discover)

    def __enter__(self) -> Planner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the crawl; leases go on."""
        self._stack.close()

    def rebuild(self) -> None:
        """Make the memory and the policy anew from the store."""
        self.cycle = self.store.last_cycle()
        if self.cycle is not None:
            with self.store.transaction():
                self.store.close_rounds(self.cycle.cycle)
        self.restore()
        self.reporting.stale = False
        if self.cycle is not None:
            self.policy.begin(self.memory, self.cycle.at)

    def now(self, at: float | None = None) -> float:
        """Return the time, which never goes back."""
        self._latest = max(self._latest, self._clock.now() if at is None else at)
        return self._latest

    # -- pages --------------------------------------------------------------------------------------------------------

    def add(self, urls: Iterable[str], *, at: float | None = None, found_on: str | None = None) -> int:
        """Add pages and return how many were new; InputError where one is not a URL to crawl, and none is added."""
        hrefs = []
        for url in urls:
            href = normalise(url)
            if href is None:
                raise InputError(f"{url[:200]!r} is not a URL to crawl: {why_not(url)}; nothing was added")
            hrefs.append(href)
        known = len(self.store.index)
        self.add_normal(hrefs, self.now(at), found_on)
        return len(self.store.index) - known

    def add_normal(self, hrefs: Sequence[str], at: float, found_on: str | None = None) -> PageIds:
        """Add pages whose URLs are in normal form; return every URL's page."""
        known = len(self.store.index)
        parent = None if found_on is None else self.store.page_of(normalise(found_on) or "")
        parents = None if parent is None else [parent] * len(hrefs)
        with self.store.transaction():
            pages = self.store.add_pages(hrefs, [host_of(href) for href in hrefs], at, parents)
        if len(self.store.index) > known:
            self.meet(known, at)
            self.reporting.new_hosts()
        return pages

    def add_requests(self, hrefs: Sequence[str], requests: Sequence[str]) -> PageIds:
        """Add pages with how they are asked for, as JSON; return every URL's page."""
        pages = self.add_normal(hrefs, self.now(None))
        with self.store.transaction():
            self.store.keep_requests(zip(pages.tolist(), requests, strict=True))
        return pages

    # -- cycles -------------------------------------------------------------------------------------------------------

    def begin(self, *, budget: int | None = None, at: float | None = None) -> None:
        """End the cycle that is open, and begin the next now, whatever the time; `budget` is its number of visits."""
        now = self.now(at)
        if self.reporting.stale:
            self.rebuild()
        if self.take_asked(now):
            self.reporting.new_hosts()
        number = self.memory.cycle + 1
        budget = self.budget_of(number) if budget is None else budget
        with self.store.transaction():
            self.store.finish_cycle(number - 1, self.notes)
            self.store.drop_plan()
            self.store.open_cycle(number, now, budget, self.policy_name)
        self.memory.begin_cycle(self.settings.site_cap)
        self.cycle = self.store.last_cycle()
        self.policy.begin(self.memory, now)

    def finish(self) -> None:
        """End the cycle's choices; its late reports still count until the next cycle begins."""
        if self.cycle is not None and not self.cycle.done:
            with self.store.transaction():
                self.store.finish_cycle(self.cycle.cycle, self.notes)
                self.store.summarise_urls()
                self.store.drop_plan()
            self.cycle = self.cycle._replace(done=True)

    def turn(self, now: float) -> None:
        """Begin the next cycle if the last one's time is over; rebuild what second reports have made out of date."""
        if self.reporting.stale:
            self.rebuild()
        if self.cycle is None or (self.by_time and self.is_over(now)):
            self.begin(at=now)

    def is_over(self, at: float | None = None) -> bool:
        """Whether the last cycle's time is over, or there was none."""
        now = self.now(at)
        return self.cycle is None or now >= self.cycle.at + self.settings.cycle_days - 1e-9

    def next_change_at(self) -> float:
        """When the next lease ends or the cycle's time is over: until then nothing becomes due by itself."""
        over = float("inf") if self.cycle is None else self.cycle.at + self.settings.cycle_days
        return min(over, self.store.next_lease_end())

    # -- choosing -----------------------------------------------------------------------------------------------------

    def next(
        self, most: int, *, per_host: int = 0, lease_s: float = 600.0, at: float | None = None
    ) -> list[PlannedVisit]:
        """Return at most so many pages to visit now, best first, each leased for `lease_s` seconds; none: not due.

        With `per_host`, at most so many of one host; the others wait for the next call.
        """
        now = self.now(at)
        with one_line_errors(self.directory.state):
            self.turn(now)
            assert self.cycle is not None, "a cycle has begun"
            if self.cycle.done or most < 1:
                return []
            with self.store.transaction():
                self.store.end_leases(now)
                waiting = self.store.waiting(self.cycle.cycle)
                known = len(waiting)
                picked = Picking(self, self.cycle.budget, self.cycle.at).pick(most, per_host, waiting)
                self.store.add_to_plan(self.cycle.cycle, waiting[known:])
                leases = self.store.lease(picked, now + lease_s / DAY_S)
            return self._choices(picked, leases)

    def plan(self, most: int, *, per_host: int = 0) -> list[DryVisit]:
        """Return what `next` would, without leasing or changing anything, with reasons: a dry run."""
        return dry_run(self.store, self.policy_name, self.settings, self.config, most, per_host=per_host, at=self.now())

    def _choices(self, picked: Sequence[PlannedPage], leases: Sequence[int]) -> list[PlannedVisit]:
        pages = np.array([page for page, _ in picked], dtype=np.int64)
        scores = scores_of(self.policy, self.memory, self._latest, pages)
        audit_every = self.config.fetch.audit_every
        return [
            PlannedVisit(
                copy.url, copy.page, rank, score, validators_of(copy).headers(audit_every) if copy.digest else {}, lease
            )
            for copy, (_, rank), score, lease in zip(self.store.copies(pages), picked, scores, leases, strict=True)
        ]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the policy has to say of its work, such as what it cannot see."""
        return (*notes_of(self.policy), *resting(self.memory))

    def release(self, leases: Iterable[int]) -> int:
        """Give pages back that will not be visited: they are offered again. Returns how many of these leases ran."""
        with self.store.transaction():
            return self.store.release(leases)

    def release_all(self) -> None:
        """Release every lease, after the process that had them is gone."""
        with self.store.transaction():
            self.store.release_all()

    # -- reports ------------------------------------------------------------------------------------------------------

    def report(self, seen: Iterable[Seen], *, at: float | None = None, discover: bool = True) -> Reported:
        """Record visits, leased or not; return what was recorded, folded and refused.

        A second report of a page in a cycle is folded into the first: one that found nothing, or failed, takes the
        outcome of the second. One older than the page's last visit, or from the future, is refused. Without `discover`
        links that these reports show do not become pages.
        """
        now = self.now(at)
        with one_line_errors(self.directory.state):
            self.turn(now)
            reported = self.reporting.take(self, list(seen), now, discover=discover)
            assert self.cycle is not None, "a cycle has begun"
            if self.store.visits_in(self.cycle.cycle) >= self.cycle.budget:
                self.finish()
        return reported

    def judge(self, seen: Seen) -> Seen:
        """Compare a leased page's visit with our copy, to be reported later; `.record.outcome` says what it found."""
        page = self.store.page_of(normalise(seen.url) or "")
        if page is None:
            raise InputError(f"{seen.url[:200]!r} is not a page of this crawl")
        return self.reporting.judged(self, page, seen, self.now(seen.at))

    def why(self, url: str) -> Forecast:
        """Return when a page will be visited and why, by the policy (`.why` is for people)."""
        page = self.store.page_of(normalise(url) or "")
        if page is None:
            raise InputError(f"{url[:200]!r} is not a page of this crawl")
        return forecast(self.store, page, self.policy_name, replace(self.settings))
