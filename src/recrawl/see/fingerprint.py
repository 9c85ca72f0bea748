"""Fingerprints of what a page says, blind to what rotates by itself.

`digest` is exact: two visits with the same digest saw the same page. Before hashing, `stable_text` leaves out what
differs between two visits to an unchanged page: clocks, counters, "3 minutes ago", render times, session ids, tokens.
"""

from __future__ import annotations

import hashlib
import re

import numpy as np
import numpy.typing as npt

from recrawl.columns import ByteArray
from recrawl.compiled import kernel
from recrawl.hashing import FNV_START, fnv1a, fnv1a_step

DIGEST_BYTES = 16

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_DATE = (
    rf"(?:(?:{_DAY},?\s+)?(?:\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?[\s-]+{_MONTH}[\s,-]+\d{{2,4}}|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}))"
)
_ZONE = r"(?:\s?(?:z|utc|gmt|[ap]\.?m\.?|[a-z]{3,4}t)\b|\s?[+-]\d{2}:?\d{2})*"
_TIME = rf"(?:\d{{1,2}}:\d{{2}}(?::\d{{2}}(?:[.,]\d+)?)?{_ZONE})"
_COUNTED = (
    r"(?:views?|visits?|visitors?|hits?|reads?|clicks?|downloads?|likes?|shares?|followers?|(?:users?|guests?|members?"
    r"|people|visitors?)\s+(?:online|active|browsing|viewing))"
)
_COUNT = r"\d[\d.,\u00a0]*[km]?"

# Every pattern needs a digit, so lines without one are never searched; nor are those that `_may_rotate` rules out.
_ROTATING = re.compile(
    "|".join(
        (
            rf"(?:last\s+)?(?:updated?|modified|refreshed|generated|retrieved|rendered|printed|checked|as\s+of|today\s+is|now"
            rf"|current\s+time|server\s+time|local\s+time)\b[\s:]*(?:(?:on|at)\s+)?(?:{_DATE}[\s,]*(?:at\s+)?{_TIME}?|{_TIME})",
            rf"{_DATE}[t\s,]+(?:at\s+)?{_TIME}",
            rf"\d{{4}}-\d{{2}}-\d{{2}}t{_TIME}",
            rf"\b\d{{1,2}}:\d{{2}}:\d{{2}}(?:[.,]\d+)?{_ZONE}",
            r"\b\d+\s*(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?)\s+ago\b",
            rf"\b{_COUNT}\s+{_COUNTED}\b",
            rf"\b{_COUNTED}\s*[:=]\s*{_COUNT}",
            r"\b(?:generated|rendered|loaded|executed|served|created|built|took|query|queries|processed)\b[^.\n]{0,40}?"
            r"\d+(?:[.,]\d+)?\s*(?:ms|msecs?|milliseconds?|s|secs?|seconds?)\b",
            r"\b(?:session|sess|sid|csrf|xsrf|token|nonce|request|ray|trace|correlation|build)[\s_-]*(?:id|token|key)?\s*"
            r"[:=#]\s*[\w./+=-]*\d[\w./+=-]*",
            r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
            r"\b(?=[0-9a-f]*\d)[0-9a-f]{16,}\b",
            r"\b(?=[a-z_-]*\d)(?=[0-9_-]*[a-z])[\w-]{24,}\b",
            r"(?:©|\(c\)|copyright)\s*(?:\d{4}\s*[-–]\s*)?\d{4}",
        )
    ),
    re.IGNORECASE,
)
_CLOCK_LINE = re.compile(rf"(?i)\W*(?:{_DAY}\W+)?(?:{_DATE}\W*)?(?:{_TIME})?\W*|\W*{_COUNT}\W*")
_LONGEST_CLOCK = 60  # characters

_step = kernel(fnv1a_step)


def _hashes(words: str) -> npt.NDArray[np.uint64]:
    return np.sort(np.array([fnv1a(word) for word in words.split()], dtype=np.uint64))


_MONTHS = _hashes("jan feb mar apr may jun jul aug sep oct nov dec")
_DAYS_AND_MONTHS = _hashes("mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec")
_WORDS = _hashes(
    "ago copyright view views visit visits visitor visitors hit hits read reads click clicks download downloads like"
    " likes share shares follower followers user users guest guests member members people generated rendered loaded"
    " executed served created built took query queries processed"
)


