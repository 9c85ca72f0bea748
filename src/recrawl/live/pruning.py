"""Retention: bodies of old versions are dropped, and the WARC files that held them rewritten or deleted whole.

First the store forgets where dropped bodies are. Then, file by file, the records that are still referenced are copied
to a new file, which is synced; one transaction lets the store point there; then the old file is deleted. A crash at any
moment leaves files that nobody points to, never a pointer without its record; the next prune clears them away. The
newest body of a page is the copy that the next visit is compared with: it is always kept. What visits found, digests
and counts are kept, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recrawl.live.bodies import Bodies
from recrawl.live.config import KeepSettings
from recrawl.live.store import Store

WASTED = 0.2  # of a file: a run that prunes as it goes leaves files with less than this


@dataclass
class Pruned:
    """What a prune did."""

    versions: int = 0  # whose bodies were dropped
    freed_bytes: int = 0
    rewritten: int = 0  # files
    deleted: int = 0  # files of which nothing was left
    kept_bytes: int = 0

    def line(self) -> str:
        """Say it."""
        files = f"{self.rewritten} WARC files rewritten, {self.deleted} deleted"
        return (
            f"dropped {self.versions:,} bodies; {files}; {self.freed_bytes / 1e6:,.1f} MB freed, "
            f"{self.kept_bytes / 1e6:,.1f} MB kept"
        )


def prune(store: Store, folder: Path, keep: KeepSettings, *, busy: str = "", wasted: float = 0.0) -> Pruned:
    """Drop bodies beyond the limits; the caller holds the crawl's lock.

    `busy` is a file that is being written to and stays as it is. Files are rewritten where more than a share of
    `wasted` of them is not referenced.
    """
    done = Pruned()
    with store.transaction():
        done.versions = store.drop_bodies(keep.versions, keep.max_bytes)
    bodies = Bodies(folder)
    if not busy:
        _rotate(bodies, store)
    ends = store.body_ends()
    files = sorted(folder.glob("*.warc.gz"))
    for path in [file for file in files if file.name != busy]:
        size, used = path.stat().st_size, store.bytes_in(path.name)
        if path.name not in ends:
            if busy or path != files[-1]:  # the newest, empty one is where the next run writes
                path.unlink()
                done.deleted, done.freed_bytes = done.deleted + 1, done.freed_bytes + size
        elif size - used > wasted * size:
            _rewrite(bodies, store, path)
            done.rewritten, done.freed_bytes = done.rewritten + 1, done.freed_bytes + size - used
    done.kept_bytes = sum(path.stat().st_size for path in folder.glob("*.warc.gz"))
    return done


def _rotate(bodies: Bodies, store: Store) -> None:
    """Let the next run begin a new file where the newest has records that nobody points to."""
    files = sorted(bodies.folder.glob("*.warc.gz"))
    if files and files[-1].stat().st_size > store.bytes_in(files[-1].name):
        bodies.begin_file(int(files[-1].name[6:11]) + 1)


def _rewrite(bodies: Bodies, store: Store, path: Path) -> None:
    """Copy what is referenced in a file to a new one, let the store point there, delete the old file."""
    new = _free_name(path)
    places, end = list[tuple[str, int, str, int]](), 0
    try:
        with new.open("xb") as file:
            for offset, record in _records(bodies, store, path.name):
                file.write(record)
                places.append((new.name, end, path.name, offset))
                end += len(record)
            file.flush()
            os.fsync(file.fileno())
        bodies.sync_folder()
        with store.transaction():
            store.move_bodies(places)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    path.unlink()


def _records(bodies: Bodies, store: Store, name: str) -> Iterator[tuple[int, bytes]]:
    for offset, length in store.places_in(name):
        yield offset, bodies.record((name, offset, length))  # its digest is verified


def _free_name(path: Path) -> Path:
    """Return a name for the next generation of a file: crawl-00003.warc.gz, crawl-00003-2.warc.gz ..."""
    stem = path.name.removesuffix(".warc.gz")
    base, number = stem[:11], int(stem[12:] or 1)
    while (new := path.with_name(f"{base}-{number + 1}.warc.gz")).exists():
        number += 1
    return new
