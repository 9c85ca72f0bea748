"""Fingerprints of what a page says, blind to what rotates by itself.

`digest` is exact: two visits with the same digest saw the same page. Before hashing, `stable_text` leaves out what
differs between two visits to an unchanged page: clocks, counters, "3 minutes ago", render times, session ids, tokens.
`simhash` (Charikar 2002) is approximate: the Hamming distance of two simhashes grows with the difference of the texts.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt
from numba import njit

from recrawl.columns import BoolArray, ByteArray
from recrawl.see.rotating import CLOCK_LINE, LONGEST_CLOCK, ROTATING
from recrawl.see.rotating_places import may_be_clock, rotating_starts
from recrawl.see.words import letters_and_digits

DIGEST_BYTES = 16

_PRIME, _START = np.uint64(0x100000001B3), np.uint64(0xCBF29CE484222325)  # FNV-1a


def _folded() -> ByteArray:
    """Map bytes to those of a word's hash: letters in lower case, digits, all that is not ASCII; 0 between words."""
    table = np.arange(256, dtype=np.uint8)
    table[65:91] += 32
    between = [c for c in range(128) if not chr(c).isalnum()]
    table[between] = 0
    return table


_FOLDED = _folded()


def fingerprint(text: str) -> tuple[bytes, int]:
    """Return the digest and the simhash of a text without what rotates by itself."""
    stable = _stable(text)
    return digest_of_bytes(stable), int(_simhash(np.frombuffer(stable, dtype=np.uint8)))


def stable_text(text: str) -> str:
    """Return the text without what rotates by itself, one line a block, no blank lines.

    A date or a time inside a sentence is content and stays; a full timestamp, or a line that is nothing but a date, a
    time or a bare number, is a clock or a counter and goes.
    """
    return _stable(text).decode()


def _stable(text: str) -> bytes:
    whole = text.encode("utf-8", "replace")
    source = np.frombuffer(whole, dtype=np.uint8)
    out = np.empty(len(source) + 1, dtype=np.uint8)
    length, numbered, places = _lines(source, out, letters_and_digits())
    if not len(numbered) and length == len(out):  # nothing was left out
        return whole
    data = out[:length].tobytes()
    if not len(numbered):
        return data.removesuffix(b"\n")
    pieces, at, starts = [], 0, places.tolist()
    for start, end, first, last in numbered.tolist():
        raw = data[start:end]
        low = raw.lower().decode()
        if len(low) < LONGEST_CLOCK and CLOCK_LINE.fullmatch(low):
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


