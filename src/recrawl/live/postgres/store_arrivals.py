"""A group of visits, taken in by PostgreSQL at once: one COPY into a table of this connection, one call of a function.

The statements of `StoredVisits.add_visits` one by one would write a page's row twice, once for what the visit showed
and once for its counters, and each time seven indexes with it. Here a page's row is written once, and the counters of
hosts and cycles with it, so the triggers that keep them otherwise have nothing to do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from recrawl.live.postgres.store_connection import PostgresDatabase
from recrawl.live.postgres.store_dialect import TYPES, tables
from recrawl.live.store_contents import KeptContents
from recrawl.live.store_visits import VisitRecord

_OWN = {"validators": "text", "misses": "int8", "title": "text", "links_digest": "bytea", "links": "int8"}
_WORDS = ("bag", "vector")
OUTCOMES = ("unchanged", "changed", "first", "gone", "failed")
ADDED = ", ".join(f"{name} = t.{name} + s.c{number}" for number, name in enumerate(OUTCOMES))
COUNTED = ", ".join(f"count(*) filter (where outcome = {number}) as c{number}" for number in range(len(OUTCOMES)))
COUNTED_NOW = "recrawl.counted"  # set while the function below counts, so that triggers do not count again


def _columns() -> dict[str, str]:
    """Return what is told of a visit: columns of visits, versions and contents, of a page's row, and its words."""
    visits = {name: TYPES[kind] for name, kind in tables()["visits"].columns.items() if name not in ("visit", "cycle")}
    versions = {name: TYPES[kind] for name, kind in tables()["versions"].columns.items() if name not in visits}
    del versions["visit"]
    contents = {f"c_{name}": TYPES[kind] for name, kind in tables()["contents"].columns.items() if name != "visit"}
    return {"number": "int8", **visits, **versions, **_OWN, **contents, **dict.fromkeys(_WORDS, "bytea")}


COLUMNS = _columns()
_NAMES = ", ".join(f'"{name}"' for name in COLUMNS)
_TYPED = ", ".join(f'"{name}" {kind}' for name, kind in COLUMNS.items())
ARRIVED = (  # rows stay whole up to a block, and packed words are not packed again
    f"create temporary table if not exists arrived ({_TYPED})"
    " on commit delete rows; alter table arrived set (toast_tuple_target = 8160);"
    + "".join(f" alter table arrived alter {name} set storage external;" for name in _WORDS)
)
_COPY = f"copy arrived ({_NAMES}) from stdin (format binary)"
_TAKE = "select take_visits(?)"


def _listed(table: str, prefix: str = "") -> str:
    return ", ".join(f'"{prefix}{name}"' for name in tables()[table].columns if name not in ("visit", "cycle"))


_VISITS = ", ".join(f'"{name}"' for name in tables()["visits"].columns if name not in ("visit", "page", "cycle"))

# Rows are found by their keys: without statistics of the new rows PostgreSQL would rather read all pages per group.
TAKE_VISITS = f"""
create or replace function take_visits(now bigint) returns bigint language plpgsql set enable_hashjoin = off
set enable_mergejoin = off set enable_seqscan = off set {COUNTED_NOW} = 'now' as $$
declare begun bigint; begin
    select coalesce(max(visit), 0) + 1 into begun from visits;
    insert into visits select begun + number, page, now, {_VISITS} from arrived;
    insert into versions select begun + number, {_listed("versions")} from arrived where digest is not null;
    delete from plan p using arrived n where p.cycle = now and p.page = n.page;
    insert into contents select begun + number, {_listed("contents", "c_")} from arrived where bag is not null;
    insert into first_bags select page, begun + number, bag from arrived where bag is not null
        on conflict do nothing;
    insert into last_bags select page, begun + number, bag from arrived where vector is not null
        on conflict (page) do update set visit = excluded.visit, bag = excluded.bag;
    insert into word_vectors select begun + number, vector from arrived where vector is not null;
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
    return begun;
end $$;
"""


def take_visits(
    db: PostgresDatabase, cycle: int, records: Sequence[VisitRecord], new_links: Sequence[tuple[int, int]]
) -> int:
    """Record visits, their versions and contents, and what the pages' rows should now say; return the first's number.

    Within a transaction, on a connection that has the table `arrived`.
    """
    db.copy_rows(_COPY, tuple(COLUMNS.values()), _rows(records, new_links))
    return int(db.execute(_TAKE, (cycle,)).fetchone()[0])


def _rows(records: Sequence[VisitRecord], new_links: Sequence[tuple[int, int]]) -> Iterator[tuple[Any, ...]]:
    nothing = (None,) * (len(tables()["contents"].columns) - 1 + len(_WORDS))
    for number, (r, new) in enumerate(zip(records, new_links, strict=True)):
        links = None if r.links is None or not r.digest else len(r.links.urls)  # others: see `set_links`
        yield (
            number, r.page, r.at, r.outcome, r.status, r.body_bytes, r.elapsed_s, *new, r.change_size, r.note,
            r.digest or None, r.words, *(r.warc or (None, None, None)),
            r.validators, r.misses, r.title, r.links_digest, links,
            *(nothing if r.kept is None else _contents(r.kept)),
        )  # fmt: skip


def _contents(kept: KeptContents) -> tuple[Any, ...]:
    return (
        *kept.counts, kept.added, kept.removed, kept.cosine, kept.chi2_p, int(kept.significant), kept.bag, kept.vector
    )  # fmt: skip
