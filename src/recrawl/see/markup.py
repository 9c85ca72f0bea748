"""Make markup safe to parse: bounded depth, bounded tags, bounded work, and nothing that is not content.

Parsers of HTML follow the standard, and the standard lets a small page cost its reader hours: 200,000 nested `div` or
30,000 attributes on one tag take time in proportion to their square, unclosed formatting tags are cloned into every
following paragraph. So before a page is parsed, one linear pass tokenises it as the standard says and writes out a page
with the same words and links: comments, scripts, styles, drawings, other raw text and formatting (b, font, ...) are
left out, and so are tags beyond the caps. Because only plain text and simple tags remain, the parser's tokens are
those counted here.
"""

from __future__ import annotations

import re
from html import unescape
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from recrawl.columns import ByteArray
from recrawl.see.tags import (
    ANCHOR,
    BOUNDARY,
    DRAWING,
    DROP,
    FLAGS,
    HEADING,
    HEADINGS,
    HREF,
    IMPLIED,
    NAMES,
    RAW,
    REL,
    SCRIPT,
    SPECIAL,
    TITLE,
    VOID,
)
from recrawl.see.tokens import (
    END,
    SKIP,
    START,
    STOP,
    TEXT,
    find_attribute,
    find_closing,
    is_space,
    read_name,
    read_token,
    tag_end,
)

MAX_DEPTH = 512
MAX_TAGS = 250_000
MAX_ATTRIBUTES = 256
MAX_ANCHORS = 20_000
MAX_WORK = 5_000_000  # sum over tags of the open elements above them: what tree building costs

_SCRIPT_COUNT, _SCRIPT_BYTES, _CAPPED, _TAGS, _WORDS, _TEXT_BYTES, _ANCHORS = range(7)
_SHORTEST_LINK = len("<a href=x>")
_REFERENCE = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[A-Za-z][A-Za-z0-9]*(?:;|(?![A-Za-z0-9=])))")
_PREFIX = np.frombuffer(b"<!doctype html>", dtype=np.uint8)
_TITLE_END = np.frombuffer(b"</title>", dtype=np.uint8)


class Pruned(NamedTuple):
    """Markup that is safe to parse, with what was seen on the way."""

    html: bytes
    text: str  # all text outside raw elements: one line a block, white space collapsed
    words: int
    scripts: int
    script_bytes: int
    tags: int
    anchors: list[list[int]]  # for every link: start and end of href and rel in `source`, of its text in `said`
    source: bytes
    said: bytes  # all text, character references unresolved
    capped: bool  # something beyond the caps was left out


