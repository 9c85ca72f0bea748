"""A fleet's tables: workers' leases, ownership of sites, tasks and the inbox; all times are the database's own.

A lease belongs to a session of a worker, not to a site. Who takes a site from a session whose lease is over first marks
that session as over for good, which waits for a renewal under way: a session is never alive and taken from at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from recrawl.errors import StoreError
from recrawl.live.postgres.store_connection import PostgresDatabase
from recrawl.live.postgres.store_postgres import PostgresStore

_TASKS = "copy tasks (cycle, task, site, kind, page, request) from stdin (format binary)"
_TASK_TYPES = ("int8", "int8", "text", "text", "int8", "text")
_INBOX = "copy inbox (cycle, worker, number, task, record) from stdin (format binary)"
_INBOX_TYPES = ("int8", "int8", "int8", "int8", "bytea")
_FREE = "(worker is null or worker not in (select worker from workers where alive_until > 'epoch'))"


class LeaseLostError(StoreError):
    """This session's lease is over: what it found and did not record is asked again by another."""


class CycleOverError(StoreError):
    """The cycle is over, and its inbox with it."""


class FleetTask(NamedTuple):
    """Something to ask: a page, a sitemap or feed, or a robots.txt."""

    task: int
    site: str
    kind: str
    page: int
    request: str


class InboxEntry(NamedTuple):
    """What a worker found."""

    worker: int
    number: int
    task: int
    record: bytes


class FleetRound(NamedTuple):
    """What a worker looks at every moment."""

    cycle: int | None  # None: there is nothing to do yet
    left_s: float | None  # until the cycle ends; None: it takes as long as its visits take
    workers: int  # that are alive
    open_sites: int


