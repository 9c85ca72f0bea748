"""A web server that misbehaves on demand: raw sockets on 127.0.0.1, one play a path.

A play is either the very bytes to send or a coroutine that gets the request and the writer and may do anything. The
server logs every request with the monotonic time of its arrival: that log is the ground truth of politeness tests.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

CERTIFICATE = Path(__file__).parent / "localhost.pem"  # self-signed for localhost and 127.0.0.1, with its key


@dataclass(frozen=True)
class Asked:
    """A request as it arrived."""

    path: str
    headers: Mapping[str, str]  # names in lower case
    at_s: float  # monotonic
    connection: int

    @property
    def host(self) -> str:
        return self.headers.get("host", "")


Act = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]
Play = bytes | Act


def answer(body: bytes | str = b"", status: str = "200 OK", **headers: str) -> bytes:
    """Write a well-behaved answer; header names with underscores for hyphens."""
    data = body.encode() if isinstance(body, str) else body
    fields = {"content_type": "text/html; charset=utf-8", "content_length": str(len(data))} | headers
    lines = [f"HTTP/1.1 {status}"] + [f"{name.replace('_', '-')}: {value}" for name, value in fields.items() if value]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + data


def redirect(to: str, status: str = "302 Found") -> bytes:
    """Write a redirect."""
    return answer(b"", status, location=to)


def raw(head: str, body: bytes = b"") -> Act:
    """Send exactly these bytes and close the connection."""

    async def act(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(head.replace("\n", "\r\n").encode("latin-1") + body)
        await writer.drain()
        writer.close()

    return act


async def silence(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Say nothing, for ever."""
    await asyncio.sleep(3_600)


async def reset(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Reset the connection."""
    writer.transport.abort()


def in_turn(*plays: Play) -> Act:
    """Play one after the other, one a request; the last one for ever."""
    left = list(plays)

    async def act(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await _perform(left.pop(0) if len(left) > 1 else left[0], asked, writer)

    return act


async def _perform(play: Play, asked: Asked, writer: asyncio.StreamWriter) -> None:
    if isinstance(play, bytes):
        writer.write(play)
        await writer.drain()
    else:
        await play(asked, writer)


@dataclass
class HostileServer:
    """Serves plays by path (`/page`) or by host and path (`a.test/page`); 404 for the rest."""

    plays: Mapping[str, Play]
    tls: bool = False
    asked: list[Asked] = field(default_factory=list)
    port: int = 0

    async def __aenter__(self) -> Self:
        context = None
        if self.tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._connections = 0
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}{path}"

    def paths(self) -> list[str]:
        """The paths asked for, robots.txt apart."""
        return [asked.path for asked in self.asked if asked.path != "/robots.txt"]

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._connections += 1
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                await self._serve(reader, writer, self._connections)
        except asyncio.CancelledError:
            pass  # the test is over
        finally:
            self._tasks.discard(task)
            with contextlib.suppress(Exception):
                writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        while not writer.is_closing():
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            path = head[0].split(" ")[1]
            pairs = (line.partition(":") for line in head[1:] if line)
            headers = {name.lower(): value.strip() for name, _, value in pairs}
            asked = Asked(path, headers, time.monotonic(), number)
            self.asked.append(asked)
            name = asked.host.partition(":")[0] + path
            play = self.plays.get(name, self.plays.get(path, answer("nothing here", "404 Not Found")))
            await _perform(play, asked, writer)
