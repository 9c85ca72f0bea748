"""From observations to the tables of a recording.

Changes are known only where the crawler visited: a change is dated at the visit whose digest differs from the one
before, several changes between two visits are one, and a page is born when it was first seen. A page found again
after it was gone is a new life of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, ByteArray, FloatArray, IntArray, PageIds
from recrawl.errors import InputError
from recrawl.importers.contents_tables import link_table, text_table
from recrawl.importers.observations import Observations, Verdict
from recrawl.recording.tables import Column
from recrawl.urls.url import host_of, normalise
from recrawl.visits import Outcome

DAY_S = 86_400.0
SETTLE = 0.05  # of the span: pages first seen before are taken to exist on day 0

Tables = dict[str, dict[str, Column]]
Verdicts = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Adoption:
    """Summary of an adopted history, for people and as JSON."""

    observed: int  # lines that are visits to pages
    skipped: int  # not a URL, failed visits, pages never seen alive
    pages: int
    sites: int
    first: str  # ISO 8601
    last: str
    days: float  # from day 0 to the last visit
    changes: int
    equal: float  # share of comparable visits whose copy was the one before
    once: int  # pages that were seen once only, so that no change of them can be known
    born: int  # pages first seen after day 0

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the summary in words: what is known and what is not."""
        return [
            f"{self.observed:,} visits to {self.pages:,} pages on {self.sites:,} sites, {self.first} to {self.last}; "
            f"{self.skipped:,} lines tell nothing about a page",
            f"{self.changes:,} changes over {self.days:.1f} days; "
            f"{self.equal:.0%} of the visits after a page's first found it unchanged",
            f"{self.once:,} pages were seen once only, {self.born:,} were first seen after day 0",
            "changes are known only where the crawler visited; "
            "digests of whole answers count every moving counter as a change",
        ]


@dataclass(frozen=True)
class _Rows:
    """Visits with an outcome, in the order of page and time."""

    life: IntArray  # number of the page's life
    at: FloatArray
    row: IntArray  # in the observations
    start: BoolArray  # first visit of a life
    gone: BoolArray
    changed: BoolArray


@dataclass(frozen=True)
class _Lives:
    """The lives of pages that reach beyond day 0: the pages of the recording."""

    number: IntArray  # of every life: its page_id, -1 if it ended before day 0
    href: list[str]  # of every page_id
    born: FloatArray
    died: FloatArray


def assemble(
    seen: Observations,
    settle_days: float | None = None,
    *,
    hosts: Sequence[str] = (),
    since: float | None = None,
) -> tuple[Tables, Adoption]:
    """Return the tables of a recording, and a summary.

    Pages first seen within `settle_days` of the first visit (5% of the span unless given) are taken to exist on day 0.
    With `hosts` only their pages (and those of their subdomains) are kept, with `since` only visits from then on.
    """
    page, hrefs, words, rows = _kept(seen, hosts, since)
    zero, last = _window(rows, settle_days)
    day = (rows.at - zero) / DAY_S
    lives = _lives(rows, day, [hrefs[p] for p in page[rows.row[rows.start]].tolist()])
    tables = _tables(rows, day, lives, words, zero, last)
    _add_contents(tables, seen, rows, day, lives)
    return tables, _adoption(rows, tables, seen.rows, zero, last)


def visits_of(
    seen: Observations, *, hosts: Sequence[str] = (), since: float | None = None
) -> tuple[list[str], PageIds, FloatArray, ByteArray]:
    """Return the pages' URLs and the visits, ordered by page and time: page, days since 1970, outcome."""
    page, hrefs, _, rows = _kept(seen, hosts, since)
    outcome = np.where(rows.changed, Outcome.CHANGED, Outcome.UNCHANGED)
    outcome = np.where(rows.start, Outcome.FIRST, np.where(rows.gone, Outcome.GONE, outcome))
    return hrefs, page[rows.row].astype(np.int64), rows.at / DAY_S, outcome.astype(np.uint8)


