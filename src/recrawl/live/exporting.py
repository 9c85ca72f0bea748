"""A crawl's history for other tools: a recording, CSV tables, or WARC files of its bodies."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from recrawl.errors import OutputError
from recrawl.live.bodies import Bodies
from recrawl.live.directory import CrawlDirectory
from recrawl.live.store import Store
from recrawl.live.store_history import PageFilter
from recrawl.live.views import links
from recrawl.plain_text import shown
from recrawl.report.result_folder import check_folder, write_folder
from recrawl.spans import dated

CSV_FILES = ("pages.csv", "visits.csv", "links.csv")


def write_csv(rows: list[dict[str, Any]], file: TextIO) -> None:
    """Write rows as CSV in which no spreadsheet takes a cell for a formula."""
    writer = csv.writer(file, lineterminator="\n")
    if rows:
        writer.writerow(rows[0])
    writer.writerows([_cell(value) for value in row.values()] for row in rows)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return str(value)
    cell = shown(value)
    return "'" + cell if cell.startswith(("=", "+", "-", "@", "|", "%")) else cell


def export_recording(directory: CrawlDirectory, store: Store, folder: Path, force: bool) -> str:
    """Write the tables of a recording, with the texts of the bodies that were kept."""
    from recrawl.live.contents_export import write_texts
    from recrawl.live.history_export import cycles_of, to_tables
    from recrawl.recording.write import new_recording, write_tables

    tables = to_tables(store)
    pages, cycles = tables["pages"]["page_id"], cycles_of(store)
    with new_recording(folder, force=force) as temporary:
        write_tables(tables, temporary)
        known = set(pages.tolist())
        texts = write_texts(store, Bodies(directory.warc), cycles, known, temporary / "texts.parquet")
    return f"{len(pages):,} pages, {len(tables['changes']['day']):,} changes, {texts:,} texts"


def export_csv(directory: CrawlDirectory, store: Store, folder: Path, force: bool) -> str:
    """Write pages.csv, visits.csv and links.csv."""
    check_folder(folder, force=force, may_replace=CSV_FILES)
    tables = (store.pages(PageFilter(sort="url")), store.all_visits(), links(store))
    files = {}
    for name, rows in zip(CSV_FILES, tables, strict=True):
        text = io.StringIO()
        write_csv(dated(rows), text)
        files[name] = text.getvalue().encode()
    write_folder(folder, files)
    return ", ".join(f"{len(rows):,} {name[:-4]}" for name, rows in zip(CSV_FILES, tables, strict=True))


def export_warc(directory: CrawlDirectory, store: Store, folder: Path, force: bool) -> str:
    """Write gzipped WARC files of every version that the store knows; digests are verified."""
    bodies, names, count = Bodies(directory.warc), set[str](), 0
    check_folder(folder, force=force, may_replace=[p.name for p in directory.warc.glob("*.warc.gz")])
    part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    try:
        part.mkdir(parents=True)
        for name, offset, length in store.bodies():
            with (part / name).open("ab") as file:
                file.write(bodies.record((name, offset, length)))
            names.add(name)
            count += 1
        _drop(folder)
        part.rename(folder)
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error.strerror}") from None
    finally:
        _drop(part)
    return f"{count:,} records in {len(names)} files"


def _drop(folder: Path) -> None:
    if folder.is_dir():
        for file in folder.glob("*.warc.gz"):
            file.unlink()
        folder.rmdir()


EXPORTS: dict[str, Callable[[CrawlDirectory, Store, Path, bool], str]] = {
    "recording": export_recording,
    "csv": export_csv,
    "warc": export_warc,
}
