"""Answers that are taken whole are those that the parser would give, and whatever is odd is left to it."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http import HttpResponseParser
from hypothesis import given
from hypothesis import strategies as st

from recrawl.fetch.whole_answers import HeadLimits, whole_answer

LIMITS = HeadLimits(32_768, 256)
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: x: y\r\nContent-Length: 5\r\n\r\nhello"
names = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-", min_size=1, max_size=20)
values = st.text([chr(c) for c in range(0x20, 0x7F)], min_size=1, max_size=40)


def read_whole(data: bytes) -> tuple[int, tuple[tuple[bytes, bytes], ...], bytes] | None:
    taken = whole_answer(data, LIMITS)
    return None if taken is None else (taken[0].code, taken[0].raw_headers, asyncio.run(taken[1].readany()))


def parsed(data: bytes) -> tuple[int, tuple[tuple[bytes, bytes], ...], bytes]:
    """Read an answer with aiohttp's parser."""

    async def read() -> tuple[int, tuple[tuple[bytes, bytes], ...], bytes]:
        loop = asyncio.get_running_loop()
        parser = HttpResponseParser(
            BaseProtocol(loop), loop, 2**16, read_until_eof=True, auto_decompress=False, max_field_size=32_768
        )
        messages, _, _ = parser.feed_data(data)
        ((message, content),) = messages
        return message.code, message.raw_headers, await content.read()

    return asyncio.run(read())


@given(st.lists(st.tuples(names, values), max_size=6), st.binary(min_size=1, max_size=60), st.integers(0, 6))
def test_what_is_taken_whole_is_what_the_parser_reads(headers: list[tuple[str, str]], body: bytes, place: int) -> None:
    """Whatever the headers and the body are: the same status, headers and bytes, or it is left to the parser."""
    lines = [f"{name}: {value}\r\n".encode() for name, value in headers]
    lines.insert(place, b"Content-Length: %d\r\n" % len(body))
    data = b"HTTP/1.1 200 OK\r\n%s\r\n%s" % (b"".join(lines), body)
    taken = read_whole(data)
    assert taken is None or taken == parsed(data)


def test_a_plain_answer_is_taken_whole() -> None:
    """The common case is the quick one, also with `Connection: keep-alive` and with an encoded body."""
    assert read_whole(PLAIN) == parsed(PLAIN)
    for more in (b"Connection: keep-alive", b"connection: Keep-Alive", b"Content-Encoding: gzip", b'ETag: "x"'):
        data = PLAIN.replace(b"Server: x: y", more)
        assert read_whole(data) == parsed(data)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"HTTP/1.1", b"HTTP/1.0"),
        (b" 200 ", b" 304 "),
        (b" 200 ", b" 100 "),
        (b" 200 OK", b" 200"),
        (b"hello", b"hell"),
        (b"hello", b"helloHTTP/1.1 200 OK"),
        (b"Content-Length: 5", b"Content-Length: 5\r\nContent-Length: 5"),
        (b"Content-Length: 5", b"Content-Length: +5"),
        (b"Content-Length: 5", b"Content-Length: 5, 5"),
        (b"Content-Length: 5", b"Content-Length:5"),
        (b"Content-Length: 5", b"X: y"),
        (b"Server: x: y", b"Transfer-Encoding: chunked"),
        (b"Server: x: y", b"Connection: close"),
        (b"Server: x: y", b"Connection: upgrade"),
        (b"Server: x: y", b"Upgrade: h2c"),
        (b"Server: x: y", b"Server : x"),
        (b"Server: x: y", b"Server: x "),
        (b"Server: x: y", b"Server:  x"),
        (b"Server: x: y", b"Server: x\r\n folded"),
        (b"Server: x: y", b"Server: x\0y"),
        (b"Server: x: y", b"Server: \xff"),
        (b"Server: x: y", b"Server: x\ny"),
        (b"Server: x: y", b"Server: " + b"x" * 9_000),
        (b"Server: x: y\r\n", b"X: y\r\n" * 300),
    ],
)
def test_whatever_is_odd_is_left_to_the_parser(old: bytes, new: bytes) -> None:
    """Another status or version, an unsure length, a header that changes how the rest is read, odd bytes, too much."""
    data = PLAIN.replace(old, new)
    assert data != PLAIN
    assert whole_answer(data, LIMITS) is None
