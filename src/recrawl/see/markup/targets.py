"""Link targets of a page: deduplicated, and most of them resolved without the URL parser.

A page of documentation has hundreds of links to a few dozen pages, most of them `page.html#part` or `../other.html`. A
compiled pass cuts off fragments, finds the distinct targets and says which are plain: only characters that stand for
themselves in a URL, and no dot segments but leading `../`. These are joined to their folder by concatenation, which is
what the parser would do; whole addresses of plain hosts are taken as they are. All others go through the parser.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recrawl.columns import ByteArray
from recrawl.compiled import borrowing, kernel, nth
from recrawl.hashing import FNV_START
from recrawl.see.byte_masks import BYTES, hashes_and_ampersands, lowest_bit
from recrawl.see.hashed_bytes import are_same, hash_of
from recrawl.see.markup.plain_targets import ABSOLUTE, PARSED, ROOTED, host_end, host_start, sort_of

Rows = npt.NDArray[np.int32]

NEEDS_PARSER, NEEDS_TIDYING, HAS_RELATION = range(3)
NEW, KNOWN, UNSURE = range(3)
_PROBES = 16  # a page may be made so that hashes collide: beyond this many, targets are left to the parser


@kernel
def link_texts(
    source: ByteArray,
    raw_text: ByteArray,
    links: Rows,
    folder: ByteArray,
    lengths: Rows,
    urls: ByteArray,
    inside: npt.NDArray[np.bool_],
    anchors: ByteArray,
    left: Rows,
) -> tuple[int, int, int, int]:
    """Write the addresses of the distinct targets, their anchors, and what is left to do; return how many targets.

    Plain targets are distinct as addresses: `/a/b.html` and `b.html` may be one page's. Then how much was written of
    each of the three. Addresses and anchors are joined by line feeds. `lengths` are those of the page's folder and of
    each folder above it; a target is `inside` if it has the folder's host. What is left are rows of (NEEDS_PARSER,
    NEEDS_TIDYING or HAS_RELATION, number of the target, start, end): the address, the anchor or the relation is to be
    read there, in `source` or, for anchors, in `raw_text`. Addresses that need no parser are distinct.
    """
    found = distinct(source, links)
    highest, table = len(lengths) - 1, _table(found.shape[1] if _differ(found) else 0)
    begins = np.empty(found.shape[1], dtype=np.int32)
    n, u, a, m = 0, 0, 0, 0
    for k in range(found.shape[1]):
        row, sort = links[found[0, k]], found[3, k]
        begins[n], inside[n] = u, True
        if sort != PARSED:
            if sort == ABSOLUTE:
                inside[n] = _same_host(source, int(found[1, k]), int(found[2, k]), folder)
            else:
                u = _copy(folder, 0, lengths[highest if sort == ROOTED else min(sort, highest)], urls, u)
            u = _copy(source, found[1, k], found[2, k], urls, u)
            known = _is_known(urls, begins, n, u, table) if len(table) else NEW
            if known != NEW:
                u = begins[n]
            if known == KNOWN:
                continue
            if known == UNSURE:
                sort = PARSED
        if sort == PARSED:
            left[m, 0], left[m, 1], left[m, 2], left[m, 3] = NEEDS_PARSER, n, row[0], found[2, k]
            m += 1
        if row[6]:
            a = _copy(raw_text, row[4], row[5], anchors, a)
        else:
            left[m, 0], left[m, 1], left[m, 2], left[m, 3] = NEEDS_TIDYING, n, row[4], row[5]
            m += 1
        if row[3] > 0:
            left[m, 0], left[m, 1], left[m, 2], left[m, 3] = HAS_RELATION, n, row[2], row[3]
            m += 1
        urls[u], anchors[a] = 10, 10
        u += 1
        a += 1
        n += 1
    return n, max(u - 1, 0), max(a - 1, 0), m


@borrowing
def _same_host(source: ByteArray, start: int, end: int, folder: ByteArray) -> bool:
    """Whether a plain address has the host of a folder, whatever their schemes and the folder's port are."""
    i, stop, k = host_start(source, start, end), host_end(source, start, end), host_start(folder, 0, len(folder))
    while i < stop and source[nth(i)] == folder[nth(k)]:  # it ends in a slash, which no plain host has
        i += 1
        k += 1
    return i == stop and (folder[nth(k)] == 47 or folder[nth(k)] == 58)


