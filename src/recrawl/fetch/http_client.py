"""One HTTP exchange: bounded in bytes, headers and time, and always a typed result, whatever the server does.

The HTTP is aiohttp's (fetch.wire). Here are the limits around it: nothing is decoded, redirected, remembered or retried
behind our back, names are resolved by the guard, and a kept connection on which a host has put words that we did not
ask for is dropped.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from recrawl.clock import Clock
from recrawl.fetch.agent import user_agent
from recrawl.fetch.cookies import Cookies
from recrawl.fetch.deadlines import Deadlines, Limit
from recrawl.fetch.encodings import ACCEPT, BadEncodingError, Decoder
from recrawl.fetch.guard import Guard, RefusedError
from recrawl.fetch.outcome import Headers, Kind, kind_of_status
from recrawl.fetch.settings import FetchSettings
from recrawl.fetch.whole_answers import WholeBody
from recrawl.fetch.wire import REUSED, Answer, Certificates, Wire
from recrawl.urls.url import Url

_DRAIN_BYTES = 65_536  # of an unneeded body, so that the connection can be used again
_OK, _UNEXPECTED = Kind.OK, Kind.UNEXPECTED  # as an attribute of its class, a member takes ten times as long to look up
_NAMES: dict[bytes, str] = {}  # of headers, decoded: hosts send the same few over and over
_MOST_NAMES = 4_096


@dataclass(slots=True)
class Exchange:
    """The result of one request."""

    kind: Kind
    reason: str = ""
    status: int = 0
    headers: Headers = ()
    body: bytes = b""
    truncated: bool = False
    wire_bytes: int = 0
    first_byte_s: float | None = None  # None: no answer began
    elapsed_s: float = 0.0
    stale: bool = False  # the kept connection had been closed meanwhile: the host did nothing wrong

    def header(self, name: str) -> str:
        """Return the first header of this (lower-case) name, or an empty string."""
        return next((value for key, value in self.headers if key == name), "")


class _FailedError(Exception):
    """Ends an exchange with a kind of failure."""

    def __init__(self, kind: Kind, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


class HttpClient:
    """Makes exchanges. Use as `async with`."""

    def __init__(self, settings: FetchSettings, guard: Guard, clock: Clock, certificates: Certificates) -> None:
        self._settings = settings
        self._guard = guard
        self._clock = clock
        self._certificates = certificates
        self._cookies = Cookies() if settings.cookies else None
        self._wire: Wire | None = None
        self._deadlines = Deadlines()
        self._rest_s = max(0.0, settings.deadline_s - settings.first_byte_timeout_s)  # for what follows the first byte

    async def __aenter__(self) -> HttpClient:
        headers = {"User-Agent": user_agent(self._settings.contact, self._settings.user_agent)}
        headers |= {"Accept": "text/html,*/*;q=0.8", "Accept-Encoding": ACCEPT}
        for name, value in self._settings.headers:
            same = next((known for known in headers if known.lower() == name.lower()), name)
            headers[same] = value
        self._wire = Wire(self._settings, self._guard, headers, self._certificates)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._deadlines.close()
        if self._wire is not None:
            await self._wire.close()
            self._wire = None

    async def exchange(self, url: Url, headers: Mapping[str, str], max_body_bytes: int) -> Exchange:
        """Ask for a page and read the answer."""
        began_s = self._clock.monotonic_s()
        answer = Exchange(_UNEXPECTED)
        settings = self._settings
        try:
            await self._in_time(url, headers, max_body_bytes, began_s, answer)
        except aiohttp.ConnectionTimeoutError:
            answer.kind = Kind.CONNECT_TIMEOUT
            answer.reason = f"no connection after {settings.connect_timeout_s:g} s"
        except TimeoutError:
            if answer.first_byte_s is None and settings.first_byte_timeout_s <= settings.deadline_s:
                answer.kind = Kind.FIRST_BYTE_TIMEOUT
                answer.reason = f"no answer after {settings.first_byte_timeout_s:g} s"
            else:
                answer.kind, answer.reason = Kind.DEADLINE, f"not done after {settings.deadline_s:g} s"
        except _FailedError as failed:
            answer.kind, answer.reason = failed.kind, failed.reason
        except RefusedError as refused:
            answer.kind, answer.reason = refused.kind, refused.reason
        except (aiohttp.ClientError, HttpProcessingError, OSError, ValueError) as error:
            answer.kind, answer.reason = _kind_of(error), _line(error)
        answer.elapsed_s = self._clock.monotonic_s() - began_s
        if answer.kind is not _OK:
            answer.stale = answer.kind is Kind.RESET and not answer.status and REUSED.get()
            answer.body = b""
        return answer

    async def _in_time(
        self, url: Url, headers: Mapping[str, str], max_body_bytes: int, began_s: float, answer: Exchange
    ) -> None:
        """Ask; TimeoutError when the first byte, or then the end, has not come in time."""
        limit = self._deadlines.begin(self._settings.deadline_s - self._rest_s)
        try:
            await self._ask(url, headers, max_body_bytes, began_s, answer, limit)
        except asyncio.CancelledError:
            if limit.has_ended():
                raise TimeoutError from None
            raise
        finally:
            self._deadlines.end(limit)

    async def _ask(
        self,
        url: Url,
        headers: Mapping[str, str],
        max_body_bytes: int,
        began_s: float,
        answer: Exchange,
        limit: Limit,
    ) -> None:
        assert self._wire is not None, "use `async with`"
        response = await self._wire.ask(url, self._with_cookies(url, headers))
        sound = False
        try:
            limit.at_s += self._rest_s
            answer.first_byte_s = self._clock.monotonic_s() - began_s
            answer.status = response.status
            answer.headers = tuple([(_NAMES.get(name) or _name(name), _value(raw)) for name, raw in response.headers])
            encoding = self._check_headers(answer.headers)
            if self._cookies is not None:
                self._cookies.take(url, answer.headers)
            sound = True
            answer.kind = kind_of_status(response.status)
            if answer.kind is _OK:
                await self._read(response, max_body_bytes, answer, encoding)
            else:
                await _drain(response)
        finally:
            response.close(keep=sound)

    def _with_cookies(self, url: Url, headers: Mapping[str, str]) -> Mapping[str, str]:
        """Add what the site's jar holds to the headers of a request."""
        kept = "" if self._cookies is None else self._cookies.header(url)
        if not kept:
            return headers
        own = headers.get("Cookie", "")
        return {**headers, "Cookie": f"{own}; {kept}" if own else kept}

    def _check_headers(self, headers: Headers) -> str:
        """Refuse answers with an ambiguous length, and headers beyond the cap; return the Content-Encoding."""
        size, lengths, length, coded, encoding = 0, 0, "", False, ""
        for name, value in headers:
            size += len(name) + len(value)
            if name == "content-length":
                lengths, length = lengths + 1, value
            elif name == "transfer-encoding":
                coded = True
            elif name == "content-encoding":
                encoding += f",{value}"
        if lengths > 1 or (lengths and (coded or "," in length)):
            raise _FailedError(Kind.AMBIGUOUS_LENGTH, "the answer states its length in two ways")
        if size > self._settings.max_header_bytes:
            raise _FailedError(Kind.HEADERS_TOO_LARGE, f"headers over {self._settings.max_header_bytes} bytes")
        return encoding

    async def _read(self, response: Answer, max_body_bytes: int, answer: Exchange, encoding: str) -> None:
        content = response.content
        if isinstance(content, WholeBody) and not encoding and len(content) <= max_body_bytes:
            answer.wire_bytes, answer.body = len(content), content.take()
            return
        try:
            decoder = Decoder(encoding, max_bytes=max_body_bytes, max_encodings=self._settings.max_encodings)
            while chunk := await content.readany():
                decoder.feed(chunk)
                if decoder.full or decoder.received > max_body_bytes + _DRAIN_BYTES:
                    answer.truncated = True
                    break
                if content.at_eof():
                    break
            answer.wire_bytes = decoder.received
            answer.body = decoder.partial() if answer.truncated else decoder.finish()
        except BadEncodingError as error:
            raise _FailedError(Kind.BAD_ENCODING, _line(error)) from None
        except EOFError as error:
            raise _FailedError(Kind.INCOMPLETE, _line(error)) from None
        if answer.truncated and len(answer.body) > self._settings.bomb_ratio * max(decoder.consumed, 1):
            raise _FailedError(Kind.BOMB, f"{decoder.consumed} bytes inflate to more than {len(answer.body)}")