def _kept(seen: Observations, hosts: Sequence[str], since: float | None) -> tuple[IntArray, list[str], IntArray, _Rows]:
    """Return the page of every observation, the pages' URLs, the observed words, and the visits that are wanted."""
    urls, url_id, at, digest, verdict, words = seen.columns()
    page_of_url, hrefs = _pages(urls, hosts)
    page = page_of_url[url_id]
    keep = (page >= 0) & np.isfinite(at) & (verdict != Verdict.FAILED)
    if since is not None:
        keep &= at >= since
    return page, hrefs, words, _ordered(np.flatnonzero(keep), page, at, digest, verdict)


def _window(rows: _Rows, settle_days: float | None) -> tuple[float, float]:
    """Return day 0 and the end, as seconds since 1970."""
    if not len(rows.at):
        raise InputError("no visit of this history has a usable outcome")
    first, last = float(rows.at.min()), float(rows.at.max())
    settled = first + (SETTLE * (last - first) if settle_days is None else settle_days * DAY_S)
    zero = float(rows.at[rows.at <= settled].max())
    if zero >= last:
        raise InputError("no change can be seen: the visits are of one moment, or --settle takes them all")
    return zero, last


def _pages(urls: Sequence[str], hosts: Sequence[str]) -> tuple[IntArray, list[str]]:
    """Return the page of every URL as it was written (-1: not a page that is wanted), and the pages' normal forms."""
    wanted = {f".{host.lower().strip('.')}" for host in hosts}
    numbers: dict[str, int] = {}
    page = np.empty(len(urls), dtype=np.int64)
    for i, url in enumerate(urls):
        href = normalise(url)
        if href is None or (wanted and not f".{host_of(href)}".endswith(tuple(wanted))):
            page[i] = -1
        else:
            page[i] = numbers.setdefault(href, len(numbers))
    return page, list(numbers)


def _ordered(rows: IntArray, page: IntArray, at: FloatArray, digest: IntArray, verdict: Verdicts) -> _Rows:
    rows = rows[np.lexsort((rows, at[rows], page[rows]))]
    rows = rows[_first_of(page[rows]) | _first_of(at[rows])]  # two lines about one moment are one visit
    gone = verdict[rows] == Verdict.GONE
    # gone twice is gone once, and a page that was gone from the start was never seen
    rows = rows[~(gone & (_first_of(page[rows]) | _shifted(gone)))]
    gone = verdict[rows] == Verdict.GONE
    rows = rows[~(gone & _first_of(page[rows]))]
    gone = verdict[rows] == Verdict.GONE
    start = _first_of(page[rows]) | (_shifted(gone) & ~gone)
    life = np.cumsum(start) - 1
    return _Rows(life, at[rows], rows, start, gone, _changed(life, digest[rows], verdict[rows]))


def _changed(life: IntArray, digest: IntArray, verdict: Verdicts) -> BoolArray:
    """Whether a visit's digest differs from the last one known of the same life."""
    known = (digest >= 0) & (verdict != Verdict.GONE)
    latest = np.maximum.accumulate(np.where(known, np.arange(len(life)), -1))
    before = np.concatenate([[-1], latest[:-1]]).astype(np.int64)
    there = np.maximum(before, 0)
    comparable = known & (before >= 0) & (verdict == Verdict.BY_DIGEST)
    if not len(life):
        return comparable
    return comparable & (life == life[there]) & (digest != digest[there])


def _first_of(values: IntArray | FloatArray) -> BoolArray:
    first = np.ones(len(values), dtype=np.bool_)
    first[1:] = values[1:] != values[:-1]
    return first


def _shifted(flags: BoolArray) -> BoolArray:
    before = np.zeros(len(flags), dtype=np.bool_)
    before[1:] = flags[:-1]
    return before


