"""Names are looked up side by side: those whose servers do not answer hold up no other host."""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import Any

import pytest

from recrawl.clock import SystemClock
from recrawl.fetch.guard import Guard, RefusedError
from recrawl.fetch.outcome import Kind


def test_names_that_nobody_answers_for_hold_up_no_other_lookup(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a hundred dead names under way the next one is found at once, and the process need not wait to end."""
    over, waiting = threading.Event(), threading.Semaphore(0)
    ask = socket.getaddrinfo

    def slow(host: str, *rest: Any, **more: Any) -> Any:
        if host.startswith("dead"):
            waiting.release()
            over.wait(60)
            raise socket.gaierror(socket.EAI_AGAIN, "no server answers")
        return ask("203.0.114.1", *rest, **more)

    async def look() -> None:
        guard = Guard(SystemClock(), timeout_s=30.0)
        dead = [asyncio.ensure_future(guard.addresses(f"dead{number}.example")) for number in range(100)]
        await asyncio.sleep(0)
        await asyncio.to_thread(lambda: [waiting.acquire() for _ in dead])
        assert await asyncio.wait_for(guard.addresses("live.example"), 10) == ("203.0.114.1",)
        over.set()
        for refused in await asyncio.gather(*dead, return_exceptions=True):
            assert isinstance(refused, RefusedError)
            assert refused.kind is Kind.DNS_FAILED

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    try:
        asyncio.run(look())
    finally:
        over.set()
