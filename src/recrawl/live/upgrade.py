"""Store migrations: a crawl's store of an older format becomes one of this format, copy then rename.

The store is copied, the copy goes through the steps, is checked and synced, and only then takes the old one's name; the
old store stays beside it as state.sqlite.format-N. A crash at any moment leaves the old store or the new one whole.

A step changes tables and data. Indexes and triggers are dropped before the first step and made anew, as the schema has
them now, after the last: they never need a step. To change the tables: raise FORMAT in storeschema, and add the step
from the format before.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from recrawl.errors import StoreError
from recrawl.live.packed_links import packed_lines, targets_of_lines
from recrawl.live.store_contents import CONTENT_TABLES
from recrawl.live.store_file import connect, format_of, one_line_errors
from recrawl.live.storeschema import FORMAT, INDEXES, TRIGGERS

_OUTCOMES = ("unchanged", "changed", "first", "gone", "failed")
_COUNTED = "".join(f"alter table {{table}} add column {name} integer not null default 0; " for name in _OUTCOMES)
_SUMS = ", ".join(f"sum(outcome = {number}) as c{number}" for number in range(len(_OUTCOMES)))

BARS_AND_SCOPE = """
alter table hosts add column added integer not null default 0;
update hosts set added = 1 where host in (select host from pages where found_on is null);
create table barred (page integer primary key, reason integer not null) strict;
create table host_bars (host integer primary key, reason integer not null) strict;
create table asked_for (url text primary key, at real not null) strict, without rowid;
"""

COUNTERS = f"""
{_COUNTED.format(table="cycles")}
update cycles set ({", ".join(_OUTCOMES)}) = (c0, c1, c2, c3, c4) from (
    select cycle as number, {_SUMS} from visits group by cycle
) where cycle = number;

alter table pages add column links integer not null default 0;
alter table pages add column visits integer not null default 0;
alter table pages add column changes integer not null default 0;
alter table pages add column last_visit_at real;
alter table pages add column last_change_at real;
alter table pages add column gone integer not null default 0;
update pages set (visits, changes, last_visit_at, last_change_at) = (v, c, last, change) from (
    select page as number, count(*) as v, sum(outcome = 1) as c, max(at) as last,
        max(case when outcome = 1 then at end) as change from visits group by page
) where page = number;
update pages set gone = ifnull(
    (select outcome = 3 from visits v where v.page = pages.page and outcome <> 4 order by cycle desc limit 1), 0
);
update pages set links = n from (
    select page as number, count as n from first_links union all
    select page, count(*) from links where gone_at is null group by page
) where page = number;

alter table hosts add column pages integer not null default 0;
alter table hosts add column fetched integer not null default 0;
alter table hosts add column links integer not null default 0;
{_COUNTED.format(table="hosts")}
update hosts set (pages, fetched, links) = (n, f, l) from (
    select host as number, count(*) as n, sum(digest is not null) as f, sum(links) as l from pages group by host
) where host = number;
update hosts set ({", ".join(_OUTCOMES)}) = (c0, c1, c2, c3, c4) from (
    select host as number, {_SUMS} from visits join pages using (page) group by host
) where host = number;
"""

PACKED_LINKS = """
create table packed_first_links (
    page integer primary key, first_seen_at real not null, count integer not null, links blob not null,
    targets blob not null
) strict;
insert into packed_first_links
    select page, first_seen_at, count, packed_links(links), packed_targets(links) from first_links;
drop table first_links;
alter table packed_first_links rename to first_links;
"""

WISHES = "create table wished (page integer primary key, at real not null) strict;"

STEPS: dict[int, tuple[str, ...]] = {  # by the format that they begin with: scripts, in their order
    2: (BARS_AND_SCOPE,),
    3: (COUNTERS, WISHES, "alter table pages add column canonical integer;", CONTENT_TABLES),
    4: (PACKED_LINKS,),
}


def upgrade(path: Path) -> int:
    """Bring a store to this format; return the format it had. The caller holds the crawl's lock."""
    with (
        one_line_errors(path),
        closing(connect(path, "rw", wal=False)) as db,
    ):  # to write: it may have to recover from a crash
        before = format_of(db, path)
    if before == FORMAT:
        return before
    if before > FORMAT or any(step not in STEPS for step in range(before, FORMAT)):
        oldest = f"stores from format {min(STEPS)} on can be upgraded"
        newer = f"this recrawl reads format {FORMAT}; use a newer recrawl"
        raise StoreError(f"{path} has format {before}; {newer if before > FORMAT else oldest}")
    new = path.with_name(path.name + ".new")
    with one_line_errors(path), _made(new):
        _copy(path, new)
        with closing(_open_copy(new)) as db:
            _run(db, before)
        _sync(new)
        _end_wal(path)
        _keep(path, path.with_name(f"{path.name}.format-{before}"))
        os.replace(new, path)
        _sync(path.parent)
    return before


@contextmanager
def _made(new: Path) -> Iterator[None]:
    """Remove what a crash or an error leaves of the copy, before and after."""
    try:
        _remove(new)
        yield
    except OSError as wrong:
        raise StoreError(f"{new}: {wrong.strerror}; the store is as it was") from None
    finally:
        _remove(new)


def _remove(new: Path) -> None:
    for file in (new, new.with_name(new.name + "-journal")):
        file.unlink(missing_ok=True)


def _copy(path: Path, new: Path) -> None:
    """Copy the store as it is now, with what is still in its log."""
    with closing(connect(path, "ro")) as old, closing(_open_copy(new, "rwc")) as copy:
        old.backup(copy)
        copy.execute("pragma journal_mode = delete")  # one file, that can be renamed


def _open_copy(new: Path, mode: str = "rw") -> sqlite3.Connection:
    return sqlite3.connect(f"{new.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None)


def _run(db: sqlite3.Connection, before: int) -> None:
    """Run the steps from a format to this one, in one transaction."""
    db.execute("pragma synchronous = full")
    for name, function in (("packed_links", packed_lines), ("packed_targets", targets_of_lines)):
        db.create_function(name, 1, function, deterministic=True)
    named = "select type, name from sqlite_schema where type = 'trigger' or type = 'index' and sql is not null"
    dropped = "".join(f"drop {kind} {name}; " for kind, name in db.execute(named).fetchall())
    steps = "".join("".join(STEPS[step]) for step in range(before, FORMAT))
    db.executescript(f"begin; {dropped} {steps} {INDEXES} {TRIGGERS} pragma user_version = {FORMAT}; commit;")
    found = str(db.execute("pragma quick_check(1)").fetchone()[0])
    if found != "ok":
        raise StoreError(f"the copy is corrupt: {found.splitlines()[0]}; the store is as it was")


def _end_wal(path: Path) -> None:
    """Take the old store out of WAL mode: a log that stayed behind would be read into the new store."""
    with closing(connect(path, "rw", wal=False)) as db:
        if db.execute("pragma journal_mode = delete").fetchone()[0] != "delete":
            raise StoreError(f"{path}: another process reads the store; try again when it is done")


def _keep(path: Path, kept: Path) -> None:
    """Keep the old store under another name."""
    kept.unlink(missing_ok=True)
    try:
        os.link(path, kept)
    except OSError:  # a file system without links
        shutil.copyfile(path, kept)


def _sync(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
