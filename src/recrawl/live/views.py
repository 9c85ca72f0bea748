"""What a crawl has found so far, read from its store while another process may be crawling."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

from recrawl.errors import InputError
from recrawl.live.bodies import Bodies
from recrawl.live.directory import CrawlDirectory
from recrawl.live.store import Store
from recrawl.see.page import see_page
from recrawl.urls.url import normalise
from recrawl.visits import Outcome

SORTS = {
    "url": "p.url",
    "visits": "visits desc, p.url",
    "changes": "changes desc, p.url",
    "last": "last_visit_at desc, p.url",
    "waiting": "last_visit_at, p.url",
}


def status(store: Store) -> dict[str, Any]:
    """Return the crawl's state in numbers."""

    def one(ask: str, *values: object) -> Any:
        return store.db.execute(ask, values).fetchone()[0]

    outcomes = dict(store.db.execute("select outcome, count(*) from visits group by outcome").fetchall())
    cycle = store.db.execute(
        "select cycle, at, budget, policy, done from cycles order by cycle desc limit 1"
    ).fetchone()
    return {
        "pages": one("select count(*) from pages"),
        "hosts": one("select count(*) from hosts"),
        "fetched": one("select count(*) from pages where digest is not null"),
        "visits": sum(outcomes.values()),
        **{outcome.name.lower(): outcomes.get(int(outcome), 0) for outcome in Outcome},
        "links": one("select count(*) from links where gone_at is null")
        + one("select coalesce(sum(count), 0) from first_links"),
        "cycle": None if cycle is None else {
            "number": cycle[0], "at": cycle[1], "budget": cycle[2], "policy": cycle[3], "done": bool(cycle[4]),
            "visits": one("select count(*) from visits where cycle = ?", cycle[0]),
            "planned": one("select count(*) from plan where cycle = ?", cycle[0]),
        },
    }  # fmt: skip


def pages(
    store: Store, *, contains: str = "", changed: bool = False, sort: str = "changes", limit: int = 50
) -> list[dict[str, Any]]:
    """Return pages with their counts; `contains` filters by a part of the URL."""
    rows = store.db.execute(
        "select p.page, p.url, coalesce(p.title, ''), count(v.visit) as visits,"
        f" coalesce(sum(v.outcome = {int(Outcome.CHANGED)}), 0) as changes, max(v.at) as last_visit_at,"
        f" max(case when v.outcome = {int(Outcome.CHANGED)} then v.at end) as last_change_at,"
        f" coalesce(max(v.outcome = {int(Outcome.GONE)}), 0) as gone"
        " from pages p left join visits v on v.page = p.page where instr(p.url, ?) or ? = ''"
        f" group by p.page having changes >= ? order by {SORTS[sort]} limit ?",
        (contains, contains, int(changed), limit),
    ).fetchall()
    names = ("page", "url", "title", "visits", "changes", "last_visit_at", "last_change_at", "gone")
    return [dict(zip(names, row, strict=True)) for row in rows]


@dataclass(frozen=True)
class PageStory:
    """One page's timeline and its last change."""

    page: int
    url: str
    title: str
    visits: list[dict[str, Any]]
    diff: list[str]


def show(directory: CrawlDirectory, store: Store, url: str) -> PageStory:
    """Return the story of a page, by its URL."""
    href = normalise(url)
    page = store.page_of(href) if href else None
    if page is None:
        near = store.db.execute(
            "select url from pages where instr(url, ?) order by length(url) limit 1", (url,)
        ).fetchone()
        raise InputError(f"no page {url!r} in {directory.path}" + (f"; did you mean {near[0]}?" if near else ""))
    title = store.db.execute("select coalesce(title, '') from pages where page = ?", (page,)).fetchone()[0]
    names = ("cycle", "at", "outcome", "status", "body_bytes", "new_internal", "new_external", "change_size", "note")
    rows = store.db.execute(f"select {', '.join(names)} from visits where page = ? order by visit", (page,)).fetchall()
    visits = [dict(zip(names, row, strict=True)) | {"outcome": Outcome(row[2]).name.lower()} for row in rows]
    return PageStory(page, href or url, title, visits, last_diff(directory, store, page, href or url))


def last_diff(directory: CrawlDirectory, store: Store, page: int, url: str, context: int = 1) -> list[str]:
    """Return the lines that the last change removed (-) and added (+), from the stored bodies."""
    places = store.db.execute(
        "select warc, offset, length from versions where page = ? and warc is not null order by visit desc limit 2",
        (page,),
    ).fetchall()
    if len(places) < 2:
        return []
    bodies = Bodies(directory.warc)
    new, old = (see_page(bodies.read(place), url).main_text.splitlines() for place in places)
    return [
        line
        for line in difflib.unified_diff(old, new, lineterm="", n=context)
        if not line.startswith(("---", "+++", "@@"))
    ]


def visits(store: Store) -> list[dict[str, Any]]:
    """Return every visit with its page's URL."""
    names = (
        "url",
        "cycle",
        "at",
        "outcome",
        "status",
        "body_bytes",
        "new_internal",
        "new_external",
        "change_size",
        "note",
    )
    rows = store.db.execute(f"select {', '.join(names)} from visits join pages using (page) order by visit")
    return [dict(zip(names, row, strict=True)) | {"outcome": Outcome(row[3]).name.lower()} for row in rows]


def links(store: Store) -> list[dict[str, Any]]:
    """Return every link with the URL of its page."""
    urls = dict(store.db.execute("select page, url from pages"))
    return [
        {"url": urls[page], "target": target, "internal": int(internal), "anchor": anchor}
        | {"first_seen_at": first_seen_at, "gone_at": gone_at}
        for page, target, _, internal, anchor, first_seen_at, gone_at in sorted(store.links(), key=lambda row: row[:2])
    ]
