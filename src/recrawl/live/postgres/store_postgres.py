"""A crawl's store in PostgreSQL: the statements of `Store`, on a database that several machines reach."""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from recrawl.errors import HeldError, StoreError
from recrawl.live.packed_links import unpack_lines, unpack_stored
from recrawl.live.postgres.store_arrivals import ARRIVED, add_first_links, take_visits
from recrawl.live.postgres.store_connection import PostgresDatabase, connect_to
from recrawl.live.postgres.store_dialect import definitions
from recrawl.live.postgres.store_format import FORMAT, check_format, format_in
from recrawl.live.postgres.store_pg_schema import (
    FIRST_FORMAT,
    FLEET_TABLES,
    INDEXES,
    STEPS,
    STORAGE,
    TRIGGERS,
)
from recrawl.live.store import Store
from recrawl.live.store_place import StoreSettings
from recrawl.live.store_visits import VisitRecord

_HERE = "hashtext(current_database() || current_schema())"
LOCK_S = 3.0  # how long the database may take to notice that the process before has died
SETTINGS = "settings"  # where the text of recrawl.toml is kept, for workers
CRAWL, PLANNER = 2, 3  # what an advisory lock is for
_MARK, _NOW = (
    "counters",
    str(zlib.crc32(f"{STORAGE}{INDEXES}{TRIGGERS}".encode())),
)  # which indexes and triggers a store has


