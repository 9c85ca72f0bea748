"""Read markup in one linear pass: words, main content, links and the tags of the head.

Parsers build a tree as the standard says, and the standard lets a small page cost its reader hours: 200,000 nested
`div` or 30,000 attributes on one tag take time in proportion to their square, unclosed formatting is cloned into every
following paragraph. A crawler needs no tree. One pass over the standard's tokens finds the text, the links and the
head in time that is linear whatever the page is. It keeps a stack of open elements only to know what is main content.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recrawl.columns import ByteArray
from recrawl.compiled import borrowing, kernel, nth
from recrawl.see.markup import tags
from recrawl.see.markup.copied_text import copy_text
from recrawl.see.markup.references import attribute, plain
from recrawl.see.markup.tags import (
    ASIDE,
    BLOCK,
    BOUNDARY,
    CONTENT,
    DRAWING,
    FLAGS,
    IMPLIED,
    NAMES,
    PLACES,
    RAW,
    SPECIAL,
    VOID,
)
from recrawl.see.markup.tokens import (
    END,
    SKIP,
    START,
    TEXT,
    find_attribute,
    find_closing,
    find_two,
    has_word,
    next_attribute,
    read_name,
    read_token,
    tag_end,
)

MAX_DEPTH = 512
MAX_ANCHORS = 20_000
MAX_ANCHOR_CHARS = 200
MAX_HEAD_TAGS = 256
MAX_SPANS = 10_000
_SHORTEST_LINK = len("<a href=x>")
META, LINK, BASE = 0, 1, 2
_SCRIPTS, _SCRIPT_BYTES, _CAPPED, _WORDS, _TEXT_BYTES, _ANCHORS, _HEAD_TAGS, _SPANS = range(8)
_TITLE, _TITLE_END, _H1, _H1_END, _IMAGES, _TABLES = range(8, 14)


class Scanned(NamedTuple):
    """What one pass over a page's markup found."""

    source: bytes
    raw_text: bytes  # all text, one line per block, white space collapsed, character references unresolved
    words: int
    spans: list[list[int]]  # where the main content is: start and end in `raw_text`, start and end in `source`
    # one row per link: start and end of href and rel in `source`, of its text in `raw_text`;
    anchors: npt.NDArray[
        np.int32
    ]  # and 1 if that text is an anchor as it stands: not long, ASCII, no character references
    head: list[list[int]]  # of every meta, link and base tag: which, and start and end of three attributes in `source`
    title: str
    heading: str
    scripts: int
    script_bytes: int
    capped: bool  # something beyond the caps was left out
    images: int
    tables: int

    def head_tags(self) -> list[tuple[int, str, str, str]]:
        """META with (name, http-equiv, content), LINK with (rel, type, href), BASE with (rel, type, href)."""
        source = self.source
        return [
            (
                tag,
                attribute(source[a:a_end]) if a_end > a else "",
                attribute(source[b:b_end]) if b_end > b else "",
                attribute(source[c:c_end]) if c_end > c else "",
            )
            for tag, a, a_end, b, b_end, c, c_end in self.head
        ]


