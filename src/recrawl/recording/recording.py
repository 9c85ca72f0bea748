"""A recording: the exact change history of a set of pages, read by column and sliced without copying the files.

The tables are those of docs/recording.md: sites, pages and changes, and where present links, terms and texts.
Times are days since each site's window began. A recording covers `(start, end]`; pages are dense ids 0..len-1 in
the order of `page_id`. Slices are recordings of fewer pages or days: dense ids are always those of the slice at hand.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds
from recrawl.errors import InputError, RecordingError, UnknownNameError
from recrawl.hashing import mix
from recrawl.recording.contents import Terms, Texts, read_terms, read_texts
from recrawl.recording.tables import ArrayTables, Column, ParquetTables, Tables
from recrawl.recording.validate import validate
from recrawl.recording.whole import Links, Whole, find, slice_links


class Recording:
    """Pages of a recording within a time window. Slices (`window`, `sample`, ...) return new recordings."""

    def __init__(self, tables: Whole | Tables, rows: PageIds, start: float, end: float) -> None:
        self.whole = tables if isinstance(tables, Whole) else Whole(tables)  # shared by all slices
        self.rows = rows  # which pages of the whole, ascending
        self.start = start
        self.end = end
        self._counts: dict[str, IntArray] = {}

    @classmethod
    def open(cls, folder: str | Path) -> Recording:
        """Open and validate a folder of Parquet tables."""
        path = Path(folder)
        if not path.exists():
            raise RecordingError(f"{path} does not exist")
        if not path.is_dir():
            raise RecordingError(f"{path} is not a folder of Parquet tables")
        return cls._whole(ParquetTables(path))

    @classmethod
    def from_arrays(cls, tables: Mapping[str, Mapping[str, Column]], name: str = "arrays") -> Recording:
        """Make a recording of arrays, by the same schema; a missing value is NaN in numbers and -1 in integers."""
        return cls._whole(ArrayTables(tables, name))

    @classmethod
    def _whole(cls, tables: Tables) -> Recording:
        whole = validate(tables)
        return cls(whole, np.arange(len(whole.page_ids)), 0.0, float(tables.column("sites", "days").max()))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def name(self) -> str:
        """Where it came from."""
        return self.tables.name

    @property
    def tables(self) -> Tables:
        """The tables as they are, of all pages and days."""
        return self.whole.tables

    # -- sites ----------------------------------------------------------------------------------------------------

    @cached_property
    def site_names(self) -> list[str]:
        """The name of every site of the whole recording: a row of the sites table each."""
        if self.tables.has("sites", "repo"):
            return [str(name) for name in self.tables.column("sites", "repo")]
        return [str(number) for number in self.tables.column("sites", "site_id")]

    @cached_property
    def site_kinds(self) -> list[str]:
        """The kind of every site of the whole recording; empty where not known."""
        if self.tables.has("sites", "kind"):
            return [str(kind) for kind in self.tables.column("sites", "kind")]
        return [""] * self.tables.rows("sites")

    @cached_property
    def site_days(self) -> FloatArray:
        """How long every site of the whole recording was watched."""
        return self.tables.column("sites", "days").astype(np.float64)

    # -- pages ----------------------------------------------------------------------------------------------------

    def has_page(self, column: str) -> bool:
        """Whether the pages table has this column."""
        return self.tables.has("pages", column)

    def page(self, column: str) -> Column:
        """Return a column of the pages table for the pages of this slice."""
        return self.whole.page(column)[self.rows]

    @cached_property
    def page_ids(self) -> IntArray:
        """The recording's own page numbers, ascending."""
        return self.whole.page_ids[self.rows].astype(np.int64)

    @cached_property
    def site(self) -> IntArray:
        """Each page's site as a dense number: a row of the sites table."""
        return self.whole.site[self.rows]

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
        return find(self.page_ids, page_ids)

    # -- changes --------------------------------------------------------------------------------------------------

    @cached_property
    def _change_rows(self) -> tuple[PageIds | slice, IntArray]:
        """This slice's rows of the ordered changes table, and where each page's begin."""
        changes = self.whole.changes
        if len(self) == len(self.whole.page_ids) and self._covers_all_days:
            return slice(None), changes.start
        places = changes.places(self.rows)
        day = changes.take(self.tables.column("changes", "day"), places)
        inside = (day > self.start) & (day <= self.end)
        count = np.append(0, np.cumsum(inside))
        ends = np.append(0, np.cumsum(changes.start[self.rows + 1] - changes.start[self.rows]))
        return places[inside], count[ends]

    @property
    def _covers_all_days(self) -> bool:
        return self.start <= 0 and self.end >= float(self.site_days.max())

    def has_change(self, column: str) -> bool:
        """Whether the changes table has this column."""
        return self.tables.has("changes", column)

    def change(self, column: str) -> Column:
        """Return a column of the changes table, ordered by page and day."""
        return self.whole.changes.take(self.tables.column("changes", column), self._change_rows[0])

    def change_counts(self, column: str) -> IntArray:
        """Return a column of counts of the changes table; cached."""
        if column not in self._counts:
            self._counts[column] = self.change(column).astype(np.int32, copy=False)
        return self._counts[column]

    @property
    def change_start(self) -> IntArray:
        """Page p's changes are the rows `change_start[p]` to `change_start[p + 1]` of `change(...)`."""
        return self._change_rows[1]

    @cached_property
    def change_day(self) -> FloatArray:
        """Exact times of all changes, ordered by page and day."""
        return self.change("day").astype(np.float64)

    @property
    def change_page(self) -> PageIds:
        """The page of every change."""
        return np.repeat(np.arange(len(self)), np.diff(self.change_start))

    # -- links and contents, where present ------------------------------------------------------------------------

    @property
    def has_links(self) -> bool:
        """Whether there is a table of links."""
        return self.tables.has("links")

    @cached_property
    def links(self) -> Links:
        """The links of this slice's pages that exist at some time from `start` to `end`; read when first asked for."""
        self._demand("links")
        return slice_links(self.whole.links, self.rows, self.start, self.end)

    @cached_property
    def terms(self) -> Terms:
        """Hashed words of first and last versions; read when first asked for."""
        self._demand("terms")
        return read_terms(self.whole, self.rows)

    def texts(self) -> Texts:
        """Read the texts of all versions up to `end`."""
        self._demand("texts")
        return read_texts(self.whole, self.rows, self.end)

    def _demand(self, table: str) -> None:
        if not self.tables.has(table):
            raise RecordingError(f"{self.name} has no table of {table}")

    # -- slices ---------------------------------------------------------------------------------------------------

    def keep(self, mask: BoolArray) -> Recording:
        """Return the pages where `mask` holds."""
        return Recording(self.whole, self.rows[mask], self.start, self.end)

    def window(self, start: float, end: float) -> Recording:
        """Return the days `(start, end]`, with the pages that live in it, of the sites that were watched all along."""
        if not self.start <= start < end <= self.end + 1e-6:
            raise InputError(f"days {start:g} to {end:g} are not within the recording's {self.start:g} to {self.end:g}")
        watched = self.site_days[self.site] >= end - 0.5
        mask = watched & (self.born < end) & (self.died > start)
        return Recording(self.whole, self.rows[mask], start, end)

    def sites(self, names: Iterable[str]) -> Recording:
        """Return the pages of the sites of these names (or numbers)."""
        numbers = {str(number): row for row, number in enumerate(self.tables.column("sites", "site_id"))}
        rows = [[numbers[name]] if name in numbers else _rows_of(name, self.site_names, "site") for name in names]
        return self.keep(np.isin(self.site, np.concatenate([[], *rows])))

    def kinds(self, names: Iterable[str]) -> Recording:
        """Return the pages of the sites of these kinds."""
        rows = [_rows_of(name, self.site_kinds, "kind of site") for name in names]
        return self.keep(np.isin(self.site, np.concatenate([[], *rows])))

    def sample(self, pages: int, seed: int) -> Recording:
        """Return `pages` pages drawn at random by their own numbers."""
        if pages <= 0 or pages > len(self):
            raise InputError(f"cannot draw {pages} pages from {len(self)}")
        draw = mix(self.page_ids, seed)
        return self.keep(draw <= np.partition(draw, pages - 1)[pages - 1])

    def fixed(self) -> Recording:
        """Return the pages that live through the whole window."""
        return self.keep((self.born <= self.start) & (self.died > self.end))

    def active(self, within: float | None = None) -> Recording:
        """Return the pages that had changed before the window began, or in so many days before it.

        Later changes do not matter.
        """
        if within is None:
            return self.keep(self.prior_changes() > 0)
        return self.keep(self._changes_until(self.start) > self._changes_until(self.start - within))

    def _changes_until(self, day: float) -> IntArray:
        """Count each page's changes in the recording up to a day."""
        changes = self.whole.changes
        days = changes.take(self.tables.column("changes", "day"), slice(None))
        earlier = np.append(0, np.cumsum(days <= day))
        return np.asarray(earlier[changes.start[self.rows + 1]] - earlier[changes.start[self.rows]], dtype=np.int64)

    def prior_changes(self) -> IntArray:
        """Count each page's known changes before the window."""
        count = self._changes_until(self.start)
        if self.has_page("prior_changes"):
            count += np.maximum(self.page("prior_changes"), 0)
        return count

    def folds(self, count: int, seed: int) -> list[Recording]:
        """Split the pages at random into `count` parts of equal size (up to one page)."""
        fold = np.empty(len(self), dtype=np.int64)
        fold[np.argsort(mix(self.page_ids, seed))] = np.arange(len(self)) % count
        return [self.keep(fold == i) for i in range(count)]


def _rows_of(name: str, names: list[str], what: str) -> list[int]:
    """Return where a name stands; case does not matter."""
    lower = [known.lower() for known in names]
    found = [row for row, known in enumerate(lower) if known == name.lower()]
    if not found:
        near = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.4)
        hint = f"; did you mean {names[lower.index(near[0])]!r}?" if near else ""
        raise UnknownNameError(f"unknown {what} {name!r}{hint}")
    return found
