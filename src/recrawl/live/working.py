"""Be a worker of a crawl in a database, from a folder that has its settings or with the database's address."""

from __future__ import annotations

from pathlib import Path

from recrawl.errors import InputError
from recrawl.extras import extras_named
from recrawl.live.store_place import StoreSettings, checked_url, place_of


def work(
    folder: Path,
    name: str,
    *,
    store: str | None = None,
    password_file: Path | None = None,
    stop_on_signals: bool = False,
) -> None:
    """Fetch for a planner until stopped; bodies go to `folder`."""
    if store is not None:
        place = StoreSettings(checked_url(store), password_file)
    elif (folder / "recrawl.toml").is_file():
        place = place_of(folder)
    else:
        raise InputError(f"{folder} has no recrawl.toml: name the crawl's database with --store")
    if not place.url:
        raise InputError(f"{folder / 'recrawl.toml'} names no database: workers need one (see recrawl init --store)")
    with extras_named():
        from recrawl.live.fleet.fleet_worker import FleetWorker
    FleetWorker(place, name, folder).run(stop_on_signals=stop_on_signals)
