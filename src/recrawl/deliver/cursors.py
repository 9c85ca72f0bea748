"""deliver.sqlite: delivery state per sink: cursor, retry time, and dead letters.

It lies beside the crawl's own store, so a slow or locked sink never holds the crawl's writer.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import NamedTuple

from recrawl.live.store_file import connect, one_line_errors

TABLES = """
create table if not exists sinks (
    name text primary key,
    last text,                          -- cursor of the feed; null: nothing delivered yet
    state text,                         -- kept by the sink itself, for its next start
    tries integer not null default 0,   -- failed ones since the last success
    next_at real not null default 0,    -- Unix time of the next try
    disabled integer not null default 0,
    error text
) strict;
create table if not exists dead (       -- events that were tried as often as the schedule says
    name text not null,
    id text not null,
    before text not null,               -- a cursor after which the feed gives the event again
    error text not null,
    primary key (name, id)
) strict;
"""


class SinkStatus(NamedTuple):
    """Delivery state of a sink."""

    last: str | None = None
    state: str | None = None
    tries: int = 0
    next_at: float = 0.0
    disabled: bool = False
    error: str | None = None


class Cursors:
    """The cursors of a crawl's sinks; each thread opens its own."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "deliver.sqlite"
        self._file: sqlite3.Connection = connect(self.path, "rwc")
        with one_line_errors(self.path):
            self._file.executescript(TABLES)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def status(self, name: str) -> SinkStatus:
        """Return the delivery state of a sink."""
        ask = "select last, state, tries, next_at, disabled, error from sinks where name = ?"
        with one_line_errors(self.path):
            row = self._file.execute(ask, (name,)).fetchone()
        return SinkStatus() if row is None else SinkStatus._make((*row[:4], bool(row[4]), row[5]))

    def delivered(self, name: str, last: str, state: str | None) -> None:
        """Note that a sink has everything up to a cursor; on return it is on disk."""
        self._run(
            "insert into sinks (name, last, state) values (?, ?, ?) on conflict (name) do update"
            " set last = excluded.last, state = excluded.state, tries = 0, next_at = 0, error = null",
            (name, last, state),
        )

    def failed(self, name: str, error: str, next_at: float, *, disabled: bool = False) -> int:
        """Note a failed try; return how many there have been since the last success."""
        self._run(
            "insert into sinks (name, tries, next_at, error, disabled) values (?, 1, ?, ?, ?) on conflict (name) do"
            " update set tries = tries + 1, next_at = excluded.next_at, error = excluded.error,"
            " disabled = excluded.disabled",
            (name, next_at, error, disabled),
        )
        return self.status(name).tries

    def bury(self, name: str, ids: list[str], before: str, error: str) -> None:
        """Move events to the dead letters after their last try."""
        rows = [(name, each, before, error) for each in ids]
        with one_line_errors(self.path):
            self._file.execute("begin immediate")
            self._file.executemany("insert or replace into dead (name, id, before, error) values (?, ?, ?, ?)", rows)
            self._file.execute("commit")

    def dead(self, name: str) -> list[tuple[str, str]]:
        """Return the dead letters, each with a cursor before it."""
        with one_line_errors(self.path):
            return self._file.execute("select id, before from dead where name = ? order by rowid", (name,)).fetchall()

    def raise_dead(self, name: str, event: str) -> None:
        """Remove a dead letter that was delivered after all."""
        self._run("delete from dead where name = ? and id = ?", (name, event))

    def try_again(self, name: str) -> None:
        """Clear the failures: the sink is enabled, and tried at once."""
        self._run("update sinks set tries = 0, next_at = 0, disabled = 0, error = null where name = ?", (name,))

    def _run(self, ask: str, values: tuple[object, ...]) -> None:
        with one_line_errors(self.path):
            self._file.execute(ask, values)
