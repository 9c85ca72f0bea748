"""What versions contain, links that came back, and the rounds of a cycle, in the store: what policies see of a crawl.

Counts and the difference from the version before are kept of every version whose words are known; its bag of words
(see.words) only of each page's first and last version, and its short vector of hashed words (features.page_words) of
the versions between. Blobs have tables of their own, so that reading the counts of all versions stays fast.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recrawl.live.store_database import Database

MANY = 200  # rows asked for at once
SCAN = 2_000  # from so many rows on, the whole table is read

CONTENT_TABLES = """
create table contents (                    -- of versions whose words are known
    visit integer primary key,             -- the visit that brought the version
    words integer not null,
    text_bytes integer not null,
    images integer not null,
    tables integer not null,
    emails integer not null,
    out_internal integer not null,         -- distinct link targets that robots may follow
    out_external integer not null,
    added integer not null,                -- words added and removed since the version before, with repetition
    removed integer not null,
    cosine real,                           -- of the words and those of the version before; null: nothing to compare
    chi2_p real,                           -- that both have one distribution of words; null: no test
    significant integer not null
) strict;

create table first_bags (                  -- words of each page's first version, packed
    page integer primary key,
    visit integer not null,
    bag blob not null
) strict;

create table last_bags (                   -- words of its last version, where that is another
    page integer primary key,
    visit integer not null,
    bag blob not null
) strict;

create table word_vectors (                -- hashed words of versions that are not a page's first: 32 floats
    visit integer primary key,
    vector blob not null
) strict;

create table past_links (                  -- links that went and came back: when they were there before
    page integer not null,
    target text not null,
    first_seen_at real not null,
    gone_at real not null,
    primary key (page, target, first_seen_at)
) strict, without rowid;

create table rounds (                      -- what a policy learnt from at once
    cycle integer not null,
    round integer not null,
    asked integer not null,                -- visits that the policy was asked for before; 0: it was not asked
    pages blob not null,                   -- of the visits, in the order in which they were chosen: 32 bits each
    primary key (cycle, round)
) strict, without rowid;
"""

COUNTS = ("words", "text_bytes", "images", "tables", "emails", "out_internal", "out_external")
CONTENT_COLUMNS = np.dtype([("visit", "i8"), *((name, "f4") for name in (*COUNTS, "cosine"))])
Rows = npt.NDArray[Any]


class KeptContents(NamedTuple):
    """What the store keeps of a version's contents."""

    counts: tuple[int, ...]  # COUNTS
    added: int
    removed: int
    cosine: float | None  # None: there is nothing to compare with
    chi2_p: float | None  # None: no test
    significant: bool
    bag: bytes
    vector: bytes | None  # None: the page's first version