class PostgresStore(Store):
    """One crawl's tables in one schema of a database; writing transactions follow each other, as in SQLite."""

    db: PostgresDatabase
    begin_writing = f"begin; select pg_advisory_xact_lock({_HERE}, 1)"
    begin_reading = "begin isolation level repeatable read read only"
    _takes_visits = False  # whether this connection is ready for them

    @classmethod
    def create_in(cls, place: StoreSettings, settings: str) -> None:
        """Make the tables of a new crawl with these settings; a database that has one is refused."""
        db = connect_to(place.url, place.password_file)
        try:
            if format_in(db) is not None:
                raise StoreError(f"{place.url} has a crawl already")
            db.executescript(
                f"begin; {definitions()} {STORAGE} {INDEXES} {TRIGGERS} {FLEET_TABLES}"
                f" insert into meta values ('format', '{FORMAT}'), ('{_MARK}', '{_NOW}'); commit;"
            )
            cls(db, place.url).set_meta(SETTINGS, settings)
        finally:
            db.close()

    @classmethod
    def open_in(cls, place: StoreSettings, *, read_only: bool = False) -> PostgresStore:
        """Open the crawl of a database; one of another format is refused."""
        db = connect_to(place.url, place.password_file, read_only=read_only)
        try:
            check_format(db)
        except BaseException:
            db.close()
            raise
        return cls(db, place.url)

    def make_lease_tables(self) -> None:
        """Nothing: they are made with the others."""

    def see_lease_tables(self) -> None:
        """Nothing: every store has them."""

    def misses_lease_tables(self) -> bool:
        """Never."""
        return False

    def make_segment_table(self) -> None:
        """Nothing: it is made with the others."""

    def _misses_segment_table(self) -> bool:
        return False

    def _stream(self, ask: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        return self.db.stream(ask, values)

    @contextmanager
    def group(self) -> Iterator[None]:
        """A transaction of a few visits."""
        with self.transaction():
            yield

    def add_visits(self, cycle: int, records: Sequence[VisitRecord], new_links: Sequence[tuple[int, int]]) -> int:
        """Record visits, their versions and what the pages' rows should now say; return the first visit's number."""
        if not self._takes_visits:
            renew_counters(self.db)
            self.db.executescript(ARRIVED)
            self._takes_visits = True
        first = take_visits(self.db, cycle, records, new_links)
        self.judge_signals([(r.page, r.outcome) for r in records])
        return first

    def _add_first_links(self, records: Sequence[VisitRecord], pages: Mapping[str, int]) -> None:
        add_first_links(self.db, records, pages)

    def _first_links(self, page: int | None) -> Iterator[tuple[int, Iterator[tuple[Any, ...]]]]:
        ask, one = "select page, first_seen_at, links, targets from first_links", page is not None
        rows = self.db.execute(f"{ask} where page = ?", (page,)) if one else self._stream(f"{ask} order by page")
        for source, at, links, targets in rows:
            if targets is None:  # lines of text, from format 4
                yield source, ((*row, at, None) for row in unpack_lines(bytes(links).decode()))
            else:
                yield source, unpack_stored(at, links, targets)

    def _narrowed(self, column: str, value: float | None, count: int) -> list[str]:
        """Return that the pages visited last are among the last visits: pages have no index that each visit changes."""
        if column != "last_visit_at":
            return []
        until = f"at <= '{'infinity' if value is None else repr(value)}'::float8"
        ask = f"select at from visits where {until} order by at desc limit 1 offset ?"
        row = self.db.execute(ask, (4 * count,)).fetchone()
        if row is None:
            return []
        since = f"'{row[0]!r}'::float8"
        return [f"last_visit_at >= {since} and page in (select page from visits where {until} and at >= {since})"]

    def _forget(self) -> None:
        super()._forget()
        self._takes_visits = False  # the table that takes them may have been made in what was undone

    def hold(self) -> None:
        """Be the one planner for as long as this connection lasts."""
        _lock(self.db, PLANNER, f"{self.path} is being crawled by another process")


def upgrade_in(place: StoreSettings) -> int:
    """Bring a store in PostgreSQL to this format, in one transaction; return the format it had."""
    db = connect_to(place.url, place.password_file)
    try:
        before = format_in(db)
        if before is None:
            check_format(db)
        assert before is not None, "checked"
        if before == FORMAT:
            db.execute(PostgresStore.begin_writing)
            renew_counters(db)
            db.execute("commit")
            return before
        if before > FORMAT or any(step not in STEPS for step in range(before, FORMAT)):
            newer = f"this recrawl reads format {FORMAT}; use a newer recrawl"
            oldest = f"stores in PostgreSQL from format {min(STEPS, default=FIRST_FORMAT)} on can be upgraded"
            raise StoreError(f"{place.url} has format {before}; {newer if before > FORMAT else oldest}")
        steps = " ".join(STEPS[step] for step in range(before, FORMAT))
        _lock(db, CRAWL, f"{place.url} is being crawled by another process")
        db.executescript(f"begin; {steps} update meta set value = '{FORMAT}' where key = 'format';")
        renew_counters(db)
        db.execute("commit")
        return before
    finally:
        db.close()


def renew_counters(db: PostgresDatabase) -> None:
    """Give a store that an earlier recrawl made the indexes and triggers of this one, within a transaction."""
    if db.execute("select value from meta where key = ?", (_MARK,)).fetchone() == (_NOW,):
        return
    made = re.sub("create index", "create index if not exists", INDEXES)
    made = re.sub("create function", "create or replace function", made)
    db.executescript(f"{STORAGE} {made} {TRIGGERS}")
    db.execute("insert or replace into meta values (?, ?)", (_MARK, _NOW))


@contextmanager
def crawl_lock(place: StoreSettings) -> Iterator[None]:
    """Let only one process at a time, on whatever machine, change the crawl; it ends with the connection."""
    db = connect_to(place.url, place.password_file)
    try:
        _lock(db, CRAWL, f"{place.url} is being crawled by another process")
        yield
    finally:
        db.close()


def is_crawled(place: StoreSettings) -> bool:
    """Whether a process holds the crawl now."""
    db = connect_to(place.url, place.password_file, read_only=True)
    try:
        ask = "select 1 from pg_locks where locktype = 'advisory' and database ="
        mine = f"(select oid from pg_database where datname = current_database()) and objid = {CRAWL}"
        here = f"classid = ({_HERE}::bigint & 4294967295)::oid"
        return db.execute(f"{ask} {mine} and {here} and granted").fetchone() is not None
    finally:
        db.close()


def _lock(db: PostgresDatabase, what: int, held: str) -> None:
    until_s = time.monotonic() + LOCK_S
    ask = f"select pg_try_advisory_lock({_HERE}, {what})"
    while db.execute(ask).fetchone() != (True,):
        if time.monotonic() > until_s:
            raise HeldError(held)
        time.sleep(0.05)
