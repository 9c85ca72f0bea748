"""The links of a page: addresses in normal form, hosts, anchors, and whether the author vouches for them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

import numpy as np

from recrawl.columns import ByteArray
from recrawl.joined_texts import JoinedTexts
from recrawl.see.markup.plain_targets import MAX_PLAIN_BYTES
from recrawl.see.markup.references import attribute, plain
from recrawl.see.markup.scan import MAX_ANCHOR_CHARS, Scanned
from recrawl.see.markup.targets import HAS_RELATION, NEEDS_PARSER, Rows, link_texts
from recrawl.urls.traps import without_session
from recrawl.urls.url import MAX_URL_CHARS, Base, host_of, normalise, split

MAX_LINKS = 5_000

Place = tuple[str, str]  # address and host; empty where a link names no page

_NOWHERE: Place = ("", "")
_NO_PAGE = (b"#", b"javascript:", b"mailto:", b"tel:", b"data:")
_ABSOLUTE = (b"https://", b"http://")
_MAX_RESOLVED = 1_024  # links of a folder whose meaning is kept
_SAME_IN_FOLDER = frozenset(  # as a first byte; "?", white space and "&#35;" mean another page on every page
    bytes([byte]) for byte in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._"
)
_NOT_FOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})


class Link(NamedTuple):
    """A link as the page shows it, its address in normal form."""

    url: str
    host: str
    anchor: str
    nofollow: bool  # the page's author does not vouch for it


class LinkColumns(NamedTuple):
    """The links of a page in columns, in the page's order: most callers need one or two columns of many links."""

    urls: Sequence[str]
    inside: list[bool]  # whether they lead to the page's own host
    anchors: Sequence[str]
    nofollow: list[bool]

    def followed(self) -> LinkColumns:
        """Return those that the page's author vouches for."""
        if True not in self.nofollow:
            return self
        return self.where([not left for left in self.nofollow])

    def where(self, kept: list[bool]) -> LinkColumns:
        """Return those that are to be kept."""
        urls, inside, anchors, nofollow = self
        return LinkColumns(
            list(compress(urls, kept)),
            list(compress(inside, kept)),
            list(compress(anchors, kept)),
            list(compress(nofollow, kept)),
        )

    def rows(self) -> tuple[Link, ...]:
        """Return the links one by one."""
        return tuple(map(Link, self.urls, map(host_of, self.urls), self.anchors, self.nofollow))


NO_LINKS = LinkColumns([], [], [], [])


class _Folder(NamedTuple):
    """The folder of a page, in which its relative links are resolved."""

    address: ByteArray
    lengths: Rows  # of the addresses of this folder, its parent, and so on up to the root, each with its closing slash
    host: str
    origin: str
    resolved: dict[bytes, Place]  # what links mean here: most links of a site are met again and again


def read_links(scanned: Scanned, base: str, url: str) -> tuple[LinkColumns, bool]:
    """Return the links of the page at `url`, the first to each address, and whether there are more than we read."""
    if not len(scanned.anchors):
        return NO_LINKS, False
    path = base.partition("?")[0]
    folder = _folder(path[: path.rindex("/") + 1])
    source, raw_text = scanned.source, scanned.raw_text
    most = len(scanned.anchors)
    addresses = np.empty(len(source) + most * (len(folder.address) + 1), dtype=np.uint8)  # room for all there can be
    texts, tasks = np.empty(len(raw_text) + most, dtype=np.uint8), np.empty((3 * most, 4), dtype=np.int32)
    same = np.empty(most, dtype=np.bool_)
    n, address_bytes, text_bytes, left = link_texts(
        np.frombuffer(source, dtype=np.uint8),
        np.frombuffer(raw_text, dtype=np.uint8),
        scanned.anchors,
        folder.address,
        folder.lengths,
        addresses,
        same,
        texts,
        tasks,
    )
    if not n:
        return NO_LINKS, False
    urls: Sequence[str] = JoinedTexts(addresses[:address_bytes].tobytes().decode(), n)
    parsed: list[str] | None = None
    anchors: Sequence[str] = JoinedTexts(texts[:text_bytes].tobytes().decode(), n)
    inside, nofollow, resolved = same[:n].tolist(), [False] * n, folder.resolved
    lost = len(folder.address) + MAX_PLAIN_BYTES > MAX_URL_CHARS  # whether some are no links
    tidy: list[str] | None = None
    for task, k, start, end in tasks[:left].tolist():
        if task == NEEDS_PARSER:
            urls = parsed = list(urls) if parsed is None else parsed
            target = source[start:end]
            place = resolved.get(target) or _resolve(target, base, folder)
            parsed[k], inside[k] = place[0], place[1] == folder.host
            lost |= place is _NOWHERE
        elif task == HAS_RELATION:
            nofollow[k] = _is_nofollow(source[start:end])
        else:
            anchors = tidy = list(anchors) if tidy is None else tidy
            tidy[k] = _anchor(raw_text, start, end)
    columns = LinkColumns(urls, inside, anchors, nofollow)
    if lost or (parsed is not None and len(set(urls)) < n):
        columns = _each_once(columns)
    if base != url and folder.host != (own := host_of(url)):  # the page says that its links are of another host
        columns = columns._replace(inside=[host_of(link) == own for link in columns.urls])
    if len(columns.urls) > MAX_LINKS:
        return columns.where([i < MAX_LINKS for i in range(len(columns.urls))]), True
    return columns, False


