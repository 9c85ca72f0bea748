"""What a store needs of its database: the small part of sqlite3.Connection that SQLite and PostgreSQL both offer.

Every statement of a crawl is written once, in SQLite's words; `recrawl.live.postgres` says it in PostgreSQL's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol


class FoundRows(Protocol):
    """The rows that a statement returned."""

    @property
    def rowcount(self) -> int:
        """Rows that were changed."""

    def fetchone(self) -> Any:
        """Return the next row; None after the last."""

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""

    def __iter__(self) -> Iterator[Any]: ...


class Database(Protocol):
    """A connection to a database; a transaction is from `begin` to `commit` or `rollback`."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction has begun and not ended."""

    def execute(self, ask: str, values: Sequence[Any] | Mapping[str, Any] = ..., /) -> FoundRows:
        """Run one statement."""

    def executemany(self, ask: str, rows: Iterable[Sequence[Any]], /) -> FoundRows:
        """Run a statement once per row."""

    def executescript(self, script: str, /) -> object:
        """Run several statements without values."""

    def close(self) -> None:
        """Close the connection."""
