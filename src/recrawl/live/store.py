"""A crawl's store: one SQLite file that survives kill -9, read by others while one process writes.

WAL with full sync: what a committed transaction recorded is on disk. The columns in memory are a cache of it and are
rebuilt from the visits when a crawl starts. The tables are grouped by noun in the modules store_*.py. The same
statements run on PostgreSQL (recrawl.live.postgres).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.columns import PageIds
from recrawl.errors import StoreError
from recrawl.live.store_bars import StoredBars
from recrawl.live.store_contents import CONTENT_TABLES
from recrawl.live.store_cycles import StoredCycles
from recrawl.live.store_dashboard import StoredDashboard
from recrawl.live.store_database import Database
from recrawl.live.store_file import (
    CHECKED_BYTES,
    LOOKED_AT_BYTES,
    check_file,
    connect,
    make_missing_indexes,
    one_line_errors,
)
from recrawl.live.store_history import StoredHistory
from recrawl.live.store_leases import StoredLeases
from recrawl.live.store_segments import StoredSegments
from recrawl.live.store_visits import Copy, Rows, StoredVisits, signed
from recrawl.live.storeschema import APPLICATION_ID, FORMAT, INDEXES, TABLES, TRIGGERS

if TYPE_CHECKING:  # readers of a store need no index: its kernels would cost them the start
    from recrawl.urls.urlindex import Hashes, UrlIndex

MANY = 200  # rows read at once

__all__ = ["Store", "one_line_errors"]

PAGE_COLUMNS = np.dtype([("url_hash", "i8"), ("host", "i4"), ("first_seen_at", "f8"), ("found_on", "i8")])


class Store(StoredVisits, StoredCycles, StoredBars, StoredHistory, StoredLeases, StoredDashboard, StoredSegments):
    """One crawl's tables. Opening checks that the file is a whole store of this version."""

    db: Database
    begin_writing = "begin immediate"
    begin_reading = "begin"

    def __init__(self, db: Database, path: Path | str) -> None:
        self.db = db
        self.path = path  # of the file, or the database's address
        self._index: UrlIndex | None = None
        self._hosts: dict[str, int] = {}

    @classmethod
    def create(cls, path: Path) -> Store:
        """Make a new store; an existing file is refused."""
        if path.exists():
            raise StoreError(f"{path} exists already")
        db = connect(path, "rwc")
        numbers = f"pragma application_id = {APPLICATION_ID}; pragma user_version = {FORMAT};"
        db.executescript(f"{numbers} {TABLES} {CONTENT_TABLES} {INDEXES} {TRIGGERS}")
        return cls(db, path)

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> Store:
        """Open an existing store; readers do not disturb the writer."""
        if not path.is_file():
            raise StoreError(f"{path} does not exist")
        db = connect(path, "ro" if read_only else "rw")
        store = cls(db, path)
        try:
            with one_line_errors(path):
                check_file(db, path, whole=LOOKED_AT_BYTES if read_only else CHECKED_BYTES)
                if not read_only:
                    make_missing_indexes(db)
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def open_reader(cls, path: Path) -> Store:
        """Open an existing store to read from any thread, one at a time, without checking the whole of it."""
        if not path.is_file():
            raise StoreError(f"{path} does not exist")
        db = connect(path, "ro", one_thread=False)
        store = cls(db, path)
        with one_line_errors(path):
            check_file(db, path, whole=0)
            store.see_lease_tables()
        return store

    @property
    def index(self) -> UrlIndex:
        """The pages by URL; empty until `load_index`."""
        if self._index is None:
            self._index = _new_index(0)
        return self._index

    def close(self) -> None:
        """Close the file."""
        self.db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; on return it is on disk."""
        with one_line_errors(self.path):
            self.db.execute(self.begin_writing)
            try:
                yield
                self.db.execute("commit")
            except BaseException:
                self._forget()
                if self.db.in_transaction:  # a full disk may have rolled back by itself
                    self.db.execute("rollback")
                raise

    @contextmanager
    def group(self) -> Iterator[None]:
        """A transaction of a few visits: what SQLite notes to undo one statement of it stays in memory, not in a file.

        Not for any transaction: it would sort a whole table there, too.
        """
        self.db.execute("pragma temp_store = memory")
        try:
            with self.transaction():
                yield
        finally:
            self.db.execute("pragma temp_store = default")

    def _forget(self) -> None:
        """A transaction is undone: forget what it had made."""
        self._hosts.clear()

    def read_one_moment(self) -> None:
        """Read from now on what is recorded now, whatever is recorded meanwhile; for readers, until they close."""
        self.db.execute(self.begin_reading)

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """Read what is recorded now, whatever is recorded meanwhile, for as long as this lasts."""
        with one_line_errors(self.path):
            self.read_one_moment()
            try:
                yield
            finally:
                self.db.execute("rollback")

    # -- pages ------------------------------------------------------------------------------------------------------

    def load_index(self) -> Rows:
        """Read the known pages, in their order, and index their URLs; returns the columns of PAGE_COLUMNS."""
        with one_line_errors(self.path):
            count = self.db.execute("select count(*) from pages").fetchone()[0]
            rows = self.page_rows(0, count)
        self._index = _new_index(count)
        self.index.add(np.ascontiguousarray(rows["url_hash"]).view(np.uint64))
        return rows

    def page_rows(self, first: int, last: int) -> Rows:
        """Return the columns of PAGE_COLUMNS of the pages from `first` to before `last`, in their order."""
        ask = "select url_hash, host, first_seen_at, coalesce(found_on, -1) from pages where page >= ? and page < ?"
        return np.fromiter(self.db.execute(f"{ask} order by page", (first, last)), dtype=PAGE_COLUMNS)

    def add_pages(
        self,
        urls: Sequence[str],
        hosts: Sequence[str],
        at: float | Sequence[float],
        found_on: Sequence[int] | None = None,
        hashes: Hashes | None = None,
        *,
        announced: bool = False,
    ) -> PageIds:
        """Add the URLs that are not known yet, within a transaction; return every URL's page.

        Pages that are neither found on another (`found_on`) nor announced by a sitemap were added by the user: their
        hosts are the crawl's scope where its settings name none.
        """
        if not urls:
            return np.empty(0, dtype=np.int64)
        from recrawl.urls.urlindex import url_hashes

        hashes = url_hashes(urls) if hashes is None else hashes
        pages, fresh = self.index.add(hashes)
        keys, numbers = hashes.view(np.int64).tolist(), pages.tolist()
        times = [at] * len(urls) if isinstance(at, (int, float)) else at
        parents: Sequence[int | None] = [None] * len(urls) if found_on is None else found_on
        new = fresh.tolist()
        host_numbers = self._number_hosts([hosts[i] for i in new])
        self.db.executemany(
            "insert into pages (page, url, url_hash, host, first_seen_at, found_on) values (?, ?, ?, ?, ?, ?)",
            [(numbers[i], urls[i], keys[i], host_numbers[hosts[i]], times[i], parents[i]) for i in new],
        )
        if found_on is None and not announced:
            self.db.executemany("update hosts set added = 1 where name = ?", [(name,) for name in set(hosts)])
        return pages

    def page_of(self, url: str) -> int | None:
        """Find a page by its normalised URL."""
        from recrawl.urls.urlindex import url_hash

        row = self.db.execute("select page from pages where url_hash = ?", (signed(url_hash(url)),)).fetchone()
        return None if row is None else int(row[0])

    def urls(self, pages: Iterable[int]) -> list[str]:
        """Return the pages' URLs."""
        return [url for _, url in self._by_page("page, url", pages)]

    def copies(self, pages: Iterable[int]) -> list[Copy]:
        """Return what is stored of these pages, for a visit to each."""
        return list(starmap(Copy, self._by_page("page, url, validators, digest, links_digest, misses", pages)))

    def copy(self, page: int) -> Copy:
        """Return what is stored of one page, for a visit to it."""
        ask = "select page, url, validators, digest, links_digest, misses from pages where page = ?"
        return Copy(*self.db.execute(ask, (page,)).fetchone())

    def _by_page(self, columns: str, pages: Iterable[int]) -> Iterator[tuple[Any, ...]]:
        """Yield these columns for each page, many pages per query; the first column is the page."""
        rest = iter(pages)
        while asked := [int(page) for page in islice(rest, MANY)]:
            places = ", ".join("?" * len(asked))
            rows = {
                row[0]: row for row in self.db.execute(f"select {columns} from pages where page in ({places})", asked)
            }
            yield from (rows[page] for page in asked)

    def _number_hosts(self, names: Iterable[str]) -> Mapping[str, int]:
        """Return the numbers of hosts, adding those that are new, in their order."""
        strange = iter([name for name in dict.fromkeys(names) if name not in self._hosts])
        while asked := list(islice(strange, MANY)):
            places = ", ".join("?" * len(asked))
            self._hosts.update(self.db.execute(f"select name, host from hosts where name in ({places})", asked))
            new = [name for name in asked if name not in self._hosts]
            rows = list(enumerate(new, self.last_host() + 1)) if new else []
            self.db.executemany("insert into hosts (host, name) values (?, ?)", rows)
            self._hosts.update((name, number) for number, name in rows)
        return self._hosts

    # -- hosts ------------------------------------------------------------------------------------------------------

    def hosts(self) -> dict[int, str]:
        """Return the names of all hosts by number."""
        return dict(self.db.execute("select host, name from hosts order by host").fetchall())

    def last_host(self) -> int:
        """Return the largest number of a host; 0: there is none."""
        return int(self.db.execute("select coalesce(max(host), 0) from hosts").fetchone()[0])

    def pages_by_host(self) -> dict[str, int]:
        """How many pages each host has."""
        return dict(self.db.execute("select name, pages from hosts where pages > 0").fetchall())

    def waiting_by_host(self) -> dict[str, int]:
        """How many pages of each host we have no copy of."""
        return dict(self.db.execute("select name, pages - fetched from hosts where pages > fetched").fetchall())

    def gates(self) -> list[str]:
        """Return the politeness states of hosts, as JSON."""
        return [gate for (gate,) in self.db.execute("select gate from hosts where gate is not null")]

    def keep_gates(self, rows: Iterable[tuple[str, str]]) -> None:
        """Keep hosts' politeness states (host, JSON), within a transaction."""
        states = list(rows)
        numbers = self._number_hosts([host for host, _ in states])
        self.db.executemany(
            "update hosts set gate = ? where host = ?", [(state, numbers[host]) for host, state in states]
        )

    def robots(self) -> list[str]:
        """Return robots.txt files as last fetched, as JSON."""
        return [record for (record,) in self.db.execute("select record from robots")]

    def keep_robots(self, rows: Iterable[tuple[str, str]]) -> None:
        """Keep robots.txt files (origin, JSON), within a transaction."""
        self.db.executemany("insert or replace into robots (origin, record) values (?, ?)", rows)


def _new_index(pages: int) -> UrlIndex:
    from recrawl.urls.urlindex import UrlIndex

    return UrlIndex(pages)
