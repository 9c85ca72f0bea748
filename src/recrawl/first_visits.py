"""Which pages without a copy come first: weighted fair queueing of sites and URL templates, weighted by their yield.

A template is the pages of a site whose addresses have one form: 2021/05/some-name.html and 2019/11/other.html are both
year/number/word.html. The weight of a site and of a template is its yield, the changes found per visit, first visits
included, shrunk towards the yield of what it is part of (empirical Bayes with a weight of C = CREDIT visits):

    p = (X + 1) / (V + 2)    y(site) = (X + C p) / (V + C)    y(template) = (X + C y(site)) / (V + C)

Visits are paid for: a site or template makes C visits on credit, and every change it finds pays for 1 / p visits, as
many as the crawl makes per change. Where it made more, it gets at most the part (C + X / p) / V of a cycle's first
visits, and at least LEAST, as long as there are known pages to visit. So an endless site (a trap of words) can neither
take the first visits of others nor all of them for ever.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import numpy as np

from recrawl.columns import ByteArray, FloatArray, IntArray, PageIds

CREDIT = 100.0  # visits
LEAST = 0.5  # of a cycle's first visits, for a site or a template that brings nothing
FORMS = 255  # a site's addresses are told apart by so many forms at most: endless forms share their credit
RUN = 3  # so many parts of a path that have the same form are told apart
UNKNOWN = 0  # the form of a page whose address was not looked at yet

_YEAR = re.compile(r"(?:19|20)\d\d")
_NUMBER = re.compile(r"v?[\d._-]+", re.I)  # days, dates, versions
_DATED = re.compile(r"(?:19|20)\d\d-\d\d-\d\d")
_ENDING = re.compile(r"[a-z]{1,8}", re.I)


@lru_cache(maxsize=100_000)
def form_of(part: str) -> str:
    """Return what sort of word a part of a path is, with its ending: year, number, dated or word."""
    stem, dot, ending = part.rpartition(".")
    if not dot or not _ENDING.fullmatch(ending):
        stem, dot, ending = part, "", ""
    if _YEAR.fullmatch(stem):
        return "year" + dot + ending
    if _NUMBER.fullmatch(stem):
        return "number" + dot + ending
    return ("dated" if _DATED.match(stem) else "word") + dot + ending


def template(path: str) -> str:
    """Return the form of an address: that of each part of its path, and the names of what it asks for.

    Of a run of equal parts three are left, so that a maze that goes ever deeper has not a new template at each depth.

    >>> template("2021/05/some-name.html"), template("list?sort=up&page=7"), template("a/b/c/d/e/f")
    ('year/number/word.html', 'word?page&sort', 'word/word/word')
    """
    path, _, query = path.partition("?")
    parts = [form_of(part) for part in path.split("/")]
    form = "/".join([part for i, part in enumerate(parts) if i < RUN or parts[i - RUN : i] != [part] * RUN])
    return f"{form}?{'&'.join(sorted({pair.partition('=')[0] for pair in query.split('&')}))}" if query else form


def forms_of(paths: Iterable[str]) -> ByteArray:
    """Return each address's form as a number from 1 to FORMS; two forms of a site may by chance share one."""
    return np.array([crc32(template(path).encode()) % FORMS + 1 for path in paths], dtype=np.uint8)


@dataclass(frozen=True)
class Yields:
    """Groups of pages with the weight and the part of a cycle's first visits that their visits earned."""

    group: IntArray  # of each row
    weight: FloatArray  # by group: y
    part: FloatArray  # by group: (C + X / p) / V, within LEAST and 1


def yields_of(group: IntArray, changes: IntArray, visits: IntArray, above: FloatArray, mean: float) -> Yields:
    """Return what groups earned; `above` is by group the yield that it is shrunk towards."""
    found, made = (np.bincount(group, weights=column, minlength=len(above)) for column in (changes, visits))
    weight = (found + CREDIT * above) / (made + CREDIT)
    return Yields(group, weight, np.clip((CREDIT + found / mean) / np.maximum(made, 1.0), LEAST, 1.0))


def in_turn(group: IntArray, weight: FloatArray, made: IntArray, most: IntArray) -> PageIds:
    """Order rows so that groups take turns by their weight; rows beyond a group's `most` are left out.

    Weighted fair queueing: the i-th row of a group (`made` of it went before) comes at i / weight. Within a group the
    order stays.
    """
    order = np.argsort(group, kind="stable")
    groups, start, count = np.unique(group[order], return_index=True, return_counts=True)
    turn = np.arange(len(order)) - np.repeat(start, count) + np.repeat(made[groups], count) + 1
    paid = turn <= np.repeat(most[groups], count)
    finish = turn[paid] / np.repeat(weight[groups], count)[paid]
    return order[paid][np.argsort(finish, kind="stable")]


def first_visits(
    waiting: PageIds,
    room: int,
    levels: tuple[Yields, ...],
    made: PageIds,
    most: int | None,
    keys: tuple[np.ndarray, ...],
) -> PageIds:
    """Choose `room` of the pages that wait for their first visit: sites in turn, and on each its templates in turn.

    `levels` are the yields of templates and of sites, with the group of every page; `made` are the pages without a
    copy that were visited in this cycle, `most` is what the part of a group is taken of (None: groups have no limit).
    Within a template the page with the smallest keys comes first.
    """
    order = waiting[np.lexsort(tuple(reversed(keys)))]
    for level in levels:
        before = np.bincount(level.group[made], minlength=len(level.weight))
        limit = np.full(len(level.weight), len(waiting) + len(made)) if most is None else np.ceil(level.part * most)
        order = order[in_turn(level.group[order], level.weight, before, limit)]
    return order[:room]
