"""Fingerprints of what a page says, blind to what rotates by itself.

`digest` is exact: two visits with the same digest saw the same page. Before hashing, `stable_text` leaves out what
differs between two visits to an unchanged page: clocks, counters, "3 minutes ago", render times, session ids, tokens.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recrawl.blake2b_lanes import blake2b_of_each
from recrawl.columns import BoolArray, ByteArray
from recrawl.compiled import borrowing, kernel, nth
from recrawl.lane_code import pay
from recrawl.see.rotating import CLOCK_LINE, LONGEST_CLOCK, ROTATING
from recrawl.see.rotating_numbers import is_bare_number, may_be_clock
from recrawl.see.rotating_places import in_characters, only_tokens, rotating_starts
from recrawl.see.rotating_tokens import cut_tokens
from recrawl.see.words import letters_and_digits

DIGEST_BYTES = 16
_LEAST_IN_LANES = 4  # texts: fewer are hashed sooner one after the other; with AVX-512, fewer than 3
_BLOCK = 32  # bytes of a line that are looked at together


def fingerprint(text: bytes) -> bytes:
    """Return the digest of a text (UTF-8) without what rotates by itself."""
    return digest_of_bytes(stable_bytes(text))


def stable_text(text: str) -> str:
    """Return the text without what rotates by itself, one line per block, no blank lines.

    A date or a time inside a sentence is content and stays; a full timestamp, or a line that is nothing but a date, a
    time or a bare number, is a clock or a counter and goes.
    """
    return stable_bytes(text.encode("utf-8", "replace")).decode()


def stable_bytes(whole: bytes) -> bytes:
    """Do the same with a text in UTF-8."""
    size = len(whole)
    out = np.empty(size + 1, dtype=np.uint8)
    # room for all there can be, most of it never touched: arrays that a kernel returns take longer to wrap
    numbered, places = np.empty((size // 2 + 1, 5), dtype=np.int64), np.empty(size + 64, dtype=np.int32)
    length, count, found = _lines(np.frombuffer(whole, dtype=np.uint8), out, letters_and_digits(), numbered, places)
    if not count and length == size + 1:  # nothing was left out
        return whole
    data = out[:length].tobytes()
    if not count:
        return data.removesuffix(b"\n")
    pieces, at, starts = [], 0, places[:found].tolist()
    for start, end, first, last, clock in numbered[:count].tolist():
        raw = data[start:end]
        low = raw.lower().decode()
        if clock and len(low) < LONGEST_CLOCK and CLOCK_LINE.fullmatch(low):
            line: str | None = ""
        else:
            line = _without_rotating(raw, low, starts[first:last])
            if line is None:
                continue
        pieces.append(data[at:start])
        pieces.append(f"{line}\n".encode() if line else b"")
        at = end + 1
    pieces.append(data[at:])
    return b"".join(pieces).removesuffix(b"\n")


def _without_rotating(raw: bytes, low: str, starts: list[int]) -> str | None:
    """Cut out what rotates, looking for it at these places of the line in small letters; None if there is nothing."""
    cuts, at = [], 0
    for place in starts:
        found = ROTATING.match(low, place) if place >= at else None
        if found:
            cuts.append((at, place))
            at = found.end()
    if not cuts:
        return None
    line = raw.decode()
    return " ".join(" ".join([*(line[a:b] for a, b in cuts), line[at:]]).split())


@borrowing
def _copy_block(source: ByteArray, i: int, out: ByteArray, o: int) -> int:
    """Copy a block of a line and return how many digits it has; -1 if the line ends in it. All bytes at once."""
    ended, digits = np.uint8(0), np.uint8(0)
    for k in range(_BLOCK):
        byte = source[nth(i + k)]
        ended |= np.uint8(byte == 10)
        digits = np.uint8(digits + np.uint8(np.uint8(byte - 48) < 10))
        out[nth(o + k)] = byte
    return -1 if ended else int(digits)


@kernel
def _lines(
    source: ByteArray,
    out: ByteArray,
    wordlike: BoolArray,
    numbered: npt.NDArray[np.int64],
    places: npt.NDArray[np.int32],
) -> tuple[int, int, int]:
    """Copy the lines that are not blank, trimmed; return the length, and how many may hold something that rotates.

    Of these, `numbered` gets start, end, which of the `places` (whose number comes third) are its own, and whether all
    of it may be a clock. All patterns need a digit. Bare numbers are left out here; lines in which nothing but tokens
    can rotate are copied without them.
    """
    n = len(source)
    o, count, found, i = 0, 0, 0, 0
    while i < n:
        line_at, digits = o, 0
        while i < n and source[nth(i)] <= 32 and source[nth(i)] != 10:
            i += 1
        while i + _BLOCK <= n:
            found_digits = _copy_block(source, i, out, o)
            if found_digits < 0:
                break
            i, o, digits = i + _BLOCK, o + _BLOCK, digits + found_digits
        while i < n and source[nth(i)] != 10:
            out[nth(o)] = source[nth(i)]
            digits += 48 <= source[nth(i)] <= 57
            o += 1
            i += 1
        i += 1
        while o > line_at and out[nth(o - 1)] <= 32:
            o -= 1
        if o == line_at:
            continue
        if digits:
            if o - line_at < LONGEST_CLOCK and is_bare_number(out, line_at, o):
                o = line_at
                continue
            first = found
            found = rotating_starts(out, line_at, o, wordlike, places, found)
            clock = o - line_at < 4 * LONGEST_CLOCK and may_be_clock(out, line_at, o)
            if not clock and found > first and only_tokens(out, line_at, o, places, first, found):
                cut = cut_tokens(out, line_at, o, places, first, found)
                found = first
                if cut == line_at:
                    o = cut
                    continue
                o = cut if cut >= 0 else o
            if found > first or clock:
                in_characters(out, line_at, places, first, found)
                numbered[count, 0], numbered[count, 1] = line_at, o
                numbered[count, 2], numbered[count, 3], numbered[count, 4] = first, found, clock
                count += 1
        out[nth(o)] = 10
        o += 1
    return o, count, found


def digest(text: str) -> bytes:
    """Return the exact fingerprint of a text as it is."""
    return digest_of_bytes(text.encode("utf-8", "replace"))


def digest_of_bytes(body: bytes) -> bytes:
    """Return the exact fingerprint of bytes."""
    return hashlib.blake2b(body, digest_size=DIGEST_BYTES).digest()


def digests_of_bytes(texts: Sequence[bytes]) -> list[bytes]:
    """Return the exact fingerprint of each of many bytes."""
    if pay(list(map(len, texts)), _LEAST_IN_LANES):
        return blake2b_of_each(texts, DIGEST_BYTES)
    return [digest_of_bytes(text) for text in texts]
