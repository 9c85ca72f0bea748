"""Who may ask the server what: Host check, token or cookie, and no state change by another site's page.

- A foreign Host is answered 421: a page of another site must not reach this server by a name that it lets point here
  (DNS rebinding). Addresses are always ours, since no name can be one.
- Where there is a token, requests need it (`Authorization: Bearer`), or the cookie that /login sets: 401.
- State changes are POST or DELETE: 403 for one that a browser sends from another origin, and for one of a browser
  without the page's CSRF value (form field or header).
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from http import HTTPStatus

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

COOKIE = "recrawl_session"
CSRF_FIELD, CSRF_HEADER = "csrf", "X-CSRF-Token"
OPEN = ("/healthz",)  # asked by whatever watches over processes, under any name and without a token
LOGIN = "/login"
READS = ("GET", "HEAD", "OPTIONS")
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class MisdirectedError(web.HTTPClientError):
    """421: the request names a host that is not this server."""

    status_code = HTTPStatus.MISDIRECTED_REQUEST


@dataclass(frozen=True)
class Access:
    """What a request must bring; `token` None: everybody who reaches the server may ask."""

    token: str | None = None
    names: frozenset[str] = frozenset({"localhost"})  # hosts that are this server, besides addresses
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def _value(self, use: str) -> str:
        key = self._secret if self.token is None else self.token.encode()
        return hmac.new(key, f"recrawl {use}".encode(), sha256).hexdigest()

    @property
    def session(self) -> str:
        """The value of the cookie of those who logged in."""
        return self._value("session")

    @property
    def csrf(self) -> str:
        """The value that forms of our own pages send with a state change."""
        return self._value("csrf")

    def is_token(self, text: str) -> bool:
        """Whether this is the token; takes as long for a wrong one."""
        return self.token is not None and same(text, self.token)

    def check(self, request: web.Request) -> None:
        """Raise what a request is answered with that may not go on."""
        if request.path in OPEN:
            return
        if not self.is_ours(request.headers.get("Host", "")):
            raise MisdirectedError(text="this server is asked by its address, or by a name given with --name")
        if request.method not in READS and _is_cross_site(request):
            raise web.HTTPForbidden(text="a page of another site may not change anything here")
        if not self.is_known(request) and request.path != LOGIN:
            raise web.HTTPUnauthorized(
                text="a token is needed: Authorization: Bearer TOKEN, or /login",
                headers={"WWW-Authenticate": "Bearer"},
            )

    async def check_state_change(self, request: web.Request) -> None:
        """Raise 403 where a browser changes something without the CSRF value of our pages."""
        if request.method in READS or request.path in (*OPEN, LOGIN) or self._has_bearer(request):
            return
        if COOKIE not in request.cookies and not _is_browser(request):
            return  # a program; the token was checked, where there is one
        given = request.headers.get(CSRF_HEADER)
        if given is None and request.content_type in ("application/x-www-form-urlencoded", "multipart/form-data"):
            given = (await request.post()).get(CSRF_FIELD)  # type: ignore[assignment]
        if not isinstance(given, str) or not same(given, self.csrf):
            raise web.HTTPForbidden(text=f"a state change needs the field {CSRF_FIELD} or the header {CSRF_HEADER}")

    def is_ours(self, host: str) -> bool:
        """Whether a Host header names this server: an address, or one of the names."""
        name = host.lower().rstrip(".")
        if name.startswith("["):
            name = name[1:].partition("]")[0]
        elif name.count(":") <= 1:
            name = name.partition(":")[0].rstrip(".")
        return name in self.names or is_address(name)

    def is_known(self, request: web.Request) -> bool:
        """Whether a request brings the token or the cookie, or none is needed."""
        if self.token is None or self._has_bearer(request):
            return True
        return same(request.cookies.get(COOKIE, ""), self.session)

    def _has_bearer(self, request: web.Request) -> bool:
        kind, _, value = request.headers.get("Authorization", "").partition(" ")
        return kind.lower() == "bearer" and self.is_token(value.strip())


def access_for(host: str, token: str | None, names: Iterable[str] = ()) -> Access:
    """Return the access of a server that listens at a host, known by these names too."""
    return Access(token, frozenset({"localhost", host.lower(), *(name.lower() for name in names)}))


def middleware_of(access: Access) -> Middleware:
    """Return the middleware that lets only such requests through."""

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        access.check(request)
        await access.check_state_change(request)
        return await handler(request)

    return guard


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Add what browsers must know of every answer, streams too."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.setdefault("Cache-Control", "no-store")


def is_address(name: str) -> bool:
    """Whether this is an IP address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    return host.lower() == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def same(one: str, other: str) -> bool:
    """Compare two secrets in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())


def _is_browser(request: web.Request) -> bool:
    return "Origin" in request.headers or "Sec-Fetch-Site" in request.headers


def _is_cross_site(request: web.Request) -> bool:
    """Whether a browser says that a page of another origin sent this."""
    if request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
        return True
    origin = request.headers.get("Origin")
    return origin is not None and origin.lower().partition("://")[2] != request.headers.get("Host", "").lower()
