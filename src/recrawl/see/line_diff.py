"""What differs between two texts, line by line, in time that no page can make long.

Lines that occur once in both texts are the anchors ("patience diff"): the longest rising sequence of them, in
O(n log n), cuts the texts into gaps. Small gaps are compared line by line; a large gap is one block, replaced whole.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

MAX_CELLS = 40_000  # lines before times lines after of a gap that is compared line by line
CONTEXT = 3

Block = tuple[int, int, int, int]  # lines old[a:b] became new[c:d]


def compare_lines(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """Return the blocks that differ, in order; nothing outside them does."""
    blocks: list[Block] = []
    i, j = 0, 0
    for a, c in [*_anchors(old, new), (len(old), len(new))]:
        blocks += _gap(old, new, i, a, j, c)
        i, j = a + 1, c + 1
    return blocks


def unified(old: Sequence[str], new: Sequence[str], blocks: Sequence[Block], context: int = CONTEXT) -> Iterator[str]:
    """Yield the lines of a unified diff without file names: @@ -1,2 +1,3 @@, what stayed, went (-) and came (+)."""
    for hunk in _hunks(blocks, context):
        a, c = max(0, hunk[0][0] - context), max(0, hunk[0][2] - context)
        a, c = max(a, hunk[0][0] - (hunk[0][2] - c)), max(c, hunk[0][2] - (hunk[0][0] - a))
        tail = min(context, len(old) - hunk[-1][1], len(new) - hunk[-1][3])
        yield f"@@ -{_range(a, hunk[-1][1] + tail)} +{_range(c, hunk[-1][3] + tail)} @@"
        at = a
        for start, end, fresh, fresh_end in hunk:
            yield from (f" {line}" for line in old[at:start])
            yield from (f"-{line}" for line in old[start:end])
            yield from (f"+{line}" for line in new[fresh:fresh_end])
            at = end
        yield from (f" {line}" for line in old[at : at + tail])


def _hunks(blocks: Sequence[Block], context: int) -> Iterator[list[Block]]:
    """Group blocks whose contexts touch."""
    hunk: list[Block] = []
    for block in blocks:
        if hunk and block[0] - hunk[-1][1] > 2 * context:
            yield hunk
            hunk = []
        hunk.append(block)
    if hunk:
        yield hunk


def _range(start: int, end: int) -> str:
    """Return a range of lines as diffs write it: the first line is 1, and an empty range names the line before it."""
    return f"{start + 1}" if end - start == 1 else f"{start + (end > start)},{end - start}"


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the longest sequence of lines unique in both texts that is in the same order in both."""
    once = {line for line, count in Counter(old).items() if count == 1}
    once &= {line for line, count in Counter(new).items() if count == 1}
    place = {line: i for i, line in enumerate(old) if line in once}
    pairs = [(place[line], j) for j, line in enumerate(new) if line in once]
    tails: list[int] = []  # smallest last place of a rising sequence of each length
    ends: list[int] = []  # which pair that is
    before = [-1] * len(pairs)
    for k, (i, _) in enumerate(pairs):
        length = bisect_left(tails, i)
        before[k] = ends[length - 1] if length else -1
        tails[length : length + 1], ends[length : length + 1] = [i], [k]
    found, k = [], ends[-1] if ends else -1
    while k >= 0:
        found.append(pairs[k])
        k = before[k]
    return found[::-1]


def _gap(old: Sequence[str], new: Sequence[str], a: int, b: int, c: int, d: int) -> Iterator[Block]:
    """Yield what differs between old[a:b] and new[c:d]."""
    while a < b and c < d and old[a] == new[c]:
        a, c = a + 1, c + 1
    while a < b and c < d and old[b - 1] == new[d - 1]:
        b, d = b - 1, d - 1
    if a == b and c == d:
        return
    if a == b or c == d or (b - a) * (d - c) > MAX_CELLS:
        yield a, b, c, d
        return
    for tag, i, i_end, j, j_end in SequenceMatcher(None, old[a:b], new[c:d], autojunk=False).get_opcodes():
        if tag != "equal":
            yield a + i, a + i_end, c + j, c + j_end
