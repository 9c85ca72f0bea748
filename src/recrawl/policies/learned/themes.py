"""Themes: groups of pages of a site that are about the same, by the words of their first copies.

An edit that reaches many pages seldom keeps to one folder: it goes to the pages that mention a product, a tool or a
law. Which pages an edit of today reaches, words tell better than addresses. A site's pages are cut in two by spherical
2-means of their TF-IDF, and the parts again, until no part has more than MOST pages (repeated bisection, Steinbach et
al. 2000):

    w(p, x) = (1 + ln tf) ln(N / df)        of the WORDS heaviest words of page p that 2 pages or more of the site have
    x goes left if x . C_left / |C_left| >= x . C_right / |C_right|        C: the sum of a part's rows of length 1

Rows stay sparse, so a site costs what its words are, times the logarithm of its pages. No part is smaller than a
FEWEST-th of what it was cut from, unless all of its pages have the same words, which are not cut. A site is grouped
when enough of its pages have a copy, and anew when they have doubled; pages in between, and those without words, have
no theme: they form a group of their own.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds, TieArray, grown
from recrawl.compiled import kernel
from recrawl.copies import Copies, PageBags

MOST = 24  # pages of a theme
FEWEST = 8
WORDS = 64  # of a page
LEAST = 2 * MOST  # pages of a site that is worth grouping
LARGEST = 50_000  # pages of a site beyond which words take too much room
AT_ONCE = 40_000  # pages that are grouped in a cycle: a site or more
DOUBLED = 2
ALIKE = 0.999  # cosine from which on pages have the same words
STEPS = 8  # of 2-means
NO_THEME = -1

Weights = npt.NDArray[np.float32]


class Themes:
    """The theme of every page, grouped site by site as copies come."""

    def __init__(self) -> None:
        self._grouped: IntArray = np.zeros(0, dtype=np.int64)  # by site: copies when it was grouped
        self._given = 0

    def group(self, copies: Copies | None, held: PageIds, site: IntArray, tie: TieArray) -> tuple[PageIds, PageIds]:
        """Group sites that are due; return the pages that have a theme now, and these, numbers that none had before.

        `held` are the pages with a copy; results do not depend on how pages are numbered.
        """
        nothing = held[:0], held[:0]
        if copies is None or not len(held):
            return nothing
        count = np.bincount(site[held])
        self._grouped = grown(self._grouped, len(count), 0)
        grouped = self._grouped[: len(count)]
        due = np.flatnonzero((count >= LEAST) & (count >= DOUBLED * grouped) & (count <= LARGEST))
        if not len(due):
            return nothing
        now = self._first_in_turn(due, count, held, site, tie)
        mine = held[np.isin(site[held], now)]
        mine = mine[np.lexsort((tie[mine], site[mine]))]
        pages, themes = [held[:0]], [held[:0]]
        for part in np.split(mine, np.flatnonzero(np.diff(site[mine])) + 1):
            bags = copies.bags(part)
            if bags is None:
                return nothing
            label = themes_of(bags)
            themed = label != NO_THEME
            themes.append(label[themed] + self._given)
            pages.append(part[themed])
            self._given += int(label.max(initial=-1)) + 1
        self._grouped[now] = count[now]
        return np.concatenate(pages), np.concatenate(themes)

    def _first_in_turn(self, due: IntArray, count: IntArray, held: PageIds, site: IntArray, tie: TieArray) -> IntArray:
        """Return the smallest of the sites that are due, as many as fit into a cycle, and at least one."""
        first = np.full(len(count), np.iinfo(np.uint64).max, dtype=np.uint64)
        np.minimum.at(first, site[held], tie[held])
        due = due[np.lexsort((first[due], count[due]))]
        return due[: max(1, int(np.searchsorted(np.cumsum(count[due]), AT_ONCE, side="right")))]


def themes_of(bags: PageBags, most: int = MOST) -> IntArray:
    """Return the theme of each page of a site, from 0 on, with at most so many pages; NO_THEME where it has no words.

    Words that no other page of the site has do not count.
    """
    start, word, weight = heaviest_words(bags)
    worded = np.flatnonzero(np.diff(start))
    label = np.full(len(start) - 1, NO_THEME, dtype=np.int64)
    if len(worded) >= LEAST:
        label[worded] = _bisected(worded, start, word, weight, int(word.max(initial=0)) + 1, most)
    return label


def heaviest_words(bags: PageBags) -> tuple[IntArray, IntArray, Weights]:
    """Return the heaviest words of each page as sparse rows of length 1: where rows start, columns and weights."""
    pages = len(bags.start) - 1
    row = np.repeat(np.arange(pages), np.diff(bags.start))
    words, column, pages_with = np.unique(bags.bucket, return_inverse=True, return_counts=True)
    shared = (pages_with >= 2) & (pages_with < pages)
    kept = shared[column]
    row, column, count = row[kept], column[kept], bags.counts[kept]
    weight = ((1.0 + np.log(count)) * np.log(pages / pages_with[column])).astype(np.float32)
    order = np.lexsort((words[column], -weight, row))
    row, column, weight = row[order], column[order], weight[order]
    begin = np.searchsorted(row, np.arange(pages + 1))
    kept = np.arange(len(row)) - begin[row] < WORDS
    row, column, weight = row[kept], column[kept], weight[kept]
    length = np.sqrt(np.bincount(row, weight.astype(np.float64) ** 2, minlength=pages))
    start = np.searchsorted(row, np.arange(pages + 1)).astype(np.int64)
    return start, column.astype(np.int64), (weight / length[row]).astype(np.float32)


@kernel
def _bisected(rows: IntArray, start: IntArray, word: IntArray, weight: Weights, words: int, most: int) -> IntArray:
    """Return the part of each of these rows, after all cuts."""
    order = np.arange(len(rows))
    label = np.zeros(len(rows), dtype=np.int64)
    sums = np.zeros((2, words))
    ends = [(0, len(rows))]
    parts = 0
    while len(ends):
        first, last = ends.pop()
        part = order[first:last]
        cut = 0
        if last - first > most:
            lead = _leads(rows[part], start, word, weight, sums)
            if len(lead):
                by_lead = np.argsort(-lead, kind="mergesort")
                few = len(part) // FEWEST
                cut = min(max(int((lead >= 0.0).sum()), few), len(part) - few)
                order[first:last] = part[by_lead]
        if cut:
            ends.append((first + cut, last))
            ends.append((first, first + cut))
        else:
            label[part] = parts
            parts += 1
    return label


@kernel
def _leads(rows: IntArray, start: IntArray, word: IntArray, weight: Weights, sums: FloatArray) -> FloatArray:
    """Return by how much each row is nearer to the left centre than to the right; nothing if all are alike."""
    lead = np.zeros(len(rows))
    _add(rows, np.ones(len(rows), dtype=np.bool_), start, word, weight, sums[0])
    one = _least(rows, start, word, weight, sums[0])  # the row farthest from the middle, ...
    _clear(rows, start, word, sums[0])
    _add(rows[one : one + 1], np.ones(1, dtype=np.bool_), start, word, weight, sums[0])
    other = _least(rows, start, word, weight, sums[0])  # ... and the one farthest from it
    if _product(rows[other], start, word, weight, sums[0]) > ALIKE:
        _clear(rows, start, word, sums[0])
        return lead[:0]
    _add(rows[other : other + 1], np.ones(1, dtype=np.bool_), start, word, weight, sums[1])
    left = np.zeros(len(rows), dtype=np.bool_)
    for _ in range(STEPS):
        lengths = _length(rows, start, word, sums[0]), _length(rows, start, word, sums[1])
        moved = 0
        for i in range(len(rows)):
            lead[i] = _product(rows[i], start, word, weight, sums[0]) / max(lengths[0], 1e-9)
            lead[i] -= _product(rows[i], start, word, weight, sums[1]) / max(lengths[1], 1e-9)
            moved += left[i] != (lead[i] >= 0.0)
            left[i] = lead[i] >= 0.0
        _clear(rows, start, word, sums[0])
        _clear(rows, start, word, sums[1])
        if not moved:
            break
        _add(rows, left, start, word, weight, sums[0])
        _add(rows, ~left, start, word, weight, sums[1])
    _clear(rows, start, word, sums[0])
    _clear(rows, start, word, sums[1])
    return lead


@kernel
def _add(rows: IntArray, chosen: BoolArray, start: IntArray, word: IntArray, weight: Weights, into: FloatArray) -> None:
    for i in range(len(rows)):
        if chosen[i]:
            for k in range(start[rows[i]], start[rows[i] + 1]):
                into[word[k]] += weight[k]


@kernel
def _clear(rows: IntArray, start: IntArray, word: IntArray, sums: FloatArray) -> None:
    """Set to 0 what these rows have added: a site has far more words than a part."""
    for row in rows:
        for k in range(start[row], start[row + 1]):
            sums[word[k]] = 0.0


@kernel
def _product(row: int, start: IntArray, word: IntArray, weight: Weights, sums: FloatArray) -> float:
    total = 0.0
    for k in range(start[row], start[row + 1]):
        total += weight[k] * sums[word[k]]
    return total


@kernel
def _least(rows: IntArray, start: IntArray, word: IntArray, weight: Weights, sums: FloatArray) -> int:
    """Return the place of the row with the smallest product, the first of equals."""
    best, least = 0, np.inf
    for i in range(len(rows)):
        product = _product(rows[i], start, word, weight, sums)
        if product < least:
            best, least = i, product
    return best


@kernel
def _length(rows: IntArray, start: IntArray, word: IntArray, sums: FloatArray) -> float:
    """Return the length of a sum of these rows, each word of it taken once; the sum is as it was afterwards."""
    total = 0.0
    for row in rows:
        for k in range(start[row], start[row + 1]):
            if sums[word[k]] > 0.0:
                total += sums[word[k]] ** 2
                sums[word[k]] = -sums[word[k]]  # seen
    for row in rows:
        for k in range(start[row], start[row + 1]):
            sums[word[k]] = abs(sums[word[k]])
    return np.sqrt(total)
