"""Resolve character references (`&amp;`, `&#8212;`) in compiled code, where they are written as the standard says.

A reference that is not (`&copy` without its semicolon, a number that stands for no character) ends the pass: the
caller then takes the slow way, which knows all cases. Numbers from 128 to 159 stand for characters of windows-1252.
"""

from __future__ import annotations

from html import unescape
from html.entities import html5

import numpy as np
import numpy.typing as npt

from recrawl.columns import ByteArray
from recrawl.compiled import borrowing, nth
from recrawl.hashing import FNV_START, fnv1a, fnv1a_step

_step = borrowing(fnv1a_step)
_SLOTS = 8_192
_LONGEST_NAME, _LONGEST_TEXT = 31, 6  # bytes, without the ampersand and the semicolon; in UTF-8


def _table() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint8]]:
    """Return an open-addressing table: hashes of the names, and what each stands for, after its length."""
    hashes = np.zeros(_SLOTS, dtype=np.uint64)
    texts = np.zeros((_SLOTS, 1 + _LONGEST_TEXT), dtype=np.uint8)
    for name, text in sorted(html5.items()):
        if name.endswith(";"):
            data, value = text.encode(), fnv1a(name[:-1])
            slot = int(value) % _SLOTS
            while hashes[slot]:
                slot = (slot + 1) % _SLOTS
            hashes[slot], texts[slot, 0] = value, len(data)
            texts[slot, 1 : 1 + len(data)] = list(data)
    return hashes, texts


def _bare_names() -> npt.NDArray[np.uint64]:
    """Return the hashes of the names that need no semicolon, each in the slot that its last bits name."""
    hashes = [fnv1a(name) for name in html5 if not name.endswith(";")]
    table = np.zeros(_SLOTS, dtype=np.uint64)
    for value in hashes:
        table[int(value) % _SLOTS] = value
    assert np.count_nonzero(table) == len(hashes), "a slot for each name"
    return table


_HASHES, _TEXTS = _table()
_BARE = _bare_names()
_WINDOWS = np.array([ord(unescape(f"&#{code};")) for code in range(0x80, 0xA0)], dtype=np.int64)


def room_for(size: int) -> int:
    """Return how many bytes a text of this size may become: five bytes of a reference give six at most."""
    return size + size // 4 + 16


@borrowing
def resolve(source: ByteArray, out: ByteArray) -> int:
    """Copy a text (UTF-8) with its references resolved; return its length, -1 where a reference is not ordinary."""
    n, o, i = len(source), 0, 0
    while i < n:
        c = source[nth(i)]
        if c != 38:
            out[nth(o)] = c
            o += 1
            i += 1
            continue
        following = source[nth(i + 1)] if i + 1 < n else np.uint8(32)
        if following == 35:
            i, o = _number(source, i + 2, out, o)
        elif following <= 32 or following == 60 or following == 38 or following == 59:  # no reference: as it is
            if following <= 32 and not (following == 32 or 9 <= following <= 10 or following == 12):
                return -1
            out[nth(o)] = 38
            i += 1
            o += 1
        else:
            i, o = _name(source, i + 1, out, o)
        if i < 0:
            return -1
    return o


@borrowing
def _number(source: ByteArray, i: int, out: ByteArray, o: int) -> tuple[int, int]:
    """Write the character of the numeric reference at i; return both positions after it, -1 if it is not ordinary."""
    n, code, first = len(source), 0, i
    hexadecimal = i < n and source[nth(i)] | 32 == 120
    i += hexadecimal
    first = i
    while i < n and i - first < 8:
        c = source[nth(i)]
        if 48 <= c <= 57:
            code = code * (16 if hexadecimal else 10) + c - 48
        elif hexadecimal and 97 <= c | 32 <= 102:
            code = code * 16 + (c | 32) - 87
        else:
            break
        i += 1
    if i == first or i - first == 8:
        return -1, o
    if 0x80 <= code < 0xA0:
        code = _WINDOWS[code - 0x80]
    elif not _is_ordinary(code):
        return -1, o
    if i < n and source[nth(i)] == 59:
        i += 1
    if code < 0x80:
        out[nth(o)] = code
        return i, o + 1
    if code < 0x800:
        out[nth(o)], out[nth(o + 1)] = 0xC0 | code >> 6, 0x80 | code & 0x3F
        return i, o + 2
    out[nth(o)], out[nth(o + 1)], out[nth(o + 2)] = 0xE0 | code >> 12, 0x80 | code >> 6 & 0x3F, 0x80 | code & 0x3F
    return i, o + 3


@borrowing
def _is_ordinary(code: int) -> bool:
    """Whether a code point needs no replacement by the HTML standard."""
    return 0x20 <= code <= 0x7E or 0xA0 <= code <= 0xD7FF or 0xE000 <= code <= 0xFDCF or 0xFDF0 <= code <= 0xFFFD


@borrowing
def _name(source: ByteArray, i: int, out: ByteArray, o: int) -> tuple[int, int]:
    """Write the character of the named reference at i; return both positions after it, -1 if it is not ordinary.

    What is no name, nor begins with one that needs no semicolon, is text: `&pages` of a C program.
    """
    value, first, bare = FNV_START, i, False
    while i < len(source) and i - first <= _LONGEST_NAME:
        c = source[nth(i)]
        if not (97 <= c | 32 <= 122 or 48 <= c <= 57):
            break
        value = _step(value, c)
        bare |= _BARE[value & np.uint64(_SLOTS - 1)] == value
        i += 1
    if i < len(source) and source[nth(i)] == 59:
        slot = value & np.uint64(_SLOTS - 1)
        while _HASHES[slot] and _HASHES[slot] != value:
            slot = (slot + np.uint64(1)) & np.uint64(_SLOTS - 1)
        if _HASHES[slot]:
            for k in range(_TEXTS[slot, 0]):
                out[nth(o)] = _TEXTS[slot, 1 + k]
                o += 1
            return i + 1, o
    if bare:
        return -1, o
    out[nth(o)] = 38
    return first, o + 1
