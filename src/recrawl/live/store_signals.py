"""Sitemaps and feeds in the store: what they announced, and whether it was true."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from recrawl.live.store_database import Database
from recrawl.visits import Outcome

PER_HOST = 1_000  # sitemaps and feeds that are kept for a host
PROBLEMS, MAX_PROBLEMS, MAX_WHY = "feed-problems", 100, 300  # a row of meta: the newest problems, characters of each


class StoredSignals:
    """The tables feeds, announced and templates; writing is within a transaction."""

    db: Database

    def add_feeds(self, feeds: Sequence[tuple[str, str, float | None]]) -> None:
        """Note sitemaps and feeds: host, URL, when it changed as its index says."""
        for host in {host for host, _, _ in feeds}:
            room = PER_HOST - self.db.execute("select count(*) from feeds where host = ?", (host,)).fetchone()[0]
            rows = [feed for feed in feeds if feed[0] == host]
            self.db.executemany(
                "update feeds set said_at = ? where url = ?", [(said_at, url) for _, url, said_at in rows if said_at]
            )
            rows = [
                row for row in rows if not self.db.execute("select 1 from feeds where url = ?", row[1:2]).fetchone()
            ]
            self.db.executemany(
                "insert or ignore into feeds (host, url, said_at) values (?, ?, ?)", rows[: max(0, room)]
            )

    def follow(self, feeds: Sequence[tuple[str, str]]) -> None:
        """Note sitemaps and feeds that the user added and that were just read: host and URL."""
        self.add_feeds([(host, url, None) for host, url in feeds])
        (cycle,) = self.db.execute("select coalesce(max(cycle), 0) from cycles").fetchone()
        for _, url in feeds:
            self.feed_read(url, cycle, 2, "{}")

    def due_feeds(self, cycle: int, most: int) -> list[tuple[str, str, str, int]]:
        """Return the sitemaps and feeds to ask in this cycle: URL, host, validators, cycles to wait."""
        return self.db.execute(
            "select url, host, validators, wait_cycles from feeds where asked_cycle is null or asked_cycle < ? and"
            " (asked_cycle + wait_cycles <= ? or said_at is not read_said_at)"
            " order by asked_cycle nulls first, url limit ?",
            (cycle, cycle, most),
        ).fetchall()

    def feed_read(self, url: str, cycle: int, wait_cycles: int, validators: str) -> None:
        """Note that a sitemap or feed was asked in this cycle, and how long to wait until the next time."""
        self.db.execute(
            "update feeds set asked_cycle = ?, wait_cycles = ?, validators = ?, read_said_at = said_at where url = ?",
            (cycle, wait_cycles, validators, url),
        )

    def note_feed(self, url: str, why: str) -> None:
        """Note why a sitemap or feed could not be read, or was read only in part; empty: it was read."""
        problems = self.feed_problems()
        if problems.pop(url, "") != why or why:
            problems |= {url: why[:MAX_WHY]} if why else {}
            newest = list(problems.items())[-MAX_PROBLEMS:]
            self.db.execute("insert or replace into meta values (?, ?)", (PROBLEMS, json.dumps(dict(newest))))

    def feed_problems(self) -> dict[str, str]:
        """Return the sitemaps and feeds that could not be read, or only in part, when last asked, and why."""
        row = self.db.execute("select value from meta where key = ?", (PROBLEMS,)).fetchone()
        return {} if row is None else dict(json.loads(row[0]))

    def announced_at(self, page: int) -> float | None:
        """When a page changed, as its site last announced it; None: never announced."""
        row = self.db.execute("select said_at from announced where page = ?", (page,)).fetchone()
        return None if row is None else float(row[0])

    def announce(self, rows: Sequence[tuple[int, float, int]]) -> None:
        """Record announcements: page, when it changed, and whether that is after our last visit."""
        self.db.executemany("insert or replace into announced values (?, ?, ?)", rows)

    def pages_announced(self, least: float, most: int) -> list[int]:
        """Return pages announced as changed by sites that were right at least so often, the most reliable first."""
        rows = self.db.execute(
            "select page from announced join pages using (page) join hosts using (host) where pending"
            " and signals_true + 1.0 >= ? * (signals_true + signals_false + 2)"
            " order by (signals_true + 1.0) / (signals_true + signals_false + 2) desc, said_at, page limit ?",
            (least, most),
        )
        return [page for (page,) in rows]

    def judge_signals(self, outcomes: Sequence[tuple[int, int]]) -> None:
        """Count which announcements of the visited pages (page, outcome) were true, and clear them."""
        if self.db.execute("select 1 from announced where pending limit 1").fetchone() is None:
            return
        places = ", ".join("?" * len(outcomes))
        rows = self.db.execute(
            f"select page from announced where pending and page in ({places})", [page for page, _ in outcomes]
        )
        waiting = {page for (page,) in rows}
        answered = [(page, found) for page, found in outcomes if page in waiting and found != Outcome.FAILED]
        for verdict, outcome in (("true", Outcome.CHANGED), ("false", Outcome.UNCHANGED)):
            self.db.executemany(
                f"update hosts set signals_{verdict} = signals_{verdict} + 1"
                " where host = (select host from pages where page = ?)",
                [(page,) for page, found in answered if found == outcome],
            )
        self.db.executemany("update announced set pending = 0 where page = ?", [(page,) for page, _ in answered])

    def templates(self) -> dict[str, int]:
        """How many pages were discovered by each shape of URL."""
        return dict(self.db.execute("select template, pages from templates").fetchall())

    def keep_templates(self, rows: Iterable[tuple[str, int]]) -> None:
        """Note how many pages were discovered by these shapes of URL."""
        self.db.executemany("insert or replace into templates (template, pages) values (?, ?)", rows)
