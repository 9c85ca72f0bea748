"""Checks on opening a recording: an error is one line with the table, the column, the count and the first row.

Types come from the files' headers; the values of every column that a crawl stands on (numbers of pages and sites,
all times) are read and checked, and so are the lists of hashed words. Texts are not read.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds
from recrawl.errors import RecordingError
from recrawl.recording.schema import SCHEMA, Field, TableSchema
from recrawl.recording.tables import Column, Tables, as_numpy
from recrawl.recording.whole import Whole

BUCKETS = 2**18  # of hashed words, as the schema says
MINUTE = 1 / 1440  # times may be stored as 32-bit floats: 3 seconds of rounding in a year
COUNTS = {
    "pages": ("life", "words"),
    "changes": ("words", "d_words_added", "d_words_removed", "new_internal", "new_external"),
    "terms": ("total",),
}


def validate(tables: Tables) -> Whole:
    """Raise RecordingError for the first thing that is wrong; return the tables, ready to slice."""
    for schema in SCHEMA.values():
        if schema.required or tables.has(schema.name):
            _check_types(tables, schema)
    whole = Whole(tables)
    check = _Check(tables)
    _check_sites(check)
    _check_pages(check)
    _check_changes(check, whole)
    if tables.has("links"):
        _check_links(check, whole)
    for table in ("terms", "texts"):
        if tables.has(table):
            check.column(table, "page_id").known(whole, "page_id of no page")
    if tables.has("terms"):
        _check_terms(tables)
    if tables.has("texts"):
        day = check.column("texts", "day")
        day.finite().refuse(day.values < 0, "negative")
    for table, columns in COUNTS.items():
        for name in columns:
            if tables.has(table, name):
                column = check.column(table, name)
                column.refuse(column.values < 0, "missing or negative")
    return whole


def _check_types(tables: Tables, schema: TableSchema) -> None:
    found = tables.columns(schema.name)
    tables.rows(schema.name)  # columns of different lengths are refused here
    for field in schema.fields:
        if field.name not in found:
            if field.required:
                raise RecordingError(f"{tables.name}: {schema.name} has no column {field.name!r}")
        elif not _fits(found[field.name], field):
            said = f"{schema.name}.{field.name} must be {_article(field.type)}, not {found[field.name]}"
            raise RecordingError(f"{tables.name}: {said}")


def _fits(found: str, field: Field) -> bool:
    if found == "null":  # no value at all, and so no type
        return field.nullable or field.type in ("text", "integers")
    return found == field.type or (field.type == "number" and found == "integer")


def _article(type: str) -> str:
    return type if type in ("text", "integers") else f"{'an' if type[0] in 'aeiou' else 'a'} {type}"


class _Check:
    """Makes columns with their table and name, for error messages."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    def rows(self, table: str) -> int:
        return self.tables.rows(table)

    def column(self, table: str, name: str) -> _Checked:
        return _Checked(self.tables.column(table, name), f"{self.tables.name}: {table}.{name}")


class _Checked:
    """A column whose wrong values are reported with their number and the first row."""

    def __init__(self, values: Column, label: str) -> None:
        self.values = values
        self.label = label

    def refuse(self, error: BoolArray, what: str) -> _Checked:
        """Raise if any row is wrong."""
        if error.any():
            count, first = int(error.sum()), int(error.argmax())
            rows = f"row {first}" if count == 1 else f"{count} of {len(error)} rows, first row {first}"
            raise RecordingError(f"{self.label}: {what} ({rows}: {self.values[first]})")
        return self

    def finite(self) -> _Checked:
        """Raise for NaN, missing or infinite values."""
        return self.refuse(~np.isfinite(self.values), "not a finite number")

    def unique(self) -> _Checked:
        """Raise for missing, negative or repeated numbers."""
        self.refuse(self.values < 0, "missing or negative")
        if (self.values[1:] > self.values[:-1]).all():
            return self
        order = np.argsort(self.values, kind="stable")
        again = np.zeros(len(order), dtype=np.bool_)
        again[order[1:]] = np.diff(self.values[order]) == 0
        return self.refuse(again, "repeated")

    def known(self, whole: Whole, what: str) -> PageIds:
        """Raise for numbers that are no page's; return the pages."""
        pages = whole.rows_of(self.values)
        self.refuse(pages < 0, what)
        return pages


