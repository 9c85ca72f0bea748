"""Where the tokens of HTML begin and end, by the rules of the standard's tokeniser, in linear time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from recrawl.columns import ByteArray
from recrawl.compiled import borrowing, nth
from recrawl.hashing import FNV_START, fnv1a_step

_step = borrowing(fnv1a_step)

_SPACES = b" \t\n\f\r"
_IS_SPACE, _ENDS_TAG_NAME, _ENDS_NAME, _ENDS_VALUE = (
    np.array([c in stops for c in range(256)], dtype=np.bool_)
    for stops in (_SPACES, _SPACES + b"/>", _SPACES + b"/>=", _SPACES + b">")
)
TEXT, SKIP, START, END = range(4)  # what a '<' can begin: text, a comment or a cut-off tag, a start tag, an end tag


@borrowing
def is_letter(c: Any) -> bool:
    """Whether a byte is an ASCII letter."""
    return 97 <= (c | 32) <= 122


@borrowing
def find(source: ByteArray, byte: int, i: int) -> int:
    """Return the first place from i on that holds a byte, or the end."""
    while i < len(source) and source[nth(i)] != byte:
        i += 1
    return i


@borrowing
def read_name(source: ByteArray, i: int) -> tuple[int, np.uint64]:
    """Read a tag's name: where it ends, and its hash in lower case."""
    value = FNV_START
    while i < len(source):
        c = source[nth(i)]
        if _ENDS_TAG_NAME[c]:
            break
        value = _step(value, c | 32 if 65 <= c <= 90 else c)
        i += 1
    return i, value


@borrowing
def tag_end(source: ByteArray, i: int) -> tuple[int, bool]:
    """Skip attributes as the tokeniser does: (after the '>', self-closing); -1 at the end of the page."""
    n = len(source)
    while i < n:
        c = source[nth(i)]
        if c == 62:
            return i + 1, source[nth(i - 1)] == 47
        if c == 47 or _IS_SPACE[c]:
            i += 1
            continue
        i += 1  # the first character belongs to the name, even if it is "="
        while i < n and not _ENDS_NAME[source[nth(i)]]:
            i += 1
        while i < n and _IS_SPACE[source[nth(i)]]:
            i += 1
        if i >= n or source[nth(i)] != 61:
            continue
        i += 1
        while i < n and _IS_SPACE[source[nth(i)]]:
            i += 1
        if i < n and (source[nth(i)] == 34 or source[nth(i)] == 39):
            i = find(source, source[nth(i)], i + 1) + 1
        else:
            while i < n and not _ENDS_VALUE[source[nth(i)]]:
                i += 1
    return -1, False


@borrowing
def find_closing(source: ByteArray, i: int, name: np.uint64) -> int:
    """Find the end tag with this name: where its '<' is; -1 if there is none."""
    while True:
        i = find(source, 60, i)
        if i + 2 >= len(source):
            return -1
        if source[nth(i + 1)] == 47 and is_letter(source[nth(i + 2)]):
            end, found = read_name(source, i + 2)
            if found == name and end < len(source):
                return i
        i += 1


@borrowing
def comment_end(source: ByteArray, i: int) -> int:
    """Return the place after the comment whose text starts at i, by the standard's rules ("<!-->" is one too)."""
    n = len(source)
    if i < n and source[nth(i)] == 62:
        return i + 1
    if i + 1 < n and source[nth(i)] == 45 and source[nth(i + 1)] == 62:
        return i + 2
    while i < n:
        i = find(source, 45, i)
        if i + 2 < n and source[nth(i + 1)] == 45:
            if source[nth(i + 2)] == 62:
                return i + 3
            if source[nth(i + 2)] == 33 and i + 3 < n and source[nth(i + 3)] == 62:
                return i + 4
        i += 1
    return n