@njit(cache=True, nogil=True)
def _lines(
    source: ByteArray, out: ByteArray, wordlike: BoolArray
) -> tuple[int, npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Copy the lines that are not blank, trimmed; return the length and those that may hold something that rotates.

    Of these: start, end, and which of the places that come third are its own. All patterns need a digit.
    """
    n = len(source)
    numbered, places = np.empty((64, 4), dtype=np.int64), np.empty(n + 64, dtype=np.int32)
    o, count, found, i = 0, 0, 0, 0
    while i < n:
        start, digits = i, 0
        while i < n and source[i] != 10:
            digits += 1 if 48 <= source[i] <= 57 else 0
            i += 1
        end = i
        i += 1
        while start < end and source[start] <= 32:
            start += 1
        while start < end and source[end - 1] <= 32:
            end -= 1
        if start == end:
            continue
        line_at = o
        for k in range(start, end):
            out[o] = source[k]
            o += 1
        if digits:
            first = found
            found = rotating_starts(out, line_at, o, wordlike, places, found)
            if found > first or (o - line_at < 4 * LONGEST_CLOCK and may_be_clock(out, line_at, o)):
                if count == len(numbered):
                    longer = np.empty((2 * count, 4), dtype=np.int64)
                    longer[:count] = numbered
                    numbered = longer
                numbered[count, 0], numbered[count, 1], numbered[count, 2], numbered[count, 3] = (
                    line_at,
                    o,
                    first,
                    found,
                )
                count += 1
        out[o] = 10
        o += 1
    return o, numbered[:count], places[:found]


def digest(text: str) -> bytes:
    """Return the exact fingerprint of a text as it is."""
    return digest_of_bytes(text.encode("utf-8", "replace"))


def digest_of_bytes(body: bytes) -> bytes:
    """Return the exact fingerprint of bytes."""
    return hashlib.blake2b(body, digest_size=DIGEST_BYTES).digest()


def simhash(text: str) -> int:
    """Return the 64-bit simhash of a text's pairs of neighbouring words, case ignored.

    Bit b is 1 if among the hashes of all pairs more have bit b set than not. An empty text has simhash 0.
    """
    return int(_simhash(np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8)))


def hamming(a: int, b: int) -> int:
    """Return the number of bits in which two simhashes differ."""
    return (a ^ b).bit_count()


@njit(cache=True, nogil=True)
def _simhash(text: ByteArray) -> np.uint64:
    hashes = np.empty(len(text) // 2 + 1, dtype=np.uint64)
    return _majority(hashes[: _pairs(text, hashes)])


@njit(cache=True, nogil=True)
def _pairs(text: ByteArray, hashes: npt.NDArray[np.uint64]) -> int:
    """Hash every pair of neighbouring words; return how many there are."""
    pairs, i, n = 0, 0, len(text)
    previous = _START
    while i < n:
        word, length = _START, 0
        while i < n:
            c = _FOLDED[text[i]]
            i += 1
            if c == 0:
                break
            word = (word ^ np.uint64(c)) * _PRIME
            length += 1
            # Scripts without spaces: cut long runs into pieces of about two characters each.
            if c >= 128 and length >= 24 and length % 6 == 0:
                hashes[pairs] = _pair(previous, word)
                pairs += 1
                previous, word = word, _START
        if length:
            hashes[pairs] = _pair(previous, word)
            pairs += 1
            previous = word
    return pairs


@njit(cache=True, nogil=True)
def _pair(previous: np.uint64, word: np.uint64) -> np.uint64:
    pair = (previous ^ (word >> np.uint64(7))) * _PRIME
    pair ^= pair >> np.uint64(32)
    pair *= np.uint64(0x9E3779B97F4A7C15)
    return pair ^ (pair >> np.uint64(29))


@njit(cache=True, nogil=True)
def _majority(hashes: npt.NDArray[np.uint64]) -> np.uint64:
    """Return the bits that more than half of the hashes have set.

    planes[k] holds bit k of 64 counters, one for each bit of a hash. Eight hashes are added at once by carry-save
    adders: a few steps for each hash, not 64.
    """
    planes = np.zeros(40, dtype=np.uint64)
    ones, twos, fours = np.uint64(0), np.uint64(0), np.uint64(0)
    whole = len(hashes) - len(hashes) % 8
    for i in range(0, whole, 8):
        a, ones = _add(ones, hashes[i], hashes[i + 1])
        b, ones = _add(ones, hashes[i + 2], hashes[i + 3])
        c, twos = _add(twos, a, b)
        a, ones = _add(ones, hashes[i + 4], hashes[i + 5])
        b, ones = _add(ones, hashes[i + 6], hashes[i + 7])
        d, twos = _add(twos, a, b)
        carry, fours = _add(fours, c, d)
        _count(planes, 3, carry)
    planes[0], planes[1], planes[2] = ones, twos, fours
    for i in range(whole, len(hashes)):
        _count(planes, 0, hashes[i])
    value = np.uint64(0)
    for bit in range(64):
        count = 0
        for k in range(40):
            count += int((planes[k] >> np.uint64(bit)) & np.uint64(1)) << k
        if 2 * count > len(hashes):
            value |= np.uint64(1) << np.uint64(bit)
    return value


@njit(cache=True, nogil=True)
def _add(a: np.uint64, b: np.uint64, c: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Add three bits in each of 64 places: the carries and the sums."""
    half = a ^ b
    return (a & b) | (half & c), half ^ c


@njit(cache=True, nogil=True)
def _count(planes: npt.NDArray[np.uint64], k: int, carry: np.uint64) -> None:
    """Add 2^k to the counters of the bits that are set."""
    while carry:
        planes[k], carry = planes[k] ^ carry, planes[k] & carry
        k += 1
