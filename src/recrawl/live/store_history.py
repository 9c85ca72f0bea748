"""Queries over all pages and visits of a crawl, for people and exports."""

from __future__ import annotations

from typing import Any, NamedTuple

from recrawl.live.store_database import Database
from recrawl.live.store_url_parts import StoredUrlParts, is_text
from recrawl.visits import Outcome

OUTCOMES = tuple(outcome.name.lower() for outcome in Outcome)
PAGE = ("page", "url", "title", "visits", "changes", "last_visit_at", "last_change_at", "gone")
FEW = 50_000  # pages that are sorted rather than met in their order
LOOKED_THROUGH = 1_000  # pages, in their order, before a part of a URL is looked for among all URLs
ALL = 1 << 62  # as a limit: none
SORTS = {  # by the indexes of storeschema; equal ones in the order of the pages or back
    "url": "url",
    "visits": "visits desc, page",
    "changes": "changes desc, page",
    "last": "last_visit_at desc nulls last, page desc",
    "waiting": "last_visit_at nulls first, page",
}
KEYSETS = {  # what each order goes by, the smallest first; equal ones by the page's number
    "page": "p.page",
    "url": "p.url",
    "visits": "-count(v.visit)",
    "changes": f"-count(*) filter (where v.outcome = {int(Outcome.CHANGED)})",
    "last": "-coalesce(max(v.at), -1.0)",
    "waiting": "coalesce(max(v.at), -1.0)",
}
_VISIT = ("cycle", "at", "outcome", "status", "body_bytes", "new_internal", "new_external", "change_size", "note")


class PageFilter(NamedTuple):
    """Which pages to list, in which order."""

    contains: str = ""  # a part of the URL
    changed: bool = False  # only pages that changed
    since: float | None = None  # only pages visited, or with `changed` changed, from then on
    sort: str = "changes"  # one of SORTS
    limit: int | None = None


