"""Hostile cases 23 to 28: answers without end, slow answers, and encodings that burst."""

from __future__ import annotations

import asyncio
import gzip
import socket
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace

import brotli  # type: ignore[import-untyped]
import pytest

from hostile.asking import HURRIED, LENIENT, ask
from hostile.hostile_server import Asked, answer, silence
from recrawl.fetch.fetcher import Fetcher
from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.visits import Outcome

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TEXT = b"<title>a page</title>" + b"<p>some words that repeat and repeat</p>" * 200


async def _endless(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    while True:
        writer.write(b"x" * 65_536)
        await writer.drain()


def test_case_23_infinite_body_is_capped_and_marked() -> None:
    """A body without end is cut at the byte cap and marked truncated."""
    result, _ = ask({"/": _endless})
    assert result.kind is Kind.OK
    assert result.truncated
    assert len(result.body) == 100_000


async def _drip(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.02)


def test_case_24_slow_drip_meets_the_total_deadline() -> None:
    """A body that comes byte by byte ends at the deadline, however regularly the bytes come."""
    result, _ = ask({"/": _drip}, deadline_s=0.4)
    assert result.kind is Kind.DEADLINE
    assert result.outcome is Outcome.FAILED


def test_case_25_silent_server_meets_the_first_byte_timeout() -> None:
    """A server that accepts and says nothing is given up on."""
    assert ask({"/": silence}, obey_robots=False, **HURRIED)[0].kind is Kind.FIRST_BYTE_TIMEOUT


def test_case_25_unreachable_server_meets_the_connect_timeout() -> None:
    """A host that does not even accept is given up on sooner."""

    async def run() -> FetchResult:
        # a listening socket whose queue is full does not answer further connections
        with socket.socket() as full, socket.socket() as first, socket.socket() as second:
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            for client in (first, second):
                client.setblocking(False)
                client.connect_ex(full.getsockname())
            await asyncio.sleep(0.05)
            settings = replace(
                LENIENT, connect_timeout_s=0.2, first_byte_timeout_s=5.0, deadline_s=5.0, obey_robots=False
            )
            async with Fetcher(settings) as fetcher:
                return await fetcher.fetch(f"http://127.0.0.1:{full.getsockname()[1]}/")

    assert asyncio.run(run()).kind is Kind.CONNECT_TIMEOUT


@pytest.mark.parametrize(
    ("name", "compress"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("br", lambda data: brotli.compress(data, quality=4)),
        ("zstd", zstd.compress),
        ("gzip, gzip", lambda data: gzip.compress(gzip.compress(data))),
    ],
)
def test_case_26_compression_bombs_are_cut_while_inflating(name: str, compress: Callable[[bytes], bytes]) -> None:
    """A small body that inflates without end is stopped at the cap and recognised as a bomb."""
    bomb = compress(bytes(30_000_000))
    result, _ = ask({"/": answer(bomb, content_encoding=name)})
    assert result.kind is Kind.BOMB
    assert result.body == b""
    honest, _ = ask({"/": answer(compress(TEXT), content_encoding=name)})
    assert honest.kind is Kind.OK
    assert honest.body == TEXT


def test_case_27_stacked_encodings_at_most_two() -> None:
    """Two stacked encodings are undone, a third is refused."""
    twice = brotli.compress(gzip.compress(TEXT))
    assert ask({"/": answer(twice, content_encoding="gzip, br")})[0].body == TEXT
    thrice = gzip.compress(twice)
    assert ask({"/": answer(thrice, content_encoding="gzip, br, gzip")})[0].kind is Kind.BAD_ENCODING


@pytest.mark.parametrize("name", ["gzip", "br", "zstd", "compress", "x-unknown"])
def test_case_28_bad_or_unknown_encoding_is_an_outcome(name: str) -> None:
    """A body that is not what its encoding says, or says something unknown, is an outcome."""
    assert ask({"/": answer(b"this is not compressed at all", content_encoding=name)})[0].kind is Kind.BAD_ENCODING
