"""Answers as WARC records (WARC 1.1), each a gzip member of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha1
from itertools import accumulate, chain

try:
    from isal.isal_zlib import compress  # the same format, several times faster
except ImportError:  # no build for this machine
    from zlib import compress

_DROPPED = frozenset({"content-encoding", "transfer-encoding", "content-length"})  # the stored body is decoded

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS = [first + second for first in _LETTERS for second in _LETTERS]

_LEAST_IN_LANES = 9  # messages: fewer are hashed sooner one after the other; with AVX-512, fewer than 5

_UUIDS_AT_ONCE = 256
_uuids: list[str] = []
os.register_at_fork(after_in_child=_uuids.clear)  # or two processes would give the same

Response = tuple[str, int, tuple[tuple[str, str], ...], bytes]  # URL, status, headers, body


def gzip_records(responses: Sequence[Response]) -> list[bytes]:
    """Return the record of each response. Many are packed sooner together, since their digests are.

    The digests are those that readers verify: of the whole block, and of the body alone.
    """
    blocks = [(_head(status, headers, len(body)), body) for _, status, headers, body in responses]
    date = _date_of(int(time.time()))
    return [
        _record(url, date, *block, *digests)
        for (url, *_), block, digests in zip(responses, blocks, digests_of(blocks), strict=True)
    ]


def digests_of(blocks: Sequence[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    """Return the SHA-1 of each block, a head and a body, and that of its body alone; in base 32."""
    if len(blocks) < 2:  # packed by a process that has no kernels loaded, perhaps
        return [_digests_of(*block) for block in blocks]
    from recrawl.lane_code import pay
    from recrawl.sha1_lanes import sha1_base32

    sizes = [len(head) + len(body) for head, body in blocks]
    if not pay(sizes + sizes, _LEAST_IN_LANES):
        return [_digests_of(*block) for block in blocks]
    ends = list(accumulate(sizes))
    starts = [end - size for end, size in zip(ends, sizes, strict=True)]
    bodies = [start + len(head) for start, (head, _) in zip(starts, blocks, strict=True)]
    found = sha1_base32(b"".join(chain.from_iterable(blocks)), starts + bodies, ends + ends)
    return list(zip(found[: len(blocks)], found[len(blocks) :], strict=True))


def _digests_of(head: bytes, body: bytes) -> tuple[str, str]:
    block = sha1(head)
    block.update(body)
    return _base32(block.digest()), _base32(sha1(body).digest())


def _head(status: int, headers: tuple[tuple[str, str], ...], length: int) -> bytes:
    """Return the head of a response as the record has it."""
    kept = [f"{name}: {value}\r\n" for name, value in headers if name not in _DROPPED and value.isprintable()]
    return f"HTTP/1.1 {status} OK\r\n{''.join(kept)}content-length: {length}\r\n\r\n".encode("latin-1", "replace")


def _record(url: str, date: str, head: bytes, body: bytes, block_digest: str, body_digest: str) -> bytes:
    record = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{_random_uuid()}>\r\n"
        f"WARC-Date: {date}\r\nWARC-Target-URI: {url}\r\n"
        f"WARC-Block-Digest: sha1:{block_digest}\r\nWARC-Payload-Digest: sha1:{body_digest}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(head) + len(body)}\r\n\r\n"
    )
    return compress(b"".join((record.encode(), head, body, b"\r\n\r\n")), 1, 31)


def _random_uuid() -> str:
    """Return a random UUID (version 4), as text; many are drawn at once, by one call of the system."""
    try:
        return _uuids.pop()
    except IndexError:
        drawn = os.urandom(16 * _UUIDS_AT_ONCE).hex()
        _uuids.extend(_uuid_of(drawn[at : at + 32]) for at in range(32, len(drawn), 32))
        return _uuid_of(drawn[:32])


def _uuid_of(bits: str) -> str:
    return f"{bits[:8]}-{bits[8:12]}-4{bits[13:16]}-{'89ab'[int(bits[16], 16) & 3]}{bits[17:20]}-{bits[20:]}"


@lru_cache(maxsize=4)
def _date_of(second: int) -> str:
    return f"{datetime.fromtimestamp(second, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _base32(digest: bytes) -> str:
    """Return a SHA-1 digest in base 32, two letters at a time: base64.b32encode takes three times as long."""
    number = int.from_bytes(digest, "big")
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(150, -1, -10)])
