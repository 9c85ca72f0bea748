"""IndexNow: a site says which of its pages have changed, and proves by a file on its host that it is the site.

What is announced is a hint, believed as long as the site's hints are mostly true (recrawl.policies.signalled).
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

from aiohttp import web

from recrawl.clock import Clock
from recrawl.errors import InputError
from recrawl.fetch.fetcher import Fetcher, Request
from recrawl.fetch.gate import HostState
from recrawl.fetch.outcome import Kind
from recrawl.fetch.robots import RobotsRecord
from recrawl.live.facade import Crawl
from recrawl.serve.answers import answer
from recrawl.serve.request_parts import MOST_LINES, limited_body, read_json
from recrawl.serve.routes_looks import add_to_crawl
from recrawl.serve.service import SERVICE
from recrawl.urls.url import host_of, normalise

KEY = re.compile(r"[A-Za-z0-9-]{8,128}")
KEY_BYTES = 1024  # of a key's file
BELIEVED_S = 3600.0  # how long a key that was checked is not fetched again
MOST_BYTES = 32 << 20
CHECKED = web.AppKey("checked keys", dict[tuple[str, str], float])


def add(app: web.Application) -> None:
    """Add the routes."""
    app[CHECKED] = {}
    app.router.add_post("/v1/announce", announce_many)
    app.router.add_get("/v1/announce", announce_one)


async def announce_one(request: web.Request) -> web.Response:
    """Take one URL, with its key, from the query."""
    url = normalise(request.query.get("url", "")) or ""
    if not url:
        raise InputError("url must be the URL of a page")
    query = {"host": host_of(url), "key": request.query.get("key", ""), "urlList": [url]}
    return await _announce(request, {**query, "keyLocation": request.query.get("keyLocation")})


async def announce_many(request: web.Request) -> web.Response:
    """Take up to 10,000 URLs of one host: {"host", "key", "keyLocation", "urlList"}."""
    asked = read_json(await limited_body(request, MOST_BYTES))
    if not isinstance(asked, dict):
        raise InputError("the body must be a JSON object")
    return await _announce(request, asked)


async def _announce(request: web.Request, asked: dict[str, Any]) -> web.Response:
    service = request.app[SERVICE]
    host, key, urls = (asked.get(name) for name in ("host", "key", "urlList"))
    if not isinstance(host, str) or not isinstance(key, str) or not KEY.fullmatch(key):
        raise InputError("host must be a name, and key 8 to 128 letters, digits and dashes")
    if not isinstance(urls, list) or not urls or not all(isinstance(url, str) for url in urls):
        raise InputError("urlList must be a list of URLs")
    if len(urls) > MOST_LINES:
        raise InputError(f"urlList has more than {MOST_LINES} URLs")
    stated = asked.get("keyLocation")
    location = normalise(str(stated)) if stated else normalise(f"https://{host}/{key}.txt")
    host = host.lower().rpartition(":")[0] if re.search(r":\d+$", host) else host.lower()
    if location is None or host_of(location) != host:
        raise InputError("keyLocation must be a URL on the host")
    hrefs = [normalise(url) or "" for url in urls]
    under = location[: location.rindex("/") + 1] if stated else ""
    strange = [url for url, href in zip(urls, hrefs, strict=True) if not href or host_of(href) != host]
    strange += [href for href in hrefs if not href.startswith(under)]
    if strange:
        raise web.HTTPUnprocessableEntity(text=f"{strange[0][:200]!r} is not a page that this key may announce")
    known = await service.readings.ask(lambda store: host in store.hosts().values())
    if not known:
        raise web.HTTPUnprocessableEntity(text=f"{host[:200]!r} is not a host of this crawl")
    await _check(request.app, service.crawl, service.clock, location, key)
    told = await asyncio.to_thread(_note, service.crawl, hrefs, service.clock.now())
    added = await add_to_crawl(service, [href for href in hrefs if href not in told], None)
    return answer({"announced": len(told), "new": added["new"]})


async def _check(app: web.Application, crawl: Crawl, clock: Clock, location: str, key: str) -> None:
    """Raise 403 unless the file at `location` holds the key; fetched politely, and not again within the hour."""
    checked, now_s = app[CHECKED], clock.monotonic_s()
    if checked.get((location, key), -BELIEVED_S) > now_s - BELIEVED_S:
        return
    gates, robots = await app[SERVICE].readings.ask(lambda store: (store.gates(), store.robots()))
    async with Fetcher(crawl.directory.config().fetch, clock=clock) as fetcher:
        fetcher.gate.restore(HostState(**json.loads(state)) for state in gates)
        fetcher.robots.restore(RobotsRecord(**json.loads(record)) for record in robots)
        result = await fetcher.fetch(Request(location, max_body_bytes=KEY_BYTES), scoped=False)
    lines = result.body.decode("utf-8", "replace").split()
    if result.kind is not Kind.OK or host_of(result.final_url) != host_of(location) or key not in lines:
        why = "holds another key" if result.kind is Kind.OK else f"{result.kind} {result.reason}"
        raise web.HTTPForbidden(text=f"the key is not proved by {location[:200]}: {why}")
    if len(checked) > MOST_LINES:
        checked.clear()
    checked[location, key] = now_s


def _note(crawl: Crawl, hrefs: list[str], now: float) -> set[str]:
    """Note the known pages as announced; return them."""
    store = crawl.directory.open_store()
    try:
        pages = {href: store.page_of(href) for href in hrefs}
        with store.transaction():
            store.announce([(page, now, 1) for page in pages.values() if page is not None])
        return {href for href, page in pages.items() if page is not None}
    finally:
        store.close()
