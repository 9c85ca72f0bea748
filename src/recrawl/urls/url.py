"""URLs: one parser (WHATWG, by ada) and one normal form for the whole project.

A page's identity is its normalised URL: http or https, lower-case punycode host without a trailing dot, no userinfo, no
default port, no fragment, no empty query, no tracking parameters (TRACKING), dot segments resolved, and percent-escapes
spelt one way. Normalising is idempotent. `%25` is never decoded, so a doubly encoded URL stays doubly encoded.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import can_ada
from publicsuffixlist import PublicSuffixList

MAX_URL_CHARS = 2083
_MAX_INPUT_CHARS = 4 * MAX_URL_CHARS  # a URL may shrink while it is normalised, but not by this much


# Ports on which other protocols listen: the Fetch standard's "bad ports", below 1024 and above.
DENIED_PORTS = frozenset(
    {1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110}
    | {111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531}
    | {532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060}
    | {5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 0}
)

# Parameters that say where a visitor came from, never what page is shown: campaigns, clicks, newsletters.
TRACKING = (
    r"utm_[a-z_]+|fbclid|gclid|gclsrc|dclid|gbraid|wbraid|msclkid|yclid|ysclid|twclid|ttclid|li_fat_id|igshid|igsh|mc_cid"
    r"|mc_eid|_hsenc|_hsmi|__hstc|__hssc|__hsfp|hsctatracking|mkt_tok|vero_id|oly_anon_id|oly_enc_id|_openstat|wickedid"
    r"|rb_clickid|ml_subscriber|ml_subscriber_hash|srsltid|_ga|_gl|s_kwcid|ef_id|cmpid"
)
_TRACKED = re.compile(rf"(?i)(?:{TRACKING})(?:=.*)?")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ESCAPE = re.compile("%(?:[0-9A-Fa-f]{2})?")
_ODD_ESCAPE = re.compile("%(?![0-9A-F]{2})|%(?:2[DE]|3[0-9]|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])")
_USERINFO = re.compile(r"[/\\]{2}[^/\\?#]*@")
_LABEL = re.compile(r"[^.]{1,63}")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class Url(NamedTuple):
    """A normalised URL in parts."""

    href: str
    scheme: str
    host: str  # lower case, punycode, IPv6 in brackets, without the port
    port: int
    path: str
    query: str  # without the question mark

    @property
    def origin(self) -> str:
        """Scheme, host and port: the part of the web that one robots.txt applies to."""
        return self.href[: self.href.index("/", len(self.scheme) + 3)]


class Base:
    """A URL against which others are resolved, parsed once."""

    __slots__ = ("_parsed",)

    def __init__(self, href: str) -> None:
        self._parsed = can_ada.parse(href)

    def join(self, text: str) -> can_ada.URL:
        """Resolve a reference as a browser does."""
        return self._parsed + text


def normalise(text: str, base: Base | None = None) -> str | None:
    """Return the normal form of a URL, or None if it cannot name a page."""
    if len(text) > _MAX_INPUT_CHARS:
        return None
    try:
        href = can_ada.parse(text).href if base is None else base.join(text).href
    except (ValueError, TypeError):  # TypeError: lone surrogates
        return None
    start = 8 if href.startswith("https://") else 7 if href.startswith("http://") else 0
    if not start:
        return None
    slash = href.index("/", start)
    host = _clean_host(href[start:slash])
    if host is None:
        return None
    rest = href[slash:].partition("#")[0]
    if "%" in rest:
        if _CONTROL.search(text):  # the parser has escaped them; control characters never name a page
            return None
        if _ODD_ESCAPE.search(rest):
            rest = _ESCAPE.sub(_one_spelling, rest)
    if "?" in rest:
        path, _, query = rest.partition("?")
        query = _without_tracking(query)
        rest = f"{path}?{query}" if query else path
    href = f"{href[:start]}{host}{rest}"
    return href if len(href) <= MAX_URL_CHARS else None


def _without_tracking(query: str) -> str:
    parts = query.split("&")
    kept = [part for part in parts if not _TRACKED.fullmatch(part)]
    return query if len(kept) == len(parts) else "&".join(kept)


def parse(text: str, base: Base | None = None) -> Url | None:
    """Normalise a URL and return its parts, or None if it cannot name a page."""
    href = normalise(text, base)
    return None if href is None else split(href)


def split(href: str) -> Url:
    """Return the parts of a URL that is already in normal form."""
    scheme, _, rest = href.partition("://")
    slash = rest.index("/")
    authority = rest[:slash]
    path, _, query = rest[slash:].partition("?")
    host, _, port = authority.rpartition(":") if _has_port(authority) else (authority, "", "")
    return Url(href, scheme, host, int(port) if port else (443 if scheme == "https" else 80), path, query)


def host_of(href: str) -> str:
    """Return the host of a URL that is in normal form, without its port."""
    start = href.index("://") + 3
    authority = href[start : href.index("/", start)]
    return authority.rpartition(":")[0] if _has_port(authority) else authority


def why_not(text: str) -> str:
    """Return in one line why a URL cannot name a page; empty if it can."""
    if normalise(text) is not None:
        return ""
    if len(text) > MAX_URL_CHARS:
        return f"longer than {MAX_URL_CHARS} characters"
    if _CONTROL.search(text):
        return "holds control characters"
    try:
        parsed = can_ada.parse(text)
    except (ValueError, TypeError):
        return "not a URL"
    if parsed.protocol not in ("https:", "http:"):
        return f"{parsed.protocol} is not http or https"
    if _clean_host(parsed.host) is None:
        return "the host name is not valid"
    return f"longer than {MAX_URL_CHARS} characters"


def shown(text: str, width: int = 200) -> str:
    """Return a URL as it may be shown to people: ASCII (punycode, so homographs are visible), no userinfo, cut."""
    href = normalise(text) or _USERINFO.sub("//", text[: 4 * width]).encode("ascii", "backslashreplace").decode()
    href = _CONTROL.sub("?", href).replace("\n", "?").replace("\r", "?").replace("\t", "?")
    return href if len(href) <= width else href[: width - 1] + "…"


@lru_cache(maxsize=65_536)
def registrable_domain(host: str) -> str:
    """Return the part of a host name that someone registered (example.co.uk), or the host itself if it has none."""
    if host.startswith("[") or host.replace(".", "").isdigit():
        return host
    return _suffixes().privatesuffix(host) or host


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


@lru_cache(maxsize=65_536)
def _clean_host(host: str) -> str | None:
    """Drop userinfo and one trailing dot; refuse empty labels, labels over 63 octets, names over 253 and port 0."""
    host = host.rpartition("@")[2]
    name, _, port = host.rpartition(":") if _has_port(host) else (host, "", "")
    if port == "0":
        return None
    if name.startswith("["):
        return host
    name = name.removesuffix(".")
    if not name or len(name) > 253 or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        return None
    return f"{name}:{port}" if port else name


def _has_port(authority: str) -> bool:
    return ":" in authority and not authority.endswith("]")


def _spellings() -> dict[str, str]:
    """Map every percent-escape to its one spelling: unreserved characters bare, others in upper case (RFC 3986 6.2.2).

    A lone percent sign becomes %25: left alone, it could form an escape with what follows once that is decoded.
    """
    table = {"%": "%25"}
    for code in range(256):
        canonical = chr(code) if chr(code) in _UNRESERVED else f"%{code:02X}"
        for high in {f"{code:02x}"[0], f"{code:02X}"[0]}:
            for low in {f"{code:02x}"[1], f"{code:02X}"[1]}:
                table[f"%{high}{low}"] = canonical
    return table


_SPELLING = _spellings()


def _one_spelling(escape: re.Match[str]) -> str:
    return _SPELLING[escape[0]]
