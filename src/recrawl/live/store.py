"""A crawl's store: one SQLite file that survives kill -9, read by others while one process writes.

WAL with full sync: what a committed transaction recorded is on disk. The columns in memory are a cache of it and are
rebuilt from the visits when a crawl starts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice, starmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recrawl.columns import PageIds
from recrawl.errors import StoreError
from recrawl.live.storeschema import APPLICATION_ID, FORMAT, TABLES
from recrawl.urls.urlindex import Hashes, UrlIndex, url_hash, url_hashes
from recrawl.visits import Outcome

CHECKED_BYTES = 64 << 20  # a store up to this size is checked whole on opening
BUSY_S = 10.0  # how long to wait for another process's lock
CHUNK = 500_000  # visits read at once
MANY = 200  # rows asked for at once

PAGE_COLUMNS = np.dtype([("url_hash", "i8"), ("host", "i4"), ("first_seen_at", "f8"), ("seed", "?")])
VISIT_COLUMNS = np.dtype(
    [
        ("cycle", "i4"),
        ("page", "i8"),
        ("at", "f8"),
        ("outcome", "u1"),
        ("new_internal", "i4"),
        ("new_external", "i4"),
        ("change_size", "f8"),
        ("words", "i4"),  # of the version that the visit brought; -1 where it brought none
    ]
)
Rows = npt.NDArray[Any]  # a structured array


class SeenLinks(NamedTuple):
    """The links that a visit showed, in columns."""

    urls: Sequence[str]
    anchors: Sequence[str]
    internal: Sequence[bool]


class VisitRecord(NamedTuple):
    """Everything that one visit leaves in the store."""

    page: int
    at: float
    outcome: int
    status: int = 0
    body_bytes: int = 0
    elapsed_s: float = 0.0
    note: str | None = None
    validators: str = "{}"
    title: str = ""
    digest: bytes | None = None  # None: nothing that is a version
    words: int = 0
    change_size: float = 0.0
    warc: tuple[str, int, int] | None = None  # file, offset, length
    links: SeenLinks | None = None  # None: the visit says nothing of the links, or they are the same
    links_digest: bytes | None = None
    misses: int = 0  # answers "not found" in a row, with this one


class Copy(NamedTuple):
    """What the store knows of a page before it is visited again."""

    page: int
    url: str
    validators: str
    digest: bytes | None
    links_digest: bytes | None
    misses: int


class Store:
    """The writer's view. Opening checks that the file is a whole store of this version."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self.db = db
        self.path = path
        self.index = UrlIndex()
        self._hosts: dict[str, int] = {}

    @classmethod
    def create(cls, path: Path) -> Store:
        """Make a new store; an existing file is refused."""
        if path.exists():
            raise StoreError(f"{path} exists already")
        db = _connect(path, "rwc")
        db.executescript(f"pragma application_id = {APPLICATION_ID}; pragma user_version = {FORMAT}; {TABLES}")
        return cls(db, path)

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> Store:
        """Open an existing store; readers do not disturb the writer."""
        if not path.is_file():
            raise StoreError(f"{path} does not exist")
        store = cls(_connect(path, "ro" if read_only else "rw"), path)
        with told(path):
            store._check()
        return store

    def close(self) -> None:
        """Close the file."""
        self.db.close()

    def _check(self) -> None:
        application = self.db.execute("pragma application_id").fetchone()[0]
        version = self.db.execute("pragma user_version").fetchone()[0]
        if application != APPLICATION_ID:
            raise StoreError(f"{self.path} is not a recrawl store")
        if version != FORMAT:
            raise StoreError(f"{self.path} has format {version}; this recrawl reads format {FORMAT}")
        pages, size = (self.db.execute(f"pragma {what}").fetchone()[0] for what in ("page_count", "page_size"))
        wal = self.path.with_name(self.path.name + "-wal")
        if self.path.stat().st_size < pages * size and not (wal.exists() and wal.stat().st_size):
            raise StoreError(f"{self.path} is truncated: {self.path.stat().st_size} bytes of {pages * size}")
        if pages * size <= CHECKED_BYTES:
            found = self.db.execute("pragma quick_check(1)").fetchone()[0]
            if found != "ok":
                raise StoreError(f"{self.path} is corrupt: {str(found).splitlines()[0]}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; on return it is on disk."""
        with told(self.path):
            self.db.execute("begin immediate")
            try:
                yield
                self.db.execute("commit")
            except BaseException:
                self._hosts.clear()
                if self.db.in_transaction:  # a full disk may have rolled back by itself
                    self.db.execute("rollback")
                raise

    # -- pages ------------------------------------------------------------------------------------------------------

    def load_index(self) -> Rows:
        """Read the known pages, in their order, and index their URLs; returns the columns of PAGE_COLUMNS."""
        with told(self.path):
            count = self.db.execute("select count(*) from pages").fetchone()[0]
            ask = "select url_hash, host, first_seen_at, found_on is null from pages order by page"
            rows = np.fromiter(self.db.execute(ask), dtype=PAGE_COLUMNS, count=count)
        self.index = UrlIndex(count)
        self.index.add(np.ascontiguousarray(rows["url_hash"]).view(np.uint64))
        return rows

    def add_pages(
        self,
        urls: Sequence[str],
        hosts: Sequence[str],
        at: float | Sequence[float],
        found_on: Sequence[int] | None = None,
        hashes: Hashes | None = None,
    ) -> PageIds:
        """Add the URLs that are not known yet, within a transaction; return every URL's page."""
        if not urls:
            return np.empty(0, dtype=np.int64)
        hashes = url_hashes(urls) if hashes is None else hashes
        pages, fresh = self.index.add(hashes)
        keys, numbers = hashes.view(np.int64).tolist(), pages.tolist()
        times = [at] * len(urls) if isinstance(at, (int, float)) else at
        parents: Sequence[int | None] = [None] * len(urls) if found_on is None else found_on
        self.db.executemany(
            "insert into pages (page, url, url_hash, host, first_seen_at, found_on) values (?, ?, ?, ?, ?, ?)",
            [(numbers[i], urls[i], keys[i], self.host(hosts[i]), times[i], parents[i]) for i in fresh.tolist()],
        )
        return pages

    def page_of(self, url: str) -> int | None:
        """Find a page by its normalised URL."""
        row = self.db.execute("select page from pages where url_hash = ?", (signed(url_hash(url)),)).fetchone()
        return None if row is None else int(row[0])

    def urls(self, pages: Iterable[int]) -> list[str]:
        """Return the pages' URLs."""
        return [url for _, url in self._by_page("page, url", pages)]

    def copies(self, pages: Iterable[int]) -> list[Copy]:
        """Return what is known of these pages, for a visit to each."""
        return list(starmap(Copy, self._by_page("page, url, validators, digest, links_digest, misses", pages)))

    def _by_page(self, columns: str, pages: Iterable[int]) -> Iterator[tuple[Any, ...]]:
        """Yield these columns for each page, many pages a question; the first column is the page."""
        rest = iter(pages)
        while asked := [int(page) for page in islice(rest, MANY)]:
            places = ", ".join("?" * len(asked))
            rows = {
                row[0]: row for row in self.db.execute(f"select {columns} from pages where page in ({places})", asked)
            }
            yield from (rows[page] for page in asked)

    def host(self, name: str) -> int:
        """Return the number of a host, adding it where it is new."""
        if name not in self._hosts:
            self.db.execute("insert or ignore into hosts (name) values (?)", (name,))
            self._hosts[name] = int(self.db.execute("select host from hosts where name = ?", (name,)).fetchone()[0])
        return self._hosts[name]

    # -- visits -----------------------------------------------------------------------------------------------------

    def add_visit(self, cycle: int, seen: VisitRecord, new_links: tuple[int, int] = (0, 0)) -> None:
        """Record one visit, within a transaction."""
        self.add_visits(cycle, [seen], [new_links])

    def add_visits(self, cycle: int, records: Sequence[VisitRecord], new_links: Sequence[tuple[int, int]]) -> None:
        """Record visits, their versions and what the pages' rows should now say, within a transaction."""
        first = int(self.db.execute("select coalesce(max(visit), 0) + 1 from visits").fetchone()[0])
        rows = [(r, new, r.change_size) for r, new in zip(records, new_links, strict=True)]
        self.db.executemany(
            "insert into visits values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (visit, r.page, cycle, r.at, r.outcome, r.status, r.body_bytes, r.elapsed_s, *new, size, r.note)
                for visit, (r, new, size) in enumerate(rows, first)
            ],
        )  # fmt: skip
        self.db.executemany(
            "update pages set validators = ?, misses = ? where page = ?",
            [(r.validators, r.misses, r.page) for r in records if r.digest is None],
        )
        self.db.executemany(
            "update pages set validators = ?, misses = ?, title = ?, digest = ? where page = ?",
            [(r.validators, r.misses, r.title, r.digest, r.page) for r in records if r.digest],
        )
        self.db.executemany(
            "insert into versions values (?, ?, ?, ?, ?, ?, ?)",
            [
                (first + i, r.page, r.digest, r.words, *(r.warc or (None, None, None)))
                for i, r in enumerate(records)
                if r.digest
            ],
        )
        self.db.executemany("delete from plan where cycle = ? and page = ?", [(cycle, r.page) for r in records])
        self._judge_signals(records)

    def _judge_signals(self, records: Sequence[VisitRecord]) -> None:
        """Count whether what sites said of these pages was so, and do not wait for these pages any more."""
        if self.db.execute("select 1 from announced where pending limit 1").fetchone() is None:
            return
        places = ", ".join("?" * len(records))
        rows = self.db.execute(
            f"select page from announced where pending and page in ({places})", [r.page for r in records]
        )
        waiting = {page for (page,) in rows}
        told_of = [r for r in records if r.page in waiting and r.outcome != Outcome.FAILED]
        for verdict, outcomes in (("true", (Outcome.CHANGED,)), ("false", (Outcome.UNCHANGED,))):
            self.db.executemany(
                f"update hosts set signals_{verdict} = signals_{verdict} + 1"
                " where host = (select host from pages where page = ?)",
                [(r.page,) for r in told_of if r.outcome in outcomes],
            )
        self.db.executemany("update announced set pending = 0 where page = ?", [(r.page,) for r in told_of])

    def set_links(self, records: Sequence[VisitRecord], pages: Mapping[str, int | None]) -> list[tuple[int, int]]:
        """Bring links up to date; return for each visit how many internal and external ones our copy did not have."""
        counts, fresh, lost, firsts = [], [], [], []
        for seen in records:
            if seen.links is None:
                counts.append((0, 0))
                continue
            if seen.outcome == Outcome.FIRST:
                firsts.append((seen.page, seen.at, len(seen.links.urls), pack_links(seen.links, pages)))
                internal = sum(seen.links.internal)
                counts.append((internal, len(seen.links.urls) - internal))
                continue
            before = self._links_of(seen)
            added = [link for link in zip(*seen.links, strict=True) if not before.get(link[0], False)]
            fresh += [(seen.page, url, pages.get(url), internal, anchor, seen.at) for url, anchor, internal in added]
            if before:
                shown = set(seen.links.urls)
                lost += [(seen.at, seen.page, url) for url, there in before.items() if there and url not in shown]
            internal = sum([internal for _, _, internal in added])
            counts.append((internal, len(added) - internal))
        self.db.executemany(
            "insert into links (page, target, target_page, internal, anchor, first_seen_at) values (?, ?, ?, ?, ?, ?)"
            " on conflict (page, target) do update set gone_at = null",
            fresh,
        )
        self.db.executemany("insert into first_links values (?, ?, ?, ?)", firsts)
        self.db.executemany("update links set gone_at = ? where page = ? and target = ?", lost)
        self.db.executemany(
            "update pages set links_digest = ? where page = ?",
            [(seen.links_digest, seen.page) for seen in records if seen.links is not None],
        )
        return counts

    def _links_of(self, seen: VisitRecord) -> dict[str, bool]:
        """Return the targets that this page ever linked to, and whether it still did at the last visit."""
        first = self.db.execute("select first_seen_at, links from first_links where page = ?", (seen.page,)).fetchone()
        if first is not None:  # from now on, a row for each link
            packed = [(seen.page, *row) for row in unpack_links(*first)]
            self.db.executemany("insert into links values (?, ?, ?, ?, ?, ?, ?)", packed)
            self.db.execute("delete from first_links where page = ?", (seen.page,))
        rows = self.db.execute("select target, gone_at is null from links where page = ?", (seen.page,))
        return {target: bool(there) for target, there in rows}

    def links(self) -> Iterator[tuple[int, str, int | None, bool, str, float, float | None]]:
        """Yield every link: page, target, its page where it is one, internal, anchor, first seen, and when gone."""
        for page, at, text in self.db.execute("select page, first_seen_at, links from first_links order by page"):
            yield from ((page, *row) for row in unpack_links(at, text))
        yield from self.db.execute("select * from links order by page, target")

    def visits_in_order(self) -> Iterator[Rows]:
        """Yield all visits in their order, columns of VISIT_COLUMNS; the visits of one piece are of one cycle."""
        cursor = self.db.execute(
            "select v.cycle, v.page, v.at, v.outcome, v.new_internal, v.new_external, v.change_size,"
            " ifnull(n.words, -1) from visits v left join versions n on n.visit = v.visit order by v.visit"
        )
        while True:
            rows = np.fromiter(islice(cursor, CHUNK), dtype=VISIT_COLUMNS)
            if not len(rows):
                return
            cuts = np.flatnonzero(np.diff(rows["cycle"])) + 1
            yield from np.split(rows, cuts)


