"""Which pages and hosts a crawl does not visit now, and why, in its store; and what was added while it ran."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from recrawl.eligibility import Bar

LASTING = (Bar.PAUSED, Bar.HOST_DOWN)  # reasons of a host that outlast a cycle


class StoredBars:
    """The tables barred, host_bars and asked_for; writing is within a transaction."""

    db: sqlite3.Connection

    def meta(self, key: str) -> str | None:
        """Return what is noted under a name; None: nothing."""
        row = self.db.execute("select value from meta where key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def set_meta(self, key: str, value: str) -> None:
        """Note something under a name."""
        self.db.execute("insert or replace into meta values (?, ?)", (key, value))

    def barred(self) -> list[tuple[int, int]]:
        """Return the pages that are barred by themselves, with the reason."""
        return self.db.execute("select page, reason from barred").fetchall()

    def bar_pages(self, rows: Iterable[tuple[int, int]]) -> None:
        """Note that pages are barred: page, reason; Bar.OPEN opens them again."""
        rows = list(rows)
        self.db.executemany("insert or replace into barred values (?, ?)", [row for row in rows if row[1]])
        self.db.executemany("delete from barred where page = ?", [(page,) for page, reason in rows if not reason])

    def unbar(self, reason: Bar, host: int | None = None) -> None:
        """Open the pages that are barred for this reason, of one host or of all."""
        among = "" if host is None else " and page in (select page from pages where host = ?)"
        self.db.execute(f"delete from barred where reason = ?{among}", [int(reason), *([] if host is None else [host])])

    def unbar_pages(self, pages: Iterable[int], reason: Bar) -> None:
        """Open these pages where they are barred for this reason."""
        rows = [(page, int(reason)) for page in pages]
        self.db.executemany("delete from barred where page = ? and reason = ?", rows)

    def hosts_barred(self) -> dict[int, Bar]:
        """Return the hosts that are barred, with the reason."""
        return {host: Bar(reason) for host, reason in self.db.execute("select host, reason from host_bars")}

    def bar_hosts(self, rows: Iterable[tuple[int, int]]) -> None:
        """Note that hosts are barred: host, reason; Bar.OPEN opens them again. A pause by the user stays."""
        for host, reason in rows:
            self.db.execute("delete from host_bars where host = ? and reason <> ?", (host, int(Bar.PAUSED)))
            if reason:
                self.db.execute("insert or ignore into host_bars values (?, ?)", (host, int(reason)))

    def forget_hosts_barred(self) -> None:
        """Open the hosts whose reason does not outlast a cycle."""
        self.db.execute("delete from host_bars where reason not in (?, ?)", [int(bar) for bar in LASTING])

    def pause_host(self, host: int, *, paused: bool) -> None:
        """Let a host be passed over until it is resumed."""
        self.db.execute("delete from host_bars where host = ?", (host,))
        if paused:
            self.db.execute("insert into host_bars values (?, ?)", (host, int(Bar.PAUSED)))

    def first_pages(self, hosts: Iterable[int]) -> dict[int, str]:
        """Return the URL of one page of each host."""
        asked = "select url from pages where host = ? order by page limit 1"
        return {host: str(self.db.execute(asked, (host,)).fetchone()[0]) for host in hosts}

    def hosts_of_disallowed(self) -> list[int]:
        """Return the hosts with pages that robots.txt disallows."""
        ask = "select distinct host from barred join pages using (page) where reason = ?"
        return [host for (host,) in self.db.execute(ask, (int(Bar.DISALLOWED),))]

    def count_barred(self) -> dict[str, int]:
        """Count pages that are not visited now, by reason."""
        counts = dict.fromkeys(Bar, 0)
        for reason, count in self.db.execute("select reason, count(*) from barred group by reason"):
            counts[Bar(reason)] += count
        by_host = (
            "select reason, count(*) from pages join host_bars using (host)"
            " where page not in (select page from barred) group by reason"
        )
        for reason, count in self.db.execute(by_host):
            counts[Bar(reason)] += count
        return {bar.name.lower().replace("_", "-"): count for bar, count in counts.items() if count}

    # -- while a run holds the crawl --------------------------------------------------------------------------------

    def ask_for(self, urls: Sequence[str], at: float) -> None:
        """Note pages to add: the process that holds the crawl takes them in before its next cycle or round."""
        self.db.executemany("insert or ignore into asked_for values (?, ?)", [(url, at) for url in urls])

    def take_asked(self) -> list[tuple[str, float]]:
        """Return what was asked for, and forget it."""
        rows = self.db.execute("select url, at from asked_for order by at, url").fetchall()
        if rows:
            self.db.execute("delete from asked_for")
        return rows

    def in_scope(self) -> list[str]:
        """Return the hosts of the pages that the user added: the scope of a crawl whose settings name none."""
        return [name for (name,) in self.db.execute("select name from hosts where added order by host")]

    def unplan(self, cycle: int, pages: Iterable[int]) -> None:
        """Take pages out of a cycle's plan that will not be visited in it."""
        self.db.executemany("delete from plan where cycle = ? and page = ?", [(cycle, page) for page in pages])
