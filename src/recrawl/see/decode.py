"""Bytes to text, by the order of the HTML standard: byte-order mark, header, meta prescan, then heuristics.

Undecodable bytes become U+FFFD; decoding never fails.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import NamedTuple

from resiliparse.parse.encoding import detect_encoding, map_encoding_to_html5

from recrawl.see.valid_utf8 import is_utf8

PRESCAN_BYTES = 1024
FALLBACK = "cp1252"
_DETECT_BYTES = 16_384
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_MARKS = tuple(mark for mark, _ in _BOMS)
_LIKE_ASCII = frozenset({"utf-8", "cp1252", *(f"iso8859-{n}" for n in range(2, 17)), *(f"cp125{n}" for n in range(9))})
# the Encoding standard's tables of these are supersets, which Python knows by other names
_WIDER = {"euc_kr": "cp949", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "iso8859-1": "cp1252"}
_PARAMETER = re.compile(r"(?i)charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;\"']+))")
_COMMENT = re.compile(rb"<!--.*?(?:-->|$)", re.DOTALL)
_META = re.compile(rb"<meta[\s/]([^>]*)")  # in small letters
_META_CHARSET = re.compile(rb"(?:^|[\s/;\"'])charset\s*=\s*[\"']?\s*([^\s\"'>;/]+)")
_XML_ENCODING = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")


class Decoded(NamedTuple):
    """The text and how its charset was found: bom, header, meta, utf-8 (valid), detected or fallback."""

    text: str
    charset: str
    found_by: str


def decode(body: bytes, content_type: str = "") -> Decoded:
    """Decode a body."""
    for mark, charset in _BOMS:
        if body.startswith(mark):
            return Decoded(_text(body[len(mark) :], charset), charset, "bom")
    charset, found_by = _declared(body, content_type)
    if charset:
        return Decoded(_text(body, charset), charset, found_by)
    try:
        return Decoded(body.decode(), "utf-8", "utf-8")
    except UnicodeDecodeError as error:
        if error.start > len(body) - 4 and error.reason == "unexpected end of data":  # cut inside a character
            return Decoded(_text(body, "utf-8"), "utf-8", "utf-8")
    guess = label_to_codec(detect_encoding(body[:_DETECT_BYTES]) or "")
    if guess and guess != "utf-8":
        return Decoded(_text(body, guess), guess, "detected")
    return Decoded(_text(body, FALLBACK), FALLBACK, "fallback")


def as_utf8(body: bytes, content_type: str = "") -> tuple[bytes, str]:
    """Return a body in UTF-8 and its charset: what `decode` finds, encoded; most bodies are returned as they are."""
    if not body.startswith(_MARKS):
        charset = _declared(body, content_type)[0] or "utf-8"
        if charset in _LIKE_ASCII and body.isascii():
            return body, charset
        if charset == "utf-8" and is_utf8(body):
            return body, "utf-8"
    text, charset, _ = decode(body, content_type)
    return text.encode("utf-8", "replace"), charset


def _declared(body: bytes, content_type: str) -> tuple[str, str]:
    charset = _in_header(content_type)
    if charset:
        return charset, "header"
    charset = prescan(body[:PRESCAN_BYTES])
    return charset, "meta" if charset else ""


@lru_cache(maxsize=512)
def _in_header(content_type: str) -> str:
    parameter = _PARAMETER.search(content_type)
    return label_to_codec(parameter[1] or parameter[2] or parameter[3] or "") if parameter else ""


def prescan(head: bytes) -> str:
    """Find the charset that a document declares in its first 1,024 bytes; empty if none."""
    xml = _XML_ENCODING.match(head.lstrip())
    if xml:
        return label_to_codec(xml[1].decode("ascii"))
    for meta in _META.finditer((_COMMENT.sub(b"", head) if b"<!--" in head else head).lower()):
        label = _META_CHARSET.search(meta[1])
        charset = label_to_codec(label[1].decode("ascii", "replace")) if label else ""
        if charset:
            # A meta tag that could be read as ASCII cannot be in UTF-16 (HTML standard, prescan, step 15).
            return "utf-8" if charset.startswith("utf-16") else charset
    return ""


@lru_cache(maxsize=512)
def label_to_codec(label: str) -> str:
    """Map an encoding label of the web to the name of a codec, empty if unknown (latin1 is windows-1252 there)."""
    label = label.strip().lower()
    if not label.isascii() or not label or len(label) > 64:
        return ""
    try:
        name = codecs.lookup(map_encoding_to_html5(label, False) or "").name
    except LookupError:
        return ""
    return _WIDER.get(name, name)


def _text(body: bytes, charset: str) -> str:
    return body.decode(charset, "replace")