_SAID = {
    "database is locked": "another process holds the store",
    "database or disk is full": "the disk is full; what was recorded before is safe",
    "disk I/O error": "the disk failed or is full; what was recorded before is safe",
    "file is not a database": "not a recrawl store, or a damaged one",
    "database disk image is malformed": "the store is corrupt",
}


def pack_links(links: SeenLinks, pages: Mapping[str, int | None]) -> str:
    """Write what `first_links` holds of a page."""
    urls, anchors, internal = links
    numbers = map(pages.get, urls)
    return "\n".join(
        [
            f"{'1' if inside else '0'}\t{page}\t{url}\t{anchor}"
            for inside, page, url, anchor in zip(internal, numbers, urls, anchors, strict=True)
        ]
    )


def unpack_links(at: float, text: str) -> Iterator[tuple[str, int | None, bool, str, float, None]]:
    """Read what `first_links` holds of a page: target, its page, internal, anchor, when first seen, not gone."""
    for line in text.split("\n") if text else ():
        internal, page, target, anchor = line.split("\t")
        yield target, None if page == "None" else int(page), internal == "1", anchor, at, None


def signed(number: int) -> int:
    """Return 64 unsigned bits as the signed number that SQLite holds."""
    return number - 2**64 if number >= 2**63 else number


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Say SQLite's errors in one line."""
    try:
        yield
    except sqlite3.DatabaseError as wrong:
        raise StoreError(f"{path}: {_SAID.get(str(wrong), wrong)}") from None


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    with told(path):
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=BUSY_S)
        if mode != "ro":
            db.execute("pragma journal_mode = wal")
            db.execute("pragma synchronous = full")
        return db
