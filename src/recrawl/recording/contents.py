"""The words of the pages, where a recording has them: hashed terms, and the texts of all versions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds, spans
from recrawl.recording.tables import Column, Tables, as_numpy
from recrawl.recording.whole import Whole


@dataclass(frozen=True)
class Terms:
    """Hashed words of versions, by page; version i's are `start[i]` to `start[i + 1]` of `bucket` and `count`.

    Rows with `last` show a page's last version: to a crawl that is the future.
    """

    page: PageIds
    last: BoolArray
    total: IntArray  # words of the version in all
    start: IntArray
    bucket: IntArray
    count: IntArray

    def __len__(self) -> int:
        return len(self.page)


@dataclass(frozen=True)
class Texts:
    """Texts of versions, by page and day."""

    page: PageIds
    day: FloatArray
    text: Column

    def __len__(self) -> int:
        return len(self.page)


def read_terms(whole: Whole, pages: PageIds) -> Terms:
    """Read the terms of these pages."""
    tables = whole.tables
    page, wanted = _pages_of(whole, "terms", pages)
    last = tables.column("terms", "when")[wanted] == "end"
    order = np.lexsort((last, page[wanted]))
    rows = wanted[order]
    lengths, bucket = _lists(tables, "terms", "bucket", rows)
    _, count = _lists(tables, "terms", "count", rows)
    start = np.append(0, np.cumsum(lengths))
    return Terms(page[rows], last[order], tables.column("terms", "total")[rows], start, bucket, count)


def read_texts(whole: Whole, pages: PageIds, end: float) -> Texts:
    """Read the texts of these pages' versions up to `end`."""
    page, wanted = _pages_of(whole, "texts", pages)
    day = whole.tables.column("texts", "day").astype(np.float64)
    wanted = wanted[day[wanted] <= end]
    rows = wanted[np.lexsort((day[wanted], page[wanted]))]
    text = np.empty(len(day), dtype=np.object_)
    chosen = np.zeros(len(day), dtype=np.bool_)
    chosen[rows] = True
    for first, part in whole.tables.parts("texts", "text", chosen):
        for row in np.flatnonzero(chosen[first : first + len(part)]):
            text[first + row] = part[int(row)].as_py()
    return Texts(page[rows], day[rows], text[rows])


def _pages_of(whole: Whole, table: str, pages: PageIds) -> tuple[PageIds, PageIds]:
    """Return the page of every row of the table, as numbered in the slice, and the rows that are in the slice."""
    number = np.full(len(whole.page_ids), -1, dtype=np.int64)
    number[pages] = np.arange(len(pages))
    page = number[whole.rows_of(whole.tables.column(table, "page_id"))]
    return page, np.flatnonzero(page >= 0)


def _lists(tables: Tables, table: str, column: str, rows: PageIds) -> tuple[IntArray, IntArray]:
    """Return the lengths of the lists in these rows, and their values one after another."""
    chosen = np.zeros(tables.rows(table), dtype=np.bool_)
    chosen[rows] = True
    first_value = np.zeros(len(chosen), dtype=np.int64)
    length = np.zeros(len(chosen), dtype=np.int64)
    values: list[IntArray] = [np.empty(0, dtype=np.int64)]
    held = 0
    for first, part in tables.parts(table, column, chosen):
        counts = np.maximum(as_numpy(pa.chunked_array([part.value_lengths()])), 0)  # a missing list has length -1
        length[first : first + len(part)] = counts
        first_value[first : first + len(part)] = held + np.cumsum(counts) - counts
        values.append(as_numpy(pa.chunked_array([part.flatten()])))
        held += int(counts.sum())
    places = spans(first_value[rows], first_value[rows] + length[rows])
    return length[rows], np.concatenate(values)[places]