async def _drain(response: Answer) -> None:
    """Read a short body to its end, so that the connection can be used again; leave a long one."""
    left = _DRAIN_BYTES
    try:
        while left > 0 and (chunk := await response.content.readany()):
            left -= len(chunk)
    except aiohttp.ClientError:
        pass  # the status was what counted


def _kind_of(error: Exception) -> Kind:
    if isinstance(error, (aiohttp.ClientConnectorCertificateError, aiohttp.ClientSSLError, ssl.SSLError)):
        return Kind.TLS_FAILED
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return Kind.DNS_FAILED
    if isinstance(error, (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError)):
        return Kind.CONNECT_FAILED
    if isinstance(error, (aiohttp.InvalidURL, ValueError)):
        return Kind.INVALID_URL
    if isinstance(error, aiohttp.ClientPayloadError):
        return Kind.INCOMPLETE
    if isinstance(error, (aiohttp.ClientResponseError, HttpProcessingError)):
        return _kind_of_message(error.message)
    return Kind.RESET


def _kind_of_message(message: str) -> Kind:
    """Classify parser errors that the library tells apart only by their message."""
    message = message.lower()
    if "too many headers" in message or "bytes when reading" in message:
        return Kind.HEADERS_TOO_LARGE
    if "content-length" in message:
        return Kind.AMBIGUOUS_LENGTH
    return Kind.INCOMPLETE if "chunk" in message else Kind.BAD_HTTP


def _name(raw: bytes) -> str:
    name = raw.decode("latin-1").lower()
    if len(_NAMES) < _MOST_NAMES and len(raw) < 100:
        _NAMES[raw] = name
    return name


def _value(raw: bytes) -> str:
    """Header values are data: UTF-8 where they are, latin-1 otherwise."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _line(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return f"the proxy answered {error.status} {error.message}"[:200]
    text = error.message if isinstance(error, (aiohttp.ClientResponseError, HttpProcessingError)) else f"{error}"
    line = " ".join(text.split())[:200]
    return "".join(char if char.isprintable() else "?" for char in line) or type(error).__name__
