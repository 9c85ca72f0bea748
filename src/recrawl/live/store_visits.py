"""Visits, versions and links in the store; where bodies are is `store_bodies`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recrawl.live.packed_links import NOBODY, PackedLinks, first_rows, pages_of, unpack_stored
from recrawl.live.store_bodies import StoredBodies
from recrawl.live.store_contents import KeptContents, StoredContents
from recrawl.live.store_signals import StoredSignals
from recrawl.visits import Outcome

if TYPE_CHECKING:
    from recrawl.see.version_contents import Contents

CHUNK = 500_000  # visits read at once

VISIT_COLUMNS = np.dtype(
    [
        ("visit", "i8"),
        ("cycle", "i4"),
        ("page", "i8"),
        ("at", "f8"),
        ("outcome", "u1"),
        ("new_internal", "i4"),
        ("new_external", "i4"),
        ("change_size", "f8"),
        ("words", "i4"),  # of the version that the visit brought; -1 where it brought none
        ("significant", "i1"),  # 1, 0, and NOT_TOLD where it brought no version whose words are known
    ]
)
NOT_TOLD = -1
Rows = npt.NDArray[Any]  # a structured array


class SeenLinks(NamedTuple):
    """The links that a visit showed, in columns."""

    urls: Sequence[str]
    anchors: Sequence[str]
    internal: Sequence[bool]

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.urls)

    @property
    def total_internal(self) -> int:
        """How many of them lead to the page's own host."""
        return sum(self.internal)

    def target_pages(self, pages: Mapping[str, int]) -> list[int]:
        """Return the page that each link leads to; NOBODY where it is none."""
        return pages_of(self.urls, pages)


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
    links: SeenLinks | PackedLinks | None = None  # None: the visit shows no links, or the same ones
    links_digest: bytes | None = None
    misses: int = 0  # answers "not found" in a row, with this one
    canonical: str | None = None  # the address that the page names as its own, where that can be believed
    contents: Contents | None = None  # of a version; None: nothing is known of its words
    kept: KeptContents | None = None  # the same, compared with the version before


class Copy(NamedTuple):
    """What is stored of a page before it is visited again."""

    page: int
    url: str
    validators: str
    digest: bytes | None
    links_digest: bytes | None
    misses: int