class StoredHistory(StoredUrlParts):
    """Read-only queries over all pages and visits."""

    db: Database

    def status(self) -> dict[str, Any]:
        """Count pages, hosts, copies, visits by outcome and links, and describe the last cycle: from counters."""
        counted = ("pages", "fetched", "links", *OUTCOMES)
        sums = ", ".join(f"coalesce(sum({name}), 0)" for name in counted)
        row = self.db.execute(f"select count(*), {sums} from hosts").fetchone()
        hosts, counts = row[0], dict(zip(counted, row[1:], strict=True))
        return {
            "pages": counts["pages"],
            "hosts": hosts,
            "fetched": counts["fetched"],
            "visits": sum(counts[name] for name in OUTCOMES),
            **{name: counts[name] for name in OUTCOMES},
            "links": counts["links"],
            "cycle": self._last_cycle(),
        }

    def _last_cycle(self) -> dict[str, Any] | None:
        cycle = self.db.execute(
            f"select cycle, at, budget, policy, done, {' + '.join(OUTCOMES)} from cycles order by cycle desc limit 1"
        ).fetchone()
        return None if cycle is None else {
            "number": cycle[0], "at": cycle[1], "budget": cycle[2], "policy": cycle[3], "done": bool(cycle[4]),
            "visits": cycle[5], "planned": self._one("select count(*) from plan where cycle = ?", cycle[0]),
        }  # fmt: skip

    def _one(self, ask: str, *values: object) -> Any:
        return self.db.execute(ask, values).fetchone()[0]

    def pages(self, wanted: PageFilter) -> list[dict[str, Any]]:
        """Return pages with their counts.

        Each order is an index, so that a short list needs no pass over the pages. A + keeps SQLite from an index: few
        pages since a time are looked up by it and sorted, many are met soon in the order. A part of the URL is looked
        for in the first pages of the order, and then, if it is too rare for that, in the blocks that may have it.
        """
        contains, changed, since, sort, limit = wanted
        if not is_text(contains):
            return []
        where, values, order = [], list[object](), SORTS[sort]
        if changed:
            where.append("+changes > 0")
        if since is not None:
            last = "last_change_at" if changed else "last_visit_at"
            ask = f"select count(*) from (select 1 from pages where {last} >= ? limit {FEW}) as piece"
            few = self._one(ask, since) < FEW
            where.append(f"{'' if few else '+'}{last} >= ?")
            values.append(since)
            order = f"+{order}" if few else order
        rows = self._page_rows("pages", where, values, order, limit or ALL) if not contains else []
        if contains and limit:
            first = f"(select * from pages{_all_of(where)} order by {order} limit {LOOKED_THROUGH}) as piece"
            rows = self._page_rows(first, ["instr(url, ?) > 0"], [*values, contains], order, limit)
        if contains and (not limit or len(rows) < limit):
            ask, some = self._having(contains)
            order = f"+{order.removeprefix('+')}"
            rows = self._page_rows("pages", [*where, f"page in ({ask})"], [*values, *some], order, limit or ALL)
        return [{**dict(zip(PAGE, row, strict=True)), "title": row[2] or ""} for row in rows]

    def _having(self, part: str) -> tuple[str, list[object]]:
        """Return a question for the pages with a text in their URLs, and its values."""
        ranges = self.pages_that_may_hold(part)
        if ranges is None:  # `like` passes more than is meant, and is the quicker search through all URLs
            return "select page from pages where url like ? and instr(url, ?) > 0", [f"%{part}%", part]
        asks = ["select page from pages where page between ? and ? and instr(url, ?) > 0"] * len(ranges)
        values: list[object] = [value for first, last in ranges for value in (first, last, part)]
        return " union all ".join(asks or ["select page from pages where page < 0"]), values

    def _page_rows(self, source: str, where: list[str], values: list[object], order: str, limit: int) -> list[Any]:
        ask = f"select {', '.join(PAGE)} from {source}{_all_of(where)} order by {order} limit ?"
        return self.db.execute(ask, (*values, limit)).fetchall()

    def cycles(self, limit: int = ALL) -> list[dict[str, Any]]:
        """Return the cycles, the newest first, with their visits by outcome."""
        names = ("cycle", "at", "budget", "policy", "done", *OUTCOMES)
        rows = self.db.execute(f"select {', '.join(names)} from cycles order by cycle desc limit ?", (limit,))
        return [dict(zip(names, row, strict=True)) for row in rows]

    def pages_after(
        self, after: tuple[Any, int] | None, *, contains: str = "", sort: str = "page", limit: int = 100
    ) -> list[dict[str, Any]]:
        """Return the next pages in an order, after one (its key and number), with their counts.

        `sort` is one of KEYSETS; the field `key` of the last page is where to go on.
        """
        first = -1 if after is None or sort != "page" else after[1]
        some = f"limit {int(limit)}" if sort == "page" else ""
        counted = (
            f"select {KEYSETS[sort]} as key, p.page, p.url, coalesce(p.title, '') as title, count(v.visit) as visits,"
            f" count(*) filter (where v.outcome = {int(Outcome.CHANGED)}) as changes, max(v.at) as last_visit_at,"
            f" max(case when v.outcome = {int(Outcome.CHANGED)} then v.at end) as last_change_at,"
            f" max(case when v.outcome = {int(Outcome.GONE)} then 1 else 0 end) as gone"
            " from (select page, url, title from pages"
            f" where page > ? and (instr(url, ?) > 0 or ? = '') order by page {some}) p"
            " left join visits v on v.page = p.page group by p.page, p.url, p.title"
        )
        beyond = "" if after is None else "where (key, page) > (?, ?)"
        rows = self.db.execute(
            f"select * from ({counted}) as counted {beyond} order by key, page limit ?",
            (first, contains, contains, *(after or ()), limit),
        ).fetchall()
        names = ("key", "page", "url", "title", "visits", "changes", "last_visit_at", "last_change_at", "gone")
        return [dict(zip(names, row, strict=True)) | {"gone": bool(row[-1])} for row in rows]

    def url_like(self, part: str) -> str | None:
        """Return the shortest URL that contains a text."""
        if not is_text(part):
            return None
        pages, values = self._having(part)
        ask = f"select url from pages where page in ({pages}) order by length(url), page limit 1"
        row = self.db.execute(ask, values).fetchone()
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
        visited = " + ".join(OUTCOMES)
        return dict(self.db.execute(f"select cycle, changed from cycles where {visited} > 0 order by cycle").fetchall())

    # -- for a recording --------------------------------------------------------------------------------------------

    def lives(self) -> list[tuple[int, int, str, float, float | None, int | None]]:
        """Return every page ever seen: page, host, URL, first answer, when found gone, words of the first version."""
        return self.db.execute(
            "select p.page, p.host, p.url, min(v.at), max(case when v.outcome = ? then v.at end),"
            " (select case when n.words > 0 then n.words else 0 end from versions n where n.page = p.page"
            " order by n.visit limit 1)"
            " from pages p join visits v on v.page = p.page where v.outcome <> ?"
            " group by p.page having min(v.outcome) < ? order by p.page",
            (int(Outcome.GONE), int(Outcome.FAILED), int(Outcome.GONE)),
        ).fetchall()

    def changes(self) -> list[tuple[int, float, float, int, int, int, int, int]]:
        """Return every change found: page, at, size, new internal and external links, words and bytes, and visit."""
        return self.db.execute(
            "select v.page, at, change_size, new_internal, new_external,"
            " case when words > 0 then words else 0 end, body_bytes, v.visit"
            " from visits v left join versions n on n.visit = v.visit where outcome = ? order by v.page, at",
            (int(Outcome.CHANGED),),
        ).fetchall()


def _all_of(conditions: list[str]) -> str:
    return f" where {' and '.join(conditions)}" if conditions else ""


def _named(names: tuple[str, ...], row: tuple[Any, ...]) -> dict[str, Any]:
    visit = dict(zip(names, row, strict=True))
    return visit | {"outcome": Outcome(visit["outcome"]).name.lower()}
