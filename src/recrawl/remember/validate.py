"""Checks on opening a recording: what is wrong is said in one line, with the table and the column."""

from __future__ import annotations

from recrawl.remember.tables import Tables


def validate(tables: Tables) -> None:
    """Raise RecordingError for the first thing that is wrong."""
    for table, column in (("sites", "site_id"), ("pages", "page_id"), ("changes", "page_id")):
        tables.column(table, column)
