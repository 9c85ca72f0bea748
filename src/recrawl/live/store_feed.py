"""A crawl's visits as its feed reads them: in order, some at a time, while another process writes.

Every query is a transaction of its own, so a reader that is slow never keeps SQLite from clearing its log.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from recrawl.live.store_file import one_line_errors
from recrawl.live.store_place import open_to_read

Place = tuple[str, int, int]  # file, offset, length
CHANGED, FIRST, GONE, FAILED = 1, 2, 3, 4  # of recrawl.visits.Outcome, which would import numpy
_VISIT = (
    "select v.visit, v.page, p.url, p.title, v.cycle, v.at, v.outcome, v.status, v.new_internal, v.new_external,"
    " v.note, n.digest, n.warc, n.offset, n.length"
    " from visits v join pages p on p.page = v.page left join versions n on n.visit = v.visit"
)


class FeedVisit(NamedTuple):
    """A visit with the stored data of its page and version."""

    visit: int
    page: int
    url: str
    title: str | None
    cycle: int
    at: float
    outcome: int
    status: int
    new_internal: int
    new_external: int
    note: str | None
    digest: bytes | None
    warc: str | None
    offset: int | None
    length: int | None

    @property
    def place(self) -> Place | None:
        """Where its body is; None where it brought none, or none may be kept."""
        if self.warc is None or self.offset is None or self.length is None:
            return None
        return self.warc, self.offset, self.length


class CorpusRow(NamedTuple):
    """A page with its newest version and its last visit."""

    page: int
    url: str
    title: str | None
    first_seen_at: float
    changed_at: float
    digest: bytes
    words: int
    place: Place | None
    visited_at: float
    gone: bool


class FeedStore:
    """Read-only queries of the feed; nothing slow is imported."""

    def __init__(self, folder: Path) -> None:
        self.db, self.path = open_to_read(folder)

    def close(self) -> None:
        """Close the file."""
        self.db.close()

    def visits_after(self, visit: int, outcomes: Sequence[int], count: int, until: int) -> list[FeedVisit]:
        """Return the next visits after a visit, up to and including `until`, that found one of these outcomes."""
        places = ", ".join("?" * len(outcomes))
        ask = f"{_VISIT} where v.visit > ? and v.visit <= ? and v.outcome in ({places}) order by v.visit limit ?"
        with one_line_errors(self.path):
            return [FeedVisit(*row) for row in self.db.execute(ask, (visit, until, *outcomes, count))]

    def visits_before_end(self, outcomes: Sequence[int], count: int) -> int:
        """Return the visit after which there are `count` visits with one of these outcomes; 0: there are fewer."""
        places = ", ".join("?" * len(outcomes))
        ask = f"select visit from visits where outcome in ({places}) order by visit desc limit 1 offset ?"
        with one_line_errors(self.path):
            row = self.db.execute(ask, (*outcomes, count)).fetchone()
        return 0 if row is None else int(row[0])

    def last_visit(self) -> int:
        """Return the number of the last visit recorded; 0 before the first."""
        with one_line_errors(self.path):
            return int(self.db.execute("select coalesce(max(visit), 0) from visits").fetchone()[0])

    def first_visit_at(self, at: float) -> int:
        """Return a visit before which none was made at `at` or later, as far as visits are recorded in their order."""
        low, high = 0, self.last_visit()
        with one_line_errors(self.path):
            while low < high:
                middle = (low + high + 1) // 2
                row = self.db.execute("select at from visits where visit >= ? order by visit", (middle,)).fetchone()
                low, high = (middle, high) if row is not None and row[0] < at else (low, middle - 1)
        return low

    def version_before(self, page: int, visit: int) -> tuple[int, float, Place | None] | None:
        """Return the page's version before a visit: its visit, when, and where its body is."""
        ask = (
            "select n.visit, v.at, n.warc, n.offset, n.length from versions n join visits v on v.visit = n.visit"
            " where n.page = ? and n.visit < ? order by n.visit desc limit 1"
        )
        with one_line_errors(self.path):
            row = self.db.execute(ask, (page, visit)).fetchone()
        return None if row is None else (row[0], row[1], None if row[2] is None else (row[2], row[3], row[4]))

    def cycle(self, number: int) -> tuple[float, str, int, bool] | None:
        """Return when a cycle's visits were due, its policy, its budget, and whether it is done."""
        with one_line_errors(self.path):
            row = self.db.execute("select at, policy, budget, done from cycles where cycle = ?", (number,)).fetchone()
        return None if row is None else (row[0], row[1], row[2], bool(row[3]))

    def cycles_done_after(self, number: int) -> list[int]:
        """Return the cycles after a cycle that are done, in order."""
        with one_line_errors(self.path):
            rows = self.db.execute("select cycle from cycles where cycle > ? and done order by cycle", (number,))
            return [cycle for (cycle,) in rows]

    def last_visit_of(self, cycle: int) -> int:
        """Return the last visit of a cycle, or of the last one before that had any; 0: none had."""
        ask = "select visit from visits where cycle <= ? order by cycle desc, visit desc limit 1"
        with one_line_errors(self.path):
            row = self.db.execute(ask, (cycle,)).fetchone()
        return 0 if row is None else int(row[0])

    def outcomes_of(self, cycle: int) -> dict[int, int]:
        """Count a cycle's visits by what they found."""
        ask = "select unchanged, changed, first, gone, failed from cycles where cycle = ?"
        with one_line_errors(self.path):
            row = self.db.execute(ask, (cycle,)).fetchone()
        return {outcome: count for outcome, count in enumerate(row or ()) if count}

    def corpus_after(self, page: int, count: int) -> list[CorpusRow]:
        """Return the next pages after a page that we have a copy of, each with its newest version and last visit."""
        ask = (
            "select p.page, p.url, p.title, p.first_seen_at, v.at, n.digest, n.words, n.warc, n.offset, n.length,"
            " l.at, l.outcome from (select * from pages where page > ? and digest is not null order by page limit ?) p"
            " join versions n on n.visit = (select visit from versions where page = p.page order by visit desc limit 1)"
            " join visits v on v.visit = n.visit"
            " join visits l on l.page = p.page and l.cycle ="
            " (select cycle from visits where page = p.page order by cycle desc limit 1) order by p.page"
        )
        with one_line_errors(self.path):
            rows = self.db.execute(ask, (page, count)).fetchall()
        return [
            CorpusRow._make((*row[:7], None if row[7] is None else row[7:10], row[10], row[11] == GONE)) for row in rows
        ]
