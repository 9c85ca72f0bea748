"""A frontier on planners: which URLs its clients visit next, and what their visits found.

With the order "ours" the policy of the crawl decides, within its budget: a known item is a report of a visit, and what
changed is read from its metadata (`signature`, `fetch.statusCode`). With "theirs" the dates that clients set decide, as
in any other frontier. The crawl DEFAULT is the folder's own; every other has a folder of its own below frontier/.
"""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from recrawl.clock import DAY_S, Clock, SystemClock
from recrawl.eligibility import Bar
from recrawl.errors import InputError
from recrawl.live.facade import Crawl
from recrawl.live.planner import Planner
from recrawl.live.reported import Seen
from recrawl.urlfrontier.frontier_store import FrontierStore, FrontierUrl
from recrawl.urls.url import host_of, normalise

log = logging.getLogger(__name__)
DEFAULT = "DEFAULT"
OK, SKIPPED, FAIL = 0, 1, 2
LEASE_S = 30.0
NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
SIGNATURES, STATUSES = ("signature",), ("fetch.statusCode", "statusCode")
SILENT = "known URLs bring neither signature nor fetch.statusCode: add both to metadata.persist, or nothing is learnt"


class PutItem(NamedTuple):
    """An item that a client puts: `refetch` None for a discovered one, otherwise seconds since 1970, 0 for done."""

    url: str
    key: str
    crawl: str
    metadata: dict[str, list[str]]
    refetch: float | None = None


