"""The possible results of a fetch. Every case is a value of `Kind`; a fetch never raises.

Only OK carries a version of the page. NOT_MODIFIED says that the copy we have still holds. GONE is the host's own word
(404, 410). Everything else says nothing about the page, so it can never be taken for a change.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from recrawl.visits import Outcome

Headers = tuple[tuple[str, str], ...]  # names in lower case, values as received (latin-1)


class Kind(StrEnum):
    """The typed result of a fetch."""

    OK = "ok"
    NOT_MODIFIED = "not-modified"
    GONE = "gone"
    # never asked
    INVALID_URL = "invalid-url"
    REFUSED_PORT = "refused-port"
    REFUSED_ADDRESS = "refused-address"
    OUT_OF_SCOPE = "out-of-scope"
    ROBOTS_DISALLOWED = "robots-disallowed"
    ROBOTS_UNREACHABLE = "robots-unreachable"
    CRAWL_DELAY_ABSURD = "crawl-delay-absurd"
    HOST_PAUSED = "host-paused"
    # no usable answer
    DNS_FAILED = "dns-failed"
    CONNECT_FAILED = "connect-failed"
    CONNECT_TIMEOUT = "connect-timeout"
    FIRST_BYTE_TIMEOUT = "first-byte-timeout"
    DEADLINE = "deadline"
    RESET = "reset"
    TLS_FAILED = "tls-failed"
    BAD_HTTP = "bad-http"
    AMBIGUOUS_LENGTH = "ambiguous-length"
    HEADERS_TOO_LARGE = "headers-too-large"
    BAD_ENCODING = "bad-encoding"
    BOMB = "bomb"
    INCOMPLETE = "incomplete"
    # an answer that is not a version of the page
    TOO_MANY_REDIRECTS = "too-many-redirects"
    BAD_REDIRECT = "bad-redirect"
    NOT_A_VERSION = "not-a-version"
    BLOCKED = "blocked"
    RATE_LIMITED = "rate-limited"
    CLIENT_ERROR = "client-error"
    SERVER_ERROR = "server-error"
    UNEXPECTED = "unexpected"


RETRIABLE = frozenset({Kind.RESET, Kind.INCOMPLETE})
HOST_FAILURES = frozenset(  # signs of a host in trouble: these open its circuit breaker
    {Kind.DNS_FAILED, Kind.CONNECT_FAILED, Kind.CONNECT_TIMEOUT, Kind.FIRST_BYTE_TIMEOUT, Kind.DEADLINE}
    | {Kind.RESET, Kind.TLS_FAILED, Kind.SERVER_ERROR}
)


def kind_of_status(status: int) -> Kind:
    """Return what a final status means (redirects and 304 are dealt with before)."""
    if status in (200, 203):
        return Kind.OK
    if status in (404, 410):
        return Kind.GONE
    if status in (401, 402, 403, 407, 451):
        return Kind.BLOCKED
    if status in (429, 503):
        return Kind.RATE_LIMITED
    if 400 <= status < 500:
        return Kind.CLIENT_ERROR
    return Kind.SERVER_ERROR if 500 <= status < 600 else Kind.NOT_A_VERSION


@dataclass(frozen=True, slots=True)
class Hop:
    """A redirect that was followed."""

    url: str
    status: int  # 0: a meta refresh
    target: str


class FetchResult(NamedTuple):
    """The result of one fetch."""

    url: str  # as asked, in normal form where it has one
    kind: Kind
    at: float = 0.0  # our clock, days; when the request that decided was sent
    final_url: str = ""  # where the answer came from, after redirects
    reason: str = ""  # one line for people
    status: int = 0
    headers: Headers = ()
    body: bytes = b""  # decoded, at most max_body_bytes
    truncated: bool = False
    downgraded: bool = False  # a redirect led from https to http
    conditional: bool = False  # validators were sent
    hops: tuple[Hop, ...] = ()
    attempts: int = 0
    wire_bytes: int = 0  # of the body, as received
    first_byte_s: float = 0.0
    elapsed_s: float = 0.0
    retry_in_s: float = 0.0  # for a paused or rate-limited host: not before this long from now

    @property
    def outcome(self) -> Outcome | None:
        """What the visit found, where the answer alone decides; None where the content must (Kind.OK)."""
        if self.kind is Kind.OK:
            return None
        if self.kind is Kind.NOT_MODIFIED:
            return Outcome.UNCHANGED
        return Outcome.GONE if self.kind is Kind.GONE else Outcome.FAILED

    def without_body(self) -> FetchResult:
        """Return the same without the body, which may be large."""
        return FetchResult._make((*self[:_BODY], b"", *self[_BODY + 1 :]))

    def header(self, name: str) -> str:
        """Return the first header of this (lower-case) name, or an empty string."""
        for key, value in self.headers:
            if key == name:
                return value
        return ""


_BODY = FetchResult._fields.index("body")
