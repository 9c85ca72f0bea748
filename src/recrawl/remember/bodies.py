"""Bodies of versions, as gzipped WARC files that any standard reader opens.

A record is written and synced before the store mentions it. What a crash leaves behind the last record that the store
knows of is cut off when the folder is opened again.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from recrawl.errors import StoreError

MAX_FILE_BYTES = 1 << 30
_DROPPED = frozenset({"content-encoding", "transfer-encoding", "content-length"})  # the stored body is decoded

Place = tuple[str, int, int]  # file, offset, length


class Bodies:
    """Appends response records to the newest file of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file: io.FileIO | None = None
        self._name = ""

    def open(self, ends: dict[str, int]) -> None:
        """Continue the newest file after its last known record; `ends` gives that place for every file."""
        self.folder.mkdir(exist_ok=True)
        files = sorted(self.folder.glob("*.warc.gz"))
        for name, end in ends.items():
            size = (self.folder / name).stat().st_size if (self.folder / name).exists() else 0
            if size < end:
                raise StoreError(f"{self.folder / name} is truncated: {size} bytes where the store knows of {end}")
        if not files:
            return self._start(1)
        newest = files[-1]
        end = ends.get(newest.name, 0)
        self._file = newest.open("r+b", buffering=0)
        self._file.truncate(end)
        self._file.seek(end)
        self._name = newest.name
        return None

    def _start(self, number: int) -> None:
        self._name = f"crawl-{number:05d}.warc.gz"
        self._file = (self.folder / self._name).open("xb", buffering=0)
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(folder)  # the name itself must survive a crash
        finally:
            os.close(folder)

    def write(self, url: str, status: int, headers: tuple[tuple[str, str], ...], body: bytes) -> Place:
        """Append one response; call `sync` before the store mentions it."""
        assert self._file is not None, "open first"
        if self._file.tell() > MAX_FILE_BYTES:
            self.close()
            self._start(int(self._name[6:11]) + 1)
        record = gzip_record(url, status, headers, body)
        offset = self._file.tell()
        with self._told():
            if self._file.write(record) < len(record):
                raise OSError(errno.ENOSPC, "written in part")
        return self._name, offset, len(record)

    def sync(self) -> None:
        """Put what was written on disk."""
        if self._file:
            with self._told():
                os.fsync(self._file.fileno())

    def close(self) -> None:
        """Sync and close the file."""
        self.sync()
        if self._file:
            self._file.close()
            self._file = None

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as wrong:
            full = wrong.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
            said = "the disk is full" if full else wrong.strerror
            raise StoreError(f"{self.folder / self._name}: {said}; what was recorded before is safe") from None

    def read(self, place: Place) -> bytes:
        """Return the body of a stored record, its digest verified."""
        try:
            for record in ArchiveIterator(io.BytesIO(self._bytes(place)), verify_digests=True):
                return bytes(record.reader.read())
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
        except OSError as wrong:
            raise StoreError(f"{self.folder / name}: {wrong.strerror}") from None


def gzip_record(url: str, status: int, headers: tuple[tuple[str, str], ...], body: bytes) -> bytes:
    """Return one response record as a gzip member of its own."""
    kept = [(name, value) for name, value in headers if name not in _DROPPED and value.isprintable()]
    head = "".join(f"{name}: {value}\r\n" for name, value in [*kept, ("content-length", str(len(body)))])
    record = WarcRecord()
    record.init_headers(WarcRecordType.response)
    record.headers["WARC-Target-URI"] = url
    record.headers["Content-Type"] = "application/http; msgtype=response"
    record.set_bytes_content(f"HTTP/1.1 {status} OK\r\n{head}\r\n".encode("latin-1", "replace") + body)
    plain = io.BytesIO()
    record.write(plain, checksum_data=True)
    return gzip.compress(plain.getvalue(), compresslevel=2, mtime=0)
