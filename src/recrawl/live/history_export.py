"""A crawl's own history as a recording, so that any policy can be replayed on it.

What a cycle's visits found is dated when the cycle's visits were due; day 0 is the first cycle. The truth between two
visits is not known, so a replay on such a recording tells what a policy would have found of what this crawl found.
"""

from __future__ import annotations

import numpy as np

from recrawl.columns import FloatArray
from recrawl.errors import InputError
from recrawl.live.store import Store
from recrawl.recording.tables import Column

Tables = dict[str, dict[str, Column]]


def to_tables(store: Store) -> Tables:
    """Return the tables of a recording: sites, pages, changes and links."""
    cycles = np.array(store.visited_at(), dtype=np.float64)
    if len(cycles) < 2 or cycles[-1] <= cycles[0]:
        raise InputError(
            f"too little history: {len(cycles)} cycles with visits, and it takes two to see a change; "
            "let the crawl run first (recrawl run --cycles 2), the more cycles the better"
        )
    pages = _pages(store, cycles)
    return {
        "sites": _sites(store, float(cycles[-1] - cycles[0])),
        "pages": pages,
        "changes": _changes(store, cycles),
        "links": _links(store, cycles, set(pages["page_id"].tolist())),
    }


def _days(times: FloatArray, cycles: FloatArray) -> FloatArray:
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


def _pages(store: Store, cycles: FloatArray) -> dict[str, Column]:
    rows = store.lives()
    born, died = (_days(np.array([row[i] for row in rows], dtype=np.float64), cycles) for i in (3, 4))
    return {
        "page_id": np.array([row[0] for row in rows], dtype=np.int32),
        "site_id": np.array([row[1] for row in rows], dtype=np.int32),
        "path": np.array([row[2].split("/", 3)[-1] for row in rows], dtype=object),
        "born_day": born,
        "died_day": died,
        "prior_changes": np.zeros(len(rows), dtype=np.int32),
        "words": np.array([row[5] or 0 for row in rows], dtype=np.int32),
    }


def _changes(store: Store, cycles: FloatArray) -> dict[str, Column]:
    rows = store.changes()
    columns = np.array(rows, dtype=np.float64).reshape(-1, 6).T
    return {
        "page_id": columns[0].astype(np.int32),
        "day": _days(columns[1], cycles),
        "d_words_added": columns[2].astype(np.int32),
        "d_words_removed": np.zeros(len(rows), dtype=np.int32),
        "new_internal": columns[3].astype(np.int32),
        "new_external": columns[4].astype(np.int32),
        "words": columns[5].astype(np.int32),
    }


def _links(store: Store, cycles: FloatArray, seen: set[int]) -> dict[str, Column]:
    rows = [
        (page, since, until, internal, target_page if target_page in seen else None, target)
        for page, target, target_page, internal, _, since, until in store.links()
        if page in seen
    ]
    rows.sort(key=lambda row: (row[0], row[1], row[5]))
    begun, ended = (_days(np.array([row[i] for row in rows], dtype=np.float64), cycles) for i in (1, 2))
    lasting = ~(ended <= begun)  # a link that came and went within one cycle was on no copy
    return {
        "page_id": np.array([row[0] for row in rows], dtype=np.int32)[lasting],
        "day_from": begun[lasting],
        "day_to": ended[lasting],
        "internal": np.array([bool(row[3]) for row in rows], dtype=np.bool_)[lasting],
        "target_page": np.array([-1 if row[4] is None else row[4] for row in rows], dtype=np.int32)[lasting],
        "target": np.array([row[5] for row in rows], dtype=object)[lasting],
    }
