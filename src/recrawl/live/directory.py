"""A crawl is a directory: recrawl.toml, state.sqlite, warc/, models/, reports/."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from recrawl.errors import HeldError, StoreError
from recrawl.live.config import CrawlConfig, load
from recrawl.live.settings_template import TEMPLATE
from recrawl.live.store import Store

FOLDERS = ("warc", "models", "reports")


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
        try:
            for folder in FOLDERS:
                (path / folder).mkdir(parents=True)
            (path / "recrawl.toml").write_text(config)
        except OSError as error:
            raise StoreError(f"{path}: {error.strerror}") from None
        directory = cls(path)
        directory.config()
        Store.create(directory.state).close()
        return directory

    @classmethod
    def open(cls, path: Path) -> CrawlDirectory:
        """Find an existing crawl."""
        if not (path / "recrawl.toml").is_file() or not (path / "state.sqlite").is_file():
            raise StoreError(f"{path} is not a crawl: make one with `recrawl init {path}`")
        return cls(path)

    @property
    def state(self) -> Path:
        """The store."""
        return self.path / "state.sqlite"

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
        try:
            file = (self.path / ".lock").open("w")
        except OSError as error:
            raise StoreError(f"{self.path}: {error.strerror}") from None
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise HeldError(f"{self.path} is being crawled by another process") from None
            yield

    def is_locked(self) -> bool:
        """Whether a process holds the crawl now."""
        try:
            with self.locked():
                return False
        except StoreError:
            return True
