"""Which link targets are plain: in a URL they stand for themselves, and the parser would change nothing in them."""

from __future__ import annotations

import numpy as np

from recrawl.columns import ByteArray
from recrawl.compiled import borrowing, nth

PARSED, ROOTED, ABSOLUTE = -1, -2, -3  # sorts of targets: for the parser; a plain path from the root; a plain address
MAX_PLAIN_BYTES = 500
_MAX_HOST_BYTES, _MAX_LABEL_BYTES = 253, 63
_PLAIN = np.array([chr(c).isascii() and (chr(c).isalnum() or chr(c) in "_~-") for c in range(256)], dtype=np.bool_)


@borrowing
def sort_of(source: ByteArray, start: int, end: int) -> tuple[int, int]:
    """Return a target's sort, or how many folders up a plain path leads; and where that path begins."""
    if end - start > MAX_PLAIN_BYTES or end == start:
        return PARSED, start
    if source[nth(start)] == 104 and host_start(source, start, end):
        stop = host_end(source, start, end)
        return (ABSOLUTE if stop > 0 and _is_plain_path(source, stop + 1, end) else PARSED), start
    i, ups = start, 0
    if source[nth(i)] == 47:
        i += 1
    else:
        while i + 3 <= end and source[nth(i)] == 46 and source[nth(i + 1)] == 46 and source[nth(i + 2)] == 47:
            i += 3
            ups += 1
    if i == end or not _is_plain_path(source, i, end):
        return PARSED, start
    return (ROOTED if source[nth(start)] == 47 else ups), i


@borrowing
def _is_plain_path(source: ByteArray, i: int, end: int) -> bool:
    """Whether there are no empty segments, none that begin or end with a dot, and nothing that could be escaped."""
    before = False  # whether a plain character stands before i
    while i < end:
        if _PLAIN[source[nth(i)]]:
            before = True
        elif before and (source[nth(i)] == 47 or (source[nth(i)] == 46 and i + 1 < end)):
            before = False
        else:
            return False
        i += 1
    return True


@borrowing
def host_start(source: ByteArray, start: int, end: int) -> int:
    """Return where the host of `http://` or `https://` begins; 0: the target begins in another way."""
    if end - start < 10 or source[nth(start + 1)] != 116 or source[nth(start + 2)] != 116:
        return 0
    colon = start + 4 + (source[nth(start + 4)] == 115)
    slashes = source[nth(colon + 1)] == 47 and source[nth(colon + 2)] == 47
    return colon + 3 if source[nth(start + 3)] == 112 and source[nth(colon)] == 58 and slashes else 0


@borrowing
def host_end(source: ByteArray, start: int, end: int) -> int:
    """Return where the host of an address ends; 0 where it is not plain, and not followed by a slash.

    A plain host is a name of small letters, digits and hyphens that needs no decoding (`xn--`), and no number: its last
    label begins with a letter.
    """
    first = host_start(source, start, end)
    label = i = first
    while i < end and source[nth(i)] != 47:
        c = source[nth(i)]
        if c == 46:
            if i == label:
                return 0
            label = i + 1
        elif (
            not (97 <= c <= 122 or 48 <= c <= 57 or c == 45)
            or i - label >= _MAX_LABEL_BYTES
            or (i == label + 3 and c == 45 and source[nth(i - 1)] == 45)  # perhaps xn--
        ):
            return 0
        i += 1
    if i == end or i - first > _MAX_HOST_BYTES:
        return 0
    return i if 97 <= source[nth(label)] <= 122 else 0
