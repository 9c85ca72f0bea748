"""What a crawl has found so far, as its store tells it to people and exports."""

from __future__ import annotations

import sqlite3
from typing import Any

from recrawl.visits import Outcome

SORTS = {
    "url": "p.url",
    "visits": "visits desc, p.url",
    "changes": "changes desc, p.url",
    "last": "last_visit_at desc, p.url",
    "waiting": "last_visit_at, p.url",
}
_VISIT = ("cycle", "at", "outcome", "status", "body_bytes", "new_internal", "new_external", "change_size", "note")


class StoredHistory:
    """Questions about all pages and visits; nothing is written."""

    db: sqlite3.Connection

    def status(self) -> dict[str, Any]:
        """Count pages, hosts, copies, visits by outcome and links, and describe the last cycle."""
        outcomes = dict(self.db.execute("select outcome, count(*) from visits group by outcome").fetchall())
        return {
            "pages": self._one("select count(*) from pages"),
            "hosts": self._one("select count(*) from hosts"),
            "fetched": self._one("select count(*) from pages where digest is not null"),
            "visits": sum(outcomes.values()),
            **{outcome.name.lower(): outcomes.get(int(outcome), 0) for outcome in Outcome},
            "links": self._one("select count(*) from links where gone_at is null")
            + self._one("select coalesce(sum(count), 0) from first_links"),
            "cycle": self._last_cycle(),
        }

    def _last_cycle(self) -> dict[str, Any] | None:
        cycle = self.db.execute(
            "select cycle, at, budget, policy, done from cycles order by cycle desc limit 1"
        ).fetchone()
        return None if cycle is None else {
            "number": cycle[0], "at": cycle[1], "budget": cycle[2], "policy": cycle[3], "done": bool(cycle[4]),
            "visits": self._one("select count(*) from visits where cycle = ?", cycle[0]),
            "planned": self._one("select count(*) from plan where cycle = ?", cycle[0]),
        }  # fmt: skip

    def _one(self, ask: str, *values: object) -> Any:
        return self.db.execute(ask, values).fetchone()[0]

    def pages(
        self,
        *,
        contains: str = "",
        changed: bool = False,
        since: float | None = None,
        sort: str = "changes",
        limit: int = 50,
    ) -> list[dict[str, Any]]:
        """Return pages with their counts; `contains` filters by a part of the URL, `since` by the last time."""
        last = "last_change_at" if changed else "last_visit_at"
        rows = self.db.execute(
            "select p.page, p.url, coalesce(p.title, ''), count(v.visit) as visits,"
            f" coalesce(sum(v.outcome = {int(Outcome.CHANGED)}), 0) as changes, max(v.at) as last_visit_at,"
            f" max(case when v.outcome = {int(Outcome.CHANGED)} then v.at end) as last_change_at,"
            f" coalesce(max(v.outcome = {int(Outcome.GONE)}), 0) as gone"
            " from pages p left join visits v on v.page = p.page where instr(p.url, ?) or ? = ''"
            f" group by p.page having changes >= ? and (? is null or {last} >= ?) order by {SORTS[sort]} limit ?",
            (contains, contains, int(changed), since, since, limit),
        ).fetchall()
        names = ("page", "url", "title", "visits", "changes", "last_visit_at", "last_change_at", "gone")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def url_like(self, part: str) -> str | None:
        """Return the shortest URL that contains a text."""
        ask = "select url from pages where instr(url, ?) order by length(url) limit 1"
        row = self.db.execute(ask, (part,)).fetchone()
        return None if row is None else str(row[0])

    def title(self, page: int) -> str:
        """Return a page's title, empty where it has none."""
        return str(self._one("select coalesce(title, '') from pages where page = ?", page))

    def all_urls(self) -> dict[int, str]:
        """Return the URL of every page."""
        return dict(self.db.execute("select page, url from pages"))

    def visits_to(self, page: int) -> list[dict[str, Any]]:
        """Return the visits to a page in their order."""
        rows = self.db.execute(f"select {', '.join(_VISIT)} from visits where page = ? order by visit", (page,))
        return [_named(_VISIT, row) for row in rows]

    def all_visits(self) -> list[dict[str, Any]]:
        """Return every visit, in their order, with its page's URL."""
        names = ("url", *_VISIT)
        rows = self.db.execute(f"select {', '.join(names)} from visits join pages using (page) order by visit")
        return [_named(names, row) for row in rows]

    def changes_by_cycle(self) -> dict[int, int]:
        """How many visits of each cycle found a change."""
        ask = "select cycle, sum(outcome = ?) from visits group by cycle order by cycle"
        return dict(self.db.execute(ask, (int(Outcome.CHANGED),)).fetchall())

    # -- for a recording --------------------------------------------------------------------------------------------

    def lives(self) -> list[tuple[int, int, str, float, float | None, int | None]]:
        """Return every page ever seen: page, host, URL, first answer, when found gone, words of the first version."""
        return self.db.execute(
            "select p.page, p.host, p.url, min(v.at), max(case when v.outcome = ? then v.at end),"
            " (select max(n.words, 0) from versions n where n.page = p.page order by n.visit limit 1)"
            " from pages p join visits v on v.page = p.page where v.outcome <> ?"
            " group by p.page having min(v.outcome) < ? order by p.page",
            (int(Outcome.GONE), int(Outcome.FAILED), int(Outcome.GONE)),
        ).fetchall()

    def changes(self) -> list[tuple[int, float, float, int, int, int]]:
        """Return every change found: page, at, size, new internal and external links, words of the new version."""
        return self.db.execute(
            "select v.page, at, change_size, new_internal, new_external, max(ifnull(words, 0), 0)"
            " from visits v left join versions n on n.visit = v.visit where outcome = ? order by v.page, at",
            (int(Outcome.CHANGED),),
        ).fetchall()


def _named(names: tuple[str, ...], row: tuple[Any, ...]) -> dict[str, Any]:
    visit = dict(zip(names, row, strict=True))
    return visit | {"outcome": Outcome(visit["outcome"]).name.lower()}
