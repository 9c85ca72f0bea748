"""What politeness must not forget between two processes: every host's gate and robots.txt, in the store."""

from __future__ import annotations

import json

from recrawl.fetch.fetcher import Fetcher
from recrawl.fetch.gate import HostState
from recrawl.fetch.robots import RobotsRecord
from recrawl.live.store import Store


def load_manners(store: Store, fetcher: Fetcher) -> None:
    """Let a new fetcher go on where the last one stopped: no host is asked sooner than it asked for."""
    states = store.db.execute("select gate from hosts where gate is not null").fetchall()
    fetcher.gate.restore(HostState(**json.loads(state)) for (state,) in states)
    records = store.db.execute("select record from robots").fetchall()
    fetcher.robots.restore(RobotsRecord(**json.loads(record)) for (record,) in records)


def keep_manners(store: Store, fetcher: Fetcher) -> None:
    """Put what changed since the last call into the store, within a transaction."""
    store.db.executemany(
        "update hosts set gate = ? where host = ?",
        [(json.dumps(_fields(state)), store.host(state.host)) for state in fetcher.gate.export_changed()],
    )
    store.db.executemany(
        "insert or replace into robots (origin, record) values (?, ?)",
        [(record.origin, json.dumps(_fields(record))) for record in fetcher.robots.export_changed()],
    )


def _fields(state: HostState | RobotsRecord) -> dict[str, object]:
    """Return a flat state as a dict; `asdict` copies deeply, and there is one of these for each visit."""
    return {name: getattr(state, name) for name in state.__slots__}
