"""What all slices of a recording share: its tables in the order of the pages, read and ordered once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from recrawl.columns import BoolArray, ByteArray, FloatArray, IntArray, PageIds, TieArray, spans
from recrawl.compiled import kernel
from recrawl.hashing import FNV_START, fnv1a_step, mix, scramble
from recrawl.recording.tables import Column, Tables


class Whole:
    """A recording's tables with their rows ordered by page; page p is the p-th in the order of `page_id`."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    @cached_property
    def page_ids(self) -> IntArray:
        """All page numbers, ascending."""
        ids = self.tables.column("pages", "page_id")
        return np.asarray(ids if self._page_order is None else ids[self._page_order])

    @cached_property
    def _page_order(self) -> PageIds | None:
        """Rows of the pages table in the order of `page_id`; None if they are in that order."""
        ids = self.tables.column("pages", "page_id")
        return None if (ids[1:] > ids[:-1]).all() else np.argsort(ids, kind="stable")

    def page(self, column: str) -> Column:
        """Return a column of the pages table."""
        values = self.tables.column("pages", column)
        return values if self._page_order is None else values[self._page_order]

    def rows_of(self, page_ids: npt.NDArray[Any]) -> PageIds:
        """Return the places of these page numbers, -1 where there is no such page."""
        if self._places is None:
            return find(self.page_ids, page_ids)
        if len(page_ids) and page_ids.min() >= 0 and page_ids.max() < len(self._places):
            return self._places[page_ids]
        known = (page_ids >= 0) & (page_ids < len(self._places))
        return np.where(known, self._places[np.where(known, page_ids, 0)], -1)

    @cached_property
    def _places(self) -> PageIds | None:
        """The place of every possible page number, where they are dense enough for such a table."""
        largest = int(self.page_ids[-1])
        if largest > 8 * len(self.page_ids) + 1024:
            return None
        places = np.full(largest + 1, -1, dtype=np.int64)
        places[self.page_ids] = np.arange(len(self.page_ids))
        return places

    @cached_property
    def site(self) -> IntArray:
        """Each page's site as a row of the sites table."""
        ids = self.tables.column("sites", "site_id")
        order = np.argsort(ids)
        return np.asarray(order[np.searchsorted(ids, self.page("site_id"), sorter=order)], dtype=np.int32)

    @cached_property
    def changes(self) -> Grouped:
        """The rows of the changes table by page and day."""
        ids, day = self.tables.column("changes", "page_id"), self.tables.column("changes", "day")
        order = None if _in_order(ids, day) else np.lexsort((day, ids))
        return group(ids, self.page_ids, order)

    @cached_property
    def links(self) -> LinkRows:
        """The links table by page and target."""
        return read_links(self)


@dataclass(frozen=True)
class Grouped:
    """Rows of a table by page: page p's are `start[p]` to `start[p + 1]` of the table in the order `order`."""

    order: PageIds | None  # None: the table is in that order
    start: IntArray

    def places(self, pages: PageIds) -> PageIds:
        """Return the places, in this order, of the rows of these pages, page by page."""
        return spans(self.start[pages], self.start[pages + 1])

    def take(self, values: Column, places: PageIds | slice) -> Column:
        """Return the values of a column of the table at these places."""
        if self.order is None:
            return values[places]
        return np.asarray(values[self.order[places]])


@dataclass(frozen=True)
class LinkRows:
    """Every link interval of a recording by page and target."""

    rows: Grouped
    day_from: Column
    day_to: Column  # inf: to the end
    internal: BoolArray
    target: IntArray  # a page, -1 for a target outside the recording
    key: TieArray  # the same for the same target


def find(sorted_ids: IntArray, wanted: npt.NDArray[Any]) -> PageIds:
    """Return the place of each wanted number in an ascending array, -1 where it is not."""
    if not len(sorted_ids):
        return np.full(len(wanted), -1, dtype=np.int64)
    at = np.minimum(np.searchsorted(sorted_ids, wanted), len(sorted_ids) - 1)
    return np.where(sorted_ids[at] == wanted, at, -1)


def group(ids: IntArray, page_ids: IntArray, order: PageIds | None) -> Grouped:
    """Find where each page's rows begin in a table whose page numbers ascend in the order `order`."""
    ascending = ids if order is None else ids[order]
    return Grouped(order, np.append(np.searchsorted(ascending, page_ids), len(ids)))


def _in_order(*columns: Column) -> bool:
    """Whether the rows ascend by the columns, the first one first."""
    tied = np.ones(max(len(columns[0]) - 1, 0), dtype=np.bool_)
    for column in columns:
        before, after = column[:-1], column[1:]
        if (tied & (after < before)).any():
            return False
        tied &= after == before
    return True


