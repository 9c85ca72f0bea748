"""Leases in the store: pages that another crawler was given to visit, and until when its reports are waited for.

The tables are made when a planner first opens the crawl, so that stores made before there were planners can be used.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

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
"""


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


class StoredLeases:
    """The tables leases and requests, and the plan as planners use it; writing is within a transaction."""

    db: sqlite3.Connection

    def make_lease_tables(self) -> None:
        """Make the tables where they are missing."""
        self.db.executescript(LEASE_TABLES)

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

    def release(self, leases: Iterable[int]) -> None:
        """End these leases now."""
        self.db.executemany("delete from leases where lease = ?", [(int(lease),) for lease in leases])

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
            "select page from plan where cycle = :cycle union select page from leases)"
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
        """Let a page's visit of this cycle have found what a second report of it says."""
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

    def outcome_in(self, cycle: int, page: int) -> int:
        """What the visit to a page found in a cycle in which there was one."""
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
        """Return how a page is asked for, as JSON; None: it was never said."""
        row = self.db.execute("select request from requests where page = ?", (page,)).fetchone()
        return None if row is None else str(row[0])
