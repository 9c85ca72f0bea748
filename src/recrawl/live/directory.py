"""A crawl is a directory: recrawl.toml, state.sqlite (or a database instead), warc/, models/, reports/."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from recrawl.errors import HeldError, StoreError
from recrawl.extras import extras_named
from recrawl.live.config import CrawlConfig, load
from recrawl.live.settings_template import TEMPLATE
from recrawl.live.store import Store
from recrawl.live.store_place import StoreSettings, place_of

if TYPE_CHECKING:
    from recrawl.live.postgres.store_postgres import PostgresStore

FOLDERS = ("warc", "models", "reports")
LOOKS, LOOK_S = 40, 0.005


def postgres() -> type[PostgresStore]:
    """Return the store that is in PostgreSQL; one line says what to install where its driver is missing."""
    with extras_named():
        from recrawl.live.postgres.store_postgres import PostgresStore
    return PostgresStore


@dataclass(frozen=True)
class CrawlDirectory:
    """The places of a crawl."""

    path: Path

    @classmethod
    def init(cls, path: Path, config: str = TEMPLATE) -> CrawlDirectory:
        """Make a new crawl in an empty or new folder."""
        if "\0" in str(path) or (path.exists() and not path.is_dir()):
            raise StoreError(f"{path} is not a folder")
        if path.exists() and any(path.iterdir()):
            raise StoreError(f"{path} is not an empty folder")
        directory, place = cls(path), StoreSettings()
        if "[store]" in config:  # first: a database that cannot be used leaves no folder behind
            place = load(path / "recrawl.toml", config).store
            if place.url:
                postgres().create_in(place, config)
        try:
            for folder in FOLDERS:
                (path / folder).mkdir(parents=True)
            (path / "recrawl.toml").write_text(config)
        except OSError as error:
            raise StoreError(f"{path}: {error.strerror}") from None
        directory.config()
        if not place.url:
            Store.create(directory.state).close()
        return directory

    @classmethod
    def open(cls, path: Path) -> CrawlDirectory:
        """Find an existing crawl."""
        if not (path / "recrawl.toml").is_file():
            raise StoreError(f"{path} is not a crawl: make one with `recrawl init {path}`")
        if not (path / "state.sqlite").is_file() and not place_of(path).url:
            raise StoreError(f"{path} is not a crawl: make one with `recrawl init {path}`")
        return cls(path)

    @property
    def state(self) -> Path:
        """The store's file, where it is one."""
        return self.path / "state.sqlite"

    @cached_property
    def database(self) -> StoreSettings | None:
        """The database that holds the store; None: a file does."""
        if not (self.path / "recrawl.toml").is_file():
            return None
        place = place_of(self.path)
        return place if place.url else None

    def open_store(self, *, read_only: bool = False) -> Store:
        """Open the store; readers do not disturb the writer."""
        if self.database is None:
            return Store.open(self.state, read_only=read_only)
        return postgres().open_in(self.database, read_only=read_only)

    def open_reader(self) -> Store:
        """Open the store to read from any thread, one at a time, without checking the whole of it."""
        return Store.open_reader(self.state) if self.database is None else self.open_store(read_only=True)

    @property
    def warc(self) -> Path:
        """The bodies."""
        return self.path / "warc"

    def config(self) -> CrawlConfig:
        """Read the settings."""
        return load(self.path / "recrawl.toml")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let only one process at a time change the crawl; the lock ends with the process, however that ends."""
        if self.database is not None:
            with extras_named():
                from recrawl.live.postgres.store_postgres import crawl_lock
            with crawl_lock(self.database):
                yield
            return
        try:
            file = (self.path / ".lock").open("w")
        except OSError as error:
            raise StoreError(f"{self.path}: {error.strerror}") from None
        with file:
            for left in reversed(range(LOOKS)):
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except OSError:
                    if not left:
                        raise HeldError(f"{self.path} is being crawled by another process") from None
                    time.sleep(LOOK_S)  # it may be somebody who looks whether it is held
            yield

    def is_locked(self) -> bool:
        """Whether a process holds the crawl now."""
        if self.database is not None:
            with extras_named():
                from recrawl.live.postgres.store_postgres import is_crawled
            return is_crawled(self.database)
        try:
            file = (self.path / ".lock").open()
        except OSError:  # nobody has crawled yet, or it is not ours to see
            return False
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: those who look do not see each other
            except OSError:
                return True
        return False
