"""Whether bytes are UTF-8, without making a text of them."""

from __future__ import annotations

import numpy as np

from recrawl.columns import ByteArray
from recrawl.compiled import borrowing, kernel, nth

_BLOCK = 32  # bytes that are looked at together


def is_utf8(body: bytes) -> bool:
    """Whether `body.decode()` would succeed."""
    return body.isascii() or bool(_is_valid(np.frombuffer(body, dtype=np.uint8)))


@borrowing
def _is_ascii(source: ByteArray, i: int) -> bool:
    """Whether a block is ASCII."""
    bits = np.uint8(0)
    for k in range(_BLOCK):
        bits |= source[nth(i + k)]
    return bool(bits < 128)


@borrowing
def _length(source: ByteArray, i: int) -> int:
    """Return the length of the character that begins at `i`, beyond ASCII; 0 if there is none (Unicode, table 3-7)."""
    n, first = len(source), source[nth(i)]
    size = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    if first < 0xC2 or first > 0xF4 or i + size > n:
        return 0
    second = source[nth(i + 1)]
    least = 0xA0 if first == 0xE0 else 0x90 if first == 0xF0 else 0x80  # else it could be written shorter
    most = 0x9F if first == 0xED else 0x8F if first == 0xF4 else 0xBF  # surrogates; beyond the last code point
    if second < least or second > most:
        return 0
    for k in range(2, size):
        if source[nth(i + k)] & 0xC0 != 0x80:
            return 0
    return size


@kernel
def _is_valid(source: ByteArray) -> bool:
    i, n = 0, len(source)
    while i < n:
        if source[nth(i)] < 128:
            i += 1
            while i + _BLOCK <= n and _is_ascii(source, i):
                i += _BLOCK
            continue
        size = _length(source, i)
        if not size:
            return False
        i += size
    return True
