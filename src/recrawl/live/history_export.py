"""A crawl's own history as a recording, so that any policy can be replayed on it.

What a cycle's visits found is dated when the cycle's visits were due; day 0 is the first cycle. The truth between two
visits is not known, so a replay on such a recording shows what a policy would have found of what this crawl found.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recrawl.clock import DAY_S
from recrawl.columns import FloatArray, IntArray
from recrawl.errors import InputError
from recrawl.live.contents_export import VersionCounts, terms_table
from recrawl.live.store import Store
from recrawl.live.stored_copies import ending_of
from recrawl.plan import Plan
from recrawl.recording.recording import Recording
from recrawl.recording.tables import Column
from recrawl.spans import span_of

CONTAINED = ("text_bytes", "images", "tables", "out_internal", "out_external")
Tables = dict[str, dict[str, Column]]


def to_tables(store: Store) -> Tables:
    """Return the tables of a recording: sites, pages, changes, links and, where words are known, terms."""
    cycles = cycles_of(store)
    counts, links = VersionCounts(store), _LinkRows(store, cycles)
    pages = _pages(store, cycles, counts)
    known = set(pages["page_id"].tolist())
    tables = {
        "sites": _sites(store, float(cycles[-1] - cycles[0])),
        "pages": pages,
        "changes": _changes(store, cycles, counts, links),
        "links": links.table(known),
    }
    return {**tables, "terms": terms_table(store, known)} if len(counts) else tables


def cycles_of(store: Store) -> FloatArray:
    """Return when the visits of each cycle were due; InputError where there are too few cycles."""
    cycles = np.array(store.visited_at(), dtype=np.float64)
    if len(cycles) < 2 or cycles[-1] <= cycles[0]:
        raise InputError(
            f"too little history: {len(cycles)} cycle{'s' * (len(cycles) != 1)} with visits, and it takes two to see "
            "a change; let the crawl run first (recrawl run --cycles 2), the more cycles the better"
        )
    return cycles


def own_pace(store: Store, plan: Plan) -> tuple[Plan, tuple[str, ...]]:
    """Return the plan with cycles as far apart as the crawl's own, where those were far closer; and a note of it."""
    apart = float(np.median(np.diff(cycles_of(store))))
    if not 0 < apart < plan.cycle_days / 2:
        return plan, ()
    note = f"cycles of {span_of(round(apart * DAY_S) / DAY_S or apart)}, as far apart as this crawl's were (--every)"
    return replace(plan, cycle_days=apart), (note,)


def fitting(plan: Plan, recording: Recording) -> Plan:
    """Return the plan with a budget that its pages can take: at least one visit, as a live crawl makes, at most all."""
    pages = int((recording.born <= recording.start).sum())
    visits = plan.budget if isinstance(plan.budget, int) else round(plan.budget * pages)
    return plan if not pages or 0 < visits <= pages else replace(plan, budget=min(max(1, visits), pages))


def days_of(times: FloatArray, cycles: FloatArray) -> FloatArray:
    """Return the day of the cycle in which each time lies; NaN stays NaN."""
    cycle = np.clip(np.searchsorted(cycles, times, side="right") - 1, 0, None)
    return np.where(np.isnan(times), np.nan, cycles[cycle] - cycles[0])


def _sites(store: Store, days: float) -> dict[str, Column]:
    hosts = store.hosts()
    return {
        "site_id": np.array(list(hosts), dtype=np.int32),
        "repo": np.array(list(hosts.values()), dtype=object),
        "kind": np.full(len(hosts), "crawl", dtype=object),
        "days": np.full(len(hosts), days),
    }


def _pages(store: Store, cycles: FloatArray, counts: VersionCounts) -> dict[str, Column]:
    rows = store.lives()
    born, died = (days_of(np.array([row[i] for row in rows], dtype=np.float64), cycles) for i in (3, 4))
    first = store.first_versions()
    visits = np.array([first.get(row[0], -1) for row in rows], dtype=np.int64)
    paths = [row[2].split("/", 3)[-1] for row in rows]
    return {
        "page_id": np.array([row[0] for row in rows], dtype=np.int32),
        "site_id": np.array([row[1] for row in rows], dtype=np.int32),
        "path": np.array(paths, dtype=object),
        "path_depth": np.array([path.strip("/").count("/") for path in paths], dtype=np.int32),
        "ext": np.array([ending_of(path) for path in paths], dtype=object),
        "born_day": born,
        "died_day": died,
        "prior_changes": np.zeros(len(rows), dtype=np.int32),
        "words": np.array([row[5] or 0 for row in rows], dtype=np.int32),
        **_counted(counts, visits),
        **({"emails": _whole(counts.column("emails", visits))} if len(counts) else {}),
    }


