"""A connection to PostgreSQL that takes a store's statements as they are written for SQLite.

Errors are one line each and never hold a password: addresses with one are refused before anybody connects.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import pq
from psycopg.adapt import Dumper, Loader

from recrawl.errors import StoreError, StoreLostError
from recrawl.live.postgres.store_dialect import at_once, copied, translated, upserted
from recrawl.live.store_database import FoundRows

OLDEST_SERVER = 140_000  # the first with `create or replace trigger`
CONNECT_S = 10
SILENT_S = 30  # how long a server that does not answer is waited for
FETCHED = 20_000  # rows that are read or sent at once
_SAID = {  # by SQLSTATE
    "53100": "the database's disk is full; what was recorded before is safe",
    "53200": "the database is out of memory; what was recorded before is safe",
    "53300": "the database takes no more connections",
    "25006": "the database is read-only; what was recorded before is safe",
    "42501": "no permission",
    "3F000": "no permission to make tables there",
    "3D000": "there is no such database",
    "28P01": "the password is wrong or missing: see ~/.pgpass, PGPASSWORD, or password_file in [store]",
    "28000": "the database refuses this user",
}
_RECOVERS = re.compile("starting up|not yet accepting|recovery mode")
_LOST = re.compile(r"57P0[1-5]|08...")
_WORDS = (  # of libpq, which gives no SQLSTATE before a connection stands
    ("no password supplied", _SAID["28P01"]),
    ("password authentication failed", _SAID["28P01"]),
    ("Connection refused", "nobody answers there"),
    ("No such file or directory", "nobody answers there"),
    ("could not translate host name", "the host's name is not known"),
    ("failed to resolve host", "the host's name is not known"),
    ("timeout expired", "the server does not answer"),
)


class BoolAsInteger(Dumper):
    """Sends True and False as 1 and 0, as SQLite keeps them."""

    oid = psycopg.adapters.types["int2"].oid

    def dump(self, obj: bool) -> bytes:
        """Return the number as text."""
        return b"1" if obj else b"0"


class TextDumper(Dumper):
    """Sends text; what PostgreSQL cannot keep in one (NUL, half a surrogate pair) becomes U+FFFD and a question mark.

    Strangers' titles and words have such characters, and one of them must not end the recording of a group of visits.
    """

    format = pq.Format.BINARY
    oid = psycopg.adapters.types["text"].oid

    def dump(self, obj: str) -> bytes:
        """Return the text in UTF-8."""
        text = obj.encode("utf-8", "replace")
        return text.replace(b"\0", b"\xef\xbf\xbd") if b"\0" in text else text


class UntypedTextDumper(TextDumper):
    """Does the same where the server finds out what the text is for."""

    format = pq.Format.TEXT
    oid = 0


class SumLoader(Loader):
    """Reads a sum, which PostgreSQL returns as a numeric, as the number that SQLite would return."""

    def load(self, data: Any) -> int | float:
        """Return a whole number where it is one."""
        text = bytes(data).decode()
        return int(text) if text.lstrip("-").isdigit() else float(text)


def connect_to(url: str, password_file: Path | None = None, *, read_only: bool = False) -> PostgresDatabase:
    """Connect to the database that a URL without a password names."""
    keep: dict[str, Any] = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
    keep["tcp_user_timeout"] = SILENT_S * 1000
    if password_file is not None:
        keep["password"] = _secret(password_file)
    with _one_line(url):
        connection = _connected(url, keep)
        if connection.info.server_version < OLDEST_SERVER:
            release = f"{connection.info.server_version // 10_000}"
            connection.close()
            raise StoreError(f"{url}: the server is PostgreSQL {release}; take {OLDEST_SERVER // 10_000} or newer")
        for kind, dumper in ((bool, BoolAsInteger), (str, TextDumper), (str, UntypedTextDumper)):
            connection.adapters.register_dumper(kind, dumper)
        connection.adapters.register_loader("numeric", SumLoader)
        if read_only:
            connection.execute("set default_transaction_read_only = on")
    return PostgresDatabase(connection, url)


def _connected(url: str, keep: dict[str, Any]) -> psycopg.Connection[Any]:
    """Connect; a server that recovers from a crash is waited for."""
    until_s = time.monotonic() + SILENT_S
    while True:
        try:
            return psycopg.connect(url, autocommit=True, connect_timeout=CONNECT_S, application_name="recrawl", **keep)
        except psycopg.OperationalError as error:
            if not _RECOVERS.search(str(error)) or time.monotonic() > until_s:
                raise
            time.sleep(0.1)


def _secret(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not text"
        raise StoreError(f"{path}: {why}") from None


@contextmanager
def _one_line(url: str) -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise said(url, error) from None


def said(url: str, error: psycopg.Error) -> StoreError:
    """Return an error of psycopg as one line; StoreLostError where trying again later may help."""
    state, lines = error.sqlstate or "", str(error).strip().splitlines() or [type(error).__name__]
    text = next((line for words, line in _WORDS if not state and any(words in each for each in lines)), "")
    if not text:
        detail = lines[-1] if "FATAL" in lines[-1] else lines[0]
        text = _SAID.get(state, "") or detail.rpartition("FATAL:")[2].strip()
        text = f"{text} ({detail})" if state == "42501" else text
    lost = bool(_LOST.match(state)) or (not state and isinstance(error, psycopg.OperationalError))
    return (StoreLostError if lost else StoreError)(f"{url}: {text}")


class PostgresDatabase:
    """Speaks to one database; one thread at a time."""

    def __init__(self, connection: psycopg.Connection[Any], url: str) -> None:
        self.connection = connection
        self.url = url
        self._streams = 0

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction has begun and not ended."""
        return self.connection.info.transaction_status in (pq.TransactionStatus.INTRANS, pq.TransactionStatus.INERROR)

    def execute(self, ask: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> FoundRows:
        """Run one statement."""
        with _one_line(self.url):
            return self.connection.execute(translated(ask), values or None)

    def execute_binary(self, ask: str, values: Sequence[Any] = ()) -> FoundRows:
        """Run one statement whose rows come in binary form: bytes need not be written as text and read again."""
        with _one_line(self.url):
            return self.connection.execute(translated(ask), values or None, binary=True)

    def executemany(self, ask: str, rows: Iterable[Sequence[Any]]) -> FoundRows:
        """Run a statement once per row; plain inserts by COPY, upserts and updates of pages by columns."""
        rows, cursor = list(rows), self.connection.cursor()
        if not rows:
            return cursor
        if (copy := copied(ask)) is not None:
            self.copy_rows(*copy, rows)
            return cursor
        columns = at_once(ask)
        if (upsert := upserted(ask)) is not None:
            columns, key = upsert
            if key:  # of rows with the same key the last one counts
                rows = list({tuple(row[i] for i in key): row for row in rows}.values())
        with _one_line(self.url):
            if columns is None:
                cursor.executemany(translated(ask), rows)
                return cursor
            for start in range(0, len(rows), FETCHED):
                some = rows[start : start + FETCHED]
                cursor.execute(columns, [list(column) for column in zip(*some, strict=True)])
        return cursor

    def copy_rows(self, copy: str, types: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add rows by a COPY in binary form."""
        with _one_line(self.url), self.connection.cursor().copy(copy) as writing:
            writing.set_types(types)
            for row in rows:
                writing.write_row(row)

    def executescript(self, script: str) -> None:
        """Run several statements without values, as they are."""
        with _one_line(self.url):
            self.connection.execute(script.encode())

    def stream(self, ask: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """Yield the rows of a large answer, some at a time; other statements may run meanwhile."""
        with _one_line(self.url):
            self._streams += 1
            cursor = self.connection.cursor(name=f"rows{self._streams}", withhold=not self.in_transaction)
            cursor.itersize = FETCHED
            with cursor:
                cursor.execute(translated(ask), values or None)
                yield from cursor

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()
