"""The address guard: the crawler connects to public addresses only, unless its settings open a network.

A name is resolved once, every address of the answer is checked, and the connection is made to a checked address; the
socket factory checks the very address again at the last moment. So neither a redirect, nor a name with mixed answers,
nor one that is rebound between check and use leads into a private network.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from threading import Thread
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from recrawl.clock import Clock
from recrawl.errors import InputError
from recrawl.fetch.outcome import Kind
from recrawl.fetch.settings import target_of

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Lookup = Callable[[str], Awaitable[Sequence[str]]]

_TEREDO = ip_network("2001::/32")
_6TO4 = ip_network("2002::/16")
_NAT64 = ip_network("64:ff9b::/96")
_EXTRA = tuple(ip_network(text) for text in ("100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "fec0::/10", "100::/64"))
_PRIVATE = tuple(
    ip_network(text) for text in ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")
)
_MAX_CACHED = 100_000


class RefusedError(Exception):
    """The guard refuses an address, or a name has none."""

    def __init__(self, kind: Kind, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


def embedded(address: Address) -> Address | None:
    """Return the IPv4 address inside an IPv4-mapped, IPv4-compatible, 6to4, Teredo or NAT64 address."""
    if isinstance(address, IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _6TO4:
        return address.sixtofour
    if address in _TEREDO and address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64 or 1 < int(address) < 2**32:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def is_public(address: Address) -> bool:
    """Whether an address is globally reachable, and so is every address embedded in it."""
    inner = embedded(address)
    if inner is not None:
        # tunnels are not a way to reach the web; a mapped address is only another spelling
        return is_public(inner) and isinstance(address, IPv6Address) and address.ipv4_mapped is not None
    return address.is_global and not address.is_multicast and not any(address in network for network in _EXTRA)


def private_network_in(text: str) -> str:
    """Return the private network of the first address in a text, for a hint; empty where there is none."""
    for word in text.replace(",", " ").split():
        address = _literal(word)
        if address is not None:
            return next((str(network) for network in _PRIVATE if address in network), "")
    return ""


async def system_lookup(host: str) -> Sequence[str]:
    """Ask the system's resolver for all addresses of a host.

    In a thread of its own: the event loop's few would all wait for names whose servers do not answer, while the others'
    lookups time out behind them. A thread that waits keeps no crawl from ending.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[Any]] = loop.create_future()

    def settle(found: list[Any], error: Exception | None) -> None:
        if not answer.done():
            answer.set_result(found) if error is None else answer.set_exception(error)

    def look() -> None:
        found, error = list[Any](), None
        try:
            found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except Exception as wrong:
            error = wrong
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, found, error)

    Thread(target=look, name="lookup", daemon=True).start()
    return [str(each[4][0]) for each in await answer]


class Guard(AbstractResolver):
    """Resolves names to checked addresses, for the connector and for checks before a request."""

    def __init__(
        self,
        clock: Clock,
        *,
        allow_networks: Sequence[str] = (),
        connect_to: Sequence[tuple[str, str]] = (),
        cache_s: float = 300.0,
        timeout_s: float = 10.0,
        lookup: Lookup = system_lookup,
        proxy: str = "",
    ) -> None:
        self._clock = clock
        self._proxy = (URL(proxy).host or "").lower() if proxy else ""
        self._proxy_addresses = set[str]()  # the only ones that are connected to where there is a proxy
        self._allowed = tuple(_network(text) for text in allow_networks)
        self._connect_to = {host.lower(): target_of(place) for host, place in connect_to}
        self._cache_s = cache_s
        self._timeout_s = timeout_s
        self._lookup = lookup
        self._cache: dict[str, tuple[float, tuple[str, ...]]] = {}

    def admits(self, address: Address) -> bool:
        """Whether we may connect to this address."""
        inner = embedded(address)
        if any(address in network or (inner is not None and inner in network) for network in self._allowed):
            return True
        return is_public(address)

    async def addresses(self, host: str) -> tuple[str, ...]:
        """Return the checked addresses of a host; raise RefusedError if there are none or one is refused."""
        cached = self._cache.get(host)
        if cached is not None and self._clock.monotonic_s() < cached[0]:
            return cached[1]
        if self._proxy and _literal(host) is None:
            return ()  # the proxy looks names up, and must guard its own networks
        found = await self._resolve(host)
        if len(self._cache) >= _MAX_CACHED:
            self._cache.clear()
        self._cache[host] = (self._clock.monotonic_s() + self._cache_s, found)
        return found

    async def _resolve(self, host: str) -> tuple[str, ...]:
        place = self._place(host)
        literal = _literal(place[0] if place else host)
        if literal is not None:
            answers: Sequence[str] = [str(literal)]
        else:
            try:
                async with asyncio.timeout(self._timeout_s):
                    answers = await self._lookup(host)
            except TimeoutError:
                raise RefusedError(
                    Kind.DNS_FAILED, f"{host}: no name server answered in {self._timeout_s:g} s"
                ) from None
            except (OSError, UnicodeError) as error:
                raise RefusedError(Kind.DNS_FAILED, f"{host}: {error}") from None
        if not answers:
            raise RefusedError(Kind.DNS_FAILED, f"{host} has no address")
        refused = [text for text in answers if not self.admits(ip_address(text.partition("%")[0]))]
        if refused:
            mixed = " among others" if len(refused) < len(answers) else ""
            named = host if host == refused[0] else f"{host} is {refused[0]}{mixed}, which"
            raise RefusedError(Kind.REFUSED_ADDRESS, f"{named} is not a public address")
        return tuple(dict.fromkeys(answers))

    def _place(self, host: str) -> tuple[str, int] | None:
        """Return the address that the settings give for a host."""
        if not self._connect_to:
            return None
        labels = host.split(".")
        names = [host] + ["*." + ".".join(labels[i:]) for i in range(len(labels))] + ["*"]
        return next((self._connect_to[name] for name in names if name in self._connect_to), None)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Answer the connector: checked addresses only, or those of the proxy that the settings name."""
        if self._proxy:
            found = await self._lookup(host)
            self._proxy_addresses.update(found)
            return [_result(host, address, port) for address in found]
        place = self._place(host)
        if place and place[1]:
            port = place[1]
        return [_result(host, address, port) for address in await self.addresses(host)]

    def open_socket(self, info: tuple[Any, ...]) -> socket.socket:
        """Make the socket for one address, if the guard admits it: the last check, on the address itself."""
        family, kind, protocol, _, place = info
        address = ip_address(str(place[0]).partition("%")[0])
        trusted = str(address) == self._proxy.strip("[]") or str(address) in self._proxy_addresses
        if not trusted and not self.admits(address):
            raise RefusedError(Kind.REFUSED_ADDRESS, f"{address} is not a public address")
        return socket.socket(family=family, type=kind, proto=protocol)

    async def close(self) -> None:
        """Nothing to close."""


def _result(host: str, address: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=socket.AI_NUMERICHOST)


def _literal(host: str) -> Address | None:
    """Return the address that a host already is (URLs in normal form spell IPv4 in dotted decimal only)."""
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        return None


def _network(text: str) -> Network:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        raise InputError(f"fetch: {text!r} is not a network such as 127.0.0.0/8") from None
