"""Indexes of web archives: CDX (9 or 11 fields), CDXJ, and the answers of a Wayback CDX server.

A `warc/revisit` line is a visit that found the page unchanged. Variants of an address share a SURT key, so pages are
distinguished by the URL itself, in our normal form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from recrawl.importers.import_options import ImportOptions
from recrawl.importers.observations import Observations, Verdict, verdict_of
from recrawl.importers.reading import lines_of, refuse, seconds_of_digits

LETTERS = {"b": "timestamp", "a": "url", "m": "mime", "s": "status", "k": "digest"}
WAYBACK = ("urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length")
REVISIT = "warc/revisit"


def read_cdx(source: Path, seen: Observations, options: ImportOptions) -> None:
    """Read an index with one letter per field."""
    lines = lines_of(source)
    number, header = next(lines, (1, ""))
    separator, words = header[:1], header[1:].split(header[:1] or None)
    if not words or words[0] != "CDX" or not {"a", "b", "k"} <= set(words):
        refuse(source, number, "not the header of a CDX file, such as ' CDX N b a m s k r M S V g'")
    place = {name: words.index(letter) - 1 for letter, name in LETTERS.items() if letter in words}
    for number, line in lines:
        fields = line.split(separator)
        if len(fields) != len(words) - 1:
            refuse(source, number, f"{len(fields)} fields where the header has {len(words) - 1}")
        row = {name: fields[i] for name, i in place.items()}
        _add(row, seen, source, number)


def read_cdxj(source: Path, seen: Observations, options: ImportOptions) -> None:
    """Read an index with a JSON object per line."""
    decode = json.JSONDecoder().raw_decode
    for number, line in lines_of(source):
        if line[0] == "!":
            continue
        brace = line.find("{")
        words = line[:brace].split() if brace > 0 else []
        if len(words) != 2:
            refuse(source, number, "not `surt timestamp {json}`")
        try:
            row, _ = decode(line, brace)
        except (ValueError, RecursionError) as error:
            refuse(source, number, f"not JSON: {error}")
        if not isinstance(row.get("url"), str):
            refuse(source, number, "the JSON has no url")
        row["timestamp"] = words[1]
        _add(row, seen, source, number)


def read_wayback(source: Path, seen: Observations, options: ImportOptions) -> None:
    """Read captures of a Wayback CDX server."""
    for number, fields in _wayback_rows(source):
        row = dict(zip(WAYBACK, fields, strict=False))
        if len(fields) < 6:
            refuse(source, number, f"{len(fields)} fields where {len(WAYBACK)} are expected: {' '.join(WAYBACK)}")
        known = {"url": row["original"], "timestamp": row["timestamp"], "digest": row["digest"]}
        _add({**known, "mime": row["mimetype"], "status": row["statuscode"]}, seen, source, number)


def _wayback_rows(source: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of both forms: fields apart by spaces, or a JSON list with names first."""
    for number, line in lines_of(source):
        text = line.strip().removeprefix("[[").removeprefix("[").removesuffix("]]").removesuffix("],").removesuffix("]")
        if line.lstrip().startswith("["):
            try:
                row = json.loads(f"[{text}]")
            except (ValueError, RecursionError) as error:
                refuse(source, number, f"not JSON: {error}")
            if row and row[0] != "urlkey":
                yield number, [str(value) for value in row]
        else:
            yield number, line.split(" ")


def _add(row: dict[str, Any], seen: Observations, source: Path, number: int) -> None:
    digest, status = row.get("digest"), row.get("status", "-")
    if digest in ("-", "") or not isinstance(digest, str):
        digest = None
    if row.get("mime") == REVISIT:
        verdict = Verdict.UNCHANGED
    else:
        verdict = _by_status(status if isinstance(status, str) else str(status), digest is not None)
    seen.add(row["url"], _seconds(row["timestamp"], source, number), digest, verdict)


@lru_cache(maxsize=4_096)
def _by_status(status: str, has_digest: bool) -> Verdict:
    """Return the outcome of a visit; without a status its digest is that of a copy."""
    if status.isdecimal():
        return verdict_of(int(status))
    return Verdict.BY_DIGEST if has_digest else Verdict.FAILED


_days: dict[str, float] = {}  # of dates met, as most lines of an index are of few dates


def _seconds(text: str, source: Path, number: int) -> float:
    """Return a timestamp of 14 digits (or its first 4 to 12) as seconds since 1970."""
    day = _days.get(text[:8])
    try:
        if day is None:
            if len(_days) > 100_000:
                _days.clear()
            day = _days[text[:8]] = _day(text[:8])
        seconds = day + _clock(text[8:14])
    except ValueError:
        seconds = float("nan")
    if seconds != seconds:
        refuse(source, number, f"{text[:20]!r} is not a timestamp of 14 digits")
    return seconds


def _day(date: str) -> float:
    whole = int(date) * 10 ** (8 - len(date)) + (0 if len(date) == 8 else 101 if len(date) == 4 else 1)
    return float(seconds_of_digits(np.array([whole * 1_000_000]))[0])


@lru_cache(maxsize=86_400)
def _clock(text: str) -> int:
    """Return hhmmss, or its first digits, as seconds."""
    return int(text[:2] or 0) * 3_600 + int(text[2:4] or 0) * 60 + int(text[4:6] or 0)
