"""From a URL to a typed result, by way of scope, guard, robots.txt and the host's gate, anew at every redirect.

A fetch goes round this loop once for each hop:

    port, scope -> address guard -> robots.txt -> gate (waits) -> exchange (retried after resets) -> redirect?
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from recrawl.clock import Clock, SystemClock
from recrawl.fetch.gate import Gate
from recrawl.fetch.guard import Guard, Lookup, RefusedError, system_lookup
from recrawl.fetch.http_client import Exchange, HttpClient
from recrawl.fetch.outcome import HOST_FAILURES, RETRIABLE, FetchResult, Headers, Hop, Kind
from recrawl.fetch.robots import MAX_REDIRECTS, Robots
from recrawl.fetch.settings import FetchSettings
from recrawl.fetch.validators import NO_VALIDATORS, Validators, contradicts
from recrawl.fetch.wire import Certificates
from recrawl.see.markup.html import MAX_REFRESH_S, quick_refresh
from recrawl.urls.url import DENIED_PORTS, Base, Url, parse, shown, why_not

Scope = Callable[[str], bool]
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MAX_STALE = 2
_OK, _HOST_PAUSED, _RATE_LIMITED = Kind.OK, Kind.HOST_PAUSED, Kind.RATE_LIMITED  # quick to look up
_NOT_A_VERSION = Kind.NOT_A_VERSION
_NO_ANSWER = Exchange(Kind.UNEXPECTED)  # of an exchange that was cancelled
_ROBOTS_KINDS = {
    "disallowed": Kind.ROBOTS_DISALLOWED,
    "unreachable": Kind.ROBOTS_UNREACHABLE,
    "crawl-delay": Kind.CRAWL_DELAY_ABSURD,
}


@dataclass(frozen=True, slots=True)
class Request:
    """A page to request."""

    url: str
    validators: Validators = NO_VALIDATORS
    headers: tuple[tuple[str, str], ...] = ()  # credentials and the like: sent to the page's own origin alone
    max_body_bytes: int | None = None  # instead of the settings'
    hops: tuple[Hop, ...] = ()  # redirects that another process has followed: the last one's target is asked
    attempts: int = 0  # requests that it made for them


@dataclass(slots=True)
class _Walk:
    """A fetch in progress: its current URL, and the redirects so far."""

    request: Request
    start: Url
    url: Url
    max_redirects: int
    max_body_bytes: int
    checks_robots: bool = True
    checks_scope: bool = True
    at: float = 0.0
    hops: list[Hop] = field(default_factory=list)
    attempts: int = 0
    downgraded: bool = False
    conditional: bool = False

    def result(
        self, kind: Kind, reason: str = "", answer: Exchange | None = None, retry_in_s: float = 0.0
    ) -> FetchResult:
        answer = answer or Exchange(kind)
        return FetchResult(  # by place: names would take longer than all else here
            self.start.href,
            kind,
            self.at,
            self.url.href,
            reason or answer.reason,
            answer.status,
            answer.headers,
            answer.body if kind is _OK else b"",
            answer.truncated,
            self.downgraded,
            self.conditional,
            tuple(self.hops),
            self.attempts,
            answer.wire_bytes,
            answer.first_byte_s or 0.0,
            answer.elapsed_s,
            retry_in_s,
        )


async def _always(_host: str, _waits: bool) -> bool:
    return True


class Fetcher:
    """Fetches pages. Use as `async with`; `gate` and `robots` export and restore their state for the store."""

    def __init__(
        self,
        settings: FetchSettings | None = None,
        *,
        clock: Clock | None = None,
        scope: Scope | None = None,
        lookup: Lookup = system_lookup,
        keep_manners: Callable[[], None] = lambda: None,
        own_headers: Callable[[str], Headers] = lambda _: (),
        certificates: Certificates | None = None,
    ) -> None:
        self.own_headers = own_headers  # by host: credentials and the like, sent to it alone
        self.keep_manners = keep_manners  # puts gate and robots on disk: called when they must not be forgotten
        # By host, and whether to wait for it: False where another process asks it.
        self.may_ask: Callable[[str, bool], Awaitable[bool]] = _always
        self.may_send: Callable[[], bool] = lambda: True  # asked right before each request
        self.settings = settings or FetchSettings()
        self.clock = clock or SystemClock()
        self.scope = scope
        self.guard = Guard(
            self.clock,
            allow_networks=self.settings.allow_networks,
            connect_to=self.settings.connect_to,
            cache_s=self.settings.dns_cache_s,
            timeout_s=self.settings.connect_timeout_s,
            lookup=lookup,
            proxy=self.settings.proxy,
        )
        self.gate = Gate(self.clock, self.settings.gate)
        self.robots = Robots(self.clock, self.settings, self._ask_robots, self._note_robots)
        cert, key = self.settings.tls_cert_file, self.settings.tls_key_file
        own = certificates or (lambda _: None if cert is None else (cert, key))
        self._client = HttpClient(self.settings, self.guard, self.clock, own)

    async def __aenter__(self) -> Fetcher:
        await self._client.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.robots.close()
        await self._client.__aexit__()

    async def fetch(self, request: Request | str, *, scoped: bool = True) -> FetchResult:
        """Fetch a page. Whatever happens is in the result; nothing is raised but cancellation.

        With `scoped` False the crawl's scope does not apply: for a sitemap on another host, say.
        """
        request = Request(request) if isinstance(request, str) else request
        url = parse(request.url)
        if url is None:
            return FetchResult(shown(request.url), Kind.INVALID_URL, self.clock.now(), reason=why_not(request.url))
        limit = request.max_body_bytes or self.settings.max_body_bytes
        walk = _Walk(request, url, url, self.settings.max_redirects, limit, checks_scope=scoped)
        walk.attempts = request.attempts
        for hop in request.hops:
            target = parse(hop.target)
            assert target is not None, "the target of a redirect that was followed"
            walk.downgraded |= walk.url.scheme == "https" and target.scheme == "http"
            walk.url = target
        walk.hops += request.hops
        return await self._walk(walk)

    def _note_robots(self, url: Url) -> None:
        """Keep a delay that a new robots.txt asks for, or no longer does, before the next request.

        One that asks for none is kept with the next visits: after a crash it would only be asked for again.
        """
        before_s = self.gate.delay_s(url.host)
        self._mind_crawl_delay(url)
        if self.robots.host_crawl_delay_s(url) or self.gate.delay_s(url.host) != before_s:
            self.keep_manners()

    def _mind_crawl_delay(self, url: Url) -> None:
        """Let the gate hold what the newest robots.txt asks for, up to what we accept: it must be read again."""
        asked_s = self.robots.host_crawl_delay_s(url)
        self.gate.set_crawl_delay(url.host, min(asked_s, self.settings.gate.max_crawl_delay_s))

    async def _ask_robots(self, href: str) -> FetchResult:
        url = parse(href)
        assert url is not None, "an origin's robots.txt has a URL"
        limit = self.settings.max_robots_bytes
        walk = _Walk(Request(href), url, url, MAX_REDIRECTS, limit, checks_robots=False, checks_scope=False)
        return await self._walk(walk)

    async def _walk(self, walk: _Walk) -> FetchResult:
        walk.at = self.clock.now()
        try:
            while True:
                refusal = await self._refusal(walk)
                if refusal is not None:
                    return refusal
                outcome = await self._hop(walk)
                if isinstance(outcome, FetchResult):
                    return outcome
        except Exception as error:  # no answer, however strange, may end a crawl
            return walk.result(Kind.UNEXPECTED, f"{type(error).__name__}: {error}"[:200])

    async def _refusal(self, walk: _Walk) -> FetchResult | None:
        """Return why this hop may not be requested, or None if it may."""
        url = walk.url
        if url.port in DENIED_PORTS:
            return walk.result(Kind.REFUSED_PORT, f"port {url.port} belongs to another protocol")
        if walk.checks_scope and self.scope is not None and not self.scope(url.href):
            return walk.result(Kind.OUT_OF_SCOPE, f"{shown(url.href)} is outside the crawl")
        if not await self.may_ask(url.host, not walk.checks_robots):
            return walk.result(Kind.HOST_PAUSED, f"{url.host} is asked by another worker")
        pause_s = self.gate.ready_in_s(url.host)
        if pause_s > self._patience_s(url.host):
            return walk.result(Kind.HOST_PAUSED, f"{url.host} is left alone", retry_in_s=pause_s)
        try:
            await self.guard.addresses(url.host)
        except RefusedError as refused:
            if refused.kind is Kind.DNS_FAILED:
                self.gate.note_failure(url.host)
            return walk.result(refused.kind, refused.reason)
        if not walk.checks_robots:
            return None
        verdict, reason = await self.robots.verdict(url)
        if verdict != "allowed":
            return walk.result(_ROBOTS_KINDS[verdict], reason)
        self._mind_crawl_delay(url)
        return None

    def _patience_s(self, host: str) -> float:
        """Return how long to wait for a host: one whole delay at least, or a host that is slow would never be asked."""
        return max(self.settings.max_wait_s, self.gate.delay_s(host) + 1.0)

    async def _hop(self, walk: _Walk) -> FetchResult | None:
        """Request the current URL; None if the answer was a redirect that is followed."""
        validators = {} if walk.hops else dict(walk.request.validators.headers(self.settings.audit_every))
        walk.conditional = bool(validators)
        answer = await self._exchange(walk, self._headers(walk) | validators)
        if answer.status == 304 and (not validators or contradicts(answer.header("etag"), validators)):
            # a 304 to a question that was not asked: ask the plain question
            walk.conditional = False
            answer = await self._exchange(walk, self._headers(walk) | {"Cache-Control": "no-cache"})
        elif answer.status == 304:
            return walk.result(Kind.NOT_MODIFIED, answer=answer)
        kind = answer.kind
        if kind is _OK:
            if walk.checks_robots and self.settings.follow_meta_refresh:
                refresh = quick_refresh(answer.body, walk.url.href)
                if refresh is not None and refresh.delay_s <= MAX_REFRESH_S:
                    return self._follow(walk, refresh.url, answer)
        elif kind is _HOST_PAUSED or kind is _RATE_LIMITED:
            return walk.result(kind, answer=answer, retry_in_s=self.gate.ready_in_s(walk.url.host))
        elif kind is _NOT_A_VERSION and answer.status in _REDIRECTS:
            return self._follow(walk, answer.header("location"), answer)
        return walk.result(kind, answer=answer)

    def _headers(self, walk: _Walk) -> dict[str, str]:
        """Return what is sent to this hop's host alone, and the request's own headers while on the page's own origin.

        After a redirect from https to http nothing is sent that was meant for one host.
        """
        own = {} if walk.downgraded else dict(self.own_headers(walk.url.host))
        if not walk.request.headers or walk.url.origin != walk.start.origin:
            return own
        return own | dict(walk.request.headers)

    def _follow(self, walk: _Walk, location: str, answer: Exchange) -> FetchResult | None:
        status = answer.status if answer.kind is not Kind.OK else 0
        if not location.strip():
            return walk.result(Kind.BAD_REDIRECT, "a redirect without a Location", answer)
        target = parse(location, Base(walk.url.href))
        if target is None:
            return walk.result(Kind.BAD_REDIRECT, f"a redirect to {shown(location, 80)}", answer)
        visited = {hop.url for hop in walk.hops} | {walk.url.href}
        walk.hops.append(Hop(walk.url.href, status, target.href))
        if target.href in visited:
            return walk.result(Kind.TOO_MANY_REDIRECTS, f"a loop back to {shown(target.href, 80)}", answer)
        if len(walk.hops) > walk.max_redirects:
            return walk.result(Kind.TOO_MANY_REDIRECTS, f"more than {walk.max_redirects} redirects", answer)
        walk.downgraded |= walk.url.scheme == "https" and target.scheme == "http"
        walk.url = target
        return None

    async def _exchange(self, walk: _Walk, headers: Mapping[str, str]) -> Exchange:
        """Request through the host's gate; retry with growing delays after a reset or a broken answer.

        A kept connection that turns out to be closed is no failure of the host: the next try is over a new one.
        """
        host, retries, stale = walk.url.host, 0, 0
        while True:
            if not await self.gate.enter(host, self._patience_s(host)):
                return Exchange(Kind.HOST_PAUSED, f"{host} is left alone")
            if not self.may_send():
                self.gate.leave(host, well=False)
                return Exchange(Kind.HOST_PAUSED, "too late to ask")
            walk.attempts += 1
            walk.at = self.clock.now()
            answer = _NO_ANSWER
            try:
                answer = await self._client.exchange(walk.url, headers, walk.max_body_bytes)
            finally:
                self.gate.leave(
                    host,
                    latency_s=answer.first_byte_s,
                    failed=answer.kind is not _OK and answer.kind in HOST_FAILURES and not answer.stale,
                    well=answer.kind is not _RATE_LIMITED and not answer.stale,
                )
            if answer.kind is _OK:
                return answer
            if answer.kind is _RATE_LIMITED:
                self.gate.back_off(host, answer.header("retry-after"))
                self.keep_manners()
            if answer.stale and stale < _MAX_STALE:
                stale += 1
                continue
            if answer.kind not in RETRIABLE or retries == self.settings.retries:
                return answer
            await self.clock.sleep(self.settings.retry_backoff_s * 2.0**retries)
            retries += 1
