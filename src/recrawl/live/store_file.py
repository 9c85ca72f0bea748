"""Open and check a crawl's SQLite file, with errors in one line; without numpy, so that readers start quickly."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recrawl.errors import StoreError
from recrawl.live.storeschema import APPLICATION_ID, FORMAT, INDEXES

CHECKED_BYTES = 64 << 20  # a store up to this size is checked whole before it is written to
LOOKED_AT_BYTES = 2 << 20  # ... and before it is read, which should take no time
BUSY_S = 10.0  # how long to wait for another process's lock
CACHE_KB = 32_768  # at most; SQLite's own 2 MB are less than a group of visits, whose pages are then written twice
CHECKPOINT_PAGES = 4_000  # of the log: the same few pages are written to over and over, and copied once per checkpoint
_SAID = {
    "database is locked": "another process holds the store",
    "database or disk is full": "the disk is full; what was recorded before is safe",
    "disk I/O error": "the disk failed or is full; what was recorded before is safe",
    "file is not a database": "not a recrawl store, or a damaged one",
    "attempt to write a readonly database": "no permission to write, which SQLite needs to read, too",
    "unable to open database file": "it cannot be opened; is there permission to read and write it and its folder?",
    "database disk image is malformed": "the store is corrupt",
}


@contextmanager
def one_line_errors(path: Path | str) -> Iterator[None]:
    """Raise SQLite's errors as a StoreError of one line."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path}: {_SAID.get(str(error), error)}") from None


def connect(path: Path, mode: str, *, one_thread: bool = True, wal: bool = True) -> sqlite3.Connection:
    """Open an SQLite file: "ro" to read, "rw" to write, "rwc" to make it; `wal`: with a write-ahead log."""
    address = f"{path.absolute().as_uri()}?mode={mode}"
    with one_line_errors(path):
        db = sqlite3.connect(address, uri=True, isolation_level=None, timeout=BUSY_S, check_same_thread=one_thread)
        if mode != "ro" and wal:
            db.execute("pragma journal_mode = wal")
            db.execute("pragma synchronous = full")
            db.execute(f"pragma cache_size = -{CACHE_KB}")
            db.execute(f"pragma wal_autocheckpoint = {CHECKPOINT_PAGES}")
        return db


def format_of(db: sqlite3.Connection, path: Path) -> int:
    """Return the format of a store; StoreError where the file is something else."""
    if db.execute("pragma application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreError(f"{path} is not a recrawl store")
    return int(db.execute("pragma user_version").fetchone()[0])


def check_file(db: sqlite3.Connection, path: Path, *, whole: int = CHECKED_BYTES) -> None:
    """Check that the file is a store of this version and, up to a size in bytes, that it is not corrupt."""
    version = format_of(db, path)
    if version != FORMAT:
        hint = f"`recrawl upgrade -C {path.parent}` brings it there" if version < FORMAT else "use a newer recrawl"
        raise StoreError(f"{path} has format {version}; this recrawl reads format {FORMAT}; {hint}")
    pages, size = (db.execute(f"pragma {what}").fetchone()[0] for what in ("page_count", "page_size"))
    wal = path.with_name(path.name + "-wal")
    if path.stat().st_size < pages * size and not (wal.exists() and wal.stat().st_size):
        raise StoreError(f"{path} is truncated: {path.stat().st_size} bytes of {pages * size}")
    if pages * size <= whole:
        found = db.execute("pragma quick_check(1)").fetchone()[0]
        if found != "ok":
            raise StoreError(f"{path} is corrupt: {str(found).splitlines()[0]}")


def make_missing_indexes(db: sqlite3.Connection) -> None:
    """Make the indexes that a store of this format does not have yet: they were added to the schema after it was made.

    Once per store, and only where one is missing is anything written. Without them all views are right, but slower.
    """
    there = {name for (name,) in db.execute("select name from sqlite_schema where type = 'index'")}
    missing = [line for line in INDEXES.strip().split("\n") if line.split()[2] not in there]
    if missing:
        made = [line.replace("create index", "create index if not exists", 1) for line in missing]
        db.executescript(f"begin immediate; {' '.join(made)} commit;")
