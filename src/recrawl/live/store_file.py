"""A crawl's SQLite file: opened, checked, its errors said in one line; without numpy, so that readers start at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recrawl.errors import StoreError
from recrawl.live.storeschema import APPLICATION_ID, FORMAT

CHECKED_BYTES = 64 << 20  # a store up to this size is checked whole on opening
BUSY_S = 10.0  # how long to wait for another process's lock
_SAID = {
    "database is locked": "another process holds the store",
    "database or disk is full": "the disk is full; what was recorded before is safe",
    "disk I/O error": "the disk failed or is full; what was recorded before is safe",
    "file is not a database": "not a recrawl store, or a damaged one",
    "database disk image is malformed": "the store is corrupt",
}


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Say SQLite's errors in one line."""
    try:
        yield
    except sqlite3.DatabaseError as wrong:
        raise StoreError(f"{path}: {_SAID.get(str(wrong), wrong)}") from None


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open an SQLite file: "ro" to read, "rw" to write, "rwc" to make it."""
    with told(path):
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=BUSY_S)
        if mode != "ro":
            db.execute("pragma journal_mode = wal")
            db.execute("pragma synchronous = full")
        return db


def check_file(db: sqlite3.Connection, path: Path, *, whole: bool = True) -> None:
    """Check that the file is a store of this version; with `whole`, that a small one is not corrupt."""
    application = db.execute("pragma application_id").fetchone()[0]
    version = db.execute("pragma user_version").fetchone()[0]
    if application != APPLICATION_ID:
        raise StoreError(f"{path} is not a recrawl store")
    if version != FORMAT:
        raise StoreError(f"{path} has format {version}; this recrawl reads format {FORMAT}")
    pages, size = (db.execute(f"pragma {what}").fetchone()[0] for what in ("page_count", "page_size"))
    wal = path.with_name(path.name + "-wal")
    if path.stat().st_size < pages * size and not (wal.exists() and wal.stat().st_size):
        raise StoreError(f"{path} is truncated: {path.stat().st_size} bytes of {pages * size}")
    if whole and pages * size <= CHECKED_BYTES:
        found = db.execute("pragma quick_check(1)").fetchone()[0]
        if found != "ok":
            raise StoreError(f"{path} is corrupt: {str(found).splitlines()[0]}")
