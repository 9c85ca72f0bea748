"""Media type sniffing: what a body is, whatever its Content-Type. Binary content is never parsed as text."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

_LOOK_BYTES = 1445  # the MIME Sniffing standard reads as much as this

_SIGNATURES = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"\x7fELF", "application/x-executable"),
    (b"\xca\xfe\xba\xbe", "application/java-vm"),
    (b"OggS", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"\x00asm", "application/wasm"),
    (b"\xd0\xcf\x11\xe0", "application/msword"),
)
_CONTAINERS = ((b"RIFF", 8, b"WEBP", "image/webp"), (b"RIFF", 8, b"WAVE", "audio/wav"), (b"", 4, b"ftyp", "video/mp4"))
_STARTS = frozenset(magic[0] for magic, _ in _SIGNATURES)
_BINARY = bytes({*range(0x20)} - {0x09, 0x0A, 0x0C, 0x0D, 0x1B})
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")
_HTML = re.compile(
    rb"(?i)(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]*+>\s*+)?(?:<!--(?>.*?-->)\s*+)*+"
    rb"<(?:!doctype\s+html|html|head|body|title|script|iframe|h1|div|font|table|a|style|b|br|p|meta)[\s/>]",
    re.DOTALL,
)
_XML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:\?xml|rss|feed|urlset|sitemapindex)[\s>]")


class Media(StrEnum):
    """The kinds of body that are treated differently."""

    HTML = "html"
    XML = "xml"
    TEXT = "text"
    BINARY = "binary"
    EMPTY = "empty"


class Sniffed(NamedTuple):
    """What the body is, its media type, and whether that contradicts the header."""

    media: Media
    content_type: str
    lied: bool


_NAMED_HTML = Media.HTML  # quick to look up


def sniff(body: bytes, content_type: str = "") -> Sniffed:
    """Decide what a body is from its first bytes and its declared type."""
    declared, named = _declared_media(content_type)
    if not body or body.isspace():
        return Sniffed(Media.EMPTY, declared, False)
    head = body[:_LOOK_BYTES]
    known = _signature(head)
    if known:
        return Sniffed(Media.BINARY, known, named not in (Media.BINARY, None))
    if not head.startswith(_WIDE_BOMS) and _is_binary(_without_lone_nuls(head)):
        return Sniffed(Media.BINARY, "application/octet-stream", named not in (Media.BINARY, None))
    if named is _NAMED_HTML:
        return Sniffed(_NAMED_HTML, "text/html", False)
    if named in (None, Media.BINARY, Media.XML) and _HTML.match(head):
        return Sniffed(Media.HTML, "text/html", named not in (Media.HTML, None) and declared != "application/xhtml+xml")
    if named is Media.XML or _XML.match(head):
        return Sniffed(Media.XML, declared or "text/xml", named is Media.BINARY)
    return Sniffed(Media.TEXT, declared if named is Media.TEXT else "text/plain", named is Media.BINARY)


def _signature(head: bytes) -> str:
    if head[0] in _STARTS:
        for magic, name in _SIGNATURES:
            if head.startswith(magic):
                return name
    for magic, offset, inner, name in _CONTAINERS:
        if head.startswith(magic) and head[offset : offset + 4] == inner:
            return name
    return ""


def _is_binary(head: bytes) -> bool:
    return len(head.translate(None, _BINARY)) < len(head)


def _without_lone_nuls(head: bytes) -> bytes:
    """Drop single NUL bytes, which broken templates write; more than one in fifty bytes means binary."""
    if b"\0" not in head:  # quicker to find out than how many there are
        return head
    return head.replace(b"\0", b"") if head.count(b"\0") * 50 < len(head) else head


@lru_cache(maxsize=1_024)
def _declared_media(content_type: str) -> tuple[str, Media | None]:
    """Return the media type of a header and what it stands for; hosts send the same few over and over."""
    declared = content_type.partition(";")[0].strip().lower()
    return declared, _media_of(declared)


def _media_of(declared: str) -> Media | None:
    if declared in ("text/html", "application/xhtml+xml"):
        return Media.HTML
    if declared in ("text/xml", "application/xml") or declared.endswith("+xml"):
        return Media.XML
    if declared.startswith("text/") or declared in (
        "application/json",
        "application/javascript",
        "application/ld+json",
    ):
        return Media.TEXT
    return Media.BINARY if declared and declared != "application/octet-stream" else None
