"""Queries and bodies of requests, checked: what is wrong is said in one line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web_protocol import RequestPayloadError

from recrawl.errors import InputError

MOST_LINES = 10_000
MOST_BYTES = 1 << 20  # of a JSON object
MOST_REPORT_BYTES = 64 << 20  # of visits, unpacked


def number(request: web.Request, name: str, default: float, least: float, most: float) -> float:
    """Return a number of the query, within its limits."""
    text = request.query.get(name)
    if text is None:
        return default
    try:
        value = float(text) if text.isascii() else float("nan")
    except ValueError:
        value = float("nan")
    if not least <= value <= most:
        raise InputError(f"{name} must be a number from {least:g} to {most:g}, not {text[:40]!r}")
    return value


def whole(request: web.Request, name: str, default: int, least: int, most: int) -> int:
    """Return a whole number of the query, within its limits."""
    text = request.query.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 19 and least <= int(text) <= most):
        raise InputError(f"{name} must be a whole number from {least} to {most}, not {text[:40]!r}")
    return int(text)


def one_of(request: web.Request, name: str, default: str, allowed: tuple[str, ...]) -> str:
    """Return a word of the query."""
    word = request.query.get(name, default)
    if word not in allowed:
        raise InputError(f"{name} must be one of {', '.join(allowed)}, not {word[:40]!r}")
    return word


def words(request: web.Request, name: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return a list of words of the query, with commas between."""
    text = request.query.get(name)
    return default if text is None else tuple(word.strip() for word in text.split(",") if word.strip())


async def json_object(request: web.Request) -> dict[str, Any]:
    """Return the JSON object that a request brings."""
    found = read_json(await limited_body(request, MOST_BYTES))
    if not isinstance(found, dict):
        raise InputError("the body must be a JSON object")
    return found


def read_json(body: bytes) -> Any:
    """Read JSON; InputError where it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the body is not JSON: {error}") from None


async def limited_body(request: web.Request, most: int = MOST_REPORT_BYTES) -> bytes:
    """Return a request's body, unpacked; 413 as soon as it is too long."""
    pieces, size = [], 0
    try:
        async for piece in request.content.iter_chunked(1 << 16):
            size += len(piece)
            if size > most:
                raise web.HTTPRequestEntityTooLarge(max_size=most, actual_size=size)
            pieces.append(piece)
    except (RequestPayloadError, HttpProcessingError) as error:
        raise InputError(f"the body cannot be read: {error}") from None
    return b"".join(pieces)


def numbered_rows(body: bytes, *, lines: bool) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Yield the JSON objects of a body with their numbers from 1, or why one is none.

    With `lines` one per line; otherwise a JSON object, or an array of them.
    """
    if not lines:
        found = read_json(body)
        for i, row in enumerate(found if isinstance(found, list) else [found], 1):
            yield i, row if isinstance(row, dict) else "not a JSON object"
        return
    for i, line in enumerate(body.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield i, f"not JSON: {error}"[:200]
        else:
            yield i, row if isinstance(row, dict) else "not a JSON object"
