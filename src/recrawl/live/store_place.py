"""Where a crawl's store is: state.sqlite in its folder, or a PostgreSQL database that [store] in recrawl.toml names.

Nothing slow is imported: readers of the feed start with this.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from recrawl.errors import InputError, StoreError
from recrawl.extras import extras_named
from recrawl.live.checked_settings import SettingsFile
from recrawl.live.store_database import Database
from recrawl.live.store_file import check_file, connect, one_line_errors

SCHEMES = ("postgresql", "postgres")


@dataclass(frozen=True)
class StoreSettings:
    """[store]: a database, and how long its workers' leases last."""

    url: str = ""  # postgresql://USER@HOST:PORT/DATABASE; empty: state.sqlite
    password_file: Path | None = None
    lease_s: float = 30.0


def checked_url(url: str) -> str:
    """Return the URL of a database; InputError, which never holds a password, where it cannot be used."""
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES:
        raise InputError("the store must be postgresql://USER@HOST:PORT/DATABASE")
    if parts.password is not None or any(name == "password" for name, _ in parse_qsl(parts.query)):
        raise InputError(
            "the store's URL has a password, which would end up in logs:"
            " leave it out and use ~/.pgpass, PGPASSWORD, or password_file in [store]"
        )
    try:
        _ = parts.port
    except ValueError:
        raise InputError("the store's URL has a port that is no number") from None
    return url


def store_settings(file: SettingsFile) -> StoreSettings:
    """Read [store] of a recrawl.toml."""
    table = file.section(file.tables, "store")
    values = file.values("store.", table, StoreSettings, {each.name for each in fields(StoreSettings)})
    if values.get("url"):
        try:
            checked_url(values["url"])
        except InputError as error:
            raise file.wrong("store.url", f"cannot be used: {error}") from None
    if values.get("lease_s", 1.0) <= 0:
        raise file.wrong("store.lease_s", "must be above 0")
    return StoreSettings(**values)


def place_of(folder: Path) -> StoreSettings:
    """Return where the store of a crawl's folder is."""
    return store_settings(SettingsFile.read(folder / "recrawl.toml"))


def open_to_read(folder: Path) -> tuple[Database, str]:
    """Connect to a crawl's database to read the feed; returns it with its name for errors."""
    path = folder / "state.sqlite"
    place = place_of(folder) if (folder / "recrawl.toml").is_file() else StoreSettings()
    if place.url:
        with extras_named():
            from recrawl.live.postgres.store_connection import connect_to
        from recrawl.live.postgres.store_format import check_format

        there = connect_to(place.url, place.password_file, read_only=True)
        check_format(there)
        return there, place.url
    if not path.is_file():
        raise StoreError(f"{folder} is not a crawl: make one with `recrawl init {folder}`")
    db = connect(path, "ro")
    try:
        with one_line_errors(path):
            check_file(db, path, whole=0)
    except BaseException:
        db.close()
        raise
    return db, str(path)
