"""Cycles and their plans in the store: when visits are due, what was chosen, and what of it is still to come."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from recrawl.columns import PageIds
from recrawl.live.store_database import Database


class RunningCycle(NamedTuple):
    """A cycle that was opened and is not done."""

    cycle: int
    at: float
    budget: int


class StoredCycles:
    """The tables cycles and plan; writing is within a transaction."""

    db: Database

    def latest_at(self) -> float | None:
        """When the last visit was made or the last cycle was due, whichever is later; None before the first visit."""
        row = self.db.execute("select (select max(last_visit_at) from pages), (select max(at) from cycles)").fetchone()
        return None if None in row else float(max(row))

    def last_due_at(self) -> float | None:
        """When the visits of the last cycle were due; None before the first cycle."""
        row = self.db.execute("select max(at) from cycles").fetchone()
        return None if row[0] is None else float(row[0])

    def due_at(self) -> dict[int, float]:
        """When each cycle's visits were due."""
        return dict(self.db.execute("select cycle, at from cycles order by cycle").fetchall())

    def budgets(self) -> dict[int, int]:
        """How many visits each cycle was to have."""
        return dict(self.db.execute("select cycle, budget from cycles order by cycle").fetchall())

    def visited_at(self) -> list[float]:
        """When the visits of each cycle that has some were due."""
        visited = "unchanged + changed + first + gone + failed > 0"
        rows = self.db.execute(f"select at from cycles where {visited} order by cycle")
        return [at for (at,) in rows]

    def running(self) -> RunningCycle | None:
        """Return the cycle that is under way, or was when the crawl was interrupted."""
        row = self.db.execute("select cycle, at, budget from cycles where not done").fetchone()
        return None if row is None else RunningCycle(int(row[0]), float(row[1]), int(row[2]))

    def open_cycle(self, cycle: int, at: float, budget: int, policy: str) -> None:
        """Note that a cycle begins."""
        self.db.execute(
            "insert into cycles (cycle, at, budget, policy) values (?, ?, ?, ?)", (cycle, at, budget, policy)
        )

    def finish_cycle(self, cycle: int, notes: Sequence[str] = ()) -> None:
        """Note that a cycle is done, and what the policy has to say of its work so far."""
        self.db.execute("update cycles set done = 1 where cycle = ?", (cycle,))
        self.db.execute("insert or replace into meta values ('notes', ?)", (json.dumps(notes),))

    def notes(self) -> list[str]:
        """What the policy had to say of its work when the last cycle was done: what exploring cost and brought."""
        row = self.db.execute("select value from meta where key = 'notes'").fetchone()
        return [] if row is None else list(json.loads(row[0]))

    def heard_in(self, cycle: int) -> int | None:
        """How many sitemaps and feeds were asked in a cycle; None: not yet."""
        row = self.db.execute("select heard from cycles where cycle = ?", (cycle,)).fetchone()
        return None if row is None or row[0] is None else int(row[0])

    def note_heard(self, cycle: int, visits: int) -> None:
        """Note how many sitemaps and feeds were asked in a cycle."""
        self.db.execute("update cycles set heard = ? where cycle = ?", (visits, cycle))

    def visits_in(self, cycle: int) -> int:
        """How many visits of a cycle are recorded."""
        return int(self.db.execute("select count(*) from visits where cycle = ?", (cycle,)).fetchone()[0])

    def visits_by_host(self, cycle: int) -> dict[str, int]:
        """How many visits of a cycle each host has had."""
        rows = self.db.execute(
            "select h.name, count(*) from visits v join pages p on p.page = v.page join hosts h on h.host = p.host"
            " where v.cycle = ? group by h.name",
            (cycle,),
        )
        return dict(rows.fetchall())

    def plan(self, cycle: int, number: int, pages: Sequence[int]) -> None:
        """Note the pages of a cycle's round, in their order: planned until their visits are recorded."""
        self.db.executemany(
            "insert or replace into plan (cycle, round, rank, page) values (?, ?, ?, ?)",
            [(cycle, number, rank, page) for rank, page in enumerate(pages)],
        )

    def last_round(self, cycle: int) -> int:
        """Return the number of the last round of a cycle that has pages in the plan; 0: none."""
        ask = "select coalesce(max(round), 0) from plan where cycle = ?"
        return int(self.db.execute(ask, (cycle,)).fetchone()[0])

    def planned(self, cycle: int) -> PageIds:
        """Return the pages of a cycle that are chosen and not visited yet, in their order."""
        rows = self.db.execute("select page from plan where cycle = ? order by round, rank", (cycle,)).fetchall()
        return np.array([page for (page,) in rows], dtype=np.int64)

    def planned_rank(self, page: int) -> int | None:
        """Return a page's place in the plan of the cycle that is running; None: it is not planned."""
        row = self.db.execute("select rank from plan where page = ?", (page,)).fetchone()
        return None if row is None else int(row[0])
