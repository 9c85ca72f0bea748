"""Record reports in a crawl: the store first, then the policy learns, then the memory records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.live.bodies import Bodies
from recrawl.live.calendar import year_of
from recrawl.live.config import CrawlConfig, with_hosts
from recrawl.live.crawl_rounds import asked_of, learnable
from recrawl.live.directory import CrawlDirectory
from recrawl.live.rebuild import fill
from recrawl.live.recorder import Arrived, Noted, Recorder
from recrawl.live.reported import Refusal, Reported, Seen, judge_report
from recrawl.live.store import Store
from recrawl.live.store_visits import VisitRecord
from recrawl.memory import NEVER
from recrawl.urls.scope import Scope
from recrawl.urls.traps import DiscoveryBudget
from recrawl.urls.url import normalise, why_not
from recrawl.visits import Outcome

if TYPE_CHECKING:
    from recrawl.live.planner import Planner

AHEAD_DAYS = 1 / 24  # how far another machine's clock may be ahead of ours


class Reporting:
    """Records reports of visits. `stale` is True when the memory no longer agrees with the store."""

    def __init__(self, directory: CrawlDirectory, store: Store, config: CrawlConfig, discover: bool) -> None:
        self.store = store
        self.stale = False
        self._config = config
        self._discover = self._now_discover = discover
        self._scope: Scope | None = None
        discovery = DiscoveryBudget(**asdict(config.traps))
        discovery.restore(store.templates(), store.pages_by_host().items())
        self._recorder = Recorder(store, Bodies(directory.warc), None, self._in_scope, discovery, _unwatched)

    def new_hosts(self) -> None:
        """Pages were added: their hosts may belong to the crawl now."""
        self._scope = None
        self._recorder.shown.forget_scope()

    def _in_scope(self, url: str) -> bool:
        if not self._now_discover:
            return False
        if self._scope is None:
            self._scope = with_hosts(
                self._config, list(self.store.hosts().values()), year_of(self.store.latest_at() or 0.0)
            )
        return self._scope(url)

    def take(self, planner: Planner, seen: Sequence[Seen], now: float, *, discover: bool = True) -> Reported:
        """Record reports into the cycle that is open; with `discover`, links that they show become pages."""
        if self._now_discover != (self._discover and discover):
            self._now_discover = self._discover and discover
            self._recorder.shown.forget_scope()
        refused: list[Refusal] = []
        good: list[tuple[int, Seen, str, float]] = []
        for number, each in enumerate(seen):
            href, at = normalise(each.url), now if each.at is None else float(each.at)
            if href is None:
                refused.append(Refusal(number, each.url, f"not a URL to crawl: {why_not(each.url)}"))
            elif not np.isfinite(at) or at > now + AHEAD_DAYS:
                refused.append(Refusal(number, each.url, "its time is in the future"))
            else:
                good.append((number, each, href, at))
        if not good:
            return Reported(refused=tuple(refused))
        pages = planner.add_normal([href for _, _, href, _ in good], min(at for *_, at in good)).tolist()
        first: dict[int, tuple[int, Seen, float]] = {}
        again: list[tuple[int, int, Seen, float]] = []
        for page, (number, each, _, at) in zip(pages, good, strict=True):
            if planner.memory.last_visit[page] > at:
                refused.append(Refusal(number, each.url, "older than the page's last visit"))
            elif page in first or planner.memory.asked[page] == planner.memory.cycle:
                again.append((number, page, each, at))
            else:
                first[page] = (number, each, at)
        records = self._judged(planner, first, refused)
        self._record(planner, records)
        folded = self._fold(planner, again, refused)
        with self.store.transaction():
            if records:
                asked = asked_of(planner.policy)
                number = 0 if asked is None else asked.take()
                self.store.add_rounds(planner.memory.cycle, [(number, [record.page for record in records])])
            self.store.release_pages({record.page for record in records} | {page for _, page, _, _ in again})
        outcomes = Counter(Outcome(record.outcome).name.lower() for record in records)
        return Reported(len(records), folded, tuple(sorted(refused, key=lambda r: r.number)), dict(outcomes))

    def judged(self, planner: Planner, page: int, seen: Seen, at: float) -> Seen:
        """Judge a visit without recording it."""
        (copy,) = self.store.copies([page])
        held = bool(planner.memory.last_cycle[page] != NEVER)
        return replace(seen, at=at, record=judge_report(copy, seen, at, held=held))

    def _judged(
        self, planner: Planner, first: dict[int, tuple[int, Seen, float]], refused: list[Refusal]
    ) -> list[VisitRecord]:
        records = []
        for copy, (number, seen, at) in zip(self.store.copies(first), first.values(), strict=True):
            try:
                held = bool(planner.memory.last_cycle[copy.page] != NEVER)
                records.append(judge_report(copy, seen, at, held=held))
            except ValueError as error:
                refused.append(Refusal(number, seen.url, str(error)))
        return records

    def _record(self, planner: Planner, records: Sequence[VisitRecord]) -> None:
        """Put first reports on disk; then the policy learns and the memory records."""
        if not records:
            return
        recorder = self._recorder
        recorder.begin(planner.memory.cycle)
        for record in records:
            recorder.add(Arrived(FetchResult("", Kind.OK), record, False, ()))
        recorder.record()
        rows, found = recorder.take()
        if len(found):
            fill(self.store, planner.memory, int(found.min()), planner.settings.seed)
        planner.learn(learnable(rows, [record.page for record in records], found, planner.memory))

    def _fold(self, planner: Planner, again: Sequence[tuple[int, int, Seen, float]], refused: list[Refusal]) -> int:
        """Fold second reports of a cycle into the first; return how many."""
        folded, cycle = 0, planner.memory.cycle
        for number, page, seen, at in again:
            (copy,) = self.store.copies([page])
            try:
                record = judge_report(copy, seen, at, held=bool(planner.memory.last_cycle[page] != NEVER))
            except ValueError as error:
                refused.append(Refusal(number, seen.url, str(error)))
                continue
            folded += 1
            before = self.store.outcome_in(cycle, page)
            if _tells_more(before, record.outcome):
                with self.store.transaction():
                    self.store.upgrade_visit(cycle, self._recorder.compared(record))
                self.stale = True
        return folded


def _tells_more(before: int, after: int) -> bool:
    """Whether a second report adds to the first: an answer after a failure, a change after none."""
    if before == Outcome.FAILED:
        return after != Outcome.FAILED
    return before == Outcome.UNCHANGED and after in (Outcome.CHANGED, Outcome.GONE)


def _unwatched(_: Noted) -> None:
    """An observer that does nothing."""