def fingerprint(text: str) -> bytes:
    """Return the digest of a text without what rotates by itself."""
    return digest_of_bytes(_stable(text))


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
    length, numbered = _lines(source, out)
    if not len(numbered) and length == len(out):  # nothing was left out
        return whole
    data = out[:length].tobytes()
    if not len(numbered):
        return data.removesuffix(b"\n")
    pieces, at = [], 0
    for start, end, rotates in numbered.tolist():
        line = data[start:end].decode()
        if len(line) < _LONGEST_CLOCK and _CLOCK_LINE.fullmatch(line):
            pieces.append(data[at:start])
            at = end + 1
        elif rotates:
            pieces.append(data[at:start])
            line = " ".join(_ROTATING.sub(" ", line).split())
            pieces.append(f"{line}\n".encode() if line else b"")
            at = end + 1
    pieces.append(data[at:])
    return b"".join(pieces).removesuffix(b"\n")


@kernel
def _lines(source: ByteArray, out: ByteArray) -> tuple[int, npt.NDArray[np.int64]]:
    """Copy the lines that are not blank, trimmed; return the length and those that may hold something that rotates.

    Of these: start, end, and whether any pattern but that of whole lines can match. All patterns need a digit.
    """
    numbered = np.empty((len(source) // 2 + 1, 3), dtype=np.int64)
    o, count, i, n = 0, 0, 0, len(source)
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
            rotates = _may_rotate(out, line_at, o)
            if rotates or (o - line_at < 4 * _LONGEST_CLOCK and _may_be_clock(out, line_at, o)):
                numbered[count, 0], numbered[count, 1], numbered[count, 2] = line_at, o, rotates
                count += 1
        out[o] = 10
        o += 1
    return o, numbered[:count].copy()


@kernel
def _may_be_clock(line: ByteArray, start: int, end: int) -> bool:
    """Whether a line begins as a date, a time or a number does: with a digit, a day or a month."""
    for i in range(start, end):
        c = line[i]
        if c >= 128 or 48 <= c <= 57:
            return True
        if 97 <= (c | 32) <= 122:
            return i + 3 <= end and _has(_DAYS_AND_MONTHS, _hash3(line, i))
    return True


@kernel
def _may_rotate(line: ByteArray, start: int, end: int) -> bool:
    """Whether one of the patterns of `_ROTATING` could match: never False where one does.

    Each needs one of: a colon, an equals or a number sign; three numbers with dots, dashes or slashes between; a month;
    a word such as "ago" or "views"; a run of 16 letters and digits; a copyright sign.
    """
    word, letters = FNV_START, 0  # hash and length of the run of letters before i
    run, digits = 0, 0  # length of the run of [\\w-] before i, and how many digits it holds
    joints = 0  # how many of .-/ in a row stand between digits
    for i in range(start, end + 1):
        c = line[i] if i < end else np.uint8(32)
        if c == 58 or c == 61 or c == 35 or (c == 0xA9 and i > start and line[i - 1] == 0xC2):
            return True
        digit = 48 <= c <= 57
        if 97 <= (c | 32) <= 122:
            word = _step(word, c | 32)
            letters += 1
            if letters == 3 and _has(_MONTHS, word):
                return True
        elif letters:
            if _has(_WORDS, word):
                return True
            if c == 41 and letters == 1 and i >= start + 2 and line[i - 2] == 40 and line[i - 1] | 32 == 99:
                return True  # (c)
            word, letters = FNV_START, 0
        if digit or letters or c == 95 or c == 45 or c >= 128:
            run += 1
            digits += 1 if digit else 0
            if run >= 36 or (run >= 16 and digits):
                return True
        else:
            run, digits = 0, 0
        if 45 <= c <= 47:
            joints = joints + 1 if i > start and 48 <= line[i - 1] <= 57 else 0
        elif not digit:
            joints = 0
        elif joints == 2:
            return True
    return False


@kernel
def _hash3(line: ByteArray, i: int) -> np.uint64:
    value = FNV_START
    for k in range(i, i + 3):
        value = _step(value, line[k] | 32)
    return value


@kernel
def _has(hashes: npt.NDArray[np.uint64], value: np.uint64) -> bool:
    place = np.searchsorted(hashes, value)
    return bool(place < len(hashes) and hashes[place] == value)


def digest(text: str) -> bytes:
    """Return the exact fingerprint of a text as it is."""
    return digest_of_bytes(text.encode("utf-8", "replace"))


def digest_of_bytes(body: bytes) -> bytes:
    """Return the exact fingerprint of bytes."""
    return hashlib.blake2b(body, digest_size=DIGEST_BYTES).digest()
