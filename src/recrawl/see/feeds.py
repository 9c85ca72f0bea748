"""Sitemaps and feeds: a site's own announcements of changes. A signal, never the truth.

Bounded as the sitemap protocol bounds it (50 MB, 50,000 entries); entities are refused, so neither "billion laughs"
nor external files can be reached. What was read before something went wrong is kept.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal, NamedTuple
from xml.parsers import expat

from recrawl.clock import DAY_S
from recrawl.urls.url import Base, normalise

MAX_FEED_BYTES = 50_000_000
MAX_ENTRIES = 50_000
TOO_LARGE = f"larger than {MAX_ENTRIES:,} entries or {MAX_FEED_BYTES // 1_000_000} MB"
_MAX_FIELD_CHARS = 4_096
_MAX_XML_DEPTH = 32
_CHUNK_BYTES = 65_536

FeedKind = Literal["sitemap", "index", "rss", "atom", "text", "unknown"]
_ROOTS: dict[str, FeedKind] = {"urlset": "sitemap", "sitemapindex": "index", "rss": "rss", "RDF": "rss", "feed": "atom"}
_ITEMS = frozenset({"url", "sitemap", "item", "entry"})
_FIELDS = frozenset(
    {"loc", "lastmod", "changefreq", "priority", "link", "guid", "title", "pubDate", "updated", "published", "date"}
)


class FeedEntry(NamedTuple):
    """One page (or, in an index, one sitemap) that a site announces."""

    url: str
    changed_at: float | None = None  # days since 1970, as the site says
    changefreq: str = ""
    priority: float | None = None
    title: str = ""


@dataclass(slots=True)
class Feed:
    """What a sitemap or feed says, and how far it could be read."""

    kind: FeedKind = "unknown"
    entries: list[FeedEntry] = field(default_factory=list)
    capped: bool = False
    error: str = ""  # why reading stopped early; what came before is kept

    @property
    def why_partial(self) -> str:
        """Why only a part of the file was read; empty if all of it was."""
        return self.error or (TOO_LARGE if self.capped else "")


class _StopReading(Exception):  # noqa: N818 - not an error: unwinds the XML parser
    """Raised inside the parser to end it early, with the reason."""


def read_feed(body: bytes, url: str) -> Feed:
    """Read a sitemap, sitemap index (XML or text, plain or gzip), RSS or Atom feed that was fetched from `url`."""
    feed = Feed()
    if body.startswith(b"\x1f\x8b"):
        body = _inflate(body, feed)
    if len(body) > MAX_FEED_BYTES:
        feed.capped = True
        body = body[:MAX_FEED_BYTES]
    if b"<" not in body[:_CHUNK_BYTES]:
        return _read_lines(body, url, feed)
    reader = _XmlReader(feed, Base(url))
    try:
        reader.read(body)
    except _StopReading as stop:
        feed.error = str(stop)
    except expat.ExpatError as error:
        feed.error = f"not well-formed: {expat.errors.messages.get(error.code, error)}"
    except (LookupError, ValueError) as error:  # an encoding that does not exist
        feed.error = f"cannot be decoded: {error}"
    return feed


def _inflate(body: bytes, feed: Feed) -> bytes:
    inflater = zlib.decompressobj(wbits=31)
    try:
        plain = inflater.decompress(body, MAX_FEED_BYTES)
    except zlib.error:
        feed.error = "gzip is broken"
        return b""
    feed.capped = bool(inflater.unconsumed_tail)
    return plain


def _read_lines(body: bytes, url: str, feed: Feed) -> Feed:
    """Read a text sitemap: one URL per line."""
    base = Base(url)
    for line in body.decode("utf-8", "replace").splitlines():
        target = normalise(line.strip(), base) if "://" in line else None
        if target is None:
            continue
        feed.kind = "text"
        if len(feed.entries) == MAX_ENTRIES:
            feed.capped = True
            break
        feed.entries.append(FeedEntry(target))
    return feed


class _XmlReader:
    """Collect entries while expat parses; sitemaps, RSS and Atom are told apart by local element names."""

    def __init__(self, feed: Feed, base: Base) -> None:
        self.feed = feed
        self.base = base
        self.depth = 0
        self.item_depth = 0  # 0: outside an item
        self.values: dict[str, str] = {}
        self.name = ""
        self.pieces: list[str] = []
        self.length = 0

    def read(self, body: bytes) -> None:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.text
        parser.EntityDeclHandler = self.refuse
        parser.ExternalEntityRefHandler = self.refuse
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        for at in range(0, len(body), _CHUNK_BYTES):
            parser.Parse(body[at : at + _CHUNK_BYTES], False)
        parser.Parse(b"", True)

    def refuse(self, *_: object) -> int:
        raise _StopReading("declares entities")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > _MAX_XML_DEPTH:
            raise _StopReading("nested too deeply")
        local = name.rpartition(" ")[2]
        if self.depth == 1:
            self.feed.kind = _ROOTS.get(local, "unknown")
            if self.feed.kind == "unknown":
                raise _StopReading(f"<{local[:40]}> is neither a sitemap nor a feed")
        if not self.item_depth and local in _ITEMS:
            self.item_depth, self.values = self.depth, {}
        elif self.item_depth and self.depth == self.item_depth + 1 and local in _FIELDS:
            self.name, self.pieces, self.length = local, [], 0
            if local == "link" and attributes.get("rel", "alternate") == "alternate" and attributes.get("href"):
                self.values.setdefault("link", attributes["href"][:_MAX_FIELD_CHARS])

    def text(self, text: str) -> None:
        if self.name and self.length < _MAX_FIELD_CHARS:
            self.pieces.append(text[: _MAX_FIELD_CHARS - self.length])
            self.length += len(text)

    def end(self, name: str) -> None:
        if self.name and self.depth == self.item_depth + 1:
            self.values.setdefault(self.name, "".join(self.pieces).strip())
            if not self.values[self.name]:
                del self.values[self.name]
            self.name = ""
        elif self.item_depth == self.depth:
            self.item_depth = 0
            self.keep()
        self.depth -= 1

    def keep(self) -> None:
        values = self.values
        where = values.get("loc") or values.get("link") or values.get("guid") or ""
        target = normalise(where, self.base) if where else None
        if target is None:
            return
        if len(self.feed.entries) == MAX_ENTRIES:
            self.feed.capped = True
            raise _StopReading(f"more than {MAX_ENTRIES} entries")
        stamps = ("lastmod", "updated", "pubDate", "published", "date")
        date = next((values[stamp] for stamp in stamps if stamp in values), "")
        self.feed.entries.append(
            FeedEntry(target, parse_date(date), values.get("changefreq", ""), _number(values), values.get("title", ""))
        )


def _number(values: dict[str, str]) -> float | None:
    try:
        priority = float(values.get("priority", ""))
    except ValueError:
        return None
    return priority if 0 <= priority <= 1 else None


def parse_date(text: str) -> float | None:
    """Read a W3C or mail date into days since 1970 (UTC); None if it is neither or out of range."""
    text = text.strip()[:64]
    if not text:
        return None
    try:
        if text[:4].isdigit():
            moment = datetime.fromisoformat(text if len(text) != 7 else f"{text}-01")
        else:
            moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp() / DAY_S
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
