"""recrawl export: a crawl's history for other tools."""

from __future__ import annotations

import argparse
import io
import os
from pathlib import Path
from typing import Any

from recrawl.cli.crawl_options import add_crawl, reading
from recrawl.cli.output import check_folder, write_folder
from recrawl.errors import OutputError

CSV_FILES = ("pages.csv", "visits.csv", "links.csv")
EXAMPLES = """examples:
  recrawl export -C news recording history       then: recrawl compare history
  recrawl export -C news csv tables              pages.csv, visits.csv, links.csv
  recrawl export -C news warc bodies             gzipped WARC files, digests verified
"""


def add(verbs: Any) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "export",
        help="write a crawl's history as a recording, CSV or WARC",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_crawl(parser)
    parser.add_argument("what", choices=("recording", "csv", "warc"))
    parser.add_argument("dest", type=Path, metavar="DEST", help="a folder to make")
    parser.add_argument("--force", action="store_true", help="replace what an earlier export left there")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Write one of the three."""
    {"recording": _recording, "csv": _csv, "warc": _warc}[args.what](args)


def _recording(args: argparse.Namespace) -> None:
    from recrawl.live.history_export import to_tables
    from recrawl.recording.write import write_recording

    with reading(args) as (_, store):
        tables = to_tables(store)
    write_recording(tables, args.dest, force=args.force)
    print(f"{args.dest}: {len(tables['pages']['page_id']):,} pages, {len(tables['changes']['day']):,} changes")


def _csv(args: argparse.Namespace) -> None:
    from recrawl.cli.verb_pages import write_csv
    from recrawl.live.views import links

    check_folder(args.dest, force=args.force, may_replace=CSV_FILES)
    with reading(args) as (_, store):
        tables = (store.pages(sort="url", limit=-1), store.all_visits(), links(store))
    files = {}
    for name, rows in zip(CSV_FILES, tables, strict=True):
        text = io.StringIO()
        write_csv(rows, text)
        files[name] = text.getvalue().encode()
    write_folder(args.dest, files)
    print(f"{args.dest}: " + ", ".join(f"{len(r):,} {n[:-4]}" for n, r in zip(CSV_FILES, tables, strict=True)))


def _warc(args: argparse.Namespace) -> None:
    from recrawl.live.bodies import Bodies

    with reading(args) as (directory, store):
        bodies, names, count = Bodies(directory.warc), set[str](), 0
        check_folder(args.dest, force=args.force, may_replace=[p.name for p in directory.warc.glob("*.warc.gz")])
        part = args.dest.with_name(f".{args.dest.name}.{os.getpid()}.part")
        try:
            part.mkdir(parents=True)
            for name, offset, length in store.bodies():
                with (part / name).open("ab") as file:
                    file.write(bodies.record((name, offset, length)))
                names.add(name)
                count += 1
            _put(part, args.dest)
        except OSError as wrong:
            raise OutputError(f"{args.dest} cannot be written: {wrong.strerror}") from None
        finally:
            _drop(part)
    print(f"{args.dest}: {count:,} records in {len(names)} files")


def _put(part: Path, dest: Path) -> None:
    _drop(dest)
    part.rename(dest)


def _drop(folder: Path) -> None:
    if folder.is_dir():
        for file in folder.glob("*.warc.gz"):
            file.unlink()
        folder.rmdir()
