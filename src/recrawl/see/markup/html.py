"""HTML to title, links, canonical address and directives, from one pass over the markup."""

from __future__ import annotations

import re
from typing import NamedTuple

from recrawl.see.markup.links import Link, LinkColumns, read_links
from recrawl.see.markup.scan import BASE, LINK, META, Scanned, scan
from recrawl.urls.url import Base, normalise

MAX_TITLE_CHARS = 500
MAX_REFRESH_S = 3.0  # a slower refresh shows its page first, a faster one sends the visitor elsewhere

_REFRESH = re.compile(
    r"\s*+([0-9]{1,9}+(?:\.[0-9]*+)?|\.[0-9]++)(?:\s*+[;,]\s*+|\s++)(?:url\s*+=\s*+)?(?:\"([^\"]*)|'([^']*)|(\S+))",
    re.I,
)
_HEAD_BYTES = 8_192
_MAX_FEEDS = 16
_MOST_QS = 50  # that are looked at one by one
_MAX_META_CHARS = 2_000
_SHELL_WORDS, _SHELL_CHARS = 50, 65_536
_SHELL_ID = re.compile(r"id\s*+=\s*+[\"']?(?:root|app|main-app|__n|___g|svelte|ember)")
_SHELL_SIGNS = ("<noscript", "<app-root", "enable javascript")
_SHELL = re.compile(
    r"(?i)<(?:div|main|section|app-root)\s[^>]{0,200}?\bid\s*+=\s*+[\"']?(?:root|app|main-app|__next|__nuxt|___gatsby|svelte"
    r"|ember[\w-]{0,100}|application)[\"'\s>]|<app-root|<noscript[^>]{0,200}+>[^\0]{0,500}?java-?script"
    r"|enable javascript"
)

HeadTag = tuple[int, str, str, str]


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


def read_html(html: bytes | str, url: str) -> Document:
    """Read a page (text, or its bytes in UTF-8) that was fetched from `url` (in normal form)."""
    scanned = scan(html.encode("utf-8", "replace") if isinstance(html, str) else html)
    head = scanned.head_tags()
    base = _base_of(head, url)
    links, capped = read_links(scanned, base, url)
    canonical, feeds = _relations(head, base)
    metas, refresh = _metas(head, base, url)
    return Document(  # by place, which is quicker
        scanned,
        base,
        _tidy(scanned.title, MAX_TITLE_CHARS),
        _tidy(scanned.heading, MAX_TITLE_CHARS),
        links,
        capped,
        canonical,
        feeds,
        metas,
        refresh,
        needs_rendering(scanned),
    )


def needs_rendering(scanned: Scanned) -> bool:
    """Whether scripts will render this page: hardly a word, scripts, and a mount point or a noscript message."""
    if scanned.words >= _SHELL_WORDS or not scanned.scripts:
        return False
    text = scanned.source[: 4 * _SHELL_CHARS].decode("utf-8", "replace")[:_SHELL_CHARS]
    return (_may_be_shell(text) and bool(_SHELL.search(text))) or (
        scanned.words < 5 and scanned.script_bytes + scanned.scripts > 2
    )


def _may_be_shell(text: str) -> bool:
    """Whether _SHELL could match, at a tenth of its cost; beyond ASCII, letters have more than two cases."""
    low = text.lower()
    return not text.isascii() or any(sign in low for sign in _SHELL_SIGNS) or bool(_SHELL_ID.search(low))


def quick_refresh(body: bytes, url: str) -> Refresh | None:
    """Find a meta refresh in a body's first bytes, at almost no cost where there is none."""
    if not _names_equivalent(body) or b"refresh" not in body[:_HEAD_BYTES].lower():
        return None
    head = scan(body[:_HEAD_BYTES].decode("utf-8", "replace").encode()).head_tags()
    return _metas(head, _base_of(head, url), url)[1]


def _names_equivalent(body: bytes) -> bool:
    """Whether the first bytes may hold `http-equiv`: its q is a rare letter, and one letter is found at once."""
    for letter in (b"q", b"Q"):
        at = body.find(letter, 0, _HEAD_BYTES)
        for _ in range(_MOST_QS):
            if at < 0:
                break
            if body[at - 6 if at > 6 else 0 : at + 4].lower() == b"http-equiv":
                return True
            at = body.find(letter, at + 1, _HEAD_BYTES)
        else:
            return True  # there is more to look at: the slow way
    return False


def _base_of(head: list[HeadTag], url: str) -> str:
    for tag, _, _, href in head:
        if tag == BASE and href:
            return normalise(href, Base(url)) or url
    return url


def _relations(head: list[HeadTag], base: str) -> tuple[str | None, tuple[str, ...]]:
    """Find the canonical address and the feeds that link tags name."""
    canonical: str | None = None
    feeds: list[str] = []
    for tag, rel, kind, href in head:
        if tag != LINK or not href:
            continue
        relations = rel.lower().split()
        if "canonical" in relations and canonical is None:
            canonical = base if _is_itself(href, base) else normalise(href, Base(base))
        elif "alternate" in relations and kind.lower().endswith(("rss+xml", "atom+xml")):
            url = normalise(href, Base(base))
            feeds += [url] if url and len(feeds) < _MAX_FEEDS else []
    return canonical, tuple(feeds)


def _is_itself(href: str, base: str) -> bool:
    """Whether a link is the address of its page (in normal form), whole or from the root: most canonical ones are."""
    if href.startswith("/") and not href.startswith("//") and base.endswith(href):
        return base.count("/", 0, len(base) - len(href)) == 2  # those after the scheme
    return href == base


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