class FleetTables:
    """The tables as planner and workers use them, each on its own connection."""

    def __init__(self, db: PostgresDatabase) -> None:
        self.db = db

    # -- workers --------------------------------------------------------------------------------------------------

    def now_s(self) -> float:
        """Return the database's clock, in seconds since 1970."""
        return float(self.db.execute("select extract(epoch from clock_timestamp())").fetchone()[0])

    def join(self, name: str, lease_s: float) -> int:
        """Begin a session of a worker; returns its number."""
        ask = "insert into workers (name, alive_until) values (?, clock_timestamp() + make_interval(secs => ?))"
        return int(self.db.execute(f"{ask} returning worker", (name, lease_s)).fetchone()[0])

    def renew(self, worker: int, lease_s: float) -> None:
        """Renew a session's lease; LeaseLostError if it is over."""
        ask = (
            "update workers set alive_until = clock_timestamp() + make_interval(secs => ?)"
            " where worker = ? and alive_until > clock_timestamp()"
        )
        if self.db.execute(ask, (lease_s, worker)).rowcount != 1:
            raise LeaseLostError(f"the lease of worker {worker} is over")

    def leave(self, worker: int) -> None:
        """End a session in order: its sites are free at once."""
        self._write(
            worker,
            lambda: (
                self.db.execute("update sites set worker = null where worker = ?", (worker,)),
                self.db.execute("update workers set alive_until = 'epoch' where worker = ?", (worker,)),
            ),
        )

    def look(self) -> FleetRound:
        """Return what there is to do."""
        row = self.db.execute(
            "select f.cycle, extract(epoch from f.ends_at - clock_timestamp())::float8,"
            " (select count(*) from workers where alive_until > clock_timestamp()),"
            " (select count(*) from sites where last_task > done_task) from (select 1) x left join fleet f on true"
        ).fetchone()
        return FleetRound(*row)

    def claim(self, worker: int, most: int) -> dict[str, int]:
        """Own sites that have tasks and no living owner; returns them, each with its newest task."""
        self._bury()
        ask = (
            f"update sites s set worker = ? from (select site from sites where last_task > done_task and {_FREE}"
            " order by done_task, site limit ? for update skip locked) f where s.site = f.site"
            " returning s.site, s.last_task"
        )
        return self._write(worker, lambda: dict(self.db.execute(ask, (worker, most)).fetchall()))

    def claim_site(self, worker: int, site: str) -> bool:
        """Own a site, which a redirect led to; False: another worker asks it."""
        self._bury()
        ask = (
            "insert into sites (site, worker) values (?, ?) on conflict (site) do update set worker = excluded.worker"
            f" where sites.worker = excluded.worker or {_FREE.replace('worker ', 'sites.worker ', 2)}"
        )
        return self._write(worker, lambda: self.db.execute(ask, (site, worker)).rowcount == 1)

    def release(self, worker: int, sites: Mapping[str, int]) -> None:
        """Give up sites: each with the newest task when none was left, or 0."""
        ask = "update sites set worker = null, done_task = greatest(done_task, ?) where site = ? and worker = ?"
        rows = [(done, site, worker) for site, done in sites.items()]
        self._write(worker, lambda: self.db.executemany(ask, rows))

    def _bury(self) -> None:
        """Mark sessions whose lease is over; waits for a renewal that is under way, and then leaves that one."""
        self.db.execute(
            "update workers set alive_until = 'epoch' where alive_until <= clock_timestamp() and alive_until > 'epoch'"
        )

    def tasks_of(self, cycle: int, sites: Sequence[str], after: int) -> list[FleetTask]:
        """Return tasks of these sites, after a task, that nobody has answered."""
        rows = self.db.execute(
            "select task, site, kind, page, request from tasks t where cycle = ? and site = any(?) and task > ? and"
            " not exists (select 1 from inbox i where i.cycle = t.cycle and i.task = t.task) order by task",
            (cycle, list(sites), after),
        )
        return [FleetTask(*row) for row in rows]

    def manners_of(self, sites: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return politeness states and robots.txt files of these sites, as JSON."""
        gates = self.db.execute("select gate from gates where site = any(?)", (list(sites),))
        robots = self.db.execute("select record from site_robots where site = any(?)", (list(sites),))
        return [gate for (gate,) in gates], [record for (record,) in robots]

    def send(
        self,
        worker: int,
        entries: Sequence[tuple[int, int, int, bytes]],
        gates: Sequence[tuple[str, str, str]],
        robots: Sequence[tuple[str, str, str]],
    ) -> None:
        """Put on disk what was found (cycle, number, task, record), and the politeness; LeaseLostError: nothing is."""
        upsert = "insert into {0} ({1}, site, {2}) values (?, ?, ?) on conflict ({1}) do update set {2} = excluded.{2}"

        def write() -> None:
            rows = [(cycle, worker, number, task, record) for cycle, number, task, record in entries]
            if rows:
                self.db.copy_rows(_INBOX, _INBOX_TYPES, rows)
            self.db.executemany(upsert.format("gates", "host", "gate"), gates)
            self.db.executemany(upsert.format("site_robots", "origin", "record"), robots)

        try:
            self._write(worker, write)
        except StoreError as error:
            if "no partition" not in str(error):
                raise
            raise CycleOverError(str(error)) from None

    def _write(self, worker: int, write: Any) -> Any:
        """Write in a transaction that is void if the session's lease is over: fenced."""
        alive = "select 1 from workers where worker = ? and alive_until > clock_timestamp() for share"
        self.db.execute("begin")
        try:
            if self.db.execute(alive, (worker,)).fetchone() is None:
                raise LeaseLostError(f"the lease of worker {worker} is over")
            found = write()
            self.db.execute("commit")
        except BaseException:
            if self.db.in_transaction:
                self.db.execute("rollback")
            raise
        return found

    # -- the planner ----------------------------------------------------------------------------------------------

    def open_cycle(self, cycle: int, lasts_s: float | None) -> None:
        """Let workers work on a cycle, or go on with it; what is left of cycles before is dropped."""
        old = self.db.execute(
            "select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid"
            " where i.inhparent in ('tasks'::regclass, 'inbox'::regclass) and c.relname not in (?, ?)",
            (f"tasks_{cycle}", f"inbox_{cycle}"),
        ).fetchall()
        drop = "".join(f"drop table {name}; " for (name,) in old)
        if drop:
            drop += "update sites set done_task = last_task where done_task < last_task;"
            drop += " delete from workers where alive_until = 'epoch';"
            drop += " delete from inbox_read r where not exists (select 1 from workers w where w.worker = r.worker);"
        made = "".join(
            f"create table if not exists {name}_{cycle} partition of {name} for values in ({cycle})"
            " with (toast_tuple_target = 8160); "
            for name in ("tasks", "inbox")
        )
        self.db.executescript(f"begin; delete from fleet where cycle <> {cycle}; {drop} {made} commit;")
        self.db.execute(
            "insert into fleet values (?, clock_timestamp() + make_interval(secs => ?))"
            " on conflict (cycle) do update set ends_at = excluded.ends_at",
            (cycle, lasts_s),
        )

    def close_cycle(self, cycle: int) -> None:
        """Let workers stop working on a cycle: everything of it is recorded."""
        self.db.execute("delete from fleet where cycle = ?", (cycle,))

    def last_task(self) -> int:
        """Return the newest task there ever was."""
        return int(self.db.execute("select coalesce(max(last_task), 0) from sites").fetchone()[0])

    def add_tasks(self, cycle: int, tasks: Sequence[FleetTask]) -> None:
        """Let these be asked, within a transaction."""
        newest = {each.site: each.task for each in tasks}
        self.db.copy_rows(_TASKS, _TASK_TYPES, [(cycle, *each) for each in tasks])
        self.db.executemany(
            "insert into sites (site, last_task) values (?, ?)"
            " on conflict (site) do update set last_task = excluded.last_task",
            sorted(newest.items()),
        )

    def pages_asked(self, cycle: int) -> set[int]:
        """Return the pages of a cycle that are still with workers, or whose answers wait in the inbox."""
        rows = self.db.execute(
            "select page from tasks t where cycle = ? and kind = 'page' and not exists (select 1 from inbox i join"
            " inbox_read r using (worker) where i.cycle = t.cycle and i.task = t.task and i.number <= r.number)",
            (cycle,),
        )
        return {int(page) for (page,) in rows}

    def task_pages(self, cycle: int) -> dict[int, int]:
        """Return the page of every task of a cycle that is a page."""
        ask = "select task, page from tasks where cycle = ? and kind = 'page'"
        return dict(self.db.execute(ask, (cycle,)).fetchall())

    def read_inbox(self, cycle: int, most: int) -> list[InboxEntry]:
        """Return the next entries of every session that the planner has not recorded."""
        rows = self.db.execute_binary(
            "select e.worker, e.number, e.task, e.record from workers w left join inbox_read r using (worker)"
            " cross join lateral (select * from inbox i where i.cycle = ? and i.worker = w.worker"
            " and i.number > coalesce(r.number, 0) order by i.number limit ?) e",
            (cycle, most),
        )
        return [InboxEntry(*row) for row in rows]

    def answers_to(self, cycle: int, tasks: Sequence[int]) -> list[tuple[int, bytes]]:
        """Return these tasks' answers, read by the planner or not."""
        ask = "select task, record from inbox where cycle = ? and task = any(?)"
        return [(int(task), bytes(record)) for task, record in self.db.execute_binary(ask, (cycle, list(tasks)))]

    def mark_read(self, numbers: Mapping[int, int]) -> None:
        """Note what was recorded of each session, within the transaction that records it."""
        self.db.executemany(
            "insert into inbox_read values (?, ?) on conflict (worker) do update set number = excluded.number",
            sorted(numbers.items()),
        )

    def manners(self) -> tuple[list[str], list[str]]:
        """Return all politeness states and robots.txt files, as JSON."""
        gates, robots = (self.db.execute(f"select {what}") for what in ("gate from gates", "record from site_robots"))
        return [gate for (gate,) in gates], [record for (record,) in robots]

    def show_gates(self) -> None:
        """Let those who look at hosts see the workers' politeness states, within a transaction."""
        self.db.execute(
            "update hosts h set gate = g.gate from gates g where g.host = h.name and h.gate is distinct from g.gate"
        )

    def alive(self) -> set[int]:
        """Return the sessions whose leases last."""
        return {row[0] for row in self.db.execute("select worker from workers where alive_until > clock_timestamp()")}

    def workers(self) -> list[dict[str, Any]]:
        """Return the sessions that are alive: name, sites, visits sent, seconds left of the lease."""
        names = ("worker", "name", "sites", "visits", "lease_left_s")
        rows = self.db.execute(
            "select w.worker, name, (select count(*) from sites s where s.worker = w.worker), coalesce(r.number, 0),"
            " round(extract(epoch from alive_until - clock_timestamp())::numeric, 1) from workers w"
            " left join inbox_read r using (worker) where alive_until > clock_timestamp() order by name, worker"
        )
        return [dict(zip(names, row, strict=True)) for row in rows]


def tasks_from(first: int, rows: Iterable[tuple[str, str, int, str]]) -> list[FleetTask]:
    """Number tasks (site, kind, page, request) from `first` on."""
    return [FleetTask(number, *row) for number, row in enumerate(rows, first)]


def fleet_of(store: PostgresStore) -> FleetTables:
    """Return the fleet's tables of a store, on its connection."""
    return FleetTables(store.db)
