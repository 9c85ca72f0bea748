"""Canonical addresses: when to trust the one a page names. Many sites name their front page on every page."""

from __future__ import annotations

import re

from recrawl.urls.traps import trap_of
from recrawl.urls.url import Url, split

_INDEX = re.compile(r"/(?:index|default|home)\.(?:html?|php|aspx?|jsp|cgi)$", re.IGNORECASE)


def trusted_canonical(url: str, canonical: str | None) -> str | None:
    """Return the canonical address that a page at `url` names, if it can only be another name of that page; else None.

    It can where both differ in no more than the scheme, a leading "www.", a trailing slash or `index.html`, the case of
    the path, or the query; a query that is not empty there must be part of the page's own. The front page is nobody
    else's canonical address.
    """
    if canonical is None or canonical == url or trap_of(canonical) is not None:
        return None
    here, there = split(url), split(canonical)
    if _bare_host(here) != _bare_host(there) or _bare_path(here) != _bare_path(there):
        return None
    if here.scheme == "https" and there.scheme == "http":
        return None
    ours, theirs = set(here.query.split("&")), set(there.query.split("&"))
    return canonical if not there.query or theirs <= ours else None


def _bare_host(url: Url) -> tuple[str, int]:
    return url.host.removeprefix("www."), 0 if url.port in (80, 443) else url.port


def _bare_path(url: Url) -> str:
    return _INDEX.sub("", url.path).rstrip("/").lower()
