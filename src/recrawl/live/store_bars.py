"""Which pages and hosts a crawl does not visit now, and why, in its store; and what was added while it ran."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recrawl.eligibility import Bar
from recrawl.live.store_database import Database

QUEUED_SITEMAP = "sitemap "  # before the address in the queue: no page has a space in it
LASTING = (Bar.PAUSED, Bar.HOST_DOWN)  # reasons of a host that outlast a cycle


class StoredBars:
    """The tables barred, host_bars and asked_for; writing is within a transaction."""

    db: Database

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

    def note_aliases(self, rows: Iterable[tuple[int, int]]) -> list[int]:
        """Note that pages are other names of pages (page, its canonical one); return those that are barred by that.

        A page is barred where we have a copy of its canonical one, and that is neither gone nor barred itself.
        """
        barred = []
        for page, canonical in rows:
            self.db.execute("update pages set canonical = ? where page = ?", (canonical, page))
            held = (
                "select 1 from pages p where page = ? and digest is not null and not gone and canonical is null"
                " and not exists (select 1 from barred b where b.page = p.page)"
            )
            if self.db.execute(held, (canonical,)).fetchone() is not None:
                self.db.execute("insert or ignore into barred values (?, ?)", (page, int(Bar.ALIAS)))
                barred.append(page)
        return barred

    def free_aliases(self, pages: Iterable[int]) -> None:
        """Let the other names of these pages be visited again: the pages are gone."""
        for page in pages:
            among = "(select page from pages where canonical = ?)"
            self.db.execute(f"delete from barred where reason = {int(Bar.ALIAS)} and page in {among}", (page,))

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
        """Skip a host until it is resumed."""
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
            "select b.reason, sum(h.pages - coalesce(x.n, 0)) from host_bars b join hosts h using (host) left join"
            " (select host, count(*) as n from barred cross join pages using (page)"  # in this order
            "  where host in (select host from host_bars) group by host) x using (host) group by b.reason"
        )
        for reason, count in self.db.execute(by_host):
            counts[Bar(reason)] += count
        return {bar.name.lower().replace("_", "-"): count for bar, count in counts.items() if count}

    # -- while a run holds the crawl --------------------------------------------------------------------------------

    def ask_for(self, urls: Sequence[str], at: float) -> None:
        """Queue pages to add: the process that runs the crawl adds them before its next cycle or round."""
        self.db.executemany("insert or ignore into asked_for values (?, ?)", [(url, at) for url in urls])

    def wish(self, pages: Sequence[int], at: float) -> None:
        """Note pages that the user wants visited soon: they are among the first of the next cycle."""
        self.db.executemany("insert or replace into wished values (?, ?)", [(page, at) for page in pages])

    def take_wished(self) -> list[int]:
        """Return the pages that are wished for, the oldest wish first, and forget them."""
        pages = [page for (page,) in self.db.execute("select page from wished order by at, page")]
        if pages:
            self.db.execute("delete from wished")
        return pages

    def bar_of(self, page: int) -> Bar:
        """Return why a page is barred by itself; Bar.OPEN: it is not."""
        row = self.db.execute("select reason from barred where page = ?", (page,)).fetchone()
        return Bar.OPEN if row is None else Bar(row[0])

    def take_asked(self) -> list[tuple[str, float]]:
        """Return the queued pages, and take them from the queue; sitemaps stay in it."""
        rows = self.db.execute("select url, at from asked_for order by at, url").fetchall()
        pages = [row for row in rows if not row[0].startswith(QUEUED_SITEMAP)]
        self.db.executemany("delete from asked_for where url = ?", [(url,) for url, _ in pages])
        return pages

    def asked_sitemaps(self) -> list[str]:
        """Return the queued sitemaps; once their pages are queued instead, `drop_sitemaps`."""
        rows = self.db.execute("select url from asked_for order by at, url").fetchall()
        return [url.removeprefix(QUEUED_SITEMAP) for (url,) in rows if url.startswith(QUEUED_SITEMAP)]

    def drop_sitemaps(self, sitemaps: Sequence[str]) -> None:
        """Take sitemaps from the queue."""
        self.db.executemany("delete from asked_for where url = ?", [(QUEUED_SITEMAP + url,) for url in sitemaps])

    def in_scope(self) -> list[str]:
        """Return the hosts of the pages that the user added: the scope of a crawl whose settings name none."""
        return [name for (name,) in self.db.execute("select name from hosts where added order by host")]

    def unplan(self, cycle: int, pages: Iterable[int]) -> None:
        """Take pages out of a cycle's plan that will not be visited in it."""
        self.db.executemany("delete from plan where cycle = ? and page = ?", [(cycle, page) for page in pages])