@borrowing
def _differ(found: Rows) -> bool:
    """Whether plain targets are written in several ways: only then two of them can be the same address."""
    first = PARSED
    for k in range(found.shape[1]):
        sort = found[3, k]
        if sort != PARSED:
            if first != PARSED and sort != first:
                return True
            first = sort
    return False


@borrowing
def _is_known(urls: ByteArray, begins: Rows, n: int, end: int, table: Rows) -> int:
    """Return whether the address that was just written is KNOWN, one of those before it; UNSURE after many probes."""
    start = int(begins[n])
    value = hash_of(urls, start, end, FNV_START)
    slot = np.int64(value >> np.uint64(20)) & (len(table) - 1)
    for _ in range(_PROBES):
        known = int(table[slot])
        if known < 0:
            table[slot] = n
            return NEW
        if _is_same_line(urls, int(begins[known]), start, end):
            return KNOWN
        slot = (slot + 1) & (len(table) - 1)
    return UNSURE


@borrowing
def _is_same_line(urls: ByteArray, a: int, b: int, b_end: int) -> bool:
    """Whether the line that begins at `a` is what stands from `b` to `b_end`; a line feed is in no address."""
    while b < b_end and urls[nth(a)] == urls[nth(b)]:
        a += 1
        b += 1
    return b == b_end and urls[nth(a)] == 10


@kernel
def _table(targets: int) -> Rows:
    """Return a hash table for so many targets, empty."""
    slots = 16 if targets else 0
    while slots < 2 * targets:
        slots *= 2
    return np.full(slots, -1, dtype=np.int32)


@borrowing
def _copy(source: ByteArray, start: int, end: int, out: ByteArray, o: int) -> int:
    for i in range(start, end):
        out[nth(o)] = source[nth(i)]
        o += 1
    return o


@kernel
def distinct(source: ByteArray, hrefs: Rows) -> Rows:
    """Return the distinct targets, first ones first: row of `hrefs`, start, end without the fragment, and its sort.

    The sort is how many folders up a plain target leads (its start is then after the `../`), or as in `sort_of`.
    """
    table = _table(max(1, len(hrefs)))
    slots = len(table)
    out, count = np.empty((4, len(hrefs)), dtype=np.int32), 0
    for row in range(len(hrefs)):
        start, end = hrefs[row, 0], hrefs[row, 1]
        if source[start] == 35:  # a place on the page itself
            continue
        whole = end
        end, value = _cut(source, start, end)
        if end < whole and source[end - 1] <= 32:  # white space before a fragment is part of the address
            end = whole
        slot, known = np.int64(value >> np.uint64(20)) & (slots - 1), UNSURE
        for _ in range(_PROBES):
            other = table[slot]
            if other < 0:
                table[slot], known = count, NEW
                break
            if are_same(source, hrefs[out[0, other], 0], out[2, other], source, start, end):
                known = KNOWN
                break
            slot = (slot + 1) & (slots - 1)
        if known != KNOWN:
            sort, path = sort_of(source, start, end) if known == NEW else (PARSED, start)
            out[0, count], out[1, count], out[2, count], out[3, count] = row, path, end, sort
            count += 1
    return out[:, :count]


@borrowing
def _cut(source: ByteArray, start: int, end: int) -> tuple[int, np.uint64]:
    """Return where a target ends without its fragment, and its hash; `&#35;` begins no fragment that we could see."""
    cut = _first_mark(source, start, end)
    if cut < end and source[nth(cut)] == 38:
        cut = end
    return cut, hash_of(source, start, cut, FNV_START)


@borrowing
def _first_mark(source: ByteArray, i: int, end: int) -> int:
    """Return where the first `#` or `&` is; the end if there is none."""
    while i < end and i + BYTES <= len(source):
        found = lowest_bit(hashes_and_ampersands(source, i))
        if found < BYTES:
            return min(i + found, end)
        i += BYTES
    while i < end and source[nth(i)] != 35 and source[nth(i)] != 38:
        i += 1
    return min(i, end)
