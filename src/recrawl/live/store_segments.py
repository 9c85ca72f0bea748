"""Segments in the store: WARC files that were closed, and those that are in object storage.

The table is made when a crawl first sends its bodies away, so that stores made before can be used.
"""

from __future__ import annotations

from recrawl.live.store_database import Database

SEGMENT_TABLE = """
create table if not exists segments (      -- WARC files that are closed
    name text primary key,
    bytes integer not null,
    sha256 text not null,
    state text not null                    -- closed: here; uploaded: there, and perhaps still here
) strict, without rowid;
"""


class StoredSegments:
    """The table segments; writing is within a transaction."""

    db: Database

    def make_segment_table(self) -> None:
        """Make the table where it is missing."""
        self.db.executescript(SEGMENT_TABLE)

    def segments(self) -> dict[str, tuple[int, str, str]]:
        """Return bytes, SHA-256 and state of every segment; empty where the crawl keeps its bodies itself."""
        if self._misses_segment_table():
            return {}
        rows = self.db.execute("select name, bytes, sha256, state from segments order by name")
        return {name: (size, digest, state) for name, size, digest, state in rows}

    def _misses_segment_table(self) -> bool:
        return self.db.execute("select 1 from sqlite_master where name = 'segments'").fetchone() is None

    def set_segment(self, name: str, size: int, digest: str, state: str) -> None:
        """Note a segment."""
        self.db.execute("insert or replace into segments values (?, ?, ?, ?)", (name, size, digest, state))

    def forget_segment(self, name: str) -> None:
        """Forget a segment that was rewritten before it was sent."""
        self.db.execute("delete from segments where name = ?", (name,))