class StoredVisits(StoredSignals, StoredContents, StoredBodies):
    """The tables visits, versions, links and first_links; writing is within a transaction."""

    def add_visits(self, cycle: int, records: Sequence[VisitRecord], new_links: Sequence[tuple[int, int]]) -> int:
        """Record visits, their versions and what the pages' rows should now say; return the first visit's number."""
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
            [(r.validators, r.misses, r.title, r.digest, r.page) for r in records if r.digest and r.links is None],
        )
        self.db.executemany(  # one statement for what most first visits bring
            "update pages set validators = ?, misses = ?, title = ?, digest = ?, links_digest = ?, links = ?"
            " where page = ?",
            [
                (r.validators, r.misses, r.title, r.digest, r.links_digest, r.links.total, r.page)
                for r in records
                if r.digest and r.links is not None
            ],
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
        self.judge_signals([(r.page, r.outcome) for r in records])
        self.add_contents([(first + i, r.page, r.kept) for i, r in enumerate(records) if r.kept is not None])
        return first

    def set_links(self, records: Sequence[VisitRecord], pages: Mapping[str, int]) -> list[tuple[int, int]]:
        """Bring links up to date; return for each visit how many internal and external ones our copy did not have.

        What the pages' rows say of the links of new versions is left to `add_visits`.
        """
        counts, fresh, lost, firsts = [], [], [], []
        for seen in records:
            if seen.links is None:
                counts.append((0, 0))
                continue
            if seen.outcome == Outcome.FIRST:
                firsts.append(seen)
                counts.append((seen.links.total_internal, seen.links.total - seen.links.total_internal))
                continue
            before, shown = self._links_of(seen), seen.links
            urls = shown.urls
            links = zip(urls, shown.target_pages(pages), shown.internal, shown.anchors, strict=True)
            added = [link for link in links if not before.get(link[0], False)]
            fresh += [
                (seen.page, url, None if page == NOBODY else page, inside, anchor, seen.at)
                for url, page, inside, anchor in added
            ]
            if before:
                there_now = set(urls)
                lost += [(seen.at, seen.page, url) for url, there in before.items() if there and url not in there_now]
            internal = sum([link[2] for link in added])
            counts.append((internal, len(added) - internal))
        self.db.executemany(
            "insert or ignore into past_links select page, target, first_seen_at, gone_at from links"
            " where page = ? and target = ? and gone_at is not null",
            [row[:2] for row in fresh],
        )
        self.db.executemany(
            "insert into links (page, target, target_page, internal, anchor, first_seen_at) values (?, ?, ?, ?, ?, ?)"
            " on conflict (page, target) do update set first_seen_at = excluded.first_seen_at, gone_at = null",
            fresh,
        )
        self._add_first_links(firsts, pages)
        self.db.executemany("update links set gone_at = ? where page = ? and target = ?", lost)
        self.db.executemany(
            "update pages set links_digest = ?, links = ? where page = ?",
            [
                (seen.links_digest, seen.links.total, seen.page)
                for seen in records
                if seen.links is not None and not seen.digest
            ],
        )
        return counts

    def _add_first_links(self, records: Sequence[VisitRecord], pages: Mapping[str, int]) -> None:
        """Keep the links of pages that are visited for the first time."""
        self.db.executemany("insert into first_links values (?, ?, ?, ?, ?)", first_rows(records, pages))

    def _first_links(self, page: int | None) -> Iterator[tuple[int, Iterator[tuple[Any, ...]]]]:
        """Yield pages whose links have been the same since the first visit, and their links: of one page, or of all."""
        ask = "select page, first_seen_at, links, targets from first_links"
        rows = (
            self._stream(f"{ask} order by page") if page is None else self.db.execute(f"{ask} where page = ?", (page,))
        )
        yield from ((source, unpack_stored(at, links, targets)) for source, at, links, targets in rows)

    def _links_of(self, seen: VisitRecord) -> dict[str, bool]:
        """Return the targets that this page ever linked to, and whether it still did at the last visit."""
        for _, links in list(self._first_links(seen.page)):  # from now on, a row for each link
            packed = [(seen.page, *row) for row in links]
            self.db.executemany("insert into links values (?, ?, ?, ?, ?, ?, ?)", packed)
            self.db.execute("delete from first_links where page = ?", (seen.page,))
        rows = self.db.execute("select target, gone_at is null from links where page = ?", (seen.page,))
        return {target: bool(there) for target, there in rows}

    def links(self, page: int | None = None) -> Iterator[tuple[int, str, int | None, bool, str, float, float | None]]:
        """Yield links: page, target, its page where it is one, internal, anchor, since when, and until when.

        Those of one page, or of all; a link that went and came back is there more than once.
        """
        where, key = ("", ()) if page is None else (" where page = ?", (page,))
        for source, links in self._first_links(page):
            yield from ((source, *row) for row in links)
        columns = "page, target, target_page, internal, anchor"
        yield from self._stream(
            f"select {columns}, first_seen_at, gone_at from links{where} order by page, target", key
        )
        yield from self.db.execute(
            f"select {columns}, p.first_seen_at, p.gone_at from past_links p join links using (page, target){where}"
            " order by page, target, p.first_seen_at",
            key,
        )

    def visits_in_order(self) -> Iterator[Rows]:
        """Yield all visits in their order, columns of VISIT_COLUMNS; the visits of one piece are of one cycle."""
        cursor = self._stream(
            "select v.visit, v.cycle, v.page, v.at, v.outcome, v.new_internal, v.new_external, v.change_size,"
            f" coalesce(n.words, -1), {NOT_TOLD} from visits v"
            " left join versions n on n.visit = v.visit order by v.visit"
        )
        while True:
            rows = np.fromiter(islice(cursor, CHUNK), dtype=VISIT_COLUMNS)
            if not len(rows):
                return
            told = self.significance(int(rows["visit"][0]), int(rows["visit"][-1]))
            rows["significant"][np.searchsorted(rows["visit"], told[:, 0])] = told[:, 1]
            cuts = np.flatnonzero(np.diff(rows["cycle"])) + 1
            yield from np.split(rows, cuts)

    def first_versions(self) -> dict[int, int]:
        """Return the visit that brought each page's first version."""
        return dict(self.db.execute("select page, min(visit) from versions group by page").fetchall())


def signed(number: int) -> int:
    """Return 64 unsigned bits as the signed number that SQLite holds."""
    return number - 2**64 if number >= 2**63 else number