def _lives(rows: _Rows, day: FloatArray, hrefs: list[str]) -> _Lives:
    died = np.full(len(hrefs), np.nan)
    died[rows.life[rows.gone]] = day[rows.gone]
    stays = ~(died <= 0)
    number = np.where(stays, np.cumsum(stays) - 1, -1)
    href = [hrefs[life] for life in np.flatnonzero(stays).tolist()]
    return _Lives(number, href, day[rows.start][stays], died[stays])


def _tables(rows: _Rows, day: FloatArray, lives: _Lives, words: IntArray, zero: float, last: float) -> Tables:
    names = [_site_of(href) for href in lives.href]
    sites = {name: i for i, name in enumerate(dict.fromkeys(names))}
    number, stays = lives.number, lives.number >= 0
    early = rows.changed & (day <= 0)
    late = rows.changed & (day > 0)
    return {
        "sites": {
            "site_id": np.arange(len(sites), dtype=np.int32),
            "repo": np.array(list(sites), dtype=object),
            "kind": np.full(len(sites), "adopted", dtype=object),
            "days": np.full(len(sites), (last - zero) / DAY_S),
            "window_start": np.full(len(sites), np.datetime64(round(zero * 1000), "ms")),
        },
        "pages": {
            "page_id": np.arange(len(names), dtype=np.int32),
            "site_id": np.array([sites[name] for name in names], dtype=np.int32),
            "path": np.array([href.split("/", 3)[3] for href in lives.href], dtype=object),
            "life": _lives_of(lives.href),
            "born_day": lives.born,
            "died_day": lives.died,
            "prior_changes": np.bincount(rows.life[early], minlength=len(number))[stays].astype(np.int32),
            "words": np.maximum(words[rows.row[rows.start]][stays], 0).astype(np.int32),
        },
        "changes": {
            "page_id": number[rows.life[late]].astype(np.int32),
            "day": day[late],
            "words": np.maximum(words[rows.row[late]], 0).astype(np.int32),
        },
    }


def _site_of(href: str) -> str:
    """Return the name of a page's site: its host, with the scheme where that is not https."""
    return host_of(href) if href.startswith("https://") else href[: href.index("/", 8)]


def _lives_of(hrefs: list[str]) -> IntArray:
    """Return how many earlier lives each page had."""
    count: dict[str, int] = {}
    lives = np.empty(len(hrefs), dtype=np.int32)
    for i, href in enumerate(hrefs):
        lives[i] = count.get(href, 0)
        count[href] = int(lives[i]) + 1
    return lives


def _add_contents(tables: Tables, seen: Observations, rows: _Rows, day: FloatArray, lives: _Lives) -> None:
    """Add texts and links of the versions, where the source has them."""
    chosen = np.flatnonzero((rows.start | rows.changed) & (lives.number[rows.life] >= 0))
    pages, days, source = lives.number[rows.life[chosen]], day[chosen], rows.row[chosen].tolist()
    if seen.texts:
        tables["texts"] = text_table(pages, days, [seen.texts.get(row) for row in source])
    if seen.links:
        tables["links"] = link_table(pages, days, lives.died, [seen.links.get(row) for row in source], lives.href)


def _adoption(rows: _Rows, tables: Tables, total: int, zero: float, last: float) -> Adoption:
    compared = int((~rows.start & ~rows.gone).sum())
    return Adoption(
        observed=len(rows.at),
        skipped=total - len(rows.at),
        pages=len(tables["pages"]["page_id"]),
        sites=len(tables["sites"]["site_id"]),
        first=_iso(float(rows.at.min())),
        last=_iso(last),
        days=(last - zero) / DAY_S,
        changes=len(tables["changes"]["day"]),
        equal=1.0 - int(rows.changed.sum()) / compared if compared else 0.0,
        once=int((np.bincount(rows.life) == 1).sum()),
        born=int((tables["pages"]["born_day"] > 0).sum()),
    )


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