def _changes(store: Store, cycles: FloatArray, counts: VersionCounts, links: _LinkRows) -> dict[str, Column]:
    columns = np.array(store.changes(), dtype=np.float64).reshape(-1, 8).T
    pages, visits = columns[0].astype(np.int32), columns[7].astype(np.int64)
    added, removed = counts.column("added", visits), counts.column("removed", visits)
    told = ~np.isnan(added)
    table: dict[str, Column] = {
        "page_id": pages,
        "day": days_of(columns[1], cycles),
        "d_words_added": np.where(told, added, columns[2]).astype(np.int32),
        "d_words_removed": np.where(told, removed, 0).astype(np.int32),
        "new_internal": columns[3].astype(np.int32),
        "new_external": columns[4].astype(np.int32),
        "words": columns[5].astype(np.int32),
        "bytes": columns[6].astype(np.int32),
        **_counted(counts, visits),
    }
    if len(counts):
        table |= {name: counts.column(name, visits) for name in ("cosine", "chi2_p")}
    lost = links.lost(pages, columns[1])
    return table | {"lost_internal": lost[0], "lost_external": lost[1]}


def _counted(counts: VersionCounts, visits: IntArray) -> dict[str, Column]:
    """Return the columns that tell what a version contains; none where nothing is known of any."""
    return {name: _whole(counts.column(name, visits)) for name in CONTAINED} if len(counts) else {}


def _whole(values: FloatArray) -> IntArray:
    return np.nan_to_num(values).astype(np.int32)


class _LinkRows:
    """The intervals in which pages had links."""

    def __init__(self, store: Store, cycles: FloatArray) -> None:
        rows = [
            (page, since, until, internal, target_page, target)
            for page, target, target_page, internal, _, since, until in store.links()
        ]
        rows.sort(key=lambda row: (row[0], row[1], row[5]))
        self._page = np.array([row[0] for row in rows], dtype=np.int32)
        self._since, self._until = (np.array([row[i] for row in rows], dtype=np.float64) for i in (1, 2))
        self._internal = np.array([bool(row[3]) for row in rows], dtype=np.bool_)
        self._target_page = [row[4] for row in rows]
        self._target = np.array([row[5] for row in rows], dtype=object)
        self._cycles = cycles

    def table(self, known: set[int]) -> dict[str, Column]:
        """Return the table `links`, of the pages that are known."""
        begun, ended = days_of(self._since, self._cycles), days_of(self._until, self._cycles)
        kept = np.array([page in known for page in self._page.tolist()], dtype=np.bool_)
        kept &= ~(ended <= begun)  # a link that came and went within one cycle was on no copy
        target = [-1 if page is None or page not in known else page for page in self._target_page]
        return {
            "page_id": self._page[kept],
            "day_from": begun[kept],
            "day_to": ended[kept],
            "internal": self._internal[kept],
            "target_page": np.array(target, dtype=np.int32)[kept],
            "target": self._target[kept],
        }

    def lost(self, pages: IntArray, at: FloatArray) -> IntArray:
        """Return (internal, external) x visits: links that the visit to a page at a time no longer showed."""
        gone = ~np.isnan(self._until)
        key = np.dtype([("page", "i4"), ("at", "f8")])
        asked, ended = np.empty(len(pages), dtype=key), np.empty(int(gone.sum()), dtype=key)
        asked["page"], asked["at"] = pages, at
        ended["page"], ended["at"] = self._page[gone], self._until[gone]
        inside = self._internal[gone]
        out = np.zeros((2, len(pages)), dtype=np.int32)
        for where, part in enumerate((np.sort(ended[inside]), np.sort(ended[~inside]))):
            out[where] = np.searchsorted(part, asked, side="right") - np.searchsorted(part, asked)
        return out