@borrowing
def read_token(source: ByteArray, i: int) -> tuple[int, int, np.uint64, int, bool]:
    """Read what begins with the '<' at i: (what, where it ends, name, the name's end, self-closing)."""
    n = len(source)
    following = source[nth(i + 1)] if i + 1 < n else 0
    if following == 33 or following == 63:
        comment = following == 33 and i + 3 < n and source[nth(i + 2)] == 45 and source[nth(i + 3)] == 45
        end = comment_end(source, i + 4) if comment else find(source, 62, i + 2) + 1
        return SKIP, end, FNV_START, end, False
    ending = following == 47
    if ending and i + 2 < n and not is_letter(source[nth(i + 2)]):
        end = i + 3 if source[nth(i + 2)] == 62 else find(source, 62, i + 2) + 1
        return SKIP, end, FNV_START, end, False
    if not ending and not is_letter(following):
        return TEXT, i + 1, FNV_START, i + 1, False
    name_end, name = read_name(source, i + 2 if ending else i + 1)
    end, closed = tag_end(source, name_end)
    if end < 0:
        return SKIP, n, FNV_START, n, False  # the page ends inside a tag: the tag does not count
    return END if ending else START, end, name, name_end, closed


@borrowing
def next_attribute(source: ByteArray, i: int, end: int) -> tuple[int, np.uint64, int, int]:
    """Read the attribute at i of a tag that ends at `end`: (where the next begins, name, start and end of the value).

    -1 where there are no more. An attribute without a value has an empty one.
    """
    last = end - 1
    while i < last and (_IS_SPACE[source[nth(i)]] or source[nth(i)] == 47):
        i += 1
    if i >= last:
        return -1, FNV_START, 0, 0
    name, first = FNV_START, i
    while i < last and not (_IS_SPACE[source[nth(i)]] or source[nth(i)] == 47 or (source[nth(i)] == 61 and i > first)):
        c = source[nth(i)]
        name = _step(name, c | 32 if 65 <= c <= 90 else c)
        i += 1
    while i < last and _IS_SPACE[source[nth(i)]]:
        i += 1
    if i >= last or source[nth(i)] != 61:
        return i, name, i, i
    i += 1
    while i < last and _IS_SPACE[source[nth(i)]]:
        i += 1
    if source[nth(i)] == 34 or source[nth(i)] == 39:
        stop = find(source, source[nth(i)], i + 1)
        return stop + 1, name, i + 1, stop
    start = i
    while i < last and not _IS_SPACE[source[nth(i)]]:
        i += 1
    return i, name, start, i


@borrowing
def find_attribute(source: ByteArray, i: int, end: int, name: np.uint64) -> tuple[int, int]:
    """Find an attribute between a tag's name and its end: start and end of its value, (0, 0) if absent."""
    while i >= 0:
        i, found, start, stop = next_attribute(source, i, end)
        if i >= 0 and found == name:
            return start, stop
    return 0, 0


@borrowing
def find_two(
    source: ByteArray, i: int, end: int, one: np.uint64, other: np.uint64, look: bool
) -> tuple[int, int, int, int]:
    """Find two attributes in one go, each as `find_attribute` does; all 0 if it is not to `look`."""
    a, a_end, b, b_end, found_a, found_b = 0, 0, 0, 0, not look, not look
    while i >= 0 and not (found_a and found_b):
        i, found, start, stop = next_attribute(source, i, end)
        if i >= 0 and found == one and not found_a:
            a, a_end, found_a = start, stop, True
        elif i >= 0 and found == other and not found_b:
            b, b_end, found_b = start, stop, True
    return a, a_end, b, b_end


@borrowing
def has_word(source: ByteArray, start: int, end: int, words: npt.NDArray[np.uint64]) -> bool:
    """Whether a value holds one of these words: runs of letters, cut where small letters turn to capitals.

    `words` has each hash in the slot that its last bits name.
    """
    value, length, small = FNV_START, 0, False
    for i in range(start, end + 1):
        c = source[nth(i)] if i < end else np.uint8(32)
        letter = is_letter(c)
        capital = 65 <= c <= 90
        if length and (not letter or (capital and small)):
            if words[np.int64(value & np.uint64(len(words) - 1))] == value:
                return True
            value, length = FNV_START, 0
        if letter:
            value = _step(value, c | 32)
            length += 1
        small = letter and not capital
    return False
