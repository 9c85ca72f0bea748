"""The newest copy of every page as a corpus, for search and language models: texts, title, language, dates, hash.

Pages are read one after the other and written as they come, in constant memory. The folder holds what the format says,
corpus.json with the counts, and gone.jsonl with the pages that are no longer there, so that a reader can delete them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from recrawl.deliver.page_files import front_matter, page_path, write_page
from recrawl.deliver.parquet_sink import write_part
from recrawl.errors import InputError, OutputError, StoreError
from recrawl.live.bodies import Bodies
from recrawl.live.feed import day_since, iso
from recrawl.live.feed_content import clean
from recrawl.live.store_feed import CorpusRow, FeedStore
from recrawl.see.markdown import markdown_of
from recrawl.see.page import see_page

FORMATS = ("parquet", "jsonl", "files", "markdown")
PART_ROWS, PART_BYTES = 10_000, 32 << 20  # per Parquet file
_AT_ONCE = 500  # pages looked up at once
_LANGUAGE = re.compile(
    rb"""(?i)<html\b[^<>]{0,2000}?\slang\s*=\s*["']?([A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3})["'\s>]"""
)

Row = dict[str, Any]
Write = Callable[[Row], None]


def export_corpus(crawl: Path, dest: Path, form: str, since: str | None = None, *, force: bool = False) -> str:
    """Write the newest copy of every page; with `since` only what changed or went since a time or span."""
    if form not in FORMATS:
        raise InputError(f"unknown format {form!r}: there are {', '.join(FORMATS)}")
    not_before = float("-inf") if since is None else day_since(since)
    store = FeedStore(crawl)
    _check(dest, force)
    part = dest.absolute().with_name(f".{dest.absolute().name}.{os.getpid()}.part")
    try:
        part.mkdir(parents=True)
        counts = _write_all(store, Bodies(crawl / "warc"), part, form, not_before)
        (part / "corpus.json").write_text(json.dumps({"format": form, "since": since, **counts}, indent=2) + "\n")
        if dest.exists():
            shutil.rmtree(dest)
        part.rename(dest)
    except OSError as error:
        raise OutputError(f"{dest} cannot be written: {error.strerror}") from None
    finally:
        store.close()
        shutil.rmtree(part, ignore_errors=True)
    return f"{counts['pages']:,} pages, {counts['gone']:,} gone"


def _check(dest: Path, force: bool) -> None:
    """Refuse to replace anything but an earlier corpus."""
    if not dest.exists() or (dest.is_dir() and not any(dest.iterdir())):
        return
    if not dest.is_dir() or not (dest / "corpus.json").is_file():
        raise OutputError(f"{dest} exists and is not an earlier corpus; choose another folder")
    if not force:
        raise OutputError(f"{dest} exists; add --force to replace it")


def _write_all(store: FeedStore, bodies: Bodies, folder: Path, form: str, not_before: float) -> dict[str, int]:
    counts = {"pages": 0, "gone": 0}
    with ExitStack() as stack:
        write = _writer(form, folder, stack)
        gone = stack.enter_context((folder / "gone.jsonl").open("w"))
        for known in _pages(store):
            if known.gone:
                if known.visited_at >= not_before:
                    gone.write(json.dumps({"url": known.url, "gone": iso(known.visited_at)}) + "\n")
                    counts["gone"] += 1
            elif known.changed_at >= not_before:
                write(_row(known, bodies))
                counts["pages"] += 1
    return counts


def _pages(store: FeedStore) -> Iterator[CorpusRow]:
    page = -1
    while rows := store.corpus_after(page, _AT_ONCE):
        yield from rows
        page = rows[-1].page


def _row(known: CorpusRow, bodies: Bodies) -> Row:
    """Return a page with its texts; where there is no text, why."""
    row: Row = {
        "url": known.url,
        "title": known.title or None,
        "language": None,
        "text": None,
        "markdown": None,
        "first_seen": iso(known.first_seen_at),
        "changed": iso(known.changed_at),
        "visited": iso(known.visited_at),
        "digest": known.digest.hex(),
        "content_type": None,
        "words": known.words,
        "why": None,
    }
    if known.place is None:
        return row | {"why": "noarchive"}
    try:
        headers, body = bodies.answer(known.place)
    except StoreError:
        return row | {"why": "missing"}
    page = see_page(body, known.url, headers)
    found = _LANGUAGE.search(body[:8192])
    return row | {
        "title": clean(page.title) or None,
        "language": found[1].decode().lower() if found else None,
        "text": clean(page.main_text),
        "markdown": clean(markdown_of(page, body)),
        "content_type": clean(page.content_type)[:200] or None,
    }


def _writer(form: str, folder: Path, stack: ExitStack) -> Write:
    if form == "jsonl":
        file = stack.enter_context((folder / "corpus.jsonl").open("w"))
        return lambda row: print(json.dumps(row), file=file)
    if form == "parquet":
        parts = _Parts(folder)
        stack.callback(parts.write)
        return parts.add
    suffix, name = (".md", "markdown") if form == "markdown" else (".txt", "text")

    def write(row: Row) -> None:
        head = {key: value for key, value in row.items() if key not in ("text", "markdown")}
        if row[name] is not None:
            text = front_matter(head) + row[name] if suffix == ".md" else row[name]
            write_page(folder, page_path(row["url"], suffix), text + "\n", sync=False)

    return write


class _Parts:
    """Rows collected into Parquet files of bounded size."""

    def __init__(self, folder: Path) -> None:
        import pyarrow as pa

        texts = ("url", "title", "language", "text", "markdown", "first_seen", "changed", "visited", "digest")
        fields = [(name, pa.string()) for name in (*texts, "content_type")]
        self.schema = pa.schema([*fields, ("words", pa.int64()), ("why", pa.string())])
        self.folder = folder
        self.rows: list[Row] = []
        self.size, self.count = 0, 0

    def add(self, row: Row) -> None:
        self.rows.append(row)
        self.size += len(row["text"] or "") + len(row["markdown"] or "")
        if len(self.rows) >= PART_ROWS or self.size >= PART_BYTES:
            self.write()

    def write(self) -> None:
        if self.rows or not self.count:
            write_part(self.folder / f"part-{self.count:05d}.parquet", self.rows, self.schema)
            self.rows, self.size, self.count = [], 0, self.count + 1
