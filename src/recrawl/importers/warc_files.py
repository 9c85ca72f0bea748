"""WARC files and WACZ packages: response records of the same page over time, read as the live crawler reads them."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from fastwarc.warc import ArchiveIterator, WarcRecordType

from recrawl.errors import InputError
from recrawl.importers.import_options import ImportOptions
from recrawl.importers.observations import Observations, Verdict, verdict_of
from recrawl.importers.reading import instant_of
from recrawl.see.page import see_page
from recrawl.urls.url import normalise

MAX_BODY_BYTES = 10_000_000
WANTED = WarcRecordType.response | WarcRecordType.revisit


def read_warc(source: Path, seen: Observations, options: ImportOptions) -> None:
    """Read the responses and revisits of one file."""
    try:
        with source.open("rb") as file:
            _read(file, source, seen)
    except OSError as error:
        raise InputError(f"{source}: {error.strerror or error}") from None


def read_wacz(source: Path, seen: Observations, options: ImportOptions) -> None:
    """Read all WARC files of a package."""
    try:
        with zipfile.ZipFile(source) as package:
            names = [n for n in package.namelist() if n.startswith("archive/") and ".warc" in n]
            if not names:
                raise InputError(f"{source}: no archive/*.warc in it: not a WACZ package")
            for name in sorted(names):
                with _member(package, name) as file:
                    _read(file, Path(f"{source}/{name}"), seen)
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise InputError(f"{source}: not a readable ZIP ({error})") from None


@contextmanager
def _member(package: zipfile.ZipFile, name: str) -> Iterator[IO[bytes]]:
    with package.open(name) as file:
        yield file


def _read(file: IO[bytes], source: Path, seen: Observations) -> None:
    count = 0
    try:
        for record in ArchiveIterator(file, record_types=WANTED, parse_http=True):
            count += 1
            _add(record, seen)
    except (ValueError, EOFError, OSError) as error:
        raise InputError(f"{source}, record {count + 1}: {error}") from None
    if not count:
        raise InputError(f"{source}: no response or revisit record: not a WARC file, or a truncated one")


def _add(record: Any, seen: Observations) -> None:
    url, date = record.headers.get("WARC-Target-URI"), record.headers.get("WARC-Date")
    href = normalise((url or "").strip("<>"))
    if href is None or date is None:
        return
    at = instant_of(date)
    if record.record_type == WarcRecordType.revisit:
        seen.add(href, at, None, Verdict.UNCHANGED)
        return
    status = record.http_headers.status_code if record.http_headers else None
    verdict = verdict_of(status) if status else Verdict.FAILED
    if verdict is not Verdict.BY_DIGEST:
        seen.add(href, at, None, verdict)
        return
    headers = [(name.lower(), value) for name, value in record.http_headers]
    page = see_page(record.reader.read(MAX_BODY_BYTES), href, headers)
    row = seen.add(href, at, page.digest.hex(), verdict, page.words)
    seen.texts[row] = page.main_text
    seen.links[row] = list(dict.fromkeys(page.link_columns.urls))