def prune(html: bytes) -> Pruned:
    """Return the same page (UTF-8) without raw text and comments, and within the caps."""
    source = np.frombuffer(html, dtype=np.uint8)
    out = np.empty(len(html) + len(_PREFIX) + 16, dtype=np.uint8)
    out[: len(_PREFIX)] = _PREFIX
    text = np.empty(len(html) + 16, dtype=np.uint8)
    text[0] = 10
    anchors = np.empty((min(MAX_ANCHORS, len(html) // _SHORTEST_LINK + 1), 6), dtype=np.int32)
    counts = np.zeros(7, dtype=np.int64)
    limits = np.array([MAX_DEPTH, MAX_TAGS, MAX_ATTRIBUTES, MAX_WORK], dtype=np.int64)
    length = _prune(source, out, len(_PREFIX), text, anchors, limits, counts)
    scripts, script_bytes, capped, tags, words, text_bytes, links = counts.tolist()
    said = text[:text_bytes].tobytes()
    return Pruned(
        html=out[:length].tobytes(),
        text=plain(said).strip(),
        words=words,
        scripts=scripts,
        script_bytes=script_bytes,
        tags=tags,
        anchors=anchors[:links].tolist(),
        source=html,
        said=said,
        capped=bool(capped),
    )


def plain(said: bytes) -> str:
    """Decode text and resolve its character references."""
    text = said.decode("utf-8", "replace")
    return unescape(text) if "&" in text else text


def attribute(value: bytes) -> str:
    """Decode an attribute; there, `&copy=` is no character reference (HTML standard, 13.2.5.73)."""
    text = value.decode("utf-8", "replace")
    return _REFERENCE.sub(lambda found: unescape(found[0]), text) if "&" in text else text


@njit(cache=True, nogil=True)
def _copy(source: ByteArray, start: int, end: int, out: ByteArray, o: int) -> int:
    for i in range(start, end):
        out[o] = source[i]
        o += 1
    return o


@njit(cache=True, nogil=True)
def _gap(out: ByteArray, o: int, always: bool) -> int:
    """Put a space where something was left out, if what is around it could join into a tag (or `always`)."""
    last = out[o - 1]
    if (always and last != 32) or last == 60 or last == 47 or last == 33 or last == 63 or last == 45:
        out[o] = 32
        o += 1
    return o


@njit(cache=True, nogil=True)
def _kind(name: np.uint64) -> int:
    place = np.searchsorted(NAMES, name)
    return FLAGS[place] if place < len(NAMES) and NAMES[place] == name else 0


@njit(cache=True, nogil=True)
def _title(source: ByteArray, start: int, inside: int, close: int, out: ByteArray, o: int) -> int:
    """Copy the title: the text in it is no markup, so every '<' in it goes."""
    o = _copy(source, start, inside, out, o)
    for k in range(inside, close):
        out[o] = 32 if source[k] == 60 else source[k]
        o += 1
    return _copy(_TITLE_END, 0, len(_TITLE_END), out, o)


@njit(cache=True, nogil=True)
def _pop(
    stack: npt.NDArray[np.uint64], kinds: npt.NDArray[np.int64], depth: int, name: np.uint64, kind: int
) -> tuple[int, int]:
    """Close an element, if its end tag can reach it: (the depth that is left, the elements looked at)."""
    wall = BOUNDARY if kind & SPECIAL else SPECIAL
    for k in range(depth - 1, -1, -1):
        if stack[k] == name:
            return k, depth - k
        if kinds[k] & wall:
            return depth, depth - k
    return depth, depth


@njit(cache=True, nogil=True)
def _prune(
    source: ByteArray,
    out: ByteArray,
    o: int,
    text: ByteArray,
    anchors: npt.NDArray[np.int32],
    limits: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
) -> int:
    n = len(source)
    max_depth, max_tags, max_attributes, max_work = limits[0], limits[1], limits[2], limits[3]
    stack = np.empty(max_depth, dtype=np.uint64)  # names of the open elements
    kinds = np.empty(max_depth, dtype=np.int64)
    depth, over, titles, work, words = 0, 0, 0, 0, 0  # over: open elements beyond the depth cap, all left out
    links, open_link = 0, -1
    undrawn = False  # no drawing is closed from here on
    i, t = 0, 1
    last = np.uint8(10)  # of the plain text
    while i < n:
        c = source[i]
        if c != 60:
            i += 1
            out[o] = c
            o += 1
            if c <= 32 and is_space(c):
                if last != 32 and last != 10:
                    last = np.uint8(32)
                    text[t] = 32
                    t += 1
                continue
            words += last == 32 or last == 10
            last = c
            text[t] = c
            t += 1
            continue
        start = i
        what, i, name, attributes, closed = read_token(source, i)
        if what == TEXT:
            out[o], text[t], last = c, c, c
            o += 1
            t += 1
            continue
        if what == STOP:
            break
        if what == SKIP:
            o = _gap(out, o, False)
            continue
        kind = _kind(name)
        if kind & HEADING:
            name = HEADINGS
        counts[_TAGS] += 1
        if counts[_TAGS] > max_tags or work > max_work:
            counts[_CAPPED] = 1
            break
        if kind & (VOID | IMPLIED | SPECIAL) and last != 10:
            t -= last == 32
            text[t] = 10
            t += 1
            last = np.uint8(10)
        if kind & DROP:
            o = _gap(out, o, False)
            continue
        if attributes > max_attributes:
            counts[_CAPPED] = 1
            o = _gap(out, o, True)
            continue
        if kind & ANCHOR:
            if open_link >= 0:
                anchors[open_link, 5] = t
                open_link = -1
            if what == START:
                name_end = read_name(source, start + 1)[0]
                href, href_end = find_attribute(source, name_end, i, HREF)
                if links == len(anchors):
                    counts[_CAPPED] = 1
                elif href_end > href:
                    rel, rel_end = find_attribute(source, name_end, i, REL)
                    anchors[links, 0], anchors[links, 1] = href, href_end
                    anchors[links, 2], anchors[links, 3] = rel, rel_end
                    anchors[links, 4], anchors[links, 5] = t, t
                    open_link = links
                    links += 1
        if kind & (RAW | DRAWING | TITLE):
            o = _gap(out, o, True)
            if what == END:
                continue
            close = -1 if kind & DRAWING and (closed or undrawn) else find_closing(source, i, name)
            if kind & TITLE and titles == 0 and close >= 0:
                o = _title(source, start, i, close, out, o)
                titles += 1
            if name == SCRIPT:
                counts[_SCRIPT_COUNT] += 1
                counts[_SCRIPT_BYTES] += (n if close < 0 else close) - i
            if close >= 0:
                i = tag_end(source, read_name(source, close + 2)[0])[0]
                if i < 0:
                    break
            elif kind & DRAWING:
                undrawn = undrawn or not closed
            else:
                break  # raw text up to the end of the page
            continue
        if not kind & (VOID | IMPLIED | ANCHOR):
            if what == START and depth == max_depth:
                over += 1
                counts[_CAPPED] = 1
                o = _gap(out, o, True)
                continue
            if what == END and over > 0:
                over -= 1
                o = _gap(out, o, True)
                continue
            if what == START:
                stack[depth], kinds[depth] = name, kind
                depth += 1
            else:
                depth, looked = _pop(stack, kinds, depth, name, kind)
                work += looked
        work += depth
        o = _copy(source, start, i, out, o)
    if open_link >= 0:
        anchors[open_link, 5] = t
    counts[_WORDS], counts[_TEXT_BYTES], counts[_ANCHORS] = words, t, links
    return o
