"""The feed of a crawl: what its visits found, as events in order, from a cursor on.

    for event in EventFeed(Path("news"), since="1d", include=("diff",)):
        print(event["type"], event["url"], event["diff"])

An event is a JSON object (docs/event.schema.json), the same for everyone. Its id is the visit's number and never
changes, so a receiver can drop repeats. Reading is in constant memory and never blocks the crawl.
"""

from __future__ import annotations

import datetime as dt
import re
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.errors import InputError
from recrawl.live.store_feed import CHANGED, FAILED, FIRST, GONE, FeedStore, FeedVisit
from recrawl.spans import UNIT_DAYS, days_of

if TYPE_CHECKING:
    from recrawl.live.feed_content import EventContents

Event = dict[str, Any]
TYPES = ("page.new", "page.changed", "page.gone", "page.failed", "cycle.done")
USUAL = ("page.new", "page.changed", "page.gone")
CONTENTS = ("diff", "added", "removed", "text", "markdown", "links_added", "change")
START = "0"  # the cursor before everything

_TYPE = {FIRST: "page.new", CHANGED: "page.changed", GONE: "page.gone", FAILED: "page.failed"}
_AT_ONCE = 500  # visits read at once
_OUT_OF_ORDER_DAYS = 1 / 24  # visits are recorded in the order in which they end, at most so long after they began
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_CURSOR = re.compile(r"(\d{1,18})(?:\.(\d{1,18}))?|cycle-(\d{1,18})")
_SPAN = re.compile(rf"[\d.]+(?:{'|'.join(UNIT_DAYS)})", re.IGNORECASE)
_KIND = re.compile(r"([a-z0-9 -]+): ")


class EventFeed:
    """Yields the events after its cursor; iterate again for those that came meanwhile.

    `since` is a cursor, an event's id, a time (2026-11-16T12:00Z) or a span (1d); None: from the beginning. `include`
    asks for contents, which are read from the stored bodies. `wants` filters before that work is done; `complete`
    leaves out cycles that are not done.
    """

    def __init__(
        self,
        folder: Path,
        since: str | None = None,
        *,
        types: Collection[str] = USUAL,
        include: Collection[str] = (),
        wants: Callable[[Event], bool] = lambda _: True,
        complete: bool = False,
        now: Callable[[], float] | None = None,
    ) -> None:
        self.folder = folder
        self.types = frozenset(read_types(types))
        self.include = frozenset(read_contents(include))
        self.wants = wants
        self.complete = complete
        self._by_cycle = complete or "cycle.done" in self.types
        self.store = FeedStore(folder)
        self._contents: EventContents | None = None
        self._not_before = float("-inf")
        self._policies: dict[int, str | None] = {}
        self._visit, self._cycle = self._place_of(START if since is None else str(since), now)

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    @property
    def cursor(self) -> str:
        """Where the feed stands: give it as `since` to go on after what was read."""
        return f"{self._visit}.{self._cycle}" if self._by_cycle else str(self._visit)

    def go_back(self, count: int) -> None:
        """Move the cursor before the last `count` events of pages."""
        self._visit, self._cycle = self._place_of(str(self.store.visits_before_end(self._outcomes(), count)), None)

    def __iter__(self) -> Iterator[Event]:
        done = self.store.cycles_done_after(self._cycle)
        for cycle in done if self._by_cycle else ():
            last = self.store.last_visit_of(cycle)
            yield from self._visits_until(last)
            event = self._done_event(cycle, last) if "cycle.done" in self.types else None
            self._visit, self._cycle = max(self._visit, last), cycle
            if event is not None and self.wants(event):
                yield event
        if not self.complete:
            # not beyond the cycle under way: if it is done by now, that comes before the visits of the next
            cycle = self._cycle + 1
            yield from self._visits_until(
                self.store.last_visit_of(cycle) if self._by_cycle else self.store.last_visit()
            )

    def _visits_until(self, last: int) -> Iterator[Event]:
        outcomes = self._outcomes()
        while outcomes and (visits := self.store.visits_after(self._visit, outcomes, _AT_ONCE, last)):
            for visit in visits:
                event = self._event(visit) if visit.at >= self._not_before else None
                self._visit = visit.visit  # only now: an error while reading must not lose the event
                if event is not None:
                    yield event
        self._visit = max(self._visit, last)

    def _outcomes(self) -> list[int]:
        # a page that was never there is gone at once: to the reader, that is a failed visit
        found = [outcome for outcome, name in _TYPE.items() if name in self.types]
        return [*found, GONE] if FAILED in found and GONE not in found else found

    def _event(self, visit: FeedVisit) -> Event | None:
        before = None if visit.outcome == FIRST else self.store.version_before(visit.page, visit.visit)
        kind = _TYPE[visit.outcome] if before or visit.outcome != GONE else "page.failed"
        if kind not in self.types:
            return None
        links = {"internal": visit.new_internal, "external": visit.new_external}
        change = {"words_added": None, "words_removed": None, "significant": None, "new_links": links}
        event: Event = {
            "id": visit.visit,
            "type": kind,
            "time": iso(visit.at),
            "url": visit.url,
            "title": visit.title or None,
            "status": visit.status,
            "previous": None if before is None else {"id": before[0], "time": iso(before[1])},
            "change": change if kind == "page.changed" else None,
            "digest": None if visit.digest is None else visit.digest.hex(),
            "content_type": None,
            "warc": None if visit.place is None else dict(zip(("file", "offset", "length"), visit.place, strict=True)),
            "crawl": self.folder.absolute().name,
            "cycle": visit.cycle,
            "policy": self._policy(visit.cycle),
        }
        if kind == "page.failed":
            event["failure"] = failure(visit.note or "")
        if not self.wants(event):
            return None
        if self.include:
            self._reader().add(event, visit.place, None if before is None else (before[2],))
        return event

    def _reader(self) -> EventContents:
        if self._contents is None:
            from recrawl.live.feed_content import EventContents

            self._contents = EventContents(self.folder / "warc", self.include)
        return self._contents

    def _policy(self, cycle: int) -> str | None:
        if cycle not in self._policies:
            found = self.store.cycle(cycle)
            self._policies = {cycle: None if found is None else found[1]}
        return self._policies[cycle]

    def _done_event(self, cycle: int, last: int) -> Event | None:
        found = self.store.cycle(cycle)
        if found is None:
            return None
        visits = self.store.visits_after(last - 1, range(5), 1, last)
        at = visits[0].at if visits and visits[0].cycle == cycle else found[0]
        if at < self._not_before:
            return None
        counts = self.store.outcomes_of(cycle)
        names = ((0, "unchanged"), (CHANGED, "changed"), (FIRST, "new"), (GONE, "gone"), (FAILED, "failed"))
        return {
            "id": f"cycle-{cycle}",
            "type": "cycle.done",
            "time": iso(at),
            "visits": {name: counts.get(outcome, 0) for outcome, name in names},
            "budget": found[2],
            "crawl": self.folder.absolute().name,
            "cycle": cycle,
            "policy": found[1],
        }

    def _place_of(self, since: str, now: Callable[[], float] | None) -> tuple[int, int]:
        """Return the last visit and the last finished cycle before what is asked for."""
        if found := _CURSOR.fullmatch(since):
            visit, cycle, finished = found.groups()
            if finished is not None:
                return self.store.last_visit_of(int(finished)), int(finished)
            return int(visit), self._finished_before(int(visit)) if cycle is None else int(cycle)
        self._not_before = day_since(since, now)
        visit = self.store.first_visit_at(self._not_before - _OUT_OF_ORDER_DAYS)
        return visit, self._finished_before(visit)

    def _finished_before(self, visit: int) -> int:
        """Return the last cycle that was done before a visit was made."""
        visits = self.store.visits_after(visit - 1, range(5), 1, visit)
        return max(0, visits[0].cycle - 1) if visits else 0


