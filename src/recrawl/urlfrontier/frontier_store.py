"""frontier.sqlite: URLs, queues, leases, delays and blocks of a frontier, as its clients gave them; kill -9 loses none.

Times are seconds since 1970. A URL belongs to a crawl and a queue (its key, the host where none was given).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from recrawl.live.store_file import connect, one_line_errors

TABLES = """
create table if not exists urls (
    url text not null,
    crawl text not null,
    queue text not null,
    href text not null,                    -- in normal form: a page of the planner
    metadata text not null,                -- JSON
    refetch real not null,                 -- from then on it may be given away; 0: never again
    known integer not null,                -- 1: a client has visited it
    leased real not null default 0,        -- until then it is a client's
    primary key (crawl, url)
) strict, without rowid;
create index if not exists urls_queue on urls (crawl, queue, refetch);
create index if not exists urls_href on urls (crawl, href);
create index if not exists urls_leased on urls (leased) where leased > 0;
create table if not exists queues (
    queue text not null,
    crawl text not null,
    delay real,                            -- seconds between two answers with URLs of it; null: the usual
    blocked real not null default 0,       -- until then nothing is given away
    given real not null default 0,         -- when something was, the last time
    most integer not null default 0,       -- URLs that may be visited in all; 0: no limit
    primary key (crawl, queue)
) strict, without rowid;
create table if not exists settings (name text primary key, value text not null) strict, without rowid;
"""
DELAY_S = 1.0  # between two answers with URLs of a queue
_ROW = "url, crawl, queue, href, metadata, refetch, known, leased"


class FrontierUrl(NamedTuple):
    """A URL as it is kept."""

    url: str
    crawl: str
    queue: str
    href: str
    metadata: str
    refetch: float
    known: bool
    leased: float = 0.0


class FrontierStore:
    """The tables; used by one thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._sql: sqlite3.Connection = connect(path, "rwc", one_thread=False)
        with one_line_errors(path):
            self._sql.executescript(TABLES)

    def close(self) -> None:
        """Close the file."""
        self._sql.close()

    def begin(self) -> None:
        """Begin a transaction."""
        self._sql.execute("begin immediate")

    def end(self, *, keep: bool) -> None:
        """Put what was written on disk, or forget it."""
        if self._sql.in_transaction:
            self._sql.execute("commit" if keep else "rollback")

    # -- URLs -----------------------------------------------------------------------------------------------------

    def known_urls(self, crawl: str, urls: Sequence[str]) -> set[str]:
        """Return those of the URLs that are there."""
        found: set[str] = set()
        for first in range(0, len(urls), 500):
            some = urls[first : first + 500]
            places = ", ".join("?" * len(some))
            rows = self._sql.execute(f"select url from urls where crawl = ? and url in ({places})", (crawl, *some))
            found.update(url for (url,) in rows)
        return found

    def put(self, rows: Iterable[FrontierUrl]) -> None:
        """Add URLs, or replace what is known of them; their leases end."""
        rows = list(rows)
        self._sql.executemany(f"insert or replace into urls ({_ROW}) values (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        queues = {(row.queue, row.crawl) for row in rows}
        self._sql.executemany("insert or ignore into queues (queue, crawl) values (?, ?)", queues)

    def find(self, crawl: str, url: str) -> FrontierUrl | None:
        """Return a URL."""
        row = self._sql.execute(f"select {_ROW} from urls where crawl = ? and url = ?", (crawl, url)).fetchone()
        return None if row is None else FrontierUrl(*row)

    def of_page(self, crawl: str, href: str) -> FrontierUrl | None:
        """Return a URL by its normal form."""
        row = self._sql.execute(f"select {_ROW} from urls where crawl = ? and href = ? limit 1", (crawl, href))
        found = row.fetchone()
        return None if found is None else FrontierUrl(*found)

    def listed(self, crawl: str, queue: str, part: str, start: int, size: int, *, fold: bool) -> list[FrontierUrl]:
        """Return URLs in order, of one queue or all, that contain a text."""
        where, values = self._where(crawl, queue, part, fold)
        ask = f"select {_ROW} from urls where {where} order by queue, refetch, url limit ? offset ?"
        return [FrontierUrl(*row) for row in self._sql.execute(ask, (*values, size, start))]

    def count(self, crawl: str, queue: str, part: str, *, fold: bool) -> int:
        """Count URLs of one queue or all that contain a text."""
        where, values = self._where(crawl, queue, part, fold)
        return int(self._sql.execute(f"select count(*) from urls where {where}", values).fetchone()[0])

    def _where(self, crawl: str, queue: str, part: str, fold: bool) -> tuple[str, list[str]]:
        where, values = ["crawl = ?"], [crawl]
        if queue:
            where, values = [*where, "queue = ?"], [*values, queue]
        if part:
            where.append("instr(lower(url), lower(?))" if fold else "instr(url, ?)")
            values.append(part)
        return " and ".join(where), values

    def delete(self, crawl: str, queue: str = "") -> int:
        """Delete a crawl, or a queue of it; return how many URLs it had."""
        where, values = ("crawl = ? and queue = ?", (crawl, queue)) if queue else ("crawl = ?", (crawl,))
        self._sql.execute(f"delete from queues where {where}", values)
        return self._sql.execute(f"delete from urls where {where}", values).rowcount

    # -- giving away --------------------------------------------------------------------------------------------------

    def open_queues(self, crawl: str | None, queue: str, now: float, *, due: bool) -> list[tuple[str, str, int]]:
        """Return the queues (crawl, queue, room) that may give something away, the longest ignored first.

        With `due`, only those with a URL whose date has come.
        """
        rest = "case when most = 0 then 1 << 30 else most - (select count(*) from urls u where u.crawl = q.crawl"
        rest += " and u.queue = q.queue and (u.known or u.leased > :now)) end"
        wait = f"coalesce((select delay from queues d where d.crawl = q.crawl and d.queue = ''), {DELAY_S})"
        there = "exists (select 1 from urls u where u.crawl = q.crawl and u.queue = q.queue and u.refetch > 0"
        there += " and u.refetch <= :now and u.leased <= :now)"
        rows = self._sql.execute(
            f"select crawl, queue, {rest} as room from queues q where queue <> ''"
            " and (:crawl is null or crawl = :crawl) and (:queue = '' or queue = :queue)"
            f" and blocked <= :now and given + coalesce(delay, {wait}) <= :now {'and ' + there if due else ''}"
            " and room > 0 order by given, crawl, queue",
            {"crawl": crawl, "queue": queue, "now": now},
        )
        return rows.fetchall()

    def due(self, crawl: str, queue: str, most: int, now: float) -> list[FrontierUrl]:
        """Return URLs of a queue whose date has come and that nobody has, the earliest first."""
        ask = f"select {_ROW} from urls where crawl = ? and queue = ? and refetch > 0 and refetch <= ? and leased <= ?"
        rows = self._sql.execute(f"{ask} order by refetch, url limit ?", (crawl, queue, now, now, most))
        return [FrontierUrl(*row) for row in rows]

    def lease(self, given: Sequence[FrontierUrl], until: float, now: float) -> None:
        """Note that URLs were given away."""
        self._sql.executemany(
            "update urls set leased = ? where crawl = ? and url = ?", [(until, each.crawl, each.url) for each in given]
        )
        queues = {(now, each.crawl, each.queue) for each in given}
        self._sql.executemany("update queues set given = ? where crawl = ? and queue = ?", queues)

    # -- queues and settings ------------------------------------------------------------------------------------------

    def crawls(self) -> list[str]:
        """Return the crawls' names."""
        return [crawl for (crawl,) in self._sql.execute("select distinct crawl from queues order by crawl")]

    def queues(self, crawl: str, *, inactive: bool) -> list[str]:
        """Return a crawl's queues; without `inactive`, those that have URLs to visit."""
        there = "" if inactive else " and exists (select 1 from urls u where u.crawl = q.crawl and u.queue = q.queue"
        there += "" if inactive else " and u.refetch > 0)"
        ask = f"select queue from queues q where crawl = ? and queue <> ''{there} order by queue"
        return [queue for (queue,) in self._sql.execute(ask, (crawl,))]

    def set_queue(self, crawl: str, queue: str, field: str, value: float) -> None:
        """Set the delay, the block or the limit of a queue; queue '' is all of a crawl's."""
        assert field in ("delay", "blocked", "most"), field
        self._sql.execute("insert or ignore into queues (queue, crawl) values (?, ?)", (queue, crawl))
        self._sql.execute(f"update queues set {field} = ? where crawl = ? and queue = ?", (value, crawl, queue))

    def numbers(self, crawl: str | None, queue: str, now: float) -> dict[str, int]:
        """Count URLs to visit, leased ones, those that are done, queues, and queues with URLs to visit."""
        names = ("size", "leased", "completed", "queues", "active_queues")
        row = self._sql.execute(
            "select sum(refetch > 0), sum(leased > :now), sum(refetch = 0), count(distinct crawl || ' ' || queue),"
            " count(distinct case when refetch > 0 then crawl || ' ' || queue end) from urls"
            " where (:crawl is null or crawl = :crawl) and (:queue = '' or queue = :queue)",
            {"crawl": crawl, "queue": queue, "now": now},
        ).fetchone()
        return dict(zip(names, (int(value or 0) for value in row), strict=True))

    def setting(self, name: str, default: str) -> str:
        """Return a setting."""
        row = self._sql.execute("select value from settings where name = ?", (name,)).fetchone()
        return default if row is None else str(row[0])

    def set_setting(self, name: str, value: str) -> None:
        """Keep a setting."""
        self._sql.execute("insert or replace into settings values (?, ?)", (name, value))
