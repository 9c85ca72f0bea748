"""Snapshots of pages at equal steps of time: hashed words by version, and the version at the end of each step.

A page's words stay the same until it changes, so they are kept once per version (sparse rows: bucket and count) and
each step only names a version: a thousand pages over 180 days are the words of their versions and 180,000 numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds
from recrawl.compiled import kernel
from recrawl.errors import InputError
from recrawl.progress import Advance, silent
from recrawl.recording.contents import Texts
from recrawl.recording.recording import Recording
from recrawl.see.change import PAPER, ChangeRule, p_value, row_distances
from recrawl.see.words import Buckets, Counts, bag_of

NOTHING = -1  # version of a page that is not there
Versions = npt.NDArray[np.int32]


@dataclass(frozen=True)
class VersionBags:
    """Words of versions: version v's are `start[v]` to `start[v + 1]` of `bucket` (ascending) and `count`."""

    start: npt.NDArray[np.int64]
    bucket: Buckets
    count: Counts

    def __len__(self) -> int:
        return len(self.start) - 1

    @cached_property
    def total(self) -> FloatArray:
        """Words of each version in all."""
        return np.add.reduceat(np.append(self.count, 0), self.start[:-1], dtype=np.float64) * (np.diff(self.start) > 0)

    @cached_property
    def share(self) -> npt.NDArray[np.float32]:
        """The unigram distribution: each word's share of its version."""
        total = np.repeat(np.maximum(self.total, 1.0), np.diff(self.start))
        return (self.count / total).astype(np.float32)

    @property
    def nbytes(self) -> int:
        """Bytes that the words take."""
        return self.start.nbytes + self.bucket.nbytes + self.count.nbytes


@dataclass(frozen=True)
class Snapshots:
    """Pages x steps; step 0 is the window's start, step s is `start + s * step_days`."""

    pages: PageIds  # of the recording that they were taken from
    step_days: float
    bags: VersionBags
    version: Versions  # pages x (steps + 1), NOTHING where the page is not there

    def __len__(self) -> int:
        return len(self.pages)

    @property
    def steps(self) -> int:
        """Steps after the first snapshot."""
        return self.version.shape[1] - 1

    @cached_property
    def there(self) -> BoolArray:
        """Whether a page is there at a step and was at the step before, so that a change could be seen."""
        there = self.version >= 0
        there[:, 1:] &= there[:, :-1].copy()
        there[:, 0] = False
        return there

    @cached_property
    def _moved(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Where a snapshot has another version than the one before, and how far apart the two are."""
        page, step = np.nonzero(self.there[:, 1:] & (self.version[:, 1:] != self.version[:, :-1]))
        step += 1
        old, new = self.version[page, step - 1], self.version[page, step]
        bags = self.bags
        return (
            page,
            step,
            row_distances(bags.start, bags.bucket, bags.count, old.astype(np.int64), new.astype(np.int64)),
        )

    def changed(self, what: str = "any", rule: ChangeRule = PAPER) -> BoolArray:
        """Whether each page changed at each step: `any` change of its words, or a `significant` one by the rule."""
        if what not in ("any", "significant"):
            raise InputError(f"a change is 'any' or 'significant', not {what!r}")
        page, step, rows = self._moved
        if what == "any":
            kept = rows[:, 7] > 0
        else:
            p = [p_value(chi2, cells) for chi2, cells in rows[:, :2].tolist()]
            kept = np.array([rule.holds(*r) for r in zip(p, rows[:, 2].tolist(), rows[:, 7].tolist(), strict=True)])
        out = np.zeros(self.version.shape, dtype=np.bool_)
        if len(page):
            out[page[kept], step[kept]] = True
        return out

    def take(self, rows: PageIds) -> Snapshots:
        """Return some of the pages; the words are shared."""
        return Snapshots(self.pages[rows], self.step_days, self.bags, self.version[rows])


def snapshots_of(recording: Recording, step_days: float = 1.0, *, advance: Advance = silent) -> Snapshots:
    """Take snapshots of every page with text."""
    steps = int((recording.end - recording.start) / step_days + 1e-9)
    if steps < 1:
        raise InputError(f"a step of {step_days:g} days is longer than the window")
    texts = recording.texts()
    if not len(texts):
        raise InputError(f"no page of {recording.name} has a text")
    pages = np.unique(texts.page)
    ends: FloatArray = recording.start + step_days * np.arange(steps + 1, dtype=np.float64)
    version = _standing(texts, pages, ends, recording.born, recording.died)
    used = np.unique(version[version >= 0])
    number = np.full(len(texts), NOTHING, dtype=np.int32)
    number[used] = np.arange(len(used))
    version = np.where(version >= 0, number[version], NOTHING).astype(np.int32)
    return Snapshots(pages, step_days, bags_of([texts.text[v] for v in used], advance), version)


def bags_of(texts: list[str], advance: Advance = silent) -> VersionBags:
    """Count the words of texts."""
    found = []
    for number, text in enumerate(texts):
        found.append(bag_of(text or ""))
        advance(number + 1, len(texts), "counting words")
    start = np.append(0, np.cumsum([len(bag.bucket) for bag in found])).astype(np.int64)
    none = np.empty(0, dtype=np.int32)
    return VersionBags(
        start,
        np.concatenate([none, *(bag.bucket for bag in found)]),
        np.concatenate([none, *(bag.count for bag in found)]),
    )


def _standing(texts: Texts, pages: PageIds, ends: FloatArray, born: FloatArray, died: FloatArray) -> Versions:
    """Return the version of each page that stands at each instant: its last one by then, while the page lives."""
    row = np.searchsorted(pages, texts.page)
    first = np.searchsorted(texts.page, pages)
    out = np.full((len(pages), len(ends)), NOTHING, dtype=np.int32)
    _stand(row, texts.day, first, ends, born[pages], died[pages], out)
    return out


@kernel
def _stand(
    row: IntArray, day: FloatArray, first: IntArray, ends: FloatArray, born: FloatArray, died: FloatArray, out: Versions
) -> None:
    for p in range(len(first)):
        v = first[p]
        for s in range(len(ends)):
            while v + 1 < len(row) and row[v + 1] == p and day[v + 1] <= ends[s]:
                v += 1
            if born[p] <= ends[s] < died[p] and (day[v] <= ends[s] or s == 0):
                out[p, s] = v


def behaviour_flips(changed: BoolArray, there: BoolArray) -> FloatArray:
    """Share of a page's pairs of neighbouring steps at which it changed at one and not at the other (section 7.1)."""
    pairs = there[:, 1:] & there[:, :-1]
    flips = (changed[:, 1:] != changed[:, :-1]) & pairs
    count = pairs.sum(axis=1)
    return np.divide(flips.sum(axis=1), count, out=np.zeros(len(count)), where=count > 0)