def _check_sites(check: _Check) -> None:
    if not check.rows("sites"):
        raise RecordingError(f"{check.tables.name}: sites has no rows: the recording is empty")
    check.column("sites", "site_id").unique()
    days = check.column("sites", "days")
    days.finite().refuse(days.values <= 0, "not positive")


def _check_pages(check: _Check) -> None:
    if not check.rows("pages"):
        raise RecordingError(f"{check.tables.name}: pages has no rows: the recording is empty")
    check.column("pages", "page_id").unique()
    site = check.column("pages", "site_id")
    site.refuse(~np.isin(site.values, check.column("sites", "site_id").values), "site_id of no site")
    born, died = check.column("pages", "born_day"), check.column("pages", "died_day")
    born.finite()
    born.refuse(born.values > _days_of(check.tables, site.values) + MINUTE, "after the site's last day")
    died.refuse(np.isinf(died.values), "not a finite number")  # NaN: lives on
    died.refuse(died.values <= 0, "not positive: dead before day 0")
    died.refuse(died.values < born.values, "before the page's born_day")
    if check.tables.has("pages", "last_prior_day"):
        prior = check.column("pages", "last_prior_day")
        prior.refuse(prior.values > MINUTE, "after day 0")


def _check_changes(check: _Check, whole: Whole) -> None:
    column, day = check.column("changes", "page_id"), check.column("changes", "day")
    if not len(day.values):
        return
    pages = column.known(whole, "page_id of no page")
    day.finite().refuse(day.values <= 0, "not positive")
    site_days = _days_of(check.tables, whole.page("site_id"))
    day.refuse(day.values > site_days[pages] + MINUTE, "after the site's last day")
    day.refuse(day.values < whole.page("born_day")[pages] - MINUTE, "before the page's born_day")
    day.refuse(day.values > whole.page("died_day")[pages] + MINUTE, "after the page's died_day")


def _check_links(check: _Check, whole: Whole) -> None:
    opened, closed = check.column("links", "day_from"), check.column("links", "day_to")
    if not len(opened.values):
        return
    check.column("links", "page_id").known(whole, "page_id of no page")
    opened.finite().refuse(opened.values < 0, "negative")
    closed.refuse(np.isinf(closed.values), "not a finite number")
    closed.refuse(closed.values < opened.values, "before its day_from")
    target = check.column("links", "target_page")
    inside = np.flatnonzero(target.values >= 0)
    unknown = inside[whole.rows_of(target.values[inside]) < 0]
    target.refuse(
        np.isin(np.arange(len(target.values)), unknown) if len(unknown) else unknown > 0, "page_id of no page"
    )


def _check_terms(tables: Tables) -> None:
    """Raise for lists of buckets and counts that are not equally long, and for values that cannot be."""
    parts = zip(tables.parts("terms", "bucket"), tables.parts("terms", "count"), strict=True)
    for (first, part), (_, beside) in parts:
        lengths, buckets = _lists_of(part)
        others, counts = _lists_of(beside)
        unequal = np.flatnonzero(lengths != others)
        if len(unequal):
            row = int(unequal[0])
            said = f"terms.count: not as long as bucket (row {first + row}: {others[row]} and {lengths[row]} values)"
            raise RecordingError(f"{tables.name}: {said}")
        for name, values, most in (("bucket", buckets, BUCKETS - 1), ("count", counts, None)):
            wrong = (values < 0) if most is None else (values < 0) | (values > most)
            if wrong.any():
                value = int(wrong.argmax())
                row = first + int(np.searchsorted(np.cumsum(lengths), value, side="right"))
                what = "missing or negative" if most is None else f"not from 0 to {most}"
                raise RecordingError(f"{tables.name}: terms.{name}: {what} (row {row}: {values[value]})")


def _lists_of(part: pa.Array) -> tuple[IntArray, IntArray]:
    """Return how long the lists are, 0 for a missing one, and their values."""
    if pa.types.is_null(part.type):
        return np.zeros(len(part), dtype=np.int64), np.empty(0, dtype=np.int64)
    lengths = np.maximum(as_numpy(pa.chunked_array([part.value_lengths()])), 0)
    return lengths, as_numpy(pa.chunked_array([part.flatten()]))


def _days_of(tables: Tables, site_ids: IntArray) -> FloatArray:
    """How many days the site of each row was watched."""
    ids = tables.column("sites", "site_id")
    order = np.argsort(ids)
    return np.asarray(tables.column("sites", "days")[order][np.searchsorted(ids[order], site_ids)])
