"""Serve a recording as real web sites on loopback: one port, one virtual host per site, a clock that the caller sets.

The replay server is the crawler's test bed and the demo: pages are born, change and die as they did in the recording.
Every request is logged with the server's own monotonic time, so politeness can be checked from the outside.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import format_datetime
from enum import StrEnum

from aiohttp import web

from recrawl.simulate.render import Rendering

EPOCH = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)  # day 0 on the replayed web's calendar
SITEMAP_LIMIT = 50_000


class ServedValidators(StrEnum):
    """How the server sets ETag and Last-Modified."""

    HONEST = "honest"
    ABSENT = "absent"
    CONSTANT = "constant"  # lies: the ETag stays the same although the page changes
    FRESH = "fresh"  # lies: the ETag is new on every request although the page is the same


class Lastmod(StrEnum):
    """How true the sitemaps' lastmod is."""

    ABSENT = "absent"
    HONEST = "honest"
    NOW = "now"  # lies: every page, every time


@dataclass(frozen=True, slots=True)
class Asked:
    """One line of the server's log."""

    monotonic_s: float
    host: str
    path: str
    status: int


def port_if_free(port: int) -> int:
    """Return the port if it is free, 0 (any) otherwise."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return 0
    return port


@dataclass
class ReplayServer:
    """Serves a rendering; `now()` gives the day on the replayed web."""

    rendering: Rendering
    now: Callable[[], float]
    validators: ServedValidators = ServedValidators.HONEST
    lastmod: Lastmod = Lastmod.ABSENT
    robots: str = "User-agent: *\nAllow: /\n"
    log: list[Asked] = field(default_factory=list)
    port: int = 0
    _loop: asyncio.AbstractEventLoop | None = None
    _stop: asyncio.Event | None = None
    _thread: threading.Thread | None = None
    _requests: int = 0

    def __enter__(self) -> ReplayServer:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run(ready)), daemon=True, name="replay-server")
        self._thread.start()
        if not ready.wait(timeout=10):
            raise OSError("the replay server did not start within 10 s")
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop and self._stop and self._thread:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(timeout=10)

    async def _run(self, ready: threading.Event) -> None:
        runner = web.ServerRunner(web.Server(self.answer, access_log=None))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.port).start()
        self.port = int(runner.addresses[0][1])
        self._stop = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request and log it."""
        asked_s = time.monotonic()
        host = (request.host or "").rsplit(":", 1)[0].lower()
        response = self._respond(request, host)
        self.log.append(Asked(asked_s, host, request.path, response.status))
        return response

    def _respond(self, request: web.BaseRequest, host: str) -> web.Response:
        at = self.now()
        if host not in self.rendering.hosts:
            return web.Response(status=404, text="no such site")
        if request.path == "/robots.txt":
            return web.Response(text=f"{self.robots}Sitemap: http://{host}:{self.port}/sitemap.xml\n")
        if request.path == "/sitemap.xml":
            return web.Response(text=self._sitemap(host, at), content_type="application/xml")
        page = self.rendering.page_at(host, request.path, at)
        if page is None:
            past = any(
                self.rendering.recording.died[p] <= at for p in self.rendering.lives.get((host, request.path), ())
            )
            return web.Response(status=410 if past else 404, text="gone" if past else "not found")
        return self._page(request, page, at)

    def _page(self, request: web.BaseRequest, page: int, at: float) -> web.Response:
        headers = self._validator_headers(page, at)
        etag = headers.get("ETag")
        if etag and request.headers.get("If-None-Match") == etag:
            return web.Response(status=304, headers=headers)
        if not etag and (since := request.headers.get("If-Modified-Since")) and since == headers.get("Last-Modified"):
            return web.Response(status=304, headers=headers)
        body = self.rendering.html(page, at, self.port)
        return web.Response(body=body, content_type="text/html", charset="utf-8", headers=headers)

    def _validator_headers(self, page: int, at: float) -> dict[str, str]:
        self._requests += 1
        version = self.rendering.version(page, at)
        match self.validators:
            case ServedValidators.ABSENT:
                return {}
            case ServedValidators.CONSTANT:
                return {"ETag": f'"{page}"'}
            case ServedValidators.FRESH:
                return {"ETag": f'"{page}-{self._requests}"'}
        changed = EPOCH + dt.timedelta(days=self.rendering.changed_at(page, version))
        return {"ETag": f'"{page}-{version}"', "Last-Modified": format_datetime(changed, usegmt=True)}

    def _sitemap(self, host: str, at: float) -> str:
        pages = [self.rendering.page_at(host, path, at) for (own, path) in self.rendering.lives if own == host]
        alive = [page for page in pages if page is not None][:SITEMAP_LIMIT]
        entries = "".join(
            f"<url><loc>{self.rendering.url(page, self.port)}</loc>{self._lastmod(page, at)}</url>" for page in alive
        )
        return f'<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'

    def _lastmod(self, page: int, at: float) -> str:
        if self.lastmod is Lastmod.ABSENT:
            return ""
        honest = self.rendering.changed_at(page, self.rendering.version(page, at))
        day = EPOCH + dt.timedelta(days=at if self.lastmod is Lastmod.NOW else max(honest, 0.0))
        return f"<lastmod>{day.isoformat()}</lastmod>"
