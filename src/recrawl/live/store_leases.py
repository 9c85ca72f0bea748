"""Leases in the store: pages handed to another crawler, and until when its reports are awaited.

The tables are made when a planner first opens the crawl, so that stores made before there were planners can be used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from recrawl.live.store_contents import StoredContents
from recrawl.live.store_database import Database
from recrawl.live.store_visits import VisitRecord

LEASE_TABLES = """
create table if not exists leases (        -- what another crawler was given to visit, until it reports
    lease integer primary key autoincrement,
    page integer not null unique,
    until real not null,                   -- from then on the page may be given away again
    rank integer not null
) strict;

create table if not exists requests (      -- how another crawler asks for a page, as JSON
    page integer primary key,
    request text not null
) strict;

create table if not exists answers (       -- what a request with an Idempotency-Key was answered
    key text primary key,
    digest text not null,                  -- of the request's body
    answer text not null,
    at real not null
) strict, without rowid;
"""
KEPT_DAYS = 1.0  # how long an answer is kept


class PlannedPage(NamedTuple):
    """A page that the policy chose, with its place in the cycle from 1."""

    page: int
    rank: int


class PlannedCycle(NamedTuple):
    """A cycle: when its visits are due, how many there are, and whether its budget is spent or its time over."""

    cycle: int
    at: float
    budget: int
    done: bool


class StoredLeases(StoredContents):
    """The tables leases and requests, and the plan as planners use it; writing is within a transaction."""

    db: Database
    own_lease_tables = False  # a reader's, empty, since the file had none

    def make_lease_tables(self) -> None:
        """Make the tables where they are missing."""
        self.db.executescript(LEASE_TABLES)

    def see_lease_tables(self) -> None:
        """Let a reader of a store that never had a planner see empty tables, of its own."""
        if not self._has_lease_tables():
            self.db.executescript(LEASE_TABLES.replace("create table", "create temp table"))
            self.own_lease_tables = True

    def _has_lease_tables(self) -> bool:
        return self.db.execute("select 1 from main.sqlite_master where name = 'answers'").fetchone() is not None

    def misses_lease_tables(self) -> bool:
        """Whether the file has got its first planner since this reader was opened: open another."""
        return self.own_lease_tables and self._has_lease_tables()

    def leases(self) -> list[dict[str, Any]]:
        """Return what is leased: lease, URL, rank, and until when."""
        rows = self.db.execute("select lease, url, rank, until from leases join pages using (page) order by lease")
        return [dict(zip(("lease", "url", "rank", "until"), row, strict=True)) for row in rows]

    def next_lease_end(self) -> float:
        """When the next lease ends; infinity: there is none."""
        row = self.db.execute("select min(until) from leases").fetchone()
        return float("inf") if row[0] is None else float(row[0])

    def answer_to(self, key: str) -> tuple[str, str] | None:
        """Return the digest of the body that came with a key, and what was answered; None: the key is new."""
        row = self.db.execute("select digest, answer from answers where key = ?", (key,)).fetchone()
        return None if row is None else (str(row[0]), str(row[1]))

    def keep_answer(self, key: str, digest: str, text: str, at: float) -> None:
        """Keep what a request with a key was answered, and forget old answers."""
        self.db.execute("delete from answers where at < ?", (at - KEPT_DAYS,))
        self.db.execute("insert or replace into answers values (?, ?, ?, ?)", (key, digest, text, at))

    def under_way(self, cycle: int) -> list[int]:
        """Return the pages that are leased, or chosen in this cycle and not visited yet."""
        rows = self.db.execute("select page from plan where cycle = ? union select page from leases", (cycle,))
        return [page for (page,) in rows]

    def end_leases(self, at: float) -> None:
        """Forget the leases that have ended by this time."""
        self.db.execute("delete from leases where until <= ?", (at,))

    def lease(self, chosen: Sequence[PlannedPage], until: float) -> list[int]:
        """Lease these pages; return the numbers of the leases."""
        ask = "insert into leases (page, until, rank) values (?, ?, ?) returning lease"
        return [int(self.db.execute(ask, (page, until, rank)).fetchone()[0]) for page, rank in chosen]

    def release(self, leases: Iterable[int]) -> int:
        """End these leases now; return how many there were."""
        return self.db.executemany("delete from leases where lease = ?", [(int(lease),) for lease in leases]).rowcount

    def release_all(self) -> None:
        """End every lease now."""
        self.db.execute("delete from leases")

    def release_pages(self, pages: Iterable[int]) -> None:
        """End the leases of pages that were reported."""
        self.db.executemany("delete from leases where page = ?", [(int(page),) for page in pages])

    def add_to_plan(self, cycle: int, chosen: Sequence[PlannedPage]) -> None:
        """Add choices to a cycle's plan, after those before."""
        row = self.db.execute("select coalesce(max(round), 0) + 1 from plan where cycle = ?", (cycle,)).fetchone()
        self.db.executemany(
            "insert into plan (cycle, round, rank, page) values (?, ?, ?, ?)",
            [(cycle, row[0], rank, page) for page, rank in chosen],
        )

    def chosen_in(self, cycle: int) -> int:
        """How much of a cycle's budget is taken: visits made, pages chosen and not visited yet, and live leases."""
        ask = (
            "select (select count(*) from visits where cycle = :cycle) + (select count(*) from ("
            "select page from plan where cycle = :cycle union select page from leases) as chosen"
            " where page not in (select page from visits where cycle = :cycle))"
        )
        return int(self.db.execute(ask, {"cycle": cycle}).fetchone()[0])

    def waiting(self, cycle: int) -> list[PlannedPage]:
        """Return what is chosen in a cycle, not visited and not leased, in the policy's order."""
        rows = self.db.execute(
            "select page, rank from plan where cycle = ? and page not in (select page from leases)"
            " order by round, rank",
            (cycle,),
        )
        return [PlannedPage(*row) for row in rows]

    def drop_plan(self) -> None:
        """Forget what was chosen and not visited: another cycle begins."""
        self.db.execute("delete from plan")

    def upgrade_visit(self, cycle: int, record: VisitRecord) -> None:
        """Replace the outcome of a page's visit of this cycle by that of a second report."""
        visit = self.db.execute("select visit from visits where page = ? and cycle = ?", (record.page, cycle))
        number = int(visit.fetchone()[0])
        self.db.execute(
            "update visits set at = ?, outcome = ?, status = ?, note = ? where visit = ?",
            (record.at, record.outcome, record.status, record.note, number),
        )
        self.db.execute(
            "update pages set validators = ?, misses = ?, digest = coalesce(?, digest) where page = ?",
            (record.validators, record.misses, record.digest, record.page),
        )
        if record.digest is not None:
            values = (number, record.page, record.digest, record.words)
            self.db.execute("insert or replace into versions values (?, ?, ?, ?, null, null, null)", values)
        if record.kept is not None:
            self.add_contents([(number, record.page, record.kept)])

    def outcome_in(self, cycle: int, page: int) -> int:
        """The outcome of the visit to a page in a cycle that visited it."""
        row = self.db.execute("select outcome from visits where page = ? and cycle = ?", (page, cycle)).fetchone()
        return int(row[0])

    def last_cycle(self) -> PlannedCycle | None:
        """Return the last cycle, done or not; None before the first."""
        row = self.db.execute("select cycle, at, budget, done from cycles order by cycle desc limit 1").fetchone()
        return None if row is None else PlannedCycle(int(row[0]), float(row[1]), int(row[2]), bool(row[3]))

    def keep_requests(self, rows: Iterable[tuple[int, str]]) -> None:
        """Keep how pages are asked for (page, JSON)."""
        self.db.executemany("insert or replace into requests (page, request) values (?, ?)", rows)

    def request_of(self, page: int) -> str | None:
        """Return how a page is asked for, as JSON; None: not given."""
        row = self.db.execute("select request from requests where page = ?", (page,)).fetchone()
        return None if row is None else str(row[0])