def read_links(whole: Whole) -> LinkRows:
    """Read the links table and order it so that the intervals of one target on one page are neighbours."""
    tables = whole.tables
    ids = tables.column("links", "page_id")
    target = tables.column("links", "target_page").astype(np.int32)
    inside = target >= 0
    target[inside] = whole.rows_of(target[inside])
    key = target_keys(tables, target)
    rows = group(ids, whole.page_ids, np.argsort(_packed(ids, key)))
    closed = tables.column("links", "day_to")
    everything = slice(None)
    return LinkRows(
        rows,
        rows.take(tables.column("links", "day_from"), everything),
        rows.take(np.where(np.isnan(closed), closed.dtype.type(np.inf), closed), everything),
        rows.take(tables.column("links", "internal"), everything),
        rows.take(target, everything),
        rows.take(key, everything),
    )


def _packed(ids: IntArray, key: TieArray) -> TieArray:
    """Pack page number and target key into one number to sort by: what does not fit of the key is cut off.

    Keys need only differ within a page, and some forty bits do for that; one sort is far cheaper than two.
    """
    bits = np.uint64(64 - int(ids.max(initial=1)).bit_length())
    return np.asarray((ids.astype(np.uint64) << bits) | (mix(key, 0) >> (np.uint64(64) - bits)))


def target_keys(tables: Tables, target: IntArray) -> TieArray:
    """Give every link a number that is the same for the same target: by its page, or by a hash of its address.

    Addresses are hashed because there are millions of them; among a million, two share one of the 2**63 numbers with
    a probability of about 1e-7.
    """
    keys = np.zeros(len(target), dtype=np.uint64)
    if tables.has("links", "target"):
        for first, part in tables.parts("links", "target"):
            keys[first : first + len(part)] = hash_strings(part)
    keys |= np.uint64(1) << np.uint64(63)
    inside = target >= 0
    keys[inside] = target[inside].astype(np.uint64)
    return keys


_step, _scrambled = kernel(fnv1a_step), kernel(scramble)


def hash_strings(strings: pa.Array) -> TieArray:
    """Return a 64-bit hash of each string, 0 for a missing or empty one: FNV-1a, scrambled by splitmix64.

    The strings are hashed where they lie in the Arrow column, without making a Python object of each.
    """
    if pa.types.is_dictionary(strings.type):
        return _of_dictionary(strings)
    wide = strings.cast(pa.large_string())
    _, offsets, content = wide.buffers()
    if offsets is None or content is None:
        return np.zeros(len(wide), dtype=np.uint64)
    ends = np.frombuffer(offsets, dtype=np.int64)[wide.offset : wide.offset + len(wide) + 1]
    return np.asarray(_fnv(ends, np.frombuffer(content, dtype=np.uint8)))


def _of_dictionary(strings: pa.DictionaryArray) -> npt.NDArray[np.uint64]:
    known = np.append(hash_strings(strings.dictionary), np.uint64(0))
    return np.asarray(known[strings.indices.fill_null(len(known) - 1).to_numpy(zero_copy_only=False)])


@kernel
def _fnv(ends: IntArray, content: ByteArray) -> TieArray:
    hashes = np.zeros(len(ends) - 1, dtype=np.uint64)
    for i in range(len(hashes)):
        if ends[i] == ends[i + 1]:
            continue
        h = FNV_START
        for b in range(ends[i], ends[i + 1]):
            h = _step(h, content[b])
        hashes[i] = _scrambled(h)
    return hashes


@dataclass(frozen=True)
class Links:
    """Link intervals by page and target; page p's are the rows `start[p]` to `start[p + 1]`.

    A link is on its page at a time t if day_from <= t < day_to. Targets of one page that were taken away and put
    back have several intervals, which are neighbours.
    """

    start: IntArray
    day_from: FloatArray
    day_to: FloatArray  # inf: to the end
    internal: BoolArray
    target_page: IntArray  # a page of this slice, -1 for any other target
    key: TieArray  # the same for the same target, on whatever page
    places: PageIds  # rows of the ordered table, `Whole.links`

    def __len__(self) -> int:
        return len(self.day_from)

    @property
    def page(self) -> PageIds:
        """The page that links."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    @cached_property
    def again(self) -> BoolArray:
        """Whether a row has the page and target of the row before it."""
        same = np.zeros(len(self), dtype=np.bool_)
        same[1:] = self.key[1:] == self.key[:-1]
        same[self.start[:-1][self.start[:-1] < len(self)]] = False
        return same

    def at(self, at: float) -> BoolArray:
        """Which links are there at a time."""
        return (self.day_from <= at) & (at < self.day_to)


def slice_links(whole: LinkRows, pages: PageIds, start: float, end: float) -> Links:
    """Take the links of these pages that exist at some time from `start` to `end`."""
    places = whole.rows.places(pages)
    there = (whole.day_from[places] <= end) & (whole.day_to[places] > start)
    count = np.append(0, np.cumsum(there))
    ends = np.append(0, np.cumsum(whole.rows.start[pages + 1] - whole.rows.start[pages]))
    places = places[there]
    number = np.full(len(whole.rows.start), -1, dtype=np.int32)  # one more than pages, so that -1 stays -1
    number[pages] = np.arange(len(pages))
    return Links(
        start=count[ends],
        day_from=whole.day_from[places].astype(np.float64),
        day_to=whole.day_to[places].astype(np.float64),
        internal=whole.internal[places],
        target_page=number[whole.target[places]],
        key=whole.key[places],
        places=places,
    )