class StoredContents:
    """The tables of CONTENT_TABLES; writing is within a transaction."""

    db: Database

    def add_contents(self, rows: Sequence[tuple[int, int, KeptContents]]) -> None:
        """Keep the contents of versions: visit, page, contents."""
        self.db.executemany(
            "insert or replace into contents values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(visit, *c.counts, c.added, c.removed, c.cosine, c.chi2_p, c.significant) for visit, _, c in rows],
        )
        self.db.executemany(
            "insert or ignore into first_bags values (?, ?, ?)", [(page, visit, c.bag) for visit, page, c in rows]
        )
        later = [(visit, page, c) for visit, page, c in rows if c.vector is not None]
        self.db.executemany("insert or replace into word_vectors values (?, ?)", [(v, c.vector) for v, _, c in later])
        self.db.executemany("insert or replace into last_bags values (?, ?, ?)", [(p, v, c.bag) for v, p, c in later])

    def last_bag(self, page: int) -> bytes | None:
        """Return the words of a page's last version, packed; None where they are not known."""
        for table in ("last_bags", "first_bags"):
            row = self.db.execute(f"select bag from {table} where page = ?", (page,)).fetchone()
            if row is not None:
                return bytes(row[0])
        return None

    def first_bags(self, pages: Iterable[int]) -> Iterator[tuple[int, int, bytes]]:
        """Yield page, visit and words, packed, of the first versions of these pages, as far as they are known."""
        yield from self._rows("page, visit, bag from first_bags where page", pages)

    def bags(self) -> Iterator[tuple[int, bool, bytes]]:
        """Yield page, whether it is the last version and not the first, and words, packed, of all pages."""
        yield from self.db.execute(
            "select page, 0 as last, bag from first_bags union all"
            " select page, 1, bag from last_bags order by page, last"
        )

    def word_vectors(self, visits: Iterable[int]) -> Iterator[tuple[int, bytes]]:
        """Yield visit and vector of versions that are not their page's first, as far as they are known."""
        yield from self._rows("visit, vector from word_vectors where visit", visits)

    def contents(self, visits: Sequence[int]) -> Rows:
        """Return columns of CONTENT_COLUMNS of these versions, as far as they are known, by visit."""
        columns = f"visit, {', '.join(COUNTS)}, coalesce(cosine, 1) from contents"
        if len(visits) < SCAN:
            return np.fromiter(self._rows(f"{columns} where visit", sorted(visits)), dtype=CONTENT_COLUMNS)
        rows = np.fromiter(self.db.execute(f"select {columns} order by visit"), dtype=CONTENT_COLUMNS)
        return rows[np.isin(rows["visit"], visits)]

    def all_contents(self, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the visit and these columns of all versions whose words are known, by visit."""
        yield from self.db.execute(f"select visit, {', '.join(names)} from contents order by visit")

    def significance(self, first: int, last: int) -> npt.NDArray[np.int64]:
        """Return visit and significance of the versions of these visits whose words are known."""
        ask = "select visit, significant from contents where visit between ? and ? order by visit"
        return np.array(self.db.execute(ask, (first, last)).fetchall(), dtype=np.int64).reshape(-1, 2)

    def _rows(self, what: str, keys: Iterable[int]) -> Iterator[tuple[Any, ...]]:
        rest = iter(keys)
        while asked := [int(key) for key in islice(rest, MANY)]:
            yield from self.db.execute(f"select {what} in ({', '.join('?' * len(asked))})", asked).fetchall()

    # -- rounds -----------------------------------------------------------------------------------------------------

    def add_rounds(self, cycle: int, rounds: Iterable[tuple[int, Sequence[int]]]) -> None:
        """Note rounds, in their order: what the policy was asked for, and the pages visited, in their order."""
        row = self.db.execute("select coalesce(max(round), 0) from rounds where cycle = ?", (cycle,)).fetchone()
        rows = [(cycle, number, asked, _packed(pages)) for number, (asked, pages) in enumerate(rounds, row[0] + 1)]
        self.db.executemany("insert into rounds values (?, ?, ?, ?)", rows)

    def rounds(self, cycle: int) -> list[tuple[int, npt.NDArray[np.int64]]]:
        """Return a cycle's rounds: what the policy was asked for, and the pages visited."""
        rows = self.db.execute("select asked, pages from rounds where cycle = ? order by round", (cycle,))
        return [(asked, np.frombuffer(pages, dtype="<i4").astype(np.int64)) for asked, pages in rows]

    def close_rounds(self, cycle: int) -> None:
        """Note the visits of a cycle that are in no round as one: that is how they are learnt from after a restart."""
        known = {page for _, pages in self.rounds(cycle) for page in pages.tolist()}
        rows = self.db.execute("select page from visits where cycle = ? order by visit", (cycle,)).fetchall()
        left = [page for (page,) in rows if page not in known]
        if left:
            self.add_rounds(cycle, [(0, left)])


def _packed(pages: Sequence[int]) -> bytes:
    return np.asarray(pages, dtype="<i4").tobytes()
