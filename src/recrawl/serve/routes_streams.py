"""What changed as an Atom feed, and live numbers and events as a stream (server-sent events)."""

from __future__ import annotations

import asyncio
import json
from itertools import islice
from typing import Any
from urllib.parse import urlencode
from xml.sax.saxutils import escape, quoteattr

from aiohttp import web

from recrawl.live.feed import EventFeed
from recrawl.live.feed_content import clean
from recrawl.serve.dashboard_data import numbers
from recrawl.serve.service import SERVICE, Service

EVERY_S = 2.0
ENTRIES = 50
AT_ONCE = 100  # events in one look


def add(app: web.Application) -> None:
    """Add the routes."""
    app.router.add_get("/feed.atom", atom)
    app.router.add_get("/events", events)


async def atom(request: web.Request) -> web.Response:
    """Return the newest changes as an Atom feed; `host` and `contains` filter it."""
    service = request.app[SERVICE]
    host, contains = request.query.get("host", ""), request.query.get("contains", "")
    found = await asyncio.to_thread(_newest, service, host, contains)
    base = f"{request.scheme}://{request.host}"
    name = service.crawl.directory.path.absolute().name
    updated = found[0]["time"] if found else "1970-01-01T00:00:00Z"
    filters = urlencode({key: value for key, value in (("host", host), ("contains", contains)) if value})
    query = f"?{filters}" if filters else ""
    text = "".join(
        [
            '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">',
            f"<title>{escape(name)}: what changed</title><id>urn:recrawl:{escape(name)}</id>",
            f"<updated>{updated}</updated><author><name>recrawl</name></author>",
            f'<link rel="self" href={quoteattr(base + "/feed.atom" + query)}/>',
            *(_entry(event, base, name) for event in found),
            "</feed>\n",
        ]
    )
    return web.Response(text=text, content_type="application/atom+xml")


def _newest(service: Service, host: str, contains: str) -> list[dict[str, Any]]:
    """Return the newest events that fit, the newest first."""

    def fits(event: dict[str, Any]) -> bool:
        return contains in event["url"] and (not host or event["url"].split("/", 3)[2] == host)

    feed = EventFeed(service.crawl.directory.path, types=("new", "changed", "gone"), wants=fits, include=("change",))
    try:
        feed.go_back(ENTRIES if not host and not contains else 20 * ENTRIES)
        return list(feed)[-ENTRIES:][::-1]
    finally:
        feed.close()


def _entry(event: dict[str, Any], base: str, name: str) -> str:
    kind = event["type"].partition(".")[2]
    change = event["change"] or {}
    counts = ""
    if change.get("words_added") is not None:
        counts = f", {change['words_added']} words added, {change['words_removed']} removed"
    title = clean(event["title"] or event["url"])
    story = f"{base}/page?{urlencode({'url': event['url']})}"
    return (
        f"<entry><title>{escape(kind)}: {escape(title)}</title><id>urn:recrawl:{escape(name)}:{event['id']}</id>"
        f"<updated>{event['time']}</updated><link href={quoteattr(clean(event['url']))}/>"
        f'<link rel="related" href={quoteattr(story)}/><summary>{escape(kind)}{counts}</summary></entry>'
    )


async def events(request: web.Request) -> web.StreamResponse:
    """Stream numbers that move, and events as they come; Last-Event-ID goes on after an event."""
    service = request.app[SERVICE]
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
    await response.prepare(request)
    cursor, last = request.headers.get("Last-Event-ID") or request.query.get("after"), ""
    while True:
        shown = json.dumps(await service.readings.ask(numbers))
        found, cursor = await asyncio.to_thread(_look, service, cursor)
        lines = [f"id: {event['id']}\nevent: page\ndata: {json.dumps(event)}\n\n" for event in found]
        if shown != last:
            lines.append(f"event: numbers\ndata: {shown}\n\n")
            last = shown
        try:
            await response.write(("".join(lines) or ": alive\n\n").encode())
        except ConnectionResetError:  # the page was closed, also by aiohttp's ClientConnectionResetError
            return response
        if await service.pause(EVERY_S):
            return response


def _look(service: Service, cursor: str | None) -> tuple[list[dict[str, Any]], str]:
    """Return the next events after a cursor, and the cursor after them; without one, begin at the end."""
    feed = EventFeed(service.crawl.directory.path, cursor, types=("new", "changed", "gone"))
    try:
        if cursor is None:
            feed.go_back(0)
        return list(islice(feed, AT_ONCE)), feed.cursor
    finally:
        feed.close()