def _each_once(columns: LinkColumns) -> LinkColumns:
    """Return the first link to each address, without those that name no page."""
    urls = columns.urls
    first = dict(zip(reversed(urls), range(len(urls) - 1, -1, -1), strict=True))
    first.pop("", None)
    if max(map(len, urls)) > MAX_URL_CHARS:
        first = {url: k for url, k in first.items() if len(url) <= MAX_URL_CHARS}
    kept = [False] * len(urls)
    for k in first.values():
        kept[k] = True
    return columns.where(kept)


@lru_cache(maxsize=256)
def _folder(address: str) -> _Folder:
    url = split(address)
    parts = url.path.split("/")[1:-1]
    lengths = [len(url.origin) + 1 + sum(len(part) + 1 for part in parts[:n]) for n in range(len(parts), -1, -1)]
    data = np.frombuffer(address.encode(), dtype=np.uint8)
    return _Folder(data, np.array(lengths, dtype=np.int32), url.host, url.origin, {})


def _resolve(target: bytes, base: str, folder: _Folder) -> Place:
    """Return a link's address and host, and keep them for the folder's other pages; _NOWHERE if it is no page."""
    absolute = target.startswith(_ABSOLUTE)
    place = _absolute(target) if absolute else _looked_up(target, base, folder.origin)
    if len(folder.resolved) < _MAX_RESOLVED and (absolute or target[:1] in _SAME_IN_FOLDER):
        folder.resolved[target] = place
    return place


def _looked_up(target: bytes, base: str, origin: str) -> Place:
    if target.startswith(_NO_PAGE):
        return _NOWHERE
    if target.startswith(b"/"):
        return _rooted(target, origin)
    return _parsed(target, Base(base))


@lru_cache(maxsize=32_768)
def _absolute(target: bytes) -> Place:
    """Resolve a link that means the same on every page of the web: many sites link to the same others."""
    return _parsed(target, None)


@lru_cache(maxsize=32_768)
def _rooted(target: bytes, origin: str) -> Place:
    """Resolve a link that means the same on every page of a site: most navigation links are met again and again."""
    return _parsed(target, Base(origin))


def _parsed(target: bytes, base: Base | None) -> Place:
    url = normalise(attribute(target), base)
    if url is None:
        return _NOWHERE
    url = without_session(url)
    return (url, host_of(url)) if len(url) <= MAX_URL_CHARS else _NOWHERE


def _anchor(raw_text: bytes, start: int, end: int) -> str:
    text = plain(raw_text[start : min(end, start + 4 * MAX_ANCHOR_CHARS)])
    return " ".join(text.split())[:MAX_ANCHOR_CHARS]


@lru_cache(maxsize=1_024)
def _is_nofollow(rel: bytes) -> bool:
    return not _NOT_FOLLOWED.isdisjoint(attribute(rel).lower().split())
