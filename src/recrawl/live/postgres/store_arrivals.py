"""A group of visits, taken in by PostgreSQL at once: rows by COPY, and one function that brings pages up to date.

The statements of `StoredVisits.add_visits` one by one would write a page's row twice, once for what the visit showed
and once for its counters, and each time seven indexes with it. Here a page's row is written once, and the counters of
hosts and cycles with it, so the triggers that keep them otherwise have nothing to do. Rows that are only added go into
their tables by COPY, which writes a block of them at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recrawl.live.packed_links import first_rows
from recrawl.live.postgres.store_connection import PostgresDatabase
from recrawl.live.postgres.store_dialect import copied
from recrawl.live.store_contents import KeptContents
from recrawl.live.store_visits import VisitRecord

OUTCOMES = ("unchanged", "changed", "first", "gone", "failed")
ADDED = ", ".join(f"{name} = t.{name} + s.c{number}" for number, name in enumerate(OUTCOMES))
COUNTED = ", ".join(f"count(*) filter (where outcome = {number}) as c{number}" for number in range(len(OUTCOMES)))
COUNTED_NOW = "recrawl.counted"  # set while visits are taken in, so that triggers do not count again

ARRIVED_COLUMNS = {
    "page": "int8",
    "at": "float8",
    "outcome": "int8",
    "validators": "text",
    "misses": "int8",
    "digest": "bytea",
    "title": "text",
    "links_digest": "bytea",
    "links": "int8",
}
ARRIVED = (
    f"create temporary table if not exists arrived ({', '.join(map(' '.join, ARRIVED_COLUMNS.items()))})"
    " on commit delete rows; alter table arrived set (toast_tuple_target = 8160);"
)
_ARRIVED = f"copy arrived ({', '.join(ARRIVED_COLUMNS)}) from stdin (format binary)"
_FIRST_LINKS = "copy first_links (page, first_seen_at, count, links, targets) from stdin (format binary)"
_FIRST_LINK_TYPES = ("int8", "float8", "int8", "bytea", "bytea")
_BEGIN = f"select (select coalesce(max(visit), 0) + 1 from visits), set_config('{COUNTED_NOW}', 'now', true)"

# Rows are found by their keys: without statistics of the new rows PostgreSQL would rather read all pages per group.
TAKE_VISITS = f"""
drop function if exists take_visits(bigint); -- of format 4
create or replace function take_arrived(now bigint) returns void language plpgsql set enable_hashjoin = off
set enable_mergejoin = off set enable_seqscan = off set enable_bitmapscan = off set enable_material = off as $$ begin
    delete from plan p using arrived n where p.cycle = now and p.page = n.page;
    with visited as (
        update pages t set validators = n.validators, misses = n.misses, digest = coalesce(n.digest, t.digest),
            title = case when n.digest is null then t.title else n.title end,
            links_digest = case when n.links is null then t.links_digest else n.links_digest end,
            links = coalesce(n.links, t.links), visits = t.visits + 1,
            last_visit_at = greatest(t.last_visit_at, n.at),
            gone = case n.outcome when 3 then 1 when 4 then t.gone else 0 end,
            changes = t.changes + (n.outcome = 1)::int,
            last_change_at = case when n.outcome = 1 then greatest(t.last_change_at, n.at) else t.last_change_at end
            from (select a.*, p.digest is null as blank, p.links as had from arrived a join pages p using (page)) n
            where t.page = n.page
            returning t.host, n.outcome, n.blank and t.digest is not null as fetched, t.links - n.had as more
    )
    update hosts t set {ADDED}, fetched = t.fetched + s.fetched, links = t.links + s.more from (
        select host, {COUNTED}, count(*) filter (where fetched) as fetched, sum(more) as more from visited
            group by host
        ) s where t.host = s.host;
    update cycles t set {ADDED} from (select {COUNTED} from arrived) s where t.cycle = now;
    perform set_config('{COUNTED_NOW}', '', true);
end $$;
"""


def take_visits(
    db: PostgresDatabase, cycle: int, records: Sequence[VisitRecord], new_links: Sequence[tuple[int, int]]
) -> int:
    """Record visits, their versions and contents, and what the pages' rows should now say; return the first's number.

    Within a transaction, on a connection that has the table `arrived`.
    """
    first = int(db.execute(_BEGIN).fetchone()[0])
    numbered = list(enumerate(records, first))
    _copy(db, "visits", (
        (visit, r.page, cycle, r.at, r.outcome, r.status, r.body_bytes, r.elapsed_s, *new, r.change_size, r.note)
        for (visit, r), new in zip(numbered, new_links, strict=True)
    ))  # fmt: skip
    versions = [
        (visit, r.page, r.digest, r.words, *(r.warc or (None, None, None))) for visit, r in numbered if r.digest
    ]
    if versions:
        _copy(db, "versions", versions)
    _add_contents(db, [(visit, r.page, r.kept) for visit, r in numbered if r.kept is not None])
    db.copy_rows(_ARRIVED, tuple(ARRIVED_COLUMNS.values()), map(_arrived, records))
    db.execute("select take_arrived(?)", (cycle,))
    return first


def _copy(db: PostgresDatabase, table: str, rows: Iterable[Sequence[Any]]) -> None:
    copy = copied(f"insert into {table} values (?)")
    assert copy is not None, "a table of the crawl"
    db.copy_rows(*copy, rows)


def _arrived(r: VisitRecord) -> tuple[Any, ...]:
    links = None if r.links is None or not r.digest else r.links.total  # others: see `set_links`
    digest = r.digest or None
    return r.page, r.at, r.outcome, r.validators, r.misses, digest, r.title, r.links_digest, links


def _add_contents(db: PostgresDatabase, rows: Sequence[tuple[int, int, KeptContents]]) -> None:
    """Keep the contents of versions: visit, page, contents."""
    if not rows:
        return
    _copy(db, "contents", (
        (visit, *c.counts, c.added, c.removed, c.cosine, c.chi2_p, int(c.significant)) for visit, _, c in rows
    ))  # fmt: skip
    pages = [page for _, page, _ in rows]
    had = {page for (page,) in db.execute("select page from first_bags where page = any(?)", (pages,))}
    _copy(db, "first_bags", [(page, visit, c.bag) for visit, page, c in rows if page not in had])
    later = [(visit, page, c) for visit, page, c in rows if c.vector is not None]
    if later:
        _copy(db, "word_vectors", [(visit, c.vector) for visit, _, c in later])
        db.executemany("insert or replace into last_bags values (?, ?, ?)", [(p, v, c.bag) for v, p, c in later])


def add_first_links(db: PostgresDatabase, records: Sequence[VisitRecord], pages: Mapping[str, int]) -> None:
    """Keep the links of pages that are visited for the first time, compressed as the worker sent them."""
    rows = first_rows(records, pages)
    if rows:
        db.copy_rows(_FIRST_LINKS, _FIRST_LINK_TYPES, rows)
