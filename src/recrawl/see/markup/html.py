"""HTML to title, links, canonical address and directives, from one pass over the markup."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

import numpy as np

from recrawl.see.markup.references import attribute, plain
from recrawl.see.markup.scan import BASE, LINK, MAX_ANCHOR_CHARS, META, Scanned, scan
from recrawl.see.markup.targets import places_of
from recrawl.urls.url import Base, normalise

MAX_LINKS = 5_000
MAX_TITLE_CHARS = 500
MAX_REFRESH_S = 3.0  # a slower refresh shows its page first, a faster one sends the visitor elsewhere

_REFRESH = re.compile(
    r"\s*+([0-9]{1,9}+(?:\.[0-9]*+)?|\.[0-9]++)(?:\s*+[;,]\s*+|\s++)(?:url\s*+=\s*+)?(?:\"([^\"]*)|'([^']*)|(\S+))",
    re.I,
)
_HEAD_BYTES = 8_192
_MAX_FEEDS = 16
_MAX_META_CHARS = 2_000
_NOT_FOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})
_SHELL_WORDS = 50
_SHELL = re.compile(
    r"(?i)<(?:div|main|section|app-root)\s[^>]{0,200}?\bid\s*+=\s*+[\"']?(?:root|app|main-app|__next|__nuxt|___gatsby|svelte"
    r"|ember[\w-]{0,100}|application)[\"'\s>]|<app-root|<noscript[^>]{0,200}+>[^\0]{0,500}?java-?script"
    r"|enable javascript"
)


HeadTag = tuple[int, str, str, str]


class Link(NamedTuple):
    """A link as the page shows it, its address in normal form."""

    url: str
    host: str
    anchor: str
    nofollow: bool  # the page's author does not vouch for it


class LinkColumns(NamedTuple):
    """The links of a page in columns, in the page's order: most callers need one or two columns of many links."""

    urls: list[str]
    hosts: list[str]
    anchors: list[str]
    nofollow: list[bool]

    def followed(self) -> LinkColumns:
        """Return those that the page's author vouches for."""
        if True not in self.nofollow:
            return self
        kept = [not left for left in self.nofollow]
        urls, hosts, anchors, nofollow = self
        return LinkColumns(
            list(compress(urls, kept)),
            list(compress(hosts, kept)),
            list(compress(anchors, kept)),
            list(compress(nofollow, kept)),
        )

    def rows(self) -> tuple[Link, ...]:
        """Return the links one by one."""
        return tuple(map(Link, *self))


NO_LINKS = LinkColumns([], [], [], [])


class Refresh(NamedTuple):
    """A meta refresh: where to, and after how long."""

    url: str
    delay_s: float


class Document(NamedTuple):
    """What the markup of a page contains: title, links, canonical address, directives."""

    scanned: Scanned
    base: str
    title: str
    heading: str
    link_columns: LinkColumns
    links_capped: bool
    canonical: str | None  # a hint only: pages lie about it, and loop
    feeds: tuple[str, ...]
    metas: tuple[tuple[str, str], ...]
    refresh: Refresh | None
    needs_rendering: bool

    @property
    def links(self) -> tuple[Link, ...]:
        """The links, one by one."""
        return self.link_columns.rows()


def read_html(text: str, url: str) -> Document:
    """Read a page that was fetched from `url` (in normal form)."""
    scanned = scan(text.encode("utf-8", "replace"))
    head = scanned.head_tags()
    base = _base_of(head, url)
    links, capped = _links(scanned, base)
    canonical, feeds = _relations(head, base)
    metas, refresh = _metas(head, base, url)
    return Document(
        scanned=scanned,
        base=base,
        title=_tidy(scanned.title, MAX_TITLE_CHARS),
        heading=_tidy(scanned.heading, MAX_TITLE_CHARS),
        link_columns=links,
        links_capped=capped,
        canonical=canonical,
        feeds=feeds,
        metas=metas,
        refresh=refresh,
        needs_rendering=needs_rendering(text, scanned),
    )


