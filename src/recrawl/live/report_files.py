"""Files of reports: CSV with a header, or JSON lines; one visit per line."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from recrawl.clock import DAY_S
from recrawl.importers.reading import csv_fields, instant_of, json_objects, lines_of, refuse
from recrawl.live.reported import Seen, outcome_named

SAYS = ("outcome", "digest", "status", "body_base64")


def read_reports(path: Path) -> list[Seen]:
    """Read a file of reports; InputError with the number of the line that cannot be read."""
    lines = lines_of(path)
    first = next(lines, None)
    if first is None:
        return []
    rows = json_objects(path, chain([first], lines)) if first[1].startswith("{") else _csv_rows(path, first, lines)
    seen = []
    for number, row in rows:
        try:
            seen.append(seen_of(row))
        except (ValueError, TypeError) as error:
            refuse(path, number, str(error))
    return seen


def _csv_rows(
    path: Path, first: tuple[int, str], lines: Iterator[tuple[int, str]]
) -> Iterator[tuple[int, dict[str, Any]]]:
    names = [name.strip().lower() for name in csv_fields(path, *first)]
    if "url" not in names or not set(SAYS) & set(names):
        refuse(path, first[0], f"the header needs url and one of {', '.join(SAYS)}")
    for number, line in lines:
        yield number, dict(zip(names, csv_fields(path, number, line), strict=False))


def seen_of(row: dict[str, Any]) -> Seen:
    """Read one report; ValueError says what is wrong with it."""

    def text(name: str) -> str:
        value = row.get(name)
        return "" if value is None else str(value).strip()

    if not text("url"):
        raise ValueError("no url")
    if not any(text(name) for name in SAYS):
        raise ValueError("neither outcome, digest, status nor body_base64: nothing is known of this visit")
    status, links = text("status"), row.get("links")
    if status and not (status.isascii() and status.isdigit() and len(status) <= 3):
        raise ValueError(f"status {status[:40]!r} is not a whole number, or above 999")
    if links is not None and not (isinstance(links, list) and all(isinstance(link, str) for link in links)):
        raise ValueError("links is not a list of URLs")
    return Seen(
        text("url"),
        at=instant_of(text("time")) / DAY_S if text("time") else None,
        outcome=outcome_named(text("outcome")),
        digest=text("digest") or None,
        body=_body(text("body_base64")),
        headers=(("content-type", text("content_type")),) if text("content_type") else (),
        status=int(status or 0),
        etag=text("etag"),
        last_modified=text("last_modified"),
        links=links,
    )


def _body(text: str) -> bytes | None:
    if not text:
        return None
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise ValueError("body_base64 is not base64") from None
