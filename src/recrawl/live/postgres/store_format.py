"""The format of a crawl in PostgreSQL, checked without numpy, so that readers start quickly."""

from __future__ import annotations

from recrawl.errors import StoreError
from recrawl.live.postgres.store_connection import PostgresDatabase

FORMAT = 5  # of the tables in PostgreSQL, which began with 4


def check_format(db: PostgresDatabase) -> None:
    """Check that a database holds a crawl of this version."""
    found = format_in(db)
    if found is None:
        _check_permission(db)
        raise StoreError(f"{db.url} has no crawl: make one with `recrawl init DIR --store {db.url}`")
    if found != FORMAT:
        hint = "`recrawl upgrade` brings it there" if found < FORMAT else "use a newer recrawl"
        raise StoreError(f"{db.url} has format {found}; this recrawl reads format {FORMAT}; {hint}")


def _check_permission(db: PostgresDatabase) -> None:
    """Say that there may be a crawl where this user may not look."""
    closed = "n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relname = 'inbox_read'"
    row = db.execute(f"select {closed} and not has_schema_privilege(n.oid, 'usage') limit 1").fetchone()
    if row is not None:
        raise StoreError(f"{db.url}: no permission (permission denied for schema {row[0]})")


def format_in(db: PostgresDatabase) -> int | None:
    """Return the format of the crawl in a database; None: it has no crawl."""
    if db.execute("select to_regclass('meta')").fetchone() == (None,):
        return None
    row = db.execute("select value from meta where key = 'format'").fetchone()
    return int(row[0]) if row is not None and str(row[0]).isdigit() else None