def needs_rendering(text: str, scanned: Scanned) -> bool:
    """Whether scripts will render this page: hardly a word, scripts, and a mount point or a noscript message."""
    if scanned.words >= _SHELL_WORDS or not scanned.scripts:
        return False
    return bool(_SHELL.search(text[:65_536])) or (scanned.words < 5 and scanned.script_bytes + scanned.scripts > 2)


def quick_refresh(body: bytes, url: str) -> Refresh | None:
    """Find a meta refresh in a body's first bytes, at almost no cost where there is none."""
    folded = np.frombuffer(body, dtype=np.uint8, count=min(len(body), _HEAD_BYTES)) | 32  # small letters, and more
    if b"refresh" not in folded.tobytes():
        return None
    head = scan(body[:_HEAD_BYTES].decode("utf-8", "replace").encode()).head_tags()
    return _metas(head, _base_of(head, url), url)[1]


def _base_of(head: list[HeadTag], url: str) -> str:
    for tag, _, _, href in head:
        if tag == BASE and href:
            return normalise(href, Base(url)) or url
    return url


def _links(scanned: Scanned, base: str) -> tuple[LinkColumns, bool]:
    """Return the links in columns, the first to each address, and whether there are more than we read."""
    found_urls, found_hosts, found_rows = places_of(scanned.source, scanned.anchors[:, :2], base)
    first = dict(zip(reversed(found_urls), range(len(found_urls) - 1, -1, -1), strict=True))
    places = sorted(first.values()) if len(first) < len(found_urls) else list(first.values())[::-1]
    capped = len(places) > MAX_LINKS
    del places[MAX_LINKS:]
    rows = scanned.anchors[[found_rows[i] for i in places], 2:].tolist() if places else []
    source, said = scanned.source, scanned.said.decode("latin-1")  # a character a byte: places are the same in both
    found = LinkColumns(
        [found_urls[i] for i in places],
        [found_hosts[i] for i in places],
        [said[a:b] if tidy else _anchor(scanned.said, a, b) for _, _, a, b, tidy in rows],
        [rel_end > 0 and _is_nofollow(source[rel:rel_end]) for rel, rel_end, _, _, _ in rows],
    )
    return found, capped


def _anchor(said: bytes, start: int, end: int) -> str:
    text = plain(said[start : min(end, start + 4 * MAX_ANCHOR_CHARS)])
    return " ".join(text.split())[:MAX_ANCHOR_CHARS]


@lru_cache(maxsize=1_024)
def _is_nofollow(rel: bytes) -> bool:
    return not _NOT_FOLLOWED.isdisjoint(attribute(rel).lower().split())


def _relations(head: list[HeadTag], base: str) -> tuple[str | None, tuple[str, ...]]:
    """Find the canonical address and the feeds that link tags name."""
    canonical: str | None = None
    feeds: list[str] = []
    for tag, rel, kind, href in head:
        if tag != LINK or not href:
            continue
        relations = rel.lower().split()
        if "canonical" in relations and canonical is None:
            canonical = normalise(href, Base(base))
        elif "alternate" in relations and kind.lower().endswith(("rss+xml", "atom+xml")):
            url = normalise(href, Base(base))
            feeds += [url] if url and len(feeds) < _MAX_FEEDS else []
    return canonical, tuple(feeds)


def _metas(head: list[HeadTag], base: str, url: str) -> tuple[tuple[tuple[str, str], ...], Refresh | None]:
    metas: list[tuple[str, str]] = []
    refresh: Refresh | None = None
    for tag, name, equivalent, content in head:
        if tag != META:
            continue
        if refresh is None and equivalent.strip().lower() == "refresh":
            refresh = parse_refresh(content, base, url)
        if name:
            metas.append((name.strip(), content[:_MAX_META_CHARS]))
    return tuple(metas), refresh


def parse_refresh(content: str, base: str, url: str) -> Refresh | None:
    """Read `5; url=/there`; a refresh to the page itself is a reload, not a redirect."""
    found = _REFRESH.match(content[:4_096])
    if not found:
        return None
    target = normalise(found[2] or found[3] or found[4] or "", Base(base))
    if target is None or target == url:
        return None
    return Refresh(target, float(found[1]))


def _tidy(text: str, limit: int) -> str:
    return " ".join(text[: 4 * limit].split())[:limit]
