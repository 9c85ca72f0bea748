"""Planner: the schedule of a crawl whose pages somebody else fetches. It says what to visit, and hears what was found.

with Planner.open("news", policy="learned", every="1d", budget="10%") as planner:
    planner.add(["https://example.org/"])
    for choice in planner.next(20):
        planner.report([Seen(choice.url, digest=fetch_and_hash(choice.url, choice.validators))])

What is given away is leased: nobody else gets it until the lease ends or its visit is reported. Reports nobody asked
for count too. A cycle ends when its time is over or its budget is reported; the next begins a cycle's length after it
began. Policies that look at answers before they choose more (`learned`) do so where reports come in between; asked for
many pages at once, they choose round after round without answers. Everything is in the crawl's store before it is
returned, so that kill -9 loses nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from recrawl.clock import DAY_S, Clock, SystemClock
from recrawl.columns import FloatArray, PageIds
from recrawl.cycle import EveryPage
from recrawl.eligibility import Bar
from recrawl.errors import InputError
from recrawl.live.facade import Amount, Crawl
from recrawl.live.forecast import Forecast, forecast
from recrawl.live.judge import validators_of
from recrawl.live.rebuild import fill, rebuild
from recrawl.live.reported import Reported, Seen
from recrawl.live.reporting import Reporting
from recrawl.live.store import Store, told
from recrawl.live.store_leases import PlannedPage
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policies.guarded import Guarded
from recrawl.policies.learned.learned import Learned
from recrawl.policies.topk import TopK
from recrawl.policy import Policy, Setting
from recrawl.urls.url import host_of, normalise, why_not

FULL = 0.9  # of the memory's room, from which on it is made larger


@dataclass(frozen=True, slots=True)
class PlannedVisit:
    """A page to visit now."""

    url: str
    page: int
    rank: int  # place in the cycle, from 1
    score: float | None  # where the policy scores pages, and this one was fetched before
    validators: Mapping[str, str]  # request headers that ask "has it changed?"; empty: fetch the whole page
    lease: int  # 0 in a dry run


class Planner:
    """A crawl's schedule, held by one process. Use as a context manager, or close it."""

    def __init__(
        self, crawl: Crawl, policy: str, plan: Plan, *, clock: Clock | None = None, discover: bool = True
    ) -> None:
        """Open a crawl; with `discover`, links within its scope that reports show become pages."""
        self.directory = crawl.directory
        self.policy_name = policy
        self.settings = plan
        self.by_time = True  # False: cycles begin only when told to
        self._clock = clock or SystemClock()
        self._config = self.directory.config()
        with ExitStack() as stack:
            stack.enter_context(self.directory.locked())
            self.store = Store.open(self.directory.state)
            stack.callback(self.store.close)
            with told(self.directory.state):
                self.store.make_lease_tables()
                self._latest = self.store.latest_at() or float("-inf")
                self.reporting = Reporting(self.directory, self.store, self._config, discover)
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
        """Let go of the crawl; leases go on."""
        self._stack.close()

    def rebuild(self) -> None:
        """Make the memory and the policy anew from the store, with room for more pages."""
        self.policy, self.memory = self._from_store()
        self.cycle = self.store.last_cycle()
        self.reporting.stale = False
        if self.cycle is not None:
            self._chooser().begin(self.memory, self.cycle.at)

    def _from_store(self) -> tuple[Guarded, Memory]:
        setting = Setting(seed=self.settings.seed)
        policy = Guarded(make_policy(self.policy_name, setting), make_policy("age", setting))
        return policy, rebuild(self.store, policy, self.settings)

    def _now(self, at: float | None) -> float:
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
        self.add_normal(hrefs, self._now(at), found_on)
        return len(self.store.index) - known

    def add_normal(self, hrefs: Sequence[str], at: float, found_on: str | None = None) -> PageIds:
        """Add pages whose URLs are in normal form; return every URL's page."""
        known = len(self.store.index)
        parent = None if found_on is None else self.store.page_of(normalise(found_on) or "")
        parents = None if parent is None else [parent] * len(hrefs)
        with self.store.transaction():
            pages = self.store.add_pages(hrefs, [host_of(href) for href in hrefs], at, parents)
        if len(self.store.index) > known:
            self.make_room()
            self.memory.learn_of(fill(self.store, self.memory, known, self.settings.seed), at)
            self.reporting.new_hosts()
        return pages

    def add_requests(self, hrefs: Sequence[str], requests: Sequence[str]) -> PageIds:
        """Add pages with how they are asked for, as JSON; return every URL's page."""
        pages = self.add_normal(hrefs, self._now(None))
        with self.store.transaction():
            self.store.keep_requests(zip(pages.tolist(), requests, strict=True))
        return pages

    def make_room(self) -> None:
        """Rebuild the memory larger where pages or hosts have no room in it."""
        hosts = max(self.store.hosts(), default=0)
        if len(self.store.index) > len(self.memory) or hosts >= len(self.memory.bars.site):
            self.rebuild()

    # -- cycles -------------------------------------------------------------------------------------------------------

    def begin(self, *, budget: int | None = None, at: float | None = None) -> None:
        """End the cycle that is open, and begin the next now, whatever the time; `budget` is its number of visits."""
        now = self._now(at)
        if self.reporting.stale or len(self.store.index) > FULL * len(self.memory):
            self.rebuild()
        number = self.memory.cycle + 1
        alive = int((self.memory.known & ~self.memory.gone).sum())
        if budget is None:
            budget = alive if number <= self.settings.warmup else self.settings.visits_among(alive)
        with self.store.transaction():
            self.store.finish_cycle(number - 1)
            self.store.drop_plan()
            self.store.open_cycle(number, now, budget, self.policy_name)
        self.memory.begin_cycle(self.settings.site_cap)
        self.cycle = self.store.last_cycle()
        self._chooser().begin(self.memory, now)

    def finish(self) -> None:
        """End the cycle's choices; its late reports still count until the next cycle begins."""
        if self.cycle is not None and not self.cycle.done:
            with self.store.transaction():
                self.store.finish_cycle(self.cycle.cycle)
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
        now = self._now(at)
        return self.cycle is None or now >= self.cycle.at + self.settings.cycle_days - 1e-9

    def _chooser(self) -> Policy:
        return EveryPage(self.policy) if self.memory.cycle <= self.settings.warmup else self.policy

    # -- choosing -----------------------------------------------------------------------------------------------------

    def next(
        self, most: int, *, per_host: int = 0, lease_s: float = 600.0, at: float | None = None
    ) -> list[PlannedVisit]:
        """Return at most so many pages to visit now, best first, each leased for `lease_s` seconds; none: not due.

        With `per_host`, at most so many of one host; the others wait for the next call.
        """
        now = self._now(at)
        with told(self.directory.state):
            self.turn(now)
            assert self.cycle is not None, "a cycle has begun"
            if self.cycle.done or most < 1:
                return []
            with self.store.transaction():
                self.store.end_leases(now)
                waiting = self.store.waiting(self.cycle.cycle)
                known = len(waiting)
                chosen = self._pick(self.memory, self._chooser(), most, per_host, waiting)
                self.store.add_to_plan(self.cycle.cycle, waiting[known:])
                leases = self.store.lease(chosen, now + lease_s / DAY_S)
            return self._choices(self.memory, self.policy, chosen, leases)

    def plan(self, most: int, *, per_host: int = 0) -> list[PlannedVisit]:
        """Return what `next` would, without leasing or changing anything: a dry run."""
        policy, memory = self._from_store()
        if self.cycle is None or self.cycle.done or self.is_over():
            memory.begin_cycle(self.settings.site_cap)
        waiting = self.store.waiting(memory.cycle)
        policy.begin(memory, self._latest)
        chooser = EveryPage(policy) if memory.cycle <= self.settings.warmup else policy
        chosen = self._pick(memory, chooser, most, per_host, waiting)
        return self._choices(memory, policy, chosen, [0] * len(chosen))

    def _pick(
        self, memory: Memory, chooser: Policy, most: int, per_host: int, waiting: list[PlannedPage]
    ) -> list[PlannedPage]:
        """Choose from what waits; where that is not enough, let the policy choose more, added to what waits."""
        running = self.cycle is not None and self.cycle.cycle == memory.cycle
        alive = int((memory.known & ~memory.gone).sum())
        budget = self.cycle.budget if running and self.cycle is not None else self.settings.visits_among(alive)
        at = self.cycle.at if running and self.cycle is not None else self._latest
        self._bar(memory)
        rank = self.store.chosen_in(memory.cycle)
        most = min(most, budget - (rank - len(waiting)))  # visits that nobody asked for take of the budget too
        chosen: list[PlannedPage] = []
        hosts: Counter[int] = Counter()
        tried = 0
        while True:
            for planned in waiting[tried:]:
                host = int(memory.site[planned.page])
                if len(chosen) < most and not (per_host and hosts[host] >= per_host):
                    chosen.append(planned)
                    hosts[host] += 1
            tried = len(waiting)
            pages = self._round(memory, chooser, budget - rank, at) if len(chosen) < most else []
            if not len(pages):
                return chosen
            waiting += [PlannedPage(page, rank + i) for i, page in enumerate(pages, 1)]
            rank += len(pages)

    def _bar(self, memory: Memory) -> None:
        """Bar the pages that are leased or chosen already."""
        bars = memory.bars.page
        bars[bars == Bar.UNDER_WAY] = Bar.OPEN
        bars[self.store.under_way(memory.cycle)] = Bar.UNDER_WAY

    def _round(self, memory: Memory, chooser: Policy, left: int, at: float) -> list[int]:
        """Let the policy choose once, and bar what it chose."""
        left = min(left, int(np.count_nonzero(memory.eligible())))
        if left <= 0:
            return []
        pages = _within_caps(chooser.choose(memory, left, at), memory)
        memory.bars.page[pages] = Bar.UNDER_WAY
        return [int(page) for page in pages]

    def _choices(
        self, memory: Memory, policy: Guarded, chosen: Sequence[PlannedPage], leases: Sequence[int]
    ) -> list[PlannedVisit]:
        pages = np.array([page for page, _ in chosen], dtype=np.int64)
        scores = _scores(policy, memory, self._latest, pages)
        audit_every = self._config.fetch.audit_every
        return [
            PlannedVisit(
                copy.url, copy.page, rank, score, validators_of(copy).headers(audit_every) if copy.digest else {}, lease
            )
            for copy, (_, rank), score, lease in zip(self.store.copies(pages), chosen, scores, leases, strict=True)
        ]

    def release(self, leases: Iterable[int]) -> None:
        """Give pages back that will not be visited: they are offered again."""
        with self.store.transaction():
            self.store.release(leases)

    def release_all(self) -> None:
        """Release every lease: the process that held them is gone."""
        with self.store.transaction():
            self.store.release_all()

    # -- hearing ------------------------------------------------------------------------------------------------------

    def report(self, seen: Iterable[Seen], *, at: float | None = None) -> Reported:
        """Take in visits, asked for or not; returns what was recorded, folded and refused.

        A second report of a page in a cycle is folded into the first: one that found nothing, or failed, becomes what
        the second says. One older than the page's last visit, or from the future, is refused.
        """
        now = self._now(at)
        with told(self.directory.state):
            self.turn(now)
            reported = self.reporting.take(self, list(seen), now)
            assert self.cycle is not None, "a cycle has begun"
            if self.store.visits_in(self.cycle.cycle) >= self.cycle.budget:
                self.finish()
        return reported

    def judge(self, seen: Seen) -> Seen:
        """Compare a leased page's visit with our copy, to be reported later; `.record.outcome` says what it found."""
        page = self.store.page_of(normalise(seen.url) or "")
        assert page is not None, "a page that was leased"
        return self.reporting.judged(self, page, seen, self._now(seen.at))

    def why(self, url: str) -> Forecast:
        """Say when a page will be visited and why, as the policy sees it (`.why` is for people)."""
        page = self.store.page_of(normalise(url) or "")
        if page is None:
            raise InputError(f"{url[:200]!r} is not a page of this crawl")
        return forecast(self.store, page, self.policy_name, replace(self.settings))


def _within_caps(pages: PageIds, memory: Memory) -> PageIds:
    """Keep the pages for which their sites have room, with what is under way."""
    room = memory.site_room()
    if room is None:
        return pages
    under_way = memory.bars.page == Bar.UNDER_WAY
    room = room - np.bincount(memory.site[under_way], minlength=len(room))
    kept = []
    for page in pages.tolist():
        room[memory.site[page]] -= 1
        if room[memory.site[page]] >= 0:
            kept.append(page)
    return np.array(kept, dtype=np.int64)


def _scores(policy: object, memory: Memory, at: float, pages: PageIds) -> list[float | None]:
    """Return what the policy thinks of each page, None where it does not say."""
    while not isinstance(policy, TopK | Learned) and hasattr(policy, "policy"):
        policy = policy.policy
    if not len(pages) or not isinstance(policy, TopK | Learned):
        return [None] * len(pages)
    scores: FloatArray = policy.scorer.score(memory, at)[pages] if isinstance(policy, TopK) else policy.chances(pages)
    held = memory.held()[pages]  # others come first, whatever the scores
    return [float(score) if there and np.isfinite(score) else None for score, there in zip(scores, held, strict=True)]
