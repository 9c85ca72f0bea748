"""Character references (`&amp;`, `&#8212;`) to what they stand for; a number that stands for nothing is U+FFFD."""

from __future__ import annotations

import re
from html import unescape

import numpy as np

from recrawl.see.markup.resolving import resolve, room_for

_IN_TEXT = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)")
_IN_ATTRIBUTE = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[A-Za-z][A-Za-z0-9]*(?:;|(?![A-Za-z0-9=])))")
_MOST_DIGITS = 7  # of the largest code point, 1114111
_MOST_KNOWN = 4_096


class _NamedCharacters(dict[str, str]):
    """Cache of the named character references met so far."""

    def __missing__(self, reference: str) -> str:
        found = _decode(reference)
        if len(self) < _MOST_KNOWN and len(reference) <= 40:
            self[reference] = found
        return found


_KNOWN = _NamedCharacters()


def plain(utf8: bytes) -> str:
    """Decode text and resolve its character references."""
    text = utf8.decode("utf-8", "replace")
    return _IN_TEXT.sub(lambda found: _KNOWN[found[0]], text) if "&" in text else text


def resolved(utf8: bytes) -> bytes:
    """Resolve the character references of a text in UTF-8."""
    if b"&" not in utf8:
        return utf8
    out = np.empty(room_for(len(utf8)), dtype=np.uint8)
    length = resolve(np.frombuffer(utf8, dtype=np.uint8), out)
    return out[:length].tobytes() if length >= 0 else plain(utf8).encode("utf-8", "replace")


def attribute(value: bytes) -> str:
    """Decode an attribute; there, `&copy=` is no character reference (HTML standard, 13.2.5.73)."""
    text = value.decode("utf-8", "replace")
    return _IN_ATTRIBUTE.sub(lambda found: _KNOWN[found[0]], text) if "&" in text else text


def _decode(reference: str) -> str:
    """Resolve one reference; Python refuses to read numbers of thousands of digits, and no code point has as many."""
    if reference[1] != "#":
        return unescape(reference)
    radix = "x" if reference[2] in "xX" else ""
    digits = reference[2 + len(radix) :].rstrip(";").lstrip("0") or "0"
    return unescape(f"&#{radix}{digits};") if len(digits) <= _MOST_DIGITS else "\ufffd"
