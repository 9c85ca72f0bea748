"""Decode Content-Encoding as the bytes arrive, so that a decompression bomb is cut at the cap, never held in memory."""

from __future__ import annotations

import sys
import zlib
from typing import Any, Protocol

import brotli  # type: ignore[import-untyped]

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ACCEPT = "gzip, deflate, br, zstd"
STEP_BYTES = 65_536  # at most this much comes out of a decoder at once
_MAX_MEMBERS = 1_000
_WINDOW_LOG = 23  # 8 MB: the largest zstd window for the web (RFC 9659)


class BadEncodingError(Exception):
    """The body does not match its Content-Encoding, or the encoding is unknown."""


class _Step(Protocol):
    """One decoder: give it bytes, take bounded pieces until it asks for more."""

    finished: bool

    def feed(self, data: bytes) -> None: ...

    def take(self) -> bytes: ...

    def waiting(self) -> int: ...


class _Buffered:
    """Bytes that wait for a decoder."""

    _waiting = b""
    finished = False

    def feed(self, data: bytes) -> None:
        self._waiting += data

    def waiting(self) -> int:
        return len(self._waiting)


class _Inflate(_Buffered):
    """gzip (any number of members) and deflate (with or without the zlib wrapper)."""

    def __init__(self, name: str) -> None:
        self.gzip = name == "gzip"
        self._inflater: Any = zlib.decompressobj(31) if self.gzip else None
        self._members = 0

    def take(self) -> bytes:
        while True:
            data, self._waiting = self._waiting, b""
            if self._inflater is None:
                if not data:
                    return b""
                # RFC 9110 means the zlib wrapper; some servers send bare deflate
                self._inflater = zlib.decompressobj(15 if data[0] & 0x0F == 8 else -15)
            if self._inflater.eof:
                if not (self.gzip and data.startswith(b"\x1f\x8b")):
                    return b""  # padding after the last member
                self._members += 1
                _count(self._members)
                self._inflater, self.finished = zlib.decompressobj(31), False
            out: bytes = self._inflater.decompress(data, STEP_BYTES)
            self._waiting = self._inflater.unconsumed_tail or self._inflater.unused_data
            self.finished = self._inflater.eof
            if out or not (self.finished and self._waiting):
                return out


class _Brotli(_Buffered):
    def __init__(self) -> None:
        self._decoder: Any = brotli.Decompressor()

    def take(self) -> bytes:
        if self.finished:
            return b""
        data = b""
        if self._decoder.can_accept_more_data():
            data, self._waiting = self._waiting, b""
        out: bytes = self._decoder.process(data, output_buffer_limit=STEP_BYTES)
        self.finished = self._decoder.is_finished()
        return out


class _Zstd(_Buffered):
    def __init__(self) -> None:
        self._decoder = self._fresh()
        self._frames = 0

    @staticmethod
    def _fresh() -> zstd.ZstdDecompressor:
        return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _WINDOW_LOG})

    def take(self) -> bytes:
        while True:
            if self.finished and self._waiting:  # the next frame
                self._frames += 1
                _count(self._frames)
                self._decoder, self.finished = self._fresh(), False
            if self.finished or (self._decoder.needs_input and not self._waiting):
                return b""
            data = b""
            if self._decoder.needs_input:
                data, self._waiting = self._waiting, b""
            out = self._decoder.decompress(data, max_length=STEP_BYTES)
            self.finished = self._decoder.eof
            if self.finished:
                self._waiting = self._decoder.unused_data + self._waiting
            if out:
                return out


def _count(members: int) -> None:
    if members > _MAX_MEMBERS:
        raise BadEncodingError(f"more than {_MAX_MEMBERS} compressed members in one body")


def _make(name: str) -> _Step:
    if name in ("gzip", "x-gzip"):
        return _Inflate("gzip")
    if name == "deflate":
        return _Inflate("deflate")
    if name == "br":
        return _Brotli()
    if name == "zstd":
        return _Zstd()
    raise BadEncodingError(f"unknown content encoding {name[:40]!r}")


class Decoder:
    """Undo a Content-Encoding while the body arrives, up to a cap on the decoded bytes."""

    def __init__(self, content_encoding: str, *, max_bytes: int, max_encodings: int = 2) -> None:
        names = [name.strip().lower() for name in content_encoding.split(",")] if content_encoding else []
        names = [name for name in names if name not in ("", "identity")]
        if len(names) > max_encodings:
            raise BadEncodingError(f"{len(names)} stacked content encodings, at most {max_encodings} are undone")
        self._steps = [_make(name) for name in reversed(names)]  # the last one applied is the first to undo
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._length = 0
        self.received = 0  # bytes as they came
        self.full = False  # the cap was met: the rest is not wanted

    def feed(self, data: bytes) -> None:
        """Take bytes as received."""
        self.received += len(data)
        if not self._steps:
            self._keep(data)
            return
        try:
            self._push(0, data)
        except (zlib.error, brotli.error, zstd.ZstdError, EOFError) as error:
            raise BadEncodingError(f"broken content encoding: {error}") from None

    def _push(self, index: int, data: bytes) -> None:
        """Give bytes to one decoder and what comes out, piece by piece, to the next one."""
        step = self._steps[index]
        step.feed(data)
        while not self.full:
            out = step.take()
            if not out:
                return
            if index + 1 < len(self._steps):
                self._push(index + 1, out)
            else:
                self._keep(out)

    def _keep(self, data: bytes) -> None:
        room = self._max_bytes - self._length
        if len(data) > room:
            data, self.full = data[:room], True
        self._pieces.append(data)
        self._length += len(data)

    def finish(self) -> bytes:
        """Return the decoded body; an encoded body that stopped in the middle is an error."""
        if self._steps and self.received and not self.full and not all(step.finished for step in self._steps):
            raise EOFError("the encoded body ends too early")
        return self.partial()

    @property
    def consumed(self) -> int:
        """How many of the received bytes have been decoded."""
        return self.received - (self._steps[0].waiting() if self._steps else 0)

    def partial(self) -> bytes:
        """Return what was decoded so far."""
        return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
