"""Visits, versions and links in the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recrawl.live.store_signals import StoredSignals
from recrawl.visits import Outcome

if TYPE_CHECKING:
    from recrawl.live.bodies import Place

CHUNK = 500_000  # visits read at once

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


class StoredVisits(StoredSignals):
    """The tables visits, versions, links and first_links; writing is within a transaction."""

    def add_visits(self, cycle: int, records: Sequence[VisitRecord], new_links: Sequence[tuple[int, int]]) -> None:
        """Record visits, their versions and what the pages' rows should now say."""
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
        self.judge_signals([(r.page, r.outcome) for r in records])

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

    def last_body(self, page: int) -> Place | None:
        """Where the body of a page's last version is; None where it was not kept."""
        ask = "select warc, offset, length from versions where page = ? order by visit desc limit 1"
        place: Place | None = self.db.execute(ask, (page,)).fetchone()
        return None if place is None or place[0] is None else place

    def bodies_of(self, page: int) -> list[tuple[float, float, Place]]:
        """Return the versions of a page whose bodies were kept, the oldest first: when, size of the change, where."""
        rows = self.db.execute(
            "select at, change_size, warc, offset, length from versions join visits using (visit, page)"
            " where page = ? and warc is not null order by visit",
            (page,),
        )
        return [(at, size, (name, offset, length)) for at, size, name, offset, length in rows]

    def bodies(self) -> Iterator[Place]:
        """Yield where every body is, in the order of the files."""
        yield from self.db.execute("select warc, offset, length from versions where warc is not null order by 1, 2")

    def body_ends(self) -> dict[str, int]:
        """Where the last body of each WARC file ends."""
        ends = "select warc, max(offset + length) from versions where warc is not null group by warc"
        return dict(self.db.execute(ends).fetchall())


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
