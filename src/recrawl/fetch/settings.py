"""Every limit of the fetcher in one place, with its unit in its name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from pathlib import Path

from recrawl.errors import InputError

_PROXY = re.compile(r"https?://(\[[0-9a-fA-F:.]+\]|[^\s/:@?#\[\]]+):\d{1,5}/?")


@dataclass(frozen=True)
class GateSettings:
    """Limits of politeness: pauses and connections per host."""

    min_delay_s: float = 1.0  # between the end of one answer and the next request
    max_delay_s: float = 30.0  # what a slow host can raise the delay to; a Crawl-delay may be longer
    latency_factor: float = 5.0  # a host that takes t to answer is left alone for this many t
    connections: int = 1  # at once to one host
    max_crawl_delay_s: float = 300.0  # a robots.txt that asks for more is taken as "do not crawl"
    default_backoff_s: float = 60.0  # after 429 or 503 without a usable Retry-After; doubles each time
    max_backoff_s: float = 86_400.0  # the longest Retry-After that is believed
    breaker_failures: int = 5  # in a row, then the host is left alone ...
    breaker_s: float = 60.0  # ... this long, doubling up to max_backoff_s


@dataclass(frozen=True)
class FetchSettings:
    """The limits of one crawl's fetcher."""

    user_agent: str = ""  # instead of recrawl/VERSION; robots.txt is obeyed as the name that it begins with
    contact: str = ""  # a URL or mail address that a webmaster can turn to; part of the User-Agent
    headers: tuple[tuple[str, str], ...] = ()  # sent with every request, to whichever host
    cookies: bool = False  # keep what sites set, a jar per site, until the run ends
    proxy: str = ""  # http://host:port of a proxy for every request, http and https; it looks names up
    proxy_auth_file: Path | None = None  # a file with user:password for the proxy, readable by its owner alone
    max_body_bytes: int = 10_000_000  # after decoding
    max_header_bytes: int = 262_144
    max_headers: int = 256
    max_field_bytes: int = 32_768
    connect_timeout_s: float = 10.0
    first_byte_timeout_s: float = 20.0
    deadline_s: float = 60.0  # for one exchange, from connecting to the last byte
    max_redirects: int = 10
    retries: int = 2  # after resets and broken answers
    retry_backoff_s: float = 1.0  # doubles with each retry
    max_wait_s: float = 120.0  # a host that must be left alone for longer is reported as paused instead
    max_encodings: int = 2
    bomb_ratio: float = 100.0  # decoded over received bytes, where the byte cap was met
    audit_every: int = 10  # after this many "not modified" in a row, ask for the whole page again
    dns_cache_s: float = 300.0
    robots_max_age_days: float = 1.0
    robots_keep_days: float = 30.0  # how long an old copy speaks for a host whose robots.txt cannot be reached
    robots_retry_s: float = 3_600.0
    max_robots_bytes: int = 524_288
    obey_robots: bool = True
    follow_meta_refresh: bool = True
    allow_networks: tuple[str, ...] = ()  # private networks that may be crawled all the same, e.g. 127.0.0.0/8
    connect_to: tuple[tuple[str, str], ...] = ()  # (host or *.domain, address[:port]): where names really live
    tls_ca_file: Path | None = None  # instead of the system's authorities
    tls_cert_file: Path | None = None  # a client certificate, for servers that ask for one
    tls_key_file: Path | None = None  # its key, where that is not in the same file; readable by its owner alone
    gate: GateSettings = field(default_factory=GateSettings)

    def __post_init__(self) -> None:
        for name in ("max_body_bytes", "connect_timeout_s", "first_byte_timeout_s", "deadline_s", "max_robots_bytes"):
            if not getattr(self, name) > 0:
                raise InputError(f"fetch: {name} must be positive")
        for name in ("contact", "user_agent"):
            if any(ord(char) < 32 or ord(char) > 126 for char in getattr(self, name)):
                raise InputError(f"fetch: {name} must be plain ASCII")
        if self.user_agent and not self.user_agent[0].isalpha():
            raise InputError("fetch: user_agent must begin with a name, as ExampleBot/1.0")
        for text in self.allow_networks:
            try:
                ip_network(text, strict=False)
            except ValueError:
                raise InputError(f"fetch: allow_networks needs networks such as 127.0.0.0/8, not {text!r}") from None
        for _, place in self.connect_to:
            target_of(place)
        if self.proxy and not _PROXY.fullmatch(self.proxy):
            raise InputError(f"fetch: proxy must be http://host:port, not {self.proxy!r}")
        if self.gate.connections < 1 or self.gate.min_delay_s < 0:
            raise InputError("fetch: a host needs at least one connection and a delay of at least 0 s")


def target_of(place: str) -> tuple[str, int]:
    """Read where a name really lives: an address and a port, 0 where none is given."""
    address, _, port = place.rpartition(":") if place.count(":") == 1 else (place, "", "")
    try:
        ip_address(address.strip("[]"))
        if port and not (port.isdigit() and int(port) < 65_536):
            raise ValueError
    except ValueError:
        raise InputError(f"fetch: connect_to needs an address such as 127.0.0.1:8080, not {place!r}") from None
    return address, int(port or 0)