class UrlFrontier:
    """All calls of the protocol but their messages; used by one thread."""

    def __init__(self, folder: Path, *, ours: bool = True, clock: Clock | None = None) -> None:
        self.folder = folder
        self.ours = ours
        self._clock = clock or SystemClock()
        self._crawl = Crawl.open(folder)
        self.store = FrontierStore(folder / "frontier.sqlite")
        self._planners: dict[str, Planner] = {}
        self._warned = False
        if ours:
            self._planner(DEFAULT)

    def now(self) -> float:
        """Return the seconds since 1970."""
        return self._clock.now() * DAY_S

    def close(self) -> None:
        """Let go of the crawls; leases go on."""
        for planner in self._planners.values():
            planner.close()
        self.store.close()

    def _planner(self, crawl: str) -> Planner:
        if crawl not in self._planners:
            folder = self.folder if crawl == DEFAULT else self.folder / "frontier" / crawl
            if crawl != DEFAULT and not (folder / "recrawl.toml").exists():
                text = (self.folder / "recrawl.toml").read_text(encoding="utf-8")
                opened = Crawl.create(folder, text)
            else:
                opened = Crawl.open(folder)
            self._planners[crawl] = Planner(opened, *opened.steering(), clock=self._clock, discover=False)
        return self._planners[crawl]

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Put what is written on disk, all or nothing."""
        self.store.begin()
        try:
            yield
        except BaseException:
            self.store.end(keep=False)
            raise
        self.store.end(keep=True)

    # -- putting ------------------------------------------------------------------------------------------------------

    def put(self, items: Sequence[PutItem]) -> list[int]:
        """Put items, in their order; return what became of each: OK, SKIPPED (nothing new, or no URL) or FAIL."""
        statuses = [SKIPPED] * len(items)
        rows: dict[tuple[str, str], FrontierUrl] = {}
        reports: dict[str, list[FrontierUrl]] = {}
        new = {(item.crawl, item.url) for item in items if item.refetch is None}
        there = {
            (crawl, url)
            for crawl in {crawl for crawl, _ in new}
            for url in self.store.known_urls(crawl, [url for name, url in new if name == crawl])
        }
        for i, item in enumerate(items):
            row = self._row(item)
            place = (item.crawl, item.url)
            if row is None or (item.refetch is None and (place in there or place in rows)):
                continue
            rows[place] = row
            statuses[i] = OK
            if item.refetch is not None:
                reports.setdefault(item.crawl, []).append(row)
        with self.writing():
            self.store.put(rows.values())
        if self.ours:
            for crawl in {crawl for crawl, _ in rows}:
                self._tell(crawl, [row for row in rows.values() if row.crawl == crawl], reports.get(crawl, []))
        return statuses

    def _row(self, item: PutItem) -> FrontierUrl | None:
        href = normalise(item.url)
        if href is None or not NAME.fullmatch(item.crawl):
            return None
        now, metadata = self.now(), json.dumps(item.metadata)
        refetch = now if item.refetch is None else item.refetch
        known = item.refetch is not None
        return FrontierUrl(item.url, item.crawl, item.key or host_of(href), href, metadata, refetch, known)

    def _tell(self, crawl: str, rows: Sequence[FrontierUrl], reports: Sequence[FrontierUrl]) -> None:
        """Let the planner know of new pages, and of visits."""
        planner = self._planner(crawl)
        planner.add(list(dict.fromkeys(row.href for row in rows)))
        if not reports:
            return
        planner.report([self._seen(row) for row in reports])
        pages = [(planner.store.page_of(row.href), 0 if row.refetch else int(Bar.REMOVED)) for row in reports]
        with planner.store.transaction():
            planner.store.bar_pages((page, bar) for page, bar in pages if page is not None)

    def _seen(self, row: FrontierUrl) -> Seen:
        metadata = json.loads(row.metadata)
        digest = next((metadata[name][0] for name in SIGNATURES if metadata.get(name)), None)
        status = next((metadata[name][0] for name in STATUSES if metadata.get(name)), "")
        code = int(status) if status.isascii() and status.isdigit() and len(status) == 3 else 0
        if digest is None and code in (0, *range(200, 300)):
            if not self._warned:
                self._warned = True
                log.warning(SILENT)
            return Seen(row.href, outcome="failed", status=code)
        return Seen(row.href, digest=digest, status=code)

    # -- giving away --------------------------------------------------------------------------------------------------

    def take(self, crawl: str | None, key: str, per_queue: int, queues: int, lease_s: float) -> list[FrontierUrl]:
        """Give URLs away, leased: at most so many per queue and so many queues; `crawl` None is any."""
        if self.store.setting("active", "yes") != "yes":
            return []
        per_queue, queues = per_queue or 1 << 20, queues or 1 << 20
        now, lease_s = self.now(), lease_s or LEASE_S
        open_queues = self.store.open_queues(crawl, key, now, due=not self.ours)
        room = {(crawl, queue): min(per_queue, left) for crawl, queue, left in open_queues}
        if self.ours:
            given = [url for name in {crawl for crawl, _ in room} for url in self._ours(name, room, queues, lease_s)]
        else:
            given = [
                url
                for (name, queue), most in list(room.items())[:queues]
                for url in self.store.due(name, queue, most, now)
            ]
        with self.writing():
            self.store.lease(given, now + lease_s, now)
        return given

    def _ours(self, crawl: str, room: dict[tuple[str, str], int], queues: int, lease_s: float) -> list[FrontierUrl]:
        """Return what the policy chooses, of queues that may give something away; the rest is given back."""
        planner = self._planner(crawl)
        wanted = sum(sorted((most for (name, _), most in room.items() if name == crawl), reverse=True)[:queues])
        chosen = planner.next(min(wanted, 10_000), lease_s=lease_s)
        given: list[FrontierUrl] = []
        back: list[int] = []
        taken: Counter[str] = Counter()
        for visit in chosen:
            url = self.store.of_page(crawl, visit.url)
            queue = "" if url is None else url.queue
            full = taken[queue] >= room.get((crawl, queue), 0) or (queue not in taken and len(taken) >= queues)
            if url is None or full:
                back.append(visit.lease)
                continue
            taken[queue] += 1
            given.append(url)
        planner.release(back)
        return given

    # -- the rest -----------------------------------------------------------------------------------------------------

    def delete(self, crawl: str, queue: str = "") -> int:
        """Delete a queue, or a whole crawl; return how many URLs it had. The history of its visits is kept."""
        if self.ours:
            planner = self._planner(crawl)
            urls = self.store.listed(crawl, queue, "", 0, -1, fold=False)
            pages = [planner.store.page_of(url.href) for url in urls]
            with planner.store.transaction():
                planner.store.bar_pages((page, int(Bar.REMOVED)) for page in pages if page is not None)
        with self.writing():
            return self.store.delete(crawl, queue)

    def set_queue(self, crawl: str, queue: str, field: str, value: float) -> None:
        """Set a delay, a block or a limit; it outlasts the process."""
        if not NAME.fullmatch(crawl):
            raise InputError(f"{crawl[:100]!r} is not a crawl's name: letters, digits, dots and dashes")
        with self.writing():
            self.store.set_queue(crawl, queue, field, value)

    def set_active(self, active: bool) -> None:
        """Let URLs be given away, or none; it outlasts the process."""
        with self.writing():
            self.store.set_setting("active", "yes" if active else "no")
