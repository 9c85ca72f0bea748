"""HTML to title, links, canonical address and directives, from one parsed tree.

The tree is built from pruned markup (see markup.py), so its size and depth are bounded whatever the page is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from resiliparse.parse.html import HTMLTree  # type: ignore[import-untyped]

from recrawl.see.markup import Pruned, attribute, plain, prune
from recrawl.see.traps import without_session
from recrawl.see.url import Base, host_of, normalise, split

MAX_LINKS = 5_000
MAX_ANCHOR_CHARS = 200
MAX_TITLE_CHARS = 500
MAX_REFRESH_S = 3.0  # a slower refresh shows its page first, a faster one sends the visitor elsewhere

_REFRESH = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(?:[;,\s]\s*)(?:url\s*=\s*)?(?:\"([^\"]*)|'([^']*)|(\S+))", re.I)
_HEAD_BYTES = 8_192
_NO_PAGE = (b"#", b"javascript:", b"mailto:", b"tel:", b"data:")
_ROOTED = (b"/", b"https://", b"http://")
_NOT_FOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})
_SHELL_WORDS = 50
_SHELL = re.compile(
    r"(?i)<(?:div|main|section|app-root)\s[^>]*\bid\s*=\s*[\"']?(?:root|app|main-app|__next|__nuxt|___gatsby|svelte|ember"
    r"[\w-]*|application)[\"'\s>]|<app-root|<noscript[^>]*>[^<]*(?:<[^>]*>[^<]*)*?java-?script|enable javascript"
)


class Link(NamedTuple):
    """A link as the page shows it, its address in normal form."""

    url: str
    host: str
    anchor: str
    nofollow: bool  # the page's author does not vouch for it


class Refresh(NamedTuple):
    """A meta refresh: where to, and after how long."""

    url: str
    delay_s: float


@dataclass(frozen=True, slots=True)
class Document:
    """What the markup of a page says."""

    tree: HTMLTree
    pruned: Pruned
    base: str
    title: str
    heading: str
    links: tuple[Link, ...]
    links_capped: bool
    canonical: str | None  # a hint only: pages lie about it, and loop
    feeds: tuple[str, ...]
    metas: tuple[tuple[str, str], ...]
    refresh: Refresh | None
    needs_rendering: bool


def read_html(text: str, url: str) -> Document:
    """Read a page that was fetched from `url` (in normal form)."""
    source = text.encode("utf-8", "replace")
    pruned = prune(source)
    tree = HTMLTree.parse_from_bytes(pruned.html, "utf-8")
    document = tree.document
    base = _base_of(document, url)
    links, capped = _links(pruned, base)
    canonical, feeds = _relations(document, base)
    metas, refresh = _metas(document, base, url)
    heading = document.get_elements_by_tag_name("h1")
    return Document(
        tree=tree,
        pruned=pruned,
        base=base,
        title=_tidy(tree.title or "", MAX_TITLE_CHARS),
        heading=_tidy(heading[0].text, MAX_TITLE_CHARS) if len(heading) else "",
        links=links,
        links_capped=capped,
        canonical=canonical,
        feeds=feeds,
        metas=metas,
        refresh=refresh,
        needs_rendering=needs_rendering(text, pruned),
    )


def needs_rendering(text: str, pruned: Pruned) -> bool:
    """Whether this is a shell that scripts will fill: hardly a word, scripts, and a place or an excuse for them."""
    if pruned.words >= _SHELL_WORDS or not pruned.scripts:
        return False
    return bool(_SHELL.search(text[:262_144])) or (pruned.words < 5 and pruned.script_bytes + pruned.scripts > 2)


def quick_refresh(body: bytes, url: str) -> Refresh | None:
    """Find a meta refresh in a body's first bytes, at almost no cost where there is none."""
    if b"refresh" not in body[:_HEAD_BYTES].lower():
        return None
    tree = HTMLTree.parse_from_bytes(prune(body[:_HEAD_BYTES].decode("utf-8", "replace").encode()).html, "utf-8")
    return _metas(tree.document, _base_of(tree.document, url), url)[1]


def _base_of(document: Any, url: str) -> str:
    for element in document.get_elements_by_tag_name("base"):
        href = element.getattr("href")
        if href:
            return normalise(href, Base(url)) or url
    return url


def _links(pruned: Pruned, base: str) -> tuple[tuple[Link, ...], bool]:
    start, origin = Base(base), split(base).origin
    source, said = pruned.source, pruned.said
    found: dict[str, Link] = {}
    for href, href_end, rel, rel_end, text, text_end in pruned.anchors:
        target = source[href:href_end]
        if target.startswith(_NO_PAGE):
            continue
        url, host = _rooted(target, origin) if target.startswith(_ROOTED) else _target(target, start)
        if not url or url in found:
            continue
        if len(found) == MAX_LINKS:
            return tuple(found.values()), True
        nofollow = rel_end > 0 and _is_nofollow(source[rel:rel_end])
        anchor = " ".join(plain(said[text : min(text_end, text + 4 * MAX_ANCHOR_CHARS)]).split())
        found[url] = Link(url, host, anchor[:MAX_ANCHOR_CHARS], nofollow)
    return tuple(found.values()), False


@lru_cache(maxsize=1_024)
def _is_nofollow(rel: bytes) -> bool:
    return not _NOT_FOLLOWED.isdisjoint(attribute(rel).lower().split())


@lru_cache(maxsize=32_768)
def _rooted(target: bytes, origin: str) -> tuple[str, str]:
    """Resolve a link that means the same on every page of a site: most navigation links are met again and again."""
    return _target(target, Base(origin))


def _target(target: bytes, base: Base) -> tuple[str, str]:
    """Resolve a link: its address without a session id, and its host; empty if it names no page."""
    url = normalise(attribute(target), base)
    if url is None:
        return "", ""
    url = without_session(url)
    return url, host_of(url)


def _relations(document: Any, base: str) -> tuple[str | None, tuple[str, ...]]:
    """Find the canonical address and the feeds that link elements name."""
    canonical: str | None = None
    feeds: list[str] = []
    for element in document.get_elements_by_tag_name("link"):
        rel, href = (element.getattr("rel") or "").lower().split(), element.getattr("href")
        if not href:
            continue
        if "canonical" in rel and canonical is None:
            canonical = normalise(href, Base(base))
        elif "alternate" in rel and (element.getattr("type") or "").endswith(("rss+xml", "atom+xml")):
            url = normalise(href, Base(base))
            feeds += [url] if url and len(feeds) < 16 else []
    return canonical, tuple(feeds)


def _metas(document: Any, base: str, url: str) -> tuple[tuple[tuple[str, str], ...], Refresh | None]:
    metas: list[tuple[str, str]] = []
    refresh: Refresh | None = None
    for element in document.get_elements_by_tag_name("meta"):
        content = element.getattr("content")
        if content is None or len(metas) == 256:
            continue
        if (element.getattr("http-equiv") or "").strip().lower() == "refresh" and refresh is None:
            refresh = parse_refresh(content, base, url)
        name = element.getattr("name")
        if name:
            metas.append((name.strip(), content[:2_000]))
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
