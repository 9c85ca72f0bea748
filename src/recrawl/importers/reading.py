"""Read the lines of a history, compressed or not; what cannot be read is one error with the number of its line."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, NoReturn, cast

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.errors import InputError

MAX_LINE_BYTES = 1_000_000
MILLISECONDS_FROM = 1e11  # a larger number of seconds would be after the year 5000, so it counts milliseconds


@contextmanager
def opened(path: Path | str) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes: `-` is standard input; .gz and .zst are decompressed."""
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    try:
        with Path(path).open("rb") as file:
            yield _decompressed(file, Path(path).suffix)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except (EOFError, zlib.error) as error:
        raise InputError(f"{path}: the compressed file is cut or broken ({error})") from None


def _decompressed(file: IO[bytes], suffix: str) -> IO[bytes]:
    if suffix == ".gz":
        return io.BufferedReader(gzip.GzipFile(fileobj=file))
    if suffix == ".zst":
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
        return cast(IO[bytes], zstd.ZstdFile(file))
    return file


def lines_of(path: Path | str) -> Iterator[tuple[int, str]]:
    """Yield number and text of every line that is not empty, without its end and without a byte-order mark."""
    number = 0
    with opened(path) as file:
        while True:
            try:
                raw = file.readline(MAX_LINE_BYTES + 1)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                refuse(path, number + 1, f"the compressed file is cut or broken ({error})")
            except Exception as error:  # zstd has an error class of its own in each implementation
                refuse(path, number + 1, f"cannot be read ({error})")
            if not raw:
                return
            number += 1
            if len(raw) > MAX_LINE_BYTES:
                refuse(path, number, f"longer than {MAX_LINE_BYTES:,} bytes")
            if number == 1:
                raw = raw.removeprefix(b"\xef\xbb\xbf")
            if line := raw.rstrip(b"\r\n"):
                try:
                    yield number, line.decode()
                except UnicodeDecodeError:
                    refuse(path, number, "not UTF-8")


def csv_fields(path: Path | str, number: int, line: str) -> list[str]:
    """Return the fields of one CSV line that stands alone, such as a header."""
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error as error:
        refuse(path, number, f"not CSV: {error}")


def json_objects(path: Path | str, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield number and object of each of these lines, every one of which must be a JSON object."""
    for number, line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            refuse(path, number, f"not JSON: {error}")
        if not isinstance(row, dict):
            refuse(path, number, "not a JSON object")
        yield number, row


def refuse(path: Path | str, number: int, why: str) -> NoReturn:
    """Return an error that names the file and the line."""
    raise InputError(f"{path}, line {number}: {why}")


def instant_of(text: str) -> float:
    """Return a time as seconds since 1970: ISO 8601, 14 digits (CDX), or a number of seconds or milliseconds.

    >>> instant_of("1970-01-02T00:00:00Z"), instant_of("19700102000000"), instant_of("86400"), instant_of("86400000000")
    (86400.0, 86400.0, 86400.0, 86400000.0)
    """
    text = text.strip()
    if len(text) == 14 and text.isdigit():
        return float(seconds_of_digits(np.array([int(text)]))[0])
    try:
        number = float(text)
    except ValueError:
        return _iso(text)
    if not np.isfinite(number):
        raise ValueError(f"{text!r} is not a time")
    return number / 1000.0 if abs(number) >= MILLISECONDS_FROM / 10 else number


def _iso(text: str) -> float:
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not a time: ISO 8601 or seconds since 1970") from None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def seconds_of_digits(digits: IntArray) -> FloatArray:
    """Return YYYYMMDDhhmmss numbers as seconds since 1970; NaN where they are no date."""
    date, clock = np.divmod(digits, 1_000_000)
    year, month, day = date // 10_000, date // 100 % 100, date % 100
    hour, minute, second = clock // 10_000, clock // 100 % 100, clock % 100
    good = (year > 1900) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    good &= (hour < 24) & (minute < 60) & (second <= 60)
    months = np.where(good, (year - 1970) * 12 + month - 1, 0)
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    seconds = (first + day - 1) * 86_400 + hour * 3_600 + minute * 60 + second
    return np.where(good, seconds.astype(np.float64), np.nan)
