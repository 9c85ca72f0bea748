"""Ask a hostile server one thing: the shortest way from a case to its result."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hostile.hostile_server import CERTIFICATE, HostileServer, Play
from recrawl.clock import Clock
from recrawl.fetch.fetcher import Fetcher, Request
from recrawl.fetch.outcome import FetchResult
from recrawl.fetch.settings import FetchSettings, GateSettings
from recrawl.fetch.validators import Validators

LENIENT = FetchSettings(
    max_body_bytes=100_000,
    connect_timeout_s=5.0,
    first_byte_timeout_s=5.0,
    deadline_s=10.0,
    retries=0,
    retry_backoff_s=0.01,
    max_wait_s=0.5,
    allow_networks=("127.0.0.0/8",),
    connect_to=(("*.test", "127.0.0.1"),),
    gate=GateSettings(min_delay_s=0.0, latency_factor=0.0, breaker_failures=1_000),
)

# for servers that never answer
HURRIED: dict[str, Any] = {"connect_timeout_s": 0.2, "first_byte_timeout_s": 0.2, "deadline_s": 0.4}

Answers = Mapping[str, Sequence[str]]


def lookup_in(answers: Answers) -> Callable[[str], Awaitable[Sequence[str]]]:
    """A name server that knows these names."""

    async def lookup(host: str) -> Sequence[str]:
        if host not in answers:
            raise OSError(f"{host} is unknown")
        return answers[host]

    return lookup


def ask(
    plays: Mapping[str, Play],
    path: str = "/",
    *,
    host: str = "127.0.0.1",
    tls: bool = False,
    validators: Validators | None = None,
    headers: tuple[tuple[str, str], ...] = (),
    clock: Clock | None = None,
    names: Answers | None = None,
    scope: Callable[[str], bool] | None = None,
    **settings: Any,
) -> tuple[FetchResult, HostileServer]:
    """Start a server with these plays, fetch one path of it, and return the result with the server's log."""

    async def run() -> tuple[FetchResult, HostileServer]:
        chosen = replace(LENIENT, **({"tls_ca_file": CERTIFICATE} if tls else {}) | settings)
        options: dict[str, Any] = {} if names is None else {"lookup": lookup_in(names)}
        async with (
            HostileServer(plays, tls=tls) as server,
            Fetcher(chosen, clock=clock, scope=scope, **options) as fetcher,
        ):
            url = path if "://" in path else server.url(path, host)
            request = Request(url.replace("PORT", str(server.port)), validators or Validators(), headers)
            return await fetcher.fetch(request), server

    return asyncio.run(run())


def with_fetcher(
    plays: Mapping[str, Play], script: Callable[[Fetcher, HostileServer], Awaitable[Any]], **settings: Any
) -> Any:
    """Run a longer conversation between a fetcher and a server."""
    clock = settings.pop("clock", None)

    async def run() -> Any:
        async with HostileServer(plays) as server, Fetcher(replace(LENIENT, **settings), clock=clock) as fetcher:
            return await script(fetcher, server)

    return asyncio.run(run())
