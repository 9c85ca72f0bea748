"""Answers: JSON, JSON lines as they come, and errors in one line."""

from __future__ import annotations

import html
import json
import logging
import math
from collections.abc import Iterable
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

from recrawl.errors import InputError, StoreError

log = logging.getLogger("recrawl.serve")
NDJSON = "application/x-ndjson"


def answer(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """Return JSON."""
    return web.json_response(content, status=status, headers=headers)


def refusal(status: int, line: str, headers: dict[str, str] | None = None) -> web.Response:
    """Return an error: {"error": one line}."""
    return answer({"error": " ".join(line.split())[:500]}, status, headers)


def lines(rows: Iterable[Any]) -> web.Response:
    """Return JSON lines."""
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    return web.Response(text=text, content_type=NDJSON)


def finite(value: Any) -> Any:
    """Return JSON-like data with None for NaN and infinity, which JSON does not have."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _refused(request: web.Request, status: int, line: str, headers: dict[str, str] | None = None) -> web.Response:
    """Return an error as JSON, or as a small page to a browser that asks for one."""
    if "text/html" not in request.headers.get("Accept", "") or request.path.startswith("/v1/"):
        return refusal(status, line, headers)
    text = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>recrawl</title>'
        '<meta name="viewport" content="width=device-width"><link rel="icon" href="/static/icon.svg">'
        '<link rel="stylesheet" href="/static/recrawl.css">'
        f'<main><h1>{status}</h1><p>{html.escape(line[:500])}</p><p><a href="/">Overview</a></p></main></html>'
    )
    return web.Response(text=text, status=status, content_type="text/html", headers=headers)


@web.middleware
async def errors_as_answers(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer every error in one line; what is our own fault goes to the log, not to the client."""
    try:
        return await handler(request)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        kept = {name: error.headers[name] for name in ("Allow", "WWW-Authenticate") if name in error.headers}
        return _refused(request, error.status, error.text or error.reason, kept)
    except StoreError as error:
        return _refused(request, 503, str(error))
    except InputError as error:
        return _refused(request, 400, str(error))
    except ConnectionError:
        raise  # the client has gone
    except Exception:
        log.exception("%s %s", request.method, request.path)
        return _refused(request, 500, "an error of the server's own; its log says more")
