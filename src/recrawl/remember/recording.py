"""A recording: the exact change history of a set of pages, read by column and sliced without copying the files.

The tables are those of docs/recording.md: sites, pages and changes, and where present links, terms and texts.
Times are days since each site's window began. A recording covers `(start, end]`; pages are dense ids 0..len-1 in
the order of `page_id`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds, mix
from recrawl.errors import InputError, RecordingError
from recrawl.remember.tables import ArrayTables, Column, ParquetTables, Tables


class Recording:
    """Pages of a recording within a time window. Slices (`window`, `sample`, ...) return new recordings."""

    def __init__(self, tables: Tables, rows: PageIds, start: float, end: float) -> None:
        self.tables = tables
        self.rows = rows  # rows of the pages table, ordered by page_id
        self.start = start
        self.end = end

    @classmethod
    def open(cls, folder: str | Path) -> Recording:
        """Open and validate a folder of Parquet tables."""
        from recrawl.remember.validate import validate  # validation reads whole columns of a recording

        path = Path(folder)
        if not path.is_dir():
            raise RecordingError(f"{path} is not a folder")
        tables = ParquetTables(path)
        validate(tables)
        return cls._whole(tables)

    @classmethod
    def from_arrays(cls, tables: Mapping[str, Mapping[str, Column]], name: str = "arrays") -> Recording:
        """Make a recording of arrays, by the same schema."""
        from recrawl.remember.validate import validate

        held = ArrayTables(tables, name)
        validate(held)
        return cls._whole(held)

    @classmethod
    def _whole(cls, tables: Tables) -> Recording:
        rows = np.argsort(tables.column("pages", "page_id"), kind="stable")
        return cls(tables, rows, 0.0, float(tables.column("sites", "days").max()))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def name(self) -> str:
        """Where it came from."""
        return self.tables.name

    # -- columns --------------------------------------------------------------------------------------------------

    def page(self, column: str) -> Column:
        """Return a column of the pages table for the pages of this slice."""
        return self.tables.column("pages", column)[self.rows]

    @cached_property
    def page_ids(self) -> IntArray:
        """The recording's own page numbers, ascending."""
        return np.asarray(self.page("page_id"), dtype=np.int64)

    @cached_property
    def site(self) -> IntArray:
        """Each page's site as a dense number: a row of the sites table."""
        ids = self.tables.column("sites", "site_id")
        order = np.argsort(ids)
        return np.asarray(order[np.searchsorted(ids, self.page("site_id"), sorter=order)], dtype=np.int32)

    @cached_property
    def born(self) -> FloatArray:
        """Day of creation; at or before `start` for a page that exists when the window opens."""
        return self.page("born_day").astype(np.float64)

    @cached_property
    def died(self) -> FloatArray:
        """Day of deletion, inf for a page that lives on."""
        died = self.page("died_day").astype(np.float64)
        return np.where(np.isnan(died), np.inf, died)

    def rows_of(self, page_ids: IntArray) -> PageIds:
        """Dense ids of recording page numbers; -1 for pages outside this slice."""
        if not len(self):
            return np.full(len(page_ids), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.page_ids, page_ids), len(self) - 1)
        return np.where(self.page_ids[at] == page_ids, at, -1)

    @cached_property
    def _change_rows(self) -> tuple[PageIds, IntArray]:
        """Rows of the changes table in this slice, by page and day, and where each page's rows begin."""
        pages = self.rows_of(self.tables.column("changes", "page_id"))
        day = self.tables.column("changes", "day")
        keep = np.flatnonzero((pages >= 0) & (day > self.start) & (day <= self.end))
        pages, day = pages[keep], day[keep]
        if (np.diff(pages) < 0).any() or (np.diff(day)[np.diff(pages) == 0] < 0).any():
            order = np.lexsort((day, pages))
            keep, pages = keep[order], pages[order]
        return keep, np.searchsorted(pages, np.arange(len(self) + 1))

    def change(self, column: str) -> Column:
        """Return a column of the changes table, ordered by page and day."""
        return self.tables.column("changes", column)[self._change_rows[0]]

    @property
    def change_start(self) -> IntArray:
        """Page p's changes are the rows `change_start[p]` to `change_start[p + 1]` of `change(...)`."""
        return self._change_rows[1]

    @cached_property
    def change_day(self) -> FloatArray:
        """Exact times of all changes, ordered by page and day."""
        return self.change("day").astype(np.float64)

    # -- slices ---------------------------------------------------------------------------------------------------

    def keep(self, mask: BoolArray) -> Recording:
        """Return the pages where `mask` holds."""
        return Recording(self.tables, self.rows[mask], self.start, self.end)

    def window(self, start: float, end: float) -> Recording:
        """Return the days `(start, end]`, with the pages that live in it, of the sites that were watched all along."""
        if not self.start <= start < end <= self.end + 1e-6:
            raise InputError(f"days {start:g} to {end:g} are not within the recording's {self.start:g} to {self.end:g}")
        watched = self.tables.column("sites", "days")[self.site] >= end - 0.5
        mask = watched & (self.born < end) & (self.died > start)
        return Recording(self.tables, self.rows[mask], start, end)

    def sample(self, pages: int, seed: int) -> Recording:
        """Return `pages` pages drawn at random by their own numbers."""
        if pages <= 0 or pages > len(self):
            raise InputError(f"cannot draw {pages} pages from {len(self)}")
        draw = mix(self.page_ids, seed)
        return self.keep(draw <= np.partition(draw, pages - 1)[pages - 1])

    def fixed(self) -> Recording:
        """Return the pages that live through the whole window."""
        return self.keep((self.born <= self.start) & (self.died > self.end))

    def active(self) -> Recording:
        """Return the pages that had changed before the window began; never by the future."""
        return self.keep(self.prior_changes() > 0)

    def prior_changes(self) -> IntArray:
        """Count each page's known changes before the window."""
        prior = np.maximum(self.page("prior_changes"), 0).astype(np.int64)
        pages = self.rows_of(self.tables.column("changes", "page_id"))
        earlier = (pages >= 0) & (self.tables.column("changes", "day") <= self.start)
        return prior + np.bincount(pages[earlier], minlength=len(self))

    def folds(self, count: int, seed: int) -> list[Recording]:
        """Split the pages at random into `count` parts of equal size (up to one page)."""
        fold = np.empty(len(self), dtype=np.int64)
        fold[np.argsort(mix(self.page_ids, seed))] = np.arange(len(self)) % count
        return [self.keep(fold == i) for i in range(count)]
