"""HTML to title, links, canonical address and directives, from one pass over the markup."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import compress
from typing import NamedTuple, cast

import numpy as np

from recrawl.see.markup.scan import BASE, LINK, MAX_ANCHOR_CHARS, META, Scanned, attribute, plain, scan
from recrawl.urls.traps import without_session
from recrawl.urls.url import MAX_URL_CHARS, Base, host_of, normalise, split

MAX_LINKS = 5_000
MAX_TITLE_CHARS = 500
MAX_REFRESH_S = 3.0  # a slower refresh shows its page first, a faster one sends the visitor elsewhere

_REFRESH = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(?:[;,\s]\s*)(?:url\s*=\s*)?(?:\"([^\"]*)|'([^']*)|(\S+))", re.I)
_HEAD_BYTES = 8_192
_MAX_FEEDS = 16
_MAX_META_CHARS = 2_000
_NO_PAGE = (b"#", b"javascript:", b"mailto:", b"tel:", b"data:")
_ABSOLUTE = (b"https://", b"http://")
_PLAIN = re.compile(rb"((?:\.\./)*)([\w~-]+(?:[./][\w~-]+)*/?(?:\?[\w~=&.-]+)?)")
_MAX_PLAIN_BYTES = 500
_CACHED = frozenset(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._#"
)  # not "?", which needs the page
_MAX_RESOLVED = 1_024  # links of a folder whose meaning is kept
_NOT_FOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})
_SHELL_WORDS = 50
_SHELL = re.compile(
    r"(?i)<(?:div|main|section|app-root)\s[^>]*\bid\s*=\s*[\"']?(?:root|app|main-app|__next|__nuxt|___gatsby|svelte|ember"
    r"[\w-]*|application)[\"'\s>]|<app-root|<noscript[^>]*>[^<]*(?:<[^>]*>[^<]*)*?java-?script|enable javascript"
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
    return bool(_SHELL.search(text[:262_144])) or (scanned.words < 5 and scanned.script_bytes + scanned.scripts > 2)


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
    href, href_end, rel, rel_end, text, text_end, tidy = scanned.anchors.T.tolist()
    source, said = scanned.source, scanned.said.decode("latin-1")  # a character a byte: places are the same in both
    places = _places([source[start:end] for start, end in zip(href, href_end, strict=True)], base)
    urls = [place[0] for place in places]
    first = dict(zip(reversed(urls), range(len(urls) - 1, -1, -1), strict=True))
    first.pop("", None)  # names no page
    rows = sorted(first.values())
    capped = len(rows) > MAX_LINKS
    del rows[MAX_LINKS:]
    found = LinkColumns(
        [urls[i] for i in rows],
        [places[i][1] for i in rows],
        [said[text[i] : text_end[i]] if tidy[i] else _anchor(scanned.said, text[i], text_end[i]) for i in rows],
        [_is_nofollow(source[rel[i] : rel_end[i]]) for i in rows] if any(rel_end) else [False] * len(rows),
    )
    return found, capped


def _anchor(said: bytes, start: int, end: int) -> str:
    text = plain(said[start : min(end, start + 4 * MAX_ANCHOR_CHARS)])
    return " ".join(text.split())[:MAX_ANCHOR_CHARS]


def _places(targets: list[bytes], base: str) -> list[tuple[str, str]]:
    """Return the address and the host that each link means."""
    known = _resolved(base[: base.partition("?")[0].rindex("/") + 1])
    places = list(map(known.get, targets))
    folders: list[str] = []
    for i, place in enumerate(places):
        if place is None:
            target = targets[i]
            folders = folders or _folders(base)
            places[i] = resolved = _resolve(target, base, folders)
            if len(known) < _MAX_RESOLVED and target[0] in _CACHED:
                known[target] = resolved
    return cast(list[tuple[str, str]], places)


@lru_cache(maxsize=256)
def _resolved(folder: str) -> dict[bytes, tuple[str, str]]:
    """What links mean on the pages of a folder: most links of a site are met again and again."""
    return {}


def _resolve(target: bytes, base: str, folders: list[str]) -> tuple[str, str]:
    """Return a link's address and host, empty if it names no page."""
    if target.startswith(_NO_PAGE):
        return "", ""
    if target.startswith(b"/"):
        plain_path = _beside(target[1:], folders[-1:])
        return plain_path or _rooted(target, folders[-1][:-1])
    if target.startswith(_ABSOLUTE):
        return _absolute(target)
    return _beside(target, folders) or _target(target, Base(base))


@lru_cache(maxsize=1_024)
def _is_nofollow(rel: bytes) -> bool:
    return not _NOT_FOLLOWED.isdisjoint(attribute(rel).lower().split())


@lru_cache(maxsize=32_768)
def _absolute(target: bytes) -> tuple[str, str]:
    """Resolve a link that means the same on every page of the web: many sites link to the same others."""
    return _target(target, None)


@lru_cache(maxsize=32_768)
def _rooted(target: bytes, origin: str) -> tuple[str, str]:
    """Resolve a link that means the same on every page of a site: most navigation links are met again and again."""
    return _target(target, Base(origin))


def _folders(base: str) -> list[str]:
    """Return the folder of a page, its parent folder, and so on up to the root, each with its closing slash."""
    url = split(base)
    parts = url.path.split("/")[1:-1]
    return [f"{url.origin}/" + "".join(f"{part}/" for part in parts[:n]) for n in range(len(parts), -1, -1)]


def _beside(target: bytes, folders: list[str]) -> tuple[str, str] | None:
    """Resolve a plain relative link (`page.html`, `../folder/page?x=1`) without the parser; None if it is not plain.

    Plain means: only characters that stand for themselves in a URL, and no dot segments but leading `../`.
    """
    found = _PLAIN.fullmatch(target)
    if found is None or len(target) > _MAX_PLAIN_BYTES:
        return None
    folder = folders[min(len(found[1]) // 3, len(folders) - 1)]
    url = without_session(folder + found[2].decode())
    return (url, host_of(url)) if len(url) <= MAX_URL_CHARS else None


def _target(target: bytes, base: Base | None) -> tuple[str, str]:
    """Resolve a link: its address without a session id, and its host; empty if it names no page."""
    url = normalise(attribute(target), base)
    if url is None:
        return "", ""
    url = without_session(url)
    return url, host_of(url)


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
