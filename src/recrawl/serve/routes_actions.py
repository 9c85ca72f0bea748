"""What the dashboard may change: pause and resume a host, visit a page soon, never or again, send events again.

All of it goes through the crawl's store or its cursors; the process that crawls reads it before its next cycle.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

from aiohttp import web

from recrawl.deliver.cursors import Cursors
from recrawl.deliver.sink_settings import read_sinks
from recrawl.errors import InputError
from recrawl.serve.service import SERVICE, Service


def add(app: web.Application) -> None:
    """Add the routes."""
    for name, act in (
        ("pause", lambda service, host: service.crawl.pause(host)),
        ("resume", lambda service, host: service.crawl.resume(host)),
    ):
        app.router.add_post(f"/actions/{name}", _action("host", act, lambda _: "/hosts"))
    for name, act in (
        ("soon", lambda service, url: service.crawl.visit_soon(url)),
        ("never", lambda service, url: service.crawl.remove(url)),
        ("again", lambda service, url: service.crawl.add(url)),
    ):
        app.router.add_post(f"/actions/{name}", _action("url", act, _page_after(name)))
    app.router.add_post("/actions/send-again", _action("name", _send_again, lambda _: "/deliveries?done=sent"))


def _page_after(name: str) -> Callable[[str], str]:
    return lambda url: f"/page?{urlencode({'url': url, 'done': name})}"


def _action(
    field: str, act: Callable[[Service, str], object], then: Callable[[str], str]
) -> Callable[[web.Request], Awaitable[web.Response]]:
    """Return a handler that acts on what a form's field names, and then shows where that can be seen."""

    async def handle(request: web.Request) -> web.Response:
        value = (await request.post()).get(field)
        if not isinstance(value, str) or not value:
            raise InputError(f"the form has no field {field}")
        await asyncio.to_thread(act, request.app[SERVICE], value)
        return web.Response(status=303, headers={"Location": then(value)})

    return handle


def _send_again(service: Service, name: str) -> None:
    folder = service.crawl.directory.path
    if name not in {setting.name for setting in read_sinks(folder)}:
        raise InputError(f"no sink {name!r} in recrawl.toml")
    cursors = Cursors(folder)
    try:
        cursors.try_again(name)
    finally:
        cursors.close()
