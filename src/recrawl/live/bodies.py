"""Bodies of versions, as gzipped WARC files that any standard reader opens.

A record is written and synced before the store mentions it. What a crash leaves after the last record in the
store is cut off when the folder is opened again.
"""

from __future__ import annotations

import errno
import io
import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from fastwarc.warc import ArchiveIterator

from recrawl.errors import StoreError
from recrawl.live.warc_records import gzip_records

if TYPE_CHECKING:
    from recrawl.live.remote_bodies import RemoteBodies

MAX_FILE_BYTES = 1 << 30
MOST_UNREADABLE = 100  # bodies that could not be read, kept for diagnosis
_NUMBER = re.compile(r"-([0-9]{5})(?:-[0-9]+)?\.warc\.gz$")

Place = tuple[str, int, int]  # file, offset, length


class Bodies:
    """Appends response records to the newest file of a folder."""

    def __init__(self, folder: Path, name: str = "crawl") -> None:
        self.folder = folder
        self._prefix = name  # of the files that are written here
        self._file: io.FileIO | None = None
        self._name = ""
        self._end = 0  # of the file, with what waits to be written
        self._waiting: list[bytes] = []
        self._begun_s = 0.0
        self.max_bytes = MAX_FILE_BYTES
        self.max_s = float("inf")  # a file is closed so long after it was begun

    def open(self, ends: dict[str, int], after: Iterable[str] = ()) -> None:
        """Continue the newest file after its last known record; `ends` gives that place for every file.

        A new file gets a number above those of `after`, which may be elsewhere.
        """
        self.folder.mkdir(exist_ok=True)
        files = sorted(self.folder.glob(f"{self._prefix}-*.warc.gz"))
        for name, end in ends.items():
            if not name.startswith(f"{self._prefix}-"):
                continue  # another process writes it, perhaps elsewhere
            path = self.folder / name
            if path.is_dir():
                raise StoreError(f"{path}: Is a directory")
            size = path.stat().st_size if path.exists() else 0
            if size < end:
                raise StoreError(f"{path} is truncated: {size} bytes where the store has {end}")
        last = max((_number(name) for name in after if name.startswith(f"{self._prefix}-")), default=0)
        if not files or _number(files[-1].name) < last:
            return self._start(last + 1)
        newest = files[-1]
        end = ends.get(newest.name, 0)
        self._begun_s = time.monotonic() - max(0.0, time.time() - newest.stat().st_mtime)  # at least so old
        self._file = newest.open("r+b", buffering=0)
        self._file.truncate(end)
        self._file.seek(end)
        self._end = end
        self._name = newest.name
        return None

    def _start(self, number: int) -> None:
        self._name = f"{self._prefix}-{number:05d}.warc.gz"
        self._file = (self.folder / self._name).open("xb", buffering=0)
        self._end, self._begun_s = 0, time.monotonic()
        self.sync_folder()

    def begin_file(self, number: int) -> None:
        """Make an empty file for what comes next, and close it."""
        self._start(number)
        self.close()

    @property
    def writing_to(self) -> str:
        """The name of the file that records are appended to."""
        return self._name

    def sync_folder(self) -> None:
        """Put the names of the files on disk."""
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(folder)  # the name itself must survive a crash
        finally:
            os.close(folder)

    def write(
        self, url: str, status: int, headers: tuple[tuple[str, str], ...], body: bytes, packed: bytes = b""
    ) -> Place:
        """Append one response, or its record if that is `packed`; call `sync` before the store mentions it."""
        assert self._file is not None, "open first"
        self.close_when_due()
        record = packed or gzip_records([(url, status, headers, body)])[0]
        offset, self._end = self._end, self._end + len(record)
        self._waiting.append(record)
        return self._name, offset, len(record)

    def close_when_due(self) -> None:
        """Begin a new file where this one is large or old enough; an empty one goes on."""
        due = self._end > self.max_bytes or time.monotonic() - self._begun_s > self.max_s
        if self._file is not None and self._end and due:
            self.close()
            self._start(_number(self._name) + 1)

    def sync(self) -> None:
        """Put what was written on disk."""
        if self._file is None:
            return
        waiting, self._waiting = b"".join(self._waiting), []
        with self._one_line():
            if waiting and self._file.write(waiting) < len(waiting):
                raise OSError(errno.ENOSPC, "written in part")
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Sync and close the file."""
        self.sync()
        if self._file:
            self._file.close()
            self._file = None

    @contextmanager
    def _one_line(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
            reason = "the disk is full" if full else error.strerror
            raise StoreError(f"{self.folder / self._name}: {reason}; what was recorded before is safe") from None

    def read(self, place: Place) -> bytes:
        """Return the body of a stored record, its digest verified."""
        return self.answer(place)[1]

    def answer(self, place: Place) -> tuple[tuple[tuple[str, str], ...], bytes]:
        """Return the headers, names in lower case, and the body of a stored record, its digest verified."""
        try:
            for record in ArchiveIterator(io.BytesIO(self._bytes(place)), verify_digests=True):
                headers = tuple((name.lower(), value) for name, value in record.http_headers or ())
                return headers, bytes(record.reader.read())
        except (OSError, ValueError):
            pass
        raise StoreError(f"{self.folder / place[0]} has no whole record at {place[1]}")

    def record(self, place: Place) -> bytes:
        """Return a stored record as it is in the file, its digest verified."""
        self.read(place)
        return self._bytes(place)

    def _bytes(self, place: Place) -> bytes:
        name, offset, length = place
        try:
            with (self.folder / name).open("rb") as file:
                file.seek(offset)
                return file.read(length)
        except FileNotFoundError:
            if self._remote is not None:
                return self._remote.read(*place)
            raise StoreError(f"{self.folder / name} is missing") from None
        except OSError as error:
            raise StoreError(f"{self.folder / name}: {error.strerror}") from None

    @cached_property
    def _remote(self) -> RemoteBodies | None:
        """Where the crawl's settings, beside the folder, send closed files; None: nowhere."""
        from recrawl.live.config import load
        from recrawl.live.remote_bodies import RemoteBodies

        path = self.folder.parent / "recrawl.toml"
        settings = load(path).bodies if path.is_file() else None
        return RemoteBodies(settings) if settings is not None and settings.to else None


def _number(name: str) -> int:
    """Return the number of a file: 3 of crawl-00003.warc.gz, of crawl-00003-2.warc.gz and of w1-7-00003.warc.gz."""
    found = _NUMBER.search(name)
    return int(found[1]) if found else 0


def keep_unreadable(folder: Path, record: bytes, digest: bytes) -> None:
    """Keep the record of a body that could not be read, for diagnosis; of MOST_UNREADABLE the oldest goes."""
    folder.mkdir(exist_ok=True)
    files = sorted(folder.glob("*.warc.gz"), key=lambda path: path.stat().st_mtime)
    for path in files[: max(0, len(files) + 1 - MOST_UNREADABLE)]:
        path.unlink(missing_ok=True)
    (folder / f"{digest.hex()}.warc.gz").write_bytes(record)
