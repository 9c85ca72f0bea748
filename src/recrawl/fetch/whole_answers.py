"""The plainest answers, taken whole: status 200, plain headers, and a body of the stated length, all in one piece.

Most pages come like that, and need no parser that can stop at any byte. Whatever differs in anything (another status,
a part of the body, white space or a character where hardly a host has one, a header that says how to read the others)
goes to aiohttp's parser as it came.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any, NamedTuple

from aiohttp.client_proto import ResponseHandler

_MOST_BYTES = 8_190  # of the head, in all
_HEAD = re.compile(rb"HTTP/1\.1 200 [ -~]*+(?:\r\n[0-9A-Za-z-]++: [!-~][ -~]*+)++")
_END = b"\r\n\r\n"
_ODD = frozenset({b"transfer-encoding", b"connection", b"upgrade", b"trailer", b"proxy-connection"})
_LONGEST_NUMBER = 12


class HeadLimits(NamedTuple):
    """What the head of an answer may have."""

    max_field_bytes: int
    max_headers: int


class WholeHead(NamedTuple):
    """The head of an answer, with the names of the parser's own."""

    code: int
    raw_headers: tuple[tuple[bytes, bytes], ...]


class WholeBody:
    """A body that is there already, to be read like one that comes in pieces."""

    __slots__ = ("_body",)

    def __init__(self, body: bytes) -> None:
        self._body = body

    def __len__(self) -> int:
        return len(self._body)

    def take(self) -> bytes:
        """Return all of it; nothing when asked again."""
        body, self._body = self._body, b""
        return body

    async def readany(self) -> bytes:
        """Do the same as a body that comes in pieces does."""
        return self.take()

    def at_eof(self) -> bool:
        """Whether all was read."""
        return not self._body

    def is_eof(self) -> bool:
        """Whether all has come."""
        return True


class QuickHandler(ResponseHandler):
    """One connection: an answer that is plain and whole is taken as it is, any other is parsed."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._expected: HeadLimits | None = None

    def expect(self, limits: HeadLimits) -> None:
        """Wait for the answer to a request that is about to be sent."""
        self._expected = limits

    def data_received(self, data: bytes) -> None:
        """Take bytes as they come; the first ones after `expect` begin an answer."""
        limits, self._expected = self._expected, None
        if limits is not None:
            whole: Any = whole_answer(data, limits) if not self._tail else None
            if whole is not None:
                self.feed_data(whole)
                return
            self.set_response_params(
                read_until_eof=True,
                auto_decompress=False,
                max_field_size=limits.max_field_bytes,
                max_headers=limits.max_headers,
            )
        super().data_received(data)


def whole_answer(data: bytes, limits: HeadLimits) -> tuple[WholeHead, WholeBody] | None:
    """Return the answer that these bytes are; None: they are for the parser."""
    end = data.find(_END, 0, min(_MOST_BYTES, limits.max_field_bytes))
    if end < 0 or not _HEAD.fullmatch(data, 0, end):
        return None
    lines = data[:end].split(b"\r\n")
    if len(lines) - 1 > limits.max_headers:
        return None
    length, headers = -1, []
    for line in lines[1:]:
        name, _, value = line.partition(b": ")
        low = name.lower()
        if low == b"content-length":
            if length >= 0 or not value.isdigit() or len(value) > _LONGEST_NUMBER:
                return None
            length = int(value)
        elif value[-1] == 32 or (low in _ODD and (low, value.lower()) != (b"connection", b"keep-alive")):
            return None
        headers.append((name, value))
    if length != len(data) - end - len(_END):
        return None
    return WholeHead(200, tuple(headers)), WholeBody(data[end + len(_END) :])
