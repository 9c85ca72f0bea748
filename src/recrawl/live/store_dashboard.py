"""What people look at: hosts, cycles, pages and failures, from the counters kept with the visits. Nothing is written.

Every question reads a bounded number of rows, so it takes milliseconds however many visits there are. The exception is
the order by visits in PostgreSQL, which reads all pages: an index on what every visit changes would cost every visit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from recrawl.live.store_database import Database

RECENT = 20_000  # visits that count as the last ones
SCANNED = 200_000  # pages that a search by a part of the URL reads at most
SORTS = {  # of pages: column, descending
    "changes": ("changes", True),
    "visits": ("visits", True),
    "last": ("last_visit_at", True),
    "changed": ("last_change_at", True),
    "number": ("page", False),
}
_PAGE = ("page", "url", "title", "visits", "changes", "last_visit_at", "last_change_at", "gone")
_HOST = (
    *("host", "name", "added", "gate", "pages", "fetched", "unchanged", "changed", "first", "gone", "failed"),
    *("signals_true", "signals_false", "reason"),
)
_WHICH = {
    "all": "1 = 1",
    "changed": "last_change_at is not null",
    "gone": "gone = 1",
    "unvisited": "visits = 0",
    "alive": "gone = 0 and visits > 0",
}
WHICH = tuple(_WHICH)


class PageList(NamedTuple):
    """A piece of a list of pages, and where the next piece begins."""

    rows: list[dict[str, Any]]
    after: str | None  # None: there are no more
    whole: bool  # False: the search ended before the last page


class StoredDashboard:
    """Questions of the dashboard and of metrics."""

    db: Database

    def hosts_at_work(self, most: int = 500, contains: str = "") -> list[dict[str, Any]]:
        """Return the hosts with the most pages: counters, politeness state as JSON, and why they are barred."""
        rows = self.db.execute(
            f"select {', '.join(_HOST)} from hosts left join host_bars using (host)"
            " where pages > 0 and (? = '' or instr(name, ?) > 0) order by pages desc, name limit ?",
            (contains, contains, most),
        )
        return [dict(zip(_HOST, row, strict=True)) for row in rows]

    def host_states(self) -> dict[int, int]:
        """Count hosts by why they are barred; 0: they are not."""
        among = "hosts left join host_bars using (host) where pages > 0"
        return dict(self.db.execute(f"select coalesce(reason, 0), count(*) from {among} group by 1").fetchall())

    def page_list(
        self, *, contains: str = "", which: str = "all", sort: str = "changes", after: str = "", most: int = 50
    ) -> PageList:
        """Return pages in order from a place on (keyset pagination): `after` is what the piece before returned."""
        column, down = SORTS[sort]
        value, number = _place(after)
        sign, order = ("<", "desc") if down else (">", "")
        where = [_WHICH[which]] + ([f"{column} is not null"] if column.startswith("last") else [])
        values: list[object] = []
        if value is not None:
            where.append(f"{column} {sign}= ? and ({column} {sign} ? or page > ?)")
            values = [value, value, number]
        scanned = SCANNED if contains else most + 1
        found = []
        for among in (*self._narrowed(column, value, scanned), "1 = 1"):
            ask = (
                f"select {', '.join(_PAGE)} from pages where {' and '.join([*where, among])}"
                f" order by {column} {order}, page limit ?"
            )
            found = self.db.execute(
                f"select * from ({ask}) as piece where ? = '' or instr(url, ?) > 0 limit ?",
                [*values, scanned, contains, contains, most + 1],
            ).fetchall()
            if len(found) > most:
                break
        rows = [dict(zip(_PAGE, row, strict=True)) for row in found[:most]]
        more = len(found) > most
        whole = (
            more or not contains or self.db.execute("select coalesce(max(page), 0) from pages").fetchone()[0] < SCANNED
        )
        return PageList(rows, f"{rows[-1][column]!r}.{rows[-1]['page']}" if more else None, whole)

    def _narrowed(self, column: str, value: float | None, count: int) -> list[str]:
        """Return conditions that the first pages of an order meet, where that is quicker than an index on pages."""
        return []

    def changed_lately(self, most: int = 20) -> list[dict[str, Any]]:
        """Return the pages whose change was found last."""
        return self.page_list(sort="changed", most=most).rows

    def failures_lately(self) -> list[tuple[str, str, float, int, str]]:
        """Return failed visits among the last ones: URL, host, time, status, why; the newest first."""
        return self.db.execute(
            "select url, name, v.at, status, coalesce(note, '') from visits v join pages using (page) join hosts using"
            " (host) where visit > (select max(visit) from visits) - ? and outcome = 4 order by visit desc",
            (RECENT,),
        ).fetchall()

    def feeds_known(self, most: int = 500) -> list[tuple[str, str, float | None, int | None, int]]:
        """Return sitemaps and feeds: host, URL, when it changed as its index says, cycle last read, cycles to wait."""
        ask = (
            "select host, url, said_at, asked_cycle, wait_cycles from feeds"
            " order by asked_cycle desc nulls last, url limit ?"
        )
        return self.db.execute(ask, (most,)).fetchall()

    def signal_trust(self, most: int) -> list[tuple[str, int, int]]:
        """Return the hosts with the most checked announcements: name, how many were right, how many wrong."""
        ask = (
            "select name, signals_true, signals_false from hosts where signals_true + signals_false > 0"
            " order by signals_true + signals_false desc, name limit ?"
        )
        return self.db.execute(ask, (most,)).fetchall()

    def announced_pending(self) -> int:
        """How many pages were announced as changed and not visited since."""
        return int(self.db.execute("select count(*) from announced where pending").fetchone()[0])

    def newest_visit(self) -> int:
        """Return the number of the last visit; 0: there is none."""
        return int(self.db.execute("select coalesce(max(visit), 0) from visits").fetchone()[0])

    def answers_after(self, visit: int) -> list[tuple[float, int, str]]:
        """Return how long each answer after a visit took, what it was and its note, of the last visits."""
        ask = "select elapsed_s, outcome, coalesce(note, '') from visits where visit > ?"
        return self.db.execute(ask, (max(visit, self.newest_visit() - RECENT),)).fetchall()

    def page_sample(self, step: int) -> list[tuple[int, int, int, float, float]]:
        """Return every step-th page that has a copy: host, visits, changes, first seen, last visit."""
        return self.db.execute(
            "with recursive n(page) as (select 0 union all select page + ? from n where page + ? <="
            " (select max(page) from pages)) select host, visits, changes, first_seen_at, last_visit_at from n"
            " join pages using (page) where digest is not null and not gone and last_visit_at is not null",
            (step, step),
        ).fetchall()

    def visits_compared(self, most: int) -> list[tuple[int, int, int, float, float, float, int]]:
        """Return the last visits that compared two versions, as seen just before them.

        Host, visits and changes before it, when the page was first seen, the visit before, this visit, whether changed.
        """
        return self.db.execute(
            "select p.host, (select count(*) from visits b where b.page = v.page and b.cycle < v.cycle),"
            " (select count(*) from visits b where b.page = v.page and b.cycle < v.cycle and b.outcome = 1),"
            " p.first_seen_at, (select max(b.at) from visits b where b.page = v.page and b.cycle < v.cycle), v.at,"
            " v.outcome from visits v join pages p using (page)"
            " where visit > (select max(visit) from visits) - ? and v.outcome in (0, 1)",
            (most,),
        ).fetchall()

    def host_rates(self) -> dict[int, tuple[int, int]]:
        """Return for each host how many visits compared versions, and how many of them found a change."""
        ask = "select host, unchanged + changed, changed from hosts where unchanged + changed > 0"
        return {host: (compared, changed) for host, compared, changed in self.db.execute(ask)}


def _place(after: str) -> tuple[float | None, int]:
    value, dot, page = after.rpartition(".")
    try:
        return (float(value), int(page)) if dot else (None, 0)
    except ValueError:
        return None, 0