def scan(html: bytes) -> Scanned:
    """Read the markup of a page (UTF-8)."""
    source = np.frombuffer(html, dtype=np.uint8)
    text = np.empty(len(html) + 16, dtype=np.uint8)
    text[0] = 10
    anchors = np.empty((min(MAX_ANCHORS, len(html) // _SHORTEST_LINK + 1), 7), dtype=np.int32)
    head = np.empty((MAX_HEAD_TAGS, 7), dtype=np.int32)
    spans = np.empty((min(MAX_SPANS, len(html) // 4 + 1), 4), dtype=np.int32)
    counts = np.zeros(14, dtype=np.int64)
    _scan(source, text, anchors, head, spans, counts)
    count: list[int] = counts.tolist()
    raw_text = text[: count[_TEXT_BYTES]].tobytes()
    return Scanned(  # by place, which is quicker: there is one for each page
        html,
        raw_text,
        count[_WORDS],
        spans[: count[_SPANS]].tolist(),
        anchors[: count[_ANCHORS]],
        head[: count[_HEAD_TAGS]].tolist(),
        plain(html[count[_TITLE] : count[_TITLE_END]]),
        plain(raw_text[count[_H1] : count[_H1_END]]),
        count[_SCRIPTS],
        count[_SCRIPT_BYTES],
        bool(count[_CAPPED]),
        count[_IMAGES],
        count[_TABLES],
    )


@borrowing
def _kind(name: np.uint64) -> int:
    place = PLACES[np.int64(name & np.uint64(len(PLACES) - 1))]
    return FLAGS[place] if NAMES[place] == name else 0


@borrowing
def _is_aside(source: ByteArray, i: int, end: int) -> bool:
    """Whether a tag's attributes say that it is hidden or not main content."""
    while i >= 0:
        i, name, start, stop = next_attribute(source, i, end)
        if i < 0:
            return False
        if name == tags.CLASS or name == tags.ID or name == tags.ROLE:
            if has_word(source, start, stop, tags.ASIDES):
                return True
        elif name == tags.HIDDEN or (name == tags.ARIA_HIDDEN and stop - start == 4):
            return True
    return False


@borrowing
def _pop(stack: npt.NDArray[np.uint64], kinds: npt.NDArray[np.int64], depth: int, name: np.uint64, kind: int) -> int:
    """Close an element, if its end tag can reach it; return the depth that is left."""
    wall = BOUNDARY if kind & SPECIAL else SPECIAL
    for k in range(depth - 1, -1, -1):
        if stack[k] == name:
            return k
        if kinds[k] & wall:
            return depth
    return depth


@borrowing
def _note(
    source: ByteArray, i: int, end: int, row: npt.NDArray[np.int32], a: np.uint64, b: np.uint64, c: np.uint64
) -> None:
    """Store start and end of three attributes of a tag."""
    row[1], row[2] = find_attribute(source, i, end, a)
    row[3], row[4] = find_attribute(source, i, end, b)
    row[5], row[6] = find_attribute(source, i, end, c)


@borrowing
def _head_tag(source: ByteArray, i: int, end: int, name: np.uint64, row: npt.NDArray[np.int32]) -> bool:
    """Note a meta, link or base tag; False if it is another one."""
    if name == tags.META:
        row[0] = META
        _note(source, i, end, row, tags.NAME, tags.HTTP_EQUIV, tags.CONTENT_ATTRIBUTE)
    elif name == tags.LINK:
        row[0] = LINK
        _note(source, i, end, row, tags.REL, tags.TYPE, tags.HREF)
    elif name == tags.BASE:
        row[0] = BASE
        _note(source, i, end, row, tags.REL, tags.TYPE, tags.HREF)
    else:
        return False
    return True


@borrowing
def _after_raw(source: ByteArray, i: int, close: int) -> int:
    """Return the place after raw text, whose end tag is at `close`; the end of the page if there is none."""
    end = tag_end(source, read_name(source, close + 2)[0])[0] if close >= 0 else -1
    return end if end >= 0 else len(source)


@kernel
def _scan(
    source: ByteArray,
    text: ByteArray,
    anchors: npt.NDArray[np.int32],
    head: npt.NDArray[np.int32],
    spans: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int64],
) -> None:
    n = len(source)
    stack = np.empty(MAX_DEPTH, dtype=np.uint64)  # names of the open elements
    kinds = np.empty(MAX_DEPTH, dtype=np.int64)
    depth, over, words, links, heads, parts = 0, 0, 0, 0, 0, 0  # over: open elements beyond MAX_DEPTH
    aside, main, content = MAX_DEPTH, MAX_DEPTH, MAX_DEPTH  # how deep these were opened; MAX_DEPTH: not open
    done = False  # the first <main> is closed: what follows is not main content
    open_link, open_span, open_at = -1, 1, 0  # open_at: where in the source the span began
    undrawn = False  # no drawing is closed from here on
    i, t = 0, 1
    while i < n:
        i, t, found = copy_text(source, i, text, t)
        words += found
        if i == n:
            break
        token = i
        what, i, name, name_end, closed = read_token(source, i)
        if what == TEXT:
            words += text[nth(t - 1)] == 32 or text[nth(t - 1)] == 10
            text[nth(t)] = 60
            t += 1
            continue
        if what == SKIP:
            continue
        kind = _kind(name)
        if kind & BLOCK and text[nth(t - 1)] != 10:
            t -= text[nth(t - 1)] == 32
            text[nth(t)] = 10
            t += 1
        if name == tags.A:
            if open_link >= 0:
                anchors[open_link, 5] = t
                open_link = -1
            href, href_end, rel, rel_end = find_two(source, name_end, i, tags.HREF, tags.REL, what == START)
            if href_end > href and links == len(anchors):
                counts[_CAPPED] = 1
            elif href_end > href:
                anchors[links, 0], anchors[links, 1] = href, href_end
                anchors[links, 2], anchors[links, 3] = rel, rel_end
                anchors[links, 4], anchors[links, 5] = t, t
                open_link = links
                links += 1
        elif kind & (RAW | DRAWING):
            if what == END or (kind & DRAWING and (closed or undrawn)):
                continue
            close = find_closing(source, i, name)
            if kind & DRAWING and close < 0:
                undrawn = True
                continue
            if name == tags.TITLE and counts[_TITLE_END] == 0:
                counts[_TITLE], counts[_TITLE_END] = i, max(close, i)
            elif name == tags.SCRIPT:
                counts[_SCRIPTS] += 1
                counts[_SCRIPT_BYTES] += (n if close < 0 else close) - i
            i = _after_raw(source, i, close)
        elif kind & (VOID | IMPLIED):
            counts[_IMAGES] += name == tags.IMG and what == START
            if kind & VOID and what == START and heads < len(head):
                heads += _head_tag(source, name_end, i, name, head[heads])
        elif what == START:
            counts[_TABLES] += name == tags.TABLE
            if name == tags.H1 and counts[_H1] == 0:
                counts[_H1] = counts[_H1_END] = t
            if depth == MAX_DEPTH:
                over += 1
                counts[_CAPPED] = 1
                continue
            stack[depth], kinds[depth] = name, kind
            if name == tags.MAIN and main == MAX_DEPTH and aside == MAX_DEPTH and not done:
                main, parts, open_span, open_at = depth, 0, t, i
            if kind & CONTENT:
                content = min(content, depth)
            elif aside == MAX_DEPTH and (
                (kind & ASIDE and (name != tags.HEADER or content == MAX_DEPTH)) or _is_aside(source, name_end, i)
            ):
                aside = depth
                parts += _span(spans, parts, open_span, t, open_at, token, done)
            depth += 1
        else:
            if name == tags.H1 and counts[_H1_END] == counts[_H1]:
                counts[_H1_END] = t
            if over > 0:
                over -= 1
                continue
            depth = _pop(stack, kinds, depth, name, kind)
            content = MAX_DEPTH if content >= depth else content
            if aside != MAX_DEPTH and aside >= depth:
                aside, open_span, open_at = MAX_DEPTH, t, i
            if main != MAX_DEPTH and main >= depth:
                parts += _span(spans, parts, open_span, t, open_at, token, done)
                main, done = MAX_DEPTH, True
    if open_link >= 0:
        anchors[open_link, 5] = t
    if aside == MAX_DEPTH:
        parts += _span(spans, parts, open_span, t, open_at, n, done)
    for k in range(links):
        _trim(text, anchors, k)
    counts[_WORDS], counts[_TEXT_BYTES], counts[_ANCHORS] = words, t, links
    counts[_HEAD_TAGS], counts[_SPANS] = heads, parts


@borrowing
def _trim(text: ByteArray, anchors: npt.NDArray[np.int32], k: int) -> None:
    """Trim a link's text; note whether it needs no further decoding."""
    start, end = anchors[k, 4], anchors[k, 5]
    while start < end and (text[nth(start)] == 32 or text[nth(start)] == 10):
        start += 1
    while start < end and (text[nth(end - 1)] == 32 or text[nth(end - 1)] == 10):
        end -= 1
    anchors[k, 6] = 0
    if end - start > MAX_ANCHOR_CHARS:
        return
    for i in range(start, end):
        if not 32 <= text[nth(i)] <= 126 or text[nth(i)] == 38:
            return
    anchors[k, 4], anchors[k, 5], anchors[k, 6] = start, end, 1


@borrowing
def _span(spans: npt.NDArray[np.int32], parts: int, start: int, end: int, at: int, at_end: int, done: bool) -> int:
    """Store a piece of main content, as ranges of the text and of the source; return 1, or 0 for an empty piece."""
    if done or start >= end or parts == len(spans):
        return 0
    spans[parts, 0], spans[parts, 1], spans[parts, 2], spans[parts, 3] = start, end, at, at_end
    return 1
