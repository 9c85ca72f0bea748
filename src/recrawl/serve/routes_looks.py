"""REST routes that look at a crawl or add pages to it: pages, one page, the feed of events."""

from __future__ import annotations

import asyncio
import base64
import json
from dataclasses import asdict
from typing import Any

from aiohttp import web

from recrawl.errors import InputError
from recrawl.live import adding
from recrawl.live.facade import Crawl
from recrawl.live.feed import USUAL, Event, EventFeed
from recrawl.live.forecast import forecast
from recrawl.live.planner import Planner
from recrawl.live.store import Store
from recrawl.live.views import show
from recrawl.serve.answers import answer, finite, lines
from recrawl.serve.request_parts import MOST_LINES, limited_body, number, one_of, read_json, whole, words
from recrawl.serve.service import SERVICE, Service
from recrawl.spans import dated

MOST_ADDED_BYTES = 32 << 20
LOOK_S = 0.5  # between two looks of a long poll at the feed
SORTS = ("page", "url", "visits", "changes", "last", "waiting")


def add(app: web.Application) -> None:
    """Add the routes."""
    app.router.add_get("/v1/pages", pages)
    app.router.add_post("/v1/pages", add_pages)
    app.router.add_get("/v1/page", page)
    app.router.add_get("/v1/feed", feed)


async def pages(request: web.Request) -> web.Response:
    """List pages, some at a time; `next` is where to go on (`after`)."""
    contains, sort = request.query.get("contains", ""), one_of(request, "sort", "page", SORTS)
    most, after = whole(request, "limit", 100, 1, MOST_LINES), _cursor(request.query.get("after"), sort)
    rows = await request.app[SERVICE].readings.ask(
        lambda store: store.pages_after(after, contains=contains, sort=sort, limit=most)
    )
    key = [rows[-1]["key"], rows[-1]["page"]] if len(rows) == most else None
    cursor = None if key is None else base64.urlsafe_b64encode(json.dumps([sort, *key]).encode()).decode()
    shown = [{name: value for name, value in row.items() if name != "key"} for row in rows]
    return answer({"pages": dated(shown), "next": cursor})


def _cursor(text: str | None, sort: str) -> tuple[Any, int] | None:
    if text is None:
        return None
    try:
        kind, key, last = json.loads(base64.urlsafe_b64decode(text.encode("ascii")))
        if kind != sort or not isinstance(key, str | int | float) or type(last) is not int or abs(last) >= 2**62:
            raise ValueError
        if isinstance(key, int) and abs(key) >= 2**62:
            raise ValueError
        return key, last
    except (ValueError, TypeError, RecursionError):
        raise InputError("after must be the `next` of an earlier answer, with the same sort") from None


async def add_pages(request: web.Request) -> web.Response:
    """Add pages: {"urls": [...]} as JSON, or one URL per line as text."""
    service = request.app[SERVICE]
    body = await limited_body(request, MOST_ADDED_BYTES)
    urls, requests = _asked(body) if request.content_type == "application/json" else (_texts(body), None)
    if len(urls) > MOST_LINES:
        raise InputError(f"{len(urls)} URLs are more than {MOST_LINES}: send them in parts")
    told = await add_to_crawl(service, urls, requests)
    return answer(told)


def _asked(body: bytes) -> tuple[list[str], list[Any] | None]:
    asked = read_json(body)
    urls = asked.get("urls") if isinstance(asked, dict) else None
    if not isinstance(urls, list) or not all(isinstance(url, str) for url in urls):
        raise InputError('the body must be {"urls": [...]}, or text with one URL per line')
    requests = asked.get("requests")
    if requests is not None and (not isinstance(requests, list) or len(requests) != len(urls)):
        raise InputError("requests must be a list with one entry per URL")
    return urls, requests


def _texts(body: bytes) -> list[str]:
    try:
        return [line.strip() for line in body.decode().splitlines() if line.strip()]
    except UnicodeDecodeError:
        raise InputError("the body is not UTF-8") from None


async def add_to_crawl(service: Service, urls: list[str], requests: list[Any] | None) -> dict[str, Any]:
    """Add the good URLs; where this process holds the planner by it, otherwise as `recrawl add` does."""
    scope = service.crawl.directory.config().scope
    good: dict[str, str | None] = {}
    refused, outside = [], 0
    for number_, url in enumerate(urls, 1):
        hrefs, wrong = adding.checked([url])
        if wrong:
            refused.append({"line": number_, "why": wrong[0][1]})
        elif not scope(hrefs[0]):
            outside += 1
        else:
            asked = None if requests is None else requests[number_ - 1]
            good[hrefs[0]] = None if asked is None else json.dumps(asked)
    new = 0
    if good and (service.planner.is_open or requests is not None):
        new = await service.planner.tell(lambda planner: _add_to(planner, good))
    elif good:
        new = await asyncio.to_thread(_add_beside, service.crawl, list(good))
    known = len(urls) - len(refused) - outside - new
    return {"new": new, "known": known, "out_of_scope": outside, "refused": refused}


def _add_to(planner: Planner, good: dict[str, str | None]) -> int:
    new = planner.add(good)
    kept = {url: text for url, text in good.items() if text is not None}
    if kept:
        planner.add_requests(list(kept), list(kept.values()))
    return new


def _add_beside(crawl: Crawl, hrefs: list[str]) -> int:
    with crawl.reading() as store:
        known = sum(store.page_of(href) is not None for href in hrefs)
    crawl.add(*hrefs)
    return len(hrefs) - known


async def page(request: web.Request) -> web.Response:
    """Show one page: its visits, its last change, and when and why it is visited next."""
    service = request.app[SERVICE]
    url = request.query.get("url", "")
    why = one_of(request, "why", "yes", ("yes", "no")) == "yes"

    def ask(store: Store) -> dict[str, Any]:
        story = asdict(show(service.crawl.directory, store, url))
        if why:
            told = forecast(store, story["page"], *service.crawl.steering())
            story["next"] = {**asdict(told), "why": told.why}
        return story

    try:
        return answer(finite(dated(await service.readings.ask(ask))))
    except InputError as error:
        if str(error).startswith("no page"):
            raise web.HTTPNotFound(text=str(error)) from None
        raise


async def feed(request: web.Request) -> web.Response:
    """Return events after a cursor, oldest first; with `wait`, wait for the first. 204: there is none yet."""
    service = request.app[SERVICE]
    after, most = request.query.get("after"), whole(request, "limit", 1000, 1, MOST_LINES)
    types, include = words(request, "types", USUAL), words(request, "with")
    wait_s = number(request, "wait", 0.0, 0.0, 60.0)
    loop = asyncio.get_running_loop()
    ends_s = loop.time() + wait_s
    folder = service.crawl.directory.path

    def look() -> tuple[list[Event], str]:
        found = EventFeed(folder, after, types=types, include=include, now=service.clock.now)
        try:
            events: list[Event] = []
            for event in found:
                events.append(event)
                if len(events) == most:
                    break
            return events, found.cursor
        finally:
            found.close()

    while True:
        events, cursor = await asyncio.to_thread(look)
        left_s = ends_s - loop.time()
        if events or left_s <= 0 or await service.pause(min(LOOK_S, left_s)):
            break
    response = lines(events) if events else web.Response(status=204)
    response.headers["X-Next-After"] = cursor
    return response
