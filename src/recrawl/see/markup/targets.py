"""Where links lead: the targets of a page's links, each looked at once, most of them resolved without the URL parser.

A page of documentation has hundreds of links to a few dozen pages, most of them `page.html#part` or `../other.html`. A
compiled pass cuts off fragments, finds the distinct targets and says which are plain: only characters that stand for
themselves in a URL, and no dot segments but leading `../`. These are joined to their folder by concatenation, which is
what the parser would do; all others go through the parser.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from recrawl.columns import ByteArray
from recrawl.compiled import kernel
from recrawl.hashing import FNV_PRIME, FNV_START
from recrawl.see.markup.references import attribute
from recrawl.urls.traps import without_session
from recrawl.urls.url import MAX_URL_CHARS, Base, host_of, normalise, split

Rows = npt.NDArray[np.int32]
Place = tuple[str, str]  # address and host; empty where a link names no page

_NOWHERE: Place = ("", "")
_NO_PAGE = (b"#", b"javascript:", b"mailto:", b"tel:", b"data:")
_ABSOLUTE = (b"https://", b"http://")
_PARSED, _ROOTED = -1, -2  # of a target: for the parser; a plain path from the root of its host
_MAX_PLAIN_BYTES = 500
_MAX_RESOLVED = 1_024  # links of a folder whose meaning is kept
_SAME_IN_FOLDER = frozenset(  # as a first byte; "?", white space and "&#35;" mean another page on every page
    bytes([byte]) for byte in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._"
)
_PROBES = 16
_PLAIN = np.array([chr(c).isascii() and (chr(c).isalnum() or chr(c) in "_~-") for c in range(256)], dtype=np.bool_)


def places_of(source: bytes, hrefs: Rows, base: str) -> tuple[list[str], list[str], list[int]]:
    """Return the address, the host and the row of every distinct target; `hrefs` are starts and ends in `source`.

    Targets that name no page are left out. Two targets may still be one address.
    """
    rows, start, end, ups = distinct(np.frombuffer(source, dtype=np.uint8), hrefs).tolist()
    folders = _folders(base)
    own, highest = host_of(base), len(folders) - 1
    known = _resolved(folders[0])
    text = source.decode("latin-1")  # a character for a byte: places are the same in both
    urls, hosts, kept = [], [], []
    for row, a, b, up in zip(rows, start, end, ups, strict=True):
        if up >= 0:
            url, host = folders[up if up < highest else highest] + text[a:b], own
        elif up == _ROOTED:
            url, host = folders[highest] + text[a:b], own
        else:
            target = source[a:b]
            place = known.get(target)
            if place is None:
                place = _resolve(target, base, folders[highest][:-1])
                if len(known) < _MAX_RESOLVED and target[:1] in _SAME_IN_FOLDER:
                    known[target] = place
            url, host = place
            if not url:
                continue
        if len(url) <= MAX_URL_CHARS:
            urls.append(url)
            hosts.append(host)
            kept.append(row)
    return urls, hosts, kept


@lru_cache(maxsize=256)
def _resolved(folder: str) -> dict[bytes, Place]:
    """What links mean on the pages of a folder: most links of a site are met again and again."""
    return {}


@lru_cache(maxsize=256)
def _folders(base: str) -> list[str]:
    """Return the folder of a page, its parent folder, and so on up to the root, each with its closing slash."""
    url = split(base)
    parts = url.path.split("/")[1:-1]
    return [f"{url.origin}/" + "".join(f"{part}/" for part in parts[:n]) for n in range(len(parts), -1, -1)]


def _resolve(target: bytes, base: str, origin: str) -> Place:
    """Return a link's address and host by way of the parser, both empty if it names no page."""
    if target.startswith(_NO_PAGE):
        return _NOWHERE
    if target.startswith(_ABSOLUTE):
        return _absolute(target)
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
    return url, host_of(url)


@kernel
def distinct(source: ByteArray, hrefs: Rows) -> Rows:
    """Return the distinct targets, first ones first: row of `hrefs`, start, end without the fragment, and its sort.

    The sort is how many folders up a plain target leads (its start is then after the `../`), _ROOTED or _PARSED.
    """
    slots = 16
    while slots < 2 * len(hrefs):
        slots *= 2
    table = np.full(slots, -1, dtype=np.int32)
    out, count = np.empty((4, len(hrefs)), dtype=np.int32), 0
    for row in range(len(hrefs)):
        start, end = hrefs[row, 0], hrefs[row, 1]
        if source[start] == 35:  # a place on the page itself
            continue
        whole = end
        end, value = _cut(source, start, end)
        if end < whole and source[end - 1] <= 32:  # white space before a fragment is part of the address
            end = whole
        slot, fresh = np.int64(value >> np.uint64(20)) & (slots - 1), True
        for _ in range(_PROBES):  # a page may be made so that hashes collide: beyond this many a target counts as new
            known = table[slot]
            if known < 0:
                table[slot] = count
                break
            if _same(source, hrefs[out[0, known], 0], out[2, known], start, end):
                fresh = False
                break
            slot = (slot + 1) & (slots - 1)
        if fresh:
            sort, path = _sort(source, start, end)
            out[0, count], out[1, count], out[2, count], out[3, count] = row, path, end, sort
            count += 1
    return out[:, :count]


@kernel
def _cut(source: ByteArray, start: int, end: int) -> tuple[int, np.uint64]:
    """Return where a target ends without its fragment, and its hash; `&#35;` begins no fragment that we could see."""
    value = FNV_START
    for i in range(start, end):
        c = source[i]
        if c == 35:
            return i, value
        value = (value ^ np.uint64(c)) * FNV_PRIME
        if c == 38:
            for k in range(i + 1, end):
                value = (value ^ np.uint64(source[k])) * FNV_PRIME
            return end, value
    return end, value


@kernel
def _same(source: ByteArray, a: int, a_end: int, b: int, b_end: int) -> bool:
    if a_end - a != b_end - b:
        return False
    k = 0
    while k < a_end - a and source[a + k] == source[b + k]:
        k += 1
    return k == a_end - a


@kernel
def _sort(source: ByteArray, start: int, end: int) -> tuple[int, int]:
    """Return a target's sort, and where its path begins."""
    if end - start > _MAX_PLAIN_BYTES or end == start:
        return _PARSED, start
    i, ups = start, 0
    if source[i] == 47:
        i += 1
    else:
        while i + 3 <= end and source[i] == 46 and source[i + 1] == 46 and source[i + 2] == 47:
            i += 3
            ups += 1
    path, before = i, False  # whether a plain character stands before i
    while i < end:
        if _PLAIN[source[i]]:
            before = True
        elif before and (source[i] == 47 or (source[i] == 46 and i + 1 < end)):
            before = False
        else:
            return _PARSED, start
        i += 1
    if path == end:
        return _PARSED, start
    return (_ROOTED if source[start] == 47 else ups), path
