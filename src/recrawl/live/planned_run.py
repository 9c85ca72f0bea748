"""One run of another crawler on a schedule: pages leased in batches, visits recorded when their items are through."""

from __future__ import annotations

import logging
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

from recrawl.errors import InputError, ServerError
from recrawl.live.reported import Seen
from recrawl.live.run_schedule import HeldSchedule, RunSchedule
from recrawl.live.served_schedule import ServedSchedule
from recrawl.plan import UNLIMITED
from recrawl.visits import Outcome

if TYPE_CHECKING:
    from recrawl.live.planner import PlannedVisit

log = logging.getLogger(__name__)
AT_ONCE = 32  # pages leased at a time
GROUP = 20  # reports recorded together
LONGEST_S = 60.0  # that a report waits for others


@dataclass
class _OpenVisit:
    """A visit whose items are still in the pipelines."""

    seen: Seen
    items: int = 0  # that the callback gave and that are not through the pipelines yet
    ended: bool = False  # the callback has


class PlannedRun:
    """One run of a spider on a planner: what its scheduler and its middlewares share."""

    _runs: ClassVar[WeakKeyDictionary[Any, PlannedRun]] = WeakKeyDictionary()
    schedule: RunSchedule
    is_open = False
    ended_by = ""  # why the run ends before its time: the reason that the spider closes with

    def __init__(self, crawler: Any) -> None:
        self.settings = crawler.settings
        self.stats = crawler.stats
        self.only_changed = self.settings.getbool("RECRAWL_ONLY_CHANGED")
        self.left = UNLIMITED
        self._queue: deque[PlannedVisit] = deque()
        self._new: dict[str, str] = {}  # requests that the spider gave: URL, JSON
        self._kept: dict[str, str] = {}  # ... and that are in the store
        self._open: dict[int, _OpenVisit] = {}
        self._reports: list[Seen] = []
        self._oldest_s = 0.0  # when the first of them came
        self._rank: dict[str, int] = {}  # of pages leased: their place in the cycle

    @classmethod
    def of(cls, crawler: Any) -> PlannedRun:
        """Return the run of a crawler."""
        if crawler not in cls._runs:
            cls._runs[crawler] = cls(crawler)
        return cls._runs[crawler]

    def open(self) -> None:
        """Open the crawl, or ask the server that has it; where that fails, one line in the log, and no run."""
        try:
            self.schedule = self._opened()
            self.left, self.is_open = self.schedule.left, True
        except InputError as error:
            self._end(error)

    def _opened(self) -> RunSchedule:
        budget, url = self.settings.get("RECRAWL_BUDGET"), self.settings.get("RECRAWL_URL")
        policy = self.settings.get("RECRAWL_POLICY")
        try:
            number = None if budget is None else int(budget)
        except (TypeError, ValueError):
            number = -1
        if number is not None and number < 0:
            raise InputError(f"RECRAWL_BUDGET must be a number of pages, or 0, not {budget!r}")
        if not url:
            return HeldSchedule(self.settings.get("RECRAWL_DIR", "crawl"), policy, number)
        if policy:
            log.warning("recrawl: RECRAWL_POLICY is not used: the crawl of the server at RECRAWL_URL has its own")
        return ServedSchedule(url, self.settings.get("RECRAWL_TOKEN"), number)

    def _end(self, error: InputError) -> None:
        """Ask for nothing more; what is leased is offered again when the leases end."""
        status = error.status if isinstance(error, ServerError) else None
        self.ended_by = {None: "recrawl_error", 0: "recrawl_unreachable"}.get(status, "recrawl_refused")
        self.left = 0
        log.error("recrawl: %s; the run ends", error)

    def take(self, url: str, request: str) -> None:
        """Take a request that the spider gave."""
        if self._kept.get(url) != request:
            self._new[url] = request

    def next(self) -> PlannedVisit | None:
        """Return the next page to fetch."""
        return self._queue.popleft() if self.has_more() else None

    def has_more(self) -> bool:
        """Whether there is a page to fetch now."""
        if self._queue:
            return True
        if not self.is_open:
            return False
        try:
            self._keep_requests()
            if self.left > 0:
                self._report_all()
                self._queue += self.schedule.next(min(AT_ONCE, self.left))
                self._rank |= {visit.url: visit.rank for visit in self._queue}
                self.left -= len(self._queue)
        except ServerError as error:
            self._end(error)
        return bool(self._queue)

    def request_of(self, visit: PlannedVisit) -> str | None:
        """Return how a page is asked for, as JSON."""
        return self.schedule.request_of(visit.page)

    def _keep_requests(self) -> None:
        if not self._new:
            return
        urls = list(self._new)
        self.schedule.add(urls, [self._new[url] for url in urls])
        self._kept.update(self._new)
        self._new.clear()

    # -- visits -------------------------------------------------------------------------------------------------------

    def judge(self, page: int, seen: Seen) -> Outcome | None:
        """Return what a visit found, and count it; None where the server cannot be asked: it is visited again."""
        try:
            outcome, judged = self.schedule.judge(seen)
        except ServerError as error:
            log.error("recrawl: %s", error)
            return None
        self.stats.inc_value(f"recrawl/{outcome.name.lower()}")
        if outcome in (Outcome.FIRST, Outcome.CHANGED):
            self._open[page] = _OpenVisit(judged)
        else:
            self.report(judged)
        return outcome

    def report(self, seen: Seen) -> None:
        """Record a visit, with others."""
        if not self._reports:
            self._oldest_s = time.monotonic()
        self._reports.append(seen)
        if len(self._reports) >= GROUP or time.monotonic() - self._oldest_s > LONGEST_S:
            self._report_all()

    def _report_all(self) -> None:
        """Record visits in the order in which they were chosen."""
        reports = sorted(self._reports, key=lambda seen: self._rank.get(seen.url, 0))
        if not reports:
            return
        try:
            refused = self.schedule.report(reports)
        except ServerError as error:
            log.warning("recrawl: %s; %d reports wait", error, len(reports))
            self._oldest_s = time.monotonic()
            return
        self._reports.clear()
        for refusal in refused:
            log.warning("recrawl: %s: %s", refusal.url, refusal.why)

    def more_items(self, page: int | None, count: int) -> None:
        """Note items that a callback gave, or (negative) that are through the pipelines."""
        if page in self._open:
            self._open[page].items += count
            self._settle(page)

    def callback_ended(self, page: int | None) -> None:
        """Note that a callback has given everything."""
        if page in self._open:
            self._open[page].ended = True
            self._settle(page)

    def _settle(self, page: int) -> None:
        visit = self._open[page]
        if visit.ended and visit.items <= 0:
            self.report(self._open.pop(page).seen)

    def callback_failed(self, page: int | None) -> None:
        """Note that a callback raised: our copy stays the old one, so the next run sees the change again."""
        if page in self._open:
            seen = self._open.pop(page).seen
            self.report(Seen(seen.url, at=seen.at, outcome=Outcome.FAILED, status=seen.status))

    def close(self, reason: str) -> None:
        """Record what is done, give back what is not, and end the cycle if the run came to its end."""
        if not self.is_open:
            return
        try:
            self._keep_requests()
        except ServerError as error:
            log.error("recrawl: %s; %d new pages are not known to it", error, len(self._new))
        self._reports += [visit.seen for visit in self._open.values() if visit.ended]
        self._report_all()
        if self._reports:
            log.error("recrawl: %d visits could not be reported: their pages are visited again", len(self._reports))
        self.schedule.close(finished=reason == "finished")
