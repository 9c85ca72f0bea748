"""Requests over aiohttp's connections, without its session.

aiohttp opens connections and parses what comes over them. Its session serves any method, body, cookie,
redirect and proxy, at a third of the cost of an exchange; a crawler asks with GET and a few headers, so here the
request is written straight to the connection, the answer taken from its parser (or as it is, where it is plain and
whole: fetch.whole_answers), and the connection kept for the next.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp.http import RawResponseMessage
from yarl import URL

from recrawl.clock import SystemClock
from recrawl.fetch.guard import Guard
from recrawl.fetch.settings import FetchSettings
from recrawl.fetch.whole_answers import HeadLimits, QuickHandler, WholeBody, WholeHead
from recrawl.urls.url import Url

if TYPE_CHECKING:
    from aiohttp.connector import Connection

REUSED: ContextVar[bool] = ContextVar("reused", default=False)  # whether this exchange goes over a kept connection
_KEEPALIVE_S = 4.0  # many servers close idle connections after five seconds
_ORIGINS = 1_000  # that are remembered, so as not to describe a host anew with every page
Certificate = tuple[Path, Path | None]  # of a client, and its key where that is another file
Certificates = Callable[[str], Certificate | None]  # by host
_NOT_IN_HEADERS = ("\r", "\n", "\0")


class KeptConnections:
    """Connections that wait for the next request to their origin, for a few seconds.

    One with unsolicited bytes is never used again: a host whose Content-Length is too small can leave a forged answer
    behind, to be taken for the next page's.
    """

    def __init__(self) -> None:
        self._clock = SystemClock()  # hosts close connections by theirs, whatever the crawl's own clock is
        self._kept: dict[str, list[tuple[Connection, float]]] = {}  # by origin: since when, on the monotonic clock
        self._timer: asyncio.TimerHandle | None = None

    def keep(self, origin: str, connection: Connection) -> None:
        """Keep a connection, or drop it where the host wants that or has sent too much."""
        protocol = connection.protocol
        if protocol is None or protocol.should_close:
            connection.close()
            return
        self._kept.setdefault(origin, []).append((connection, self._clock.monotonic_s()))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_KEEPALIVE_S, self._drop_old)

    def take(self, origin: str) -> Connection | None:
        """Return a connection that can be used, the one used last; None: there is none."""
        waiting, oldest_s = self._kept.get(origin), self._clock.monotonic_s() - _KEEPALIVE_S
        while waiting:
            connection, since_s = waiting.pop()
            protocol = connection.protocol
            usable = protocol is not None and protocol.is_connected() and not protocol.should_close
            if usable and since_s >= oldest_s:
                return connection
            connection.close()
        return None

    def close(self) -> None:
        """Drop all of them."""
        for waiting in self._kept.values():
            for connection, _ in waiting:
                connection.close()
        self._kept.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _drop_old(self) -> None:
        oldest_s = self._clock.monotonic_s() - _KEEPALIVE_S
        kept: dict[str, list[tuple[Connection, float]]] = {}
        for origin, waiting in self._kept.items():
            for connection, since_s in waiting:
                if since_s > oldest_s:
                    kept.setdefault(origin, []).append((connection, since_s))
                else:
                    connection.close()
        self._kept = kept
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(_KEEPALIVE_S / 2, self._drop_old) if kept else None


class Answer:
    """The head of an answer, and the body as it comes. To be closed in any case."""

    __slots__ = ("_connection", "_kept", "_origin", "content", "headers", "status")

    def __init__(
        self,
        connection: Connection,
        message: RawResponseMessage | WholeHead,
        content: aiohttp.StreamReader | WholeBody,
        kept: KeptConnections,
        origin: str,
    ) -> None:
        self._connection = connection
        self._kept = kept
        self._origin = origin
        self.status = message.code
        self.headers = message.raw_headers
        self.content = content

    def close(self, *, keep: bool) -> None:
        """Keep the connection to be used again, if the body was read to its end, or drop it."""
        if keep and self.content.is_eof():
            self._kept.keep(self._origin, self._connection)
        else:
            self._connection.close()


class Wire:
    """Sends requests and receives the heads of answers."""

    def __init__(
        self, settings: FetchSettings, guard: Guard, headers: Mapping[str, str], certificates: Certificates
    ) -> None:
        self._settings = settings
        self._certificates = certificates
        self._tls: dict[Certificate | None, ssl.SSLContext] = {}
        self._proxy = URL(settings.proxy) if settings.proxy else None
        self._proxy_auth = proxy_auth(settings.proxy_auth_file)
        self._headers = _lines(headers)
        self._limits = HeadLimits(settings.max_field_bytes, settings.max_headers)
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=settings.connect_timeout_s)
        self._origins: dict[str, aiohttp.ClientRequest] = {}
        self._kept = KeptConnections()
        self._connector = aiohttp.TCPConnector(
            resolver=guard,
            use_dns_cache=False,  # the guard has its own
            socket_factory=guard.open_socket,
            limit=0,  # the gate limits connections by host, the caller in all
            force_close=True,  # what is given back is dropped: connections to be used again are kept here
        )
        makes: Any = partial(QuickHandler, asyncio.get_running_loop())
        self._connector._factory = makes  # aiohttp has no public name for what makes its protocols

    async def close(self) -> None:
        """Drop all connections."""
        self._kept.close()
        await self._connector.close()

    async def ask(self, url: Url, headers: Mapping[str, str]) -> Answer:
        """Send a request and wait for the head of its answer."""
        origin = url.origin
        target, more = url.href[len(origin) :], ""
        if self._proxy is not None and url.scheme == "http":  # the proxy reads the request itself
            target = url.href
            more = "" if self._proxy_auth is None else f"Proxy-Authorization: {self._proxy_auth.encode()}\r\n"
        head = f"GET {target} HTTP/1.1\r\nHost: {origin[len(url.scheme) + 3 :]}\r\n{self._headers}"
        words = f"{head}{_lines(headers) if headers else ''}{more}\r\n".encode()
        connection = self._kept.take(origin)
        REUSED.set(connection is not None)
        if connection is None:
            connection = await self._connect(url, origin)
        try:
            return await self._send(connection, words, origin)
        except BaseException:
            connection.close()
            raise

    async def _connect(self, url: Url, origin: str) -> Connection:
        try:
            return await self._connector.connect(self._request_to(url, origin), [], self._timeout)
        except TimeoutError as error:  # the connection's own: the exchange's limit arrives as a cancellation
            raise aiohttp.ConnectionTimeoutError from error

    async def _send(self, connection: Connection, words: bytes, origin: str) -> Answer:
        protocol = connection.protocol
        assert isinstance(protocol, QuickHandler)
        protocol.expect(self._limits)
        if protocol.transport is None:
            raise aiohttp.ServerDisconnectedError
        protocol.transport.write(words)
        while True:
            message, content = await protocol.read()
            if not 100 <= message.code <= 199 or message.code == 101:  # else an interim answer: the real one follows
                return Answer(connection, message, content, self._kept, origin)

    def _request_to(self, url: Url, origin: str) -> aiohttp.ClientRequest:
        """Return what the pool needs to know of a host."""
        request = self._origins.get(origin)
        if request is None:
            if len(self._origins) >= _ORIGINS:
                del self._origins[next(iter(self._origins))]
            request = aiohttp.ClientRequest(
                "GET",
                URL(f"{origin}/", encoded=True),
                loop=asyncio.get_running_loop(),
                ssl=self._tls_for(url.host) if url.scheme == "https" else True,
                proxy=self._proxy,
                proxy_auth=self._proxy_auth,
            )
            self._origins[origin] = request
        return request

    def _tls_for(self, host: str) -> ssl.SSLContext:
        """Load the certificate authorities and the host's client certificate: once, at the first https page."""
        certificate = self._certificates(host)
        if certificate not in self._tls:
            file = self._settings.tls_ca_file
            context = self._tls[certificate] = ssl.create_default_context(cafile=str(file) if file else None)
            if certificate is not None:
                context.load_cert_chain(*certificate)
        return self._tls[certificate]


def proxy_auth(file: Path | None) -> aiohttp.BasicAuth | None:
    """Read the user and password for the proxy."""
    if file is None:
        return None
    user, _, password = file.read_text().strip().partition(":")
    return aiohttp.BasicAuth(user, password, "utf-8")


def _lines(headers: Mapping[str, str]) -> str:
    for name, value in headers.items():
        if any(char in name or char in value for char in _NOT_IN_HEADERS):
            raise ValueError(f"a request header cannot hold a line break: {name}")
    return "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
