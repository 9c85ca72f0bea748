"""A crawl's store: one SQLite file that survives kill -9, read by others while one process writes.

WAL with full sync: what a committed transaction recorded is on disk. The columns in memory are a cache of it and are
rebuilt from the visits when a crawl starts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recrawl.columns import PageIds
from recrawl.errors import StoreError
from recrawl.remember.storeschema import APPLICATION_ID, FORMAT, TABLES
from recrawl.remember.urlindex import UrlIndex, url_hash, url_hashes

CHECKED_BYTES = 64 << 20  # a store up to this size is checked whole on opening
BUSY_S = 10.0  # how long to wait for another process's lock
CHUNK = 500_000  # visits read at once

PAGE_COLUMNS = np.dtype([("url_hash", "i8"), ("host", "i4"), ("first_seen_at", "f8"), ("seed", "?")])
VISIT_COLUMNS = np.dtype(
    [
        ("cycle", "i4"),
        ("page", "i8"),
        ("at", "f8"),
        ("outcome", "u1"),
        ("new_internal", "i4"),
        ("new_external", "i4"),
        ("change_size", "f8"),
    ]
)
Rows = npt.NDArray[Any]  # a structured array


@dataclass(frozen=True, slots=True)
class SeenLink:
    """A link as a visit showed it."""

    url: str
    anchor: str
    internal: bool


@dataclass(frozen=True, slots=True)
class VisitRecord:
    """Everything that one visit leaves in the store."""

    page: int
    at: float
    outcome: int
    status: int = 0
    body_bytes: int = 0
    elapsed_s: float = 0.0
    note: str | None = None
    validators: str = "{}"
    title: str = ""
    digest: bytes | None = None  # None: nothing that is a version
    simhash: int = 0
    words: int = 0
    change_size: float = 0.0
    warc: tuple[str, int, int] | None = None  # file, offset, length
    links: tuple[SeenLink, ...] | None = None  # None: the visit says nothing of the links


class Store:
    """The writer's view. Opening checks that the file is a whole store of this version."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self.db = db
        self.path = path
        self.index = UrlIndex()
        self._hosts: dict[str, int] = {}

    @classmethod
    def create(cls, path: Path) -> Store:
        """Make a new store; an existing file is refused."""
        if path.exists():
            raise StoreError(f"{path} exists already")
        db = _connect(path, "rwc")
        db.executescript(f"pragma application_id = {APPLICATION_ID}; pragma user_version = {FORMAT}; {TABLES}")
        return cls(db, path)

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> Store:
        """Open an existing store; readers do not disturb the writer."""
        if not path.is_file():
            raise StoreError(f"{path} does not exist")
        store = cls(_connect(path, "ro" if read_only else "rw"), path)
        with told(path):
            store._check()
        return store

    def close(self) -> None:
        """Close the file."""
        self.db.close()

    def _check(self) -> None:
        application = self.db.execute("pragma application_id").fetchone()[0]
        version = self.db.execute("pragma user_version").fetchone()[0]
        if application != APPLICATION_ID:
            raise StoreError(f"{self.path} is not a recrawl store")
        if version != FORMAT:
            raise StoreError(f"{self.path} has format {version}; this recrawl reads format {FORMAT}")
        pages, size = (self.db.execute(f"pragma {what}").fetchone()[0] for what in ("page_count", "page_size"))
        wal = self.path.with_name(self.path.name + "-wal")
        if self.path.stat().st_size < pages * size and not (wal.exists() and wal.stat().st_size):
            raise StoreError(f"{self.path} is truncated: {self.path.stat().st_size} bytes of {pages * size}")
        if pages * size <= CHECKED_BYTES:
            found = self.db.execute("pragma quick_check(1)").fetchone()[0]
            if found != "ok":
                raise StoreError(f"{self.path} is corrupt: {str(found).splitlines()[0]}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; on return it is on disk."""
        with told(self.path):
            self.db.execute("begin immediate")
            try:
                yield
                self.db.execute("commit")
            except BaseException:
                self._hosts.clear()
                if self.db.in_transaction:  # a full disk may have rolled back by itself
                    self.db.execute("rollback")
                raise

    # -- pages ------------------------------------------------------------------------------------------------------

    def load_index(self) -> Rows:
        """Read the known pages, in their order, and index their URLs; returns the columns of PAGE_COLUMNS."""
        with told(self.path):
            count = self.db.execute("select count(*) from pages").fetchone()[0]
            ask = "select url_hash, host, first_seen_at, found_on is null from pages order by page"
            rows = np.fromiter(self.db.execute(ask), dtype=PAGE_COLUMNS, count=count)
        self.index = UrlIndex(count)
        self.index.add(np.ascontiguousarray(rows["url_hash"]).view(np.uint64))
        return rows

    def add_pages(self, urls: Sequence[str], hosts: Sequence[str], at: float, found_on: int | None = None) -> PageIds:
        """Add the URLs that are not known yet, within a transaction; return every URL's page."""
        if not urls:
            return np.empty(0, dtype=np.int64)
        hashes = url_hashes(urls)
        pages, fresh = self.index.add(hashes)
        keys = hashes.view(np.int64)
        self.db.executemany(
            "insert into pages (page, url, url_hash, host, first_seen_at, found_on) values (?, ?, ?, ?, ?, ?)",
            [(int(pages[i]), urls[i], int(keys[i]), self.host(hosts[i]), at, found_on) for i in fresh.tolist()],
        )
        return pages

    def page_of(self, url: str) -> int | None:
        """Find a page by its normalised URL."""
        row = self.db.execute("select page from pages where url_hash = ?", (signed(url_hash(url)),)).fetchone()
        return None if row is None else int(row[0])

    def urls(self, pages: Iterable[int]) -> list[str]:
        """Return the pages' URLs."""
        ask = "select url from pages where page = ?"
        return [self.db.execute(ask, (int(page),)).fetchone()[0] for page in pages]

    def host(self, name: str) -> int:
        """Return the number of a host, adding it where it is new."""
        if name not in self._hosts:
            self.db.execute("insert or ignore into hosts (name) values (?)", (name,))
            self._hosts[name] = int(self.db.execute("select host from hosts where name = ?", (name,)).fetchone()[0])
        return self._hosts[name]

    # -- visits -----------------------------------------------------------------------------------------------------

    def add_visit(self, cycle: int, seen: VisitRecord, new_links: tuple[int, int] = (0, 0)) -> int:
        """Record a visit, its version and what the page's row should now say, within a transaction."""
        values = (seen.page, cycle, seen.at, seen.outcome, seen.status, seen.body_bytes, seen.elapsed_s, *new_links)
        visit = self.db.execute(
            "insert into visits (page, cycle, at, outcome, status, body_bytes, elapsed_s, new_internal, new_external,"
            " change_size, note) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*values, seen.change_size, seen.note),
        ).lastrowid
        assert visit is not None, "an insert has a row"
        if seen.digest is None:
            self.db.execute("update pages set validators = ? where page = ?", (seen.validators, seen.page))
        else:
            self.db.execute(
                "update pages set validators = ?, title = ?, digest = ?, simhash = ? where page = ?",
                (seen.validators, seen.title, seen.digest, signed(seen.simhash), seen.page),
            )
            self.db.execute(
                "insert into versions (visit, page, digest, words, warc, offset, length) values (?, ?, ?, ?, ?, ?, ?)",
                (visit, seen.page, seen.digest, seen.words, *(seen.warc or (None, None, None))),
            )
        self.db.execute("delete from plan where cycle = ? and page = ?", (cycle, seen.page))
        return visit

    def set_links(self, seen: VisitRecord, pages: Mapping[str, int | None]) -> tuple[int, int]:
        """Bring the page's links up to date; return how many internal and external ones our copy did not have."""
        rows = self.db.execute("select target, gone_at is null from links where page = ?", (seen.page,))
        before = {target: bool(there) for target, there in rows}
        shown = {link.url: link for link in seen.links or ()}
        fresh = [link for url, link in shown.items() if not before.get(url, False)]
        self.db.executemany(
            "insert into links (page, target, target_page, internal, anchor, first_seen_at) values (?, ?, ?, ?, ?, ?)"
            " on conflict (page, target) do update set gone_at = null",
            [(seen.page, link.url, pages.get(link.url), link.internal, link.anchor, seen.at) for link in fresh],
        )
        lost = [(seen.at, seen.page, url) for url, there in before.items() if there and url not in shown]
        self.db.executemany("update links set gone_at = ? where page = ? and target = ?", lost)
        internal = sum(link.internal for link in fresh)
        return internal, len(fresh) - internal

    def visits_in_order(self) -> Iterator[Rows]:
        """Yield all visits in their order, columns of VISIT_COLUMNS; the visits of one piece are of one cycle."""
        names = ", ".join(VISIT_COLUMNS.names or ())
        cursor = self.db.execute(f"select {names} from visits order by visit")
        while True:
            rows = np.fromiter(islice(cursor, CHUNK), dtype=VISIT_COLUMNS)
            if not len(rows):
                return
            cuts = np.flatnonzero(np.diff(rows["cycle"])) + 1
            yield from np.split(rows, cuts)


_SAID = {
    "database is locked": "another process holds the store",
    "database or disk is full": "the disk is full; what was recorded before is safe",
    "disk I/O error": "the disk failed or is full; what was recorded before is safe",
    "file is not a database": "not a recrawl store, or a damaged one",
    "database disk image is malformed": "the store is corrupt",
}


def signed(number: int) -> int:
    """Return 64 unsigned bits as the signed number that SQLite holds."""
    return number - 2**64 if number >= 2**63 else number


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Say SQLite's errors in one line."""
    try:
        yield
    except sqlite3.DatabaseError as wrong:
        raise StoreError(f"{path}: {_SAID.get(str(wrong), wrong)}") from None


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    with told(path):
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=BUSY_S)
        if mode != "ro":
            db.execute("pragma journal_mode = wal")
            db.execute("pragma synchronous = full")
        return db
