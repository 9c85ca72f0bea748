"""Which workers of a fleet are alive, for whoever shows the state of a crawl."""

from __future__ import annotations

from typing import Any

from recrawl.live.directory import CrawlDirectory
from recrawl.live.store import Store


def alive_workers(directory: CrawlDirectory, store: Store) -> list[dict[str, Any]] | None:
    """Return each worker's name, sites, visits and seconds left of its lease; None for a crawl in a file."""
    if directory.database is None:
        return None
    from recrawl.live.fleet.store_fleet import fleet_of
    from recrawl.live.postgres.store_postgres import PostgresStore

    assert isinstance(store, PostgresStore), "the store of a crawl in a database"
    return fleet_of(store).workers()