def read_types(names: Collection[str]) -> list[str]:
    """Read types of events as people write them: new, page.new, cycle.done, all."""
    short = {name.split(".")[1]: name for name in TYPES} | {"cycle": "cycle.done"} | {name: name for name in TYPES}
    if "all" in names:
        return list(TYPES)
    for name in names:
        if name not in short:
            raise InputError(f"unknown type of event {name!r}: there are {', '.join(TYPES)}")
    return [short[name] for name in names]


def read_contents(names: Collection[str]) -> list[str]:
    """Check which contents are asked for."""
    for name in names:
        if name not in CONTENTS:
            raise InputError(f"unknown content {name!r}: there are {', '.join(CONTENTS)}")
    return list(names)


def iso(at: float) -> str:
    """Return a time in days since 1970 as ISO 8601 (UTC)."""
    try:
        return (_EPOCH + dt.timedelta(seconds=round(at * 86_400))).strftime("%Y-%m-%dT%H:%M:%SZ")
    except OverflowError:
        return "9999-12-31T23:59:59Z"


def day_since(text: str, now: Callable[[], float] | None = None) -> float:
    """Read a time (2026-11-16T12:00Z) or a span before now (1d): days since 1970."""
    if _SPAN.fullmatch(text):
        return (time.time() / 86_400 if now is None else now()) - days_of(text)
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        problem = f"{text[:100]!r} is not an event's id, a time such as 2026-11-16T12:00Z or a span such as 1d"
        raise InputError(problem) from None
    moment = moment.replace(tzinfo=dt.UTC) if moment.tzinfo is None else moment
    return (moment - _EPOCH).total_seconds() / 86_400


def failure(note: str) -> dict[str, str]:
    """Return the typed kind of a failed visit and its reason."""
    if note.startswith("not found"):
        return {"kind": "gone", "reason": note}
    found = _KIND.match(note)
    return {"kind": found[1].replace(" ", "-") if found else "unknown", "reason": note}
