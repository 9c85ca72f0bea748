"""How far the deliveries of a crawl's events are, for the dashboard and for metrics."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from recrawl.clock import DAY_S
from recrawl.deliver.cursors import Cursors
from recrawl.deliver.sink_settings import read_sinks
from recrawl.live.store import Store
from recrawl.serve.rendering import moment


def deliveries(folder: Path, store: Store) -> list[dict[str, Any]]:
    """Return every sink of recrawl.toml: how many events it is behind, failed tries, what was put aside."""
    settings = read_sinks(folder)
    if not settings:
        return []
    newest, cursors = store.newest_visit(), Cursors(folder) if (folder / "deliver.sqlite").exists() else None
    try:
        rows = []
        for setting in settings:
            status = cursors.status(setting.name) if cursors else None
            last = int((status.last if status and status.last else "0").partition(".")[0])
            waits = status is not None and status.next_at > time.time()
            rows.append(
                {
                    "name": setting.name,
                    "to": setting.to,
                    "behind": max(0, newest - last),
                    "tries": status.tries if status else 0,
                    "next": moment(status.next_at / DAY_S) if status and waits else "",
                    "dead": len(cursors.dead(setting.name)) if cursors else 0,
                    "disabled": bool(status and status.disabled),
                    "error": (status.error if status else "") or "",
                }
            )
        return rows
    finally:
        if cursors:
            cursors.close()


def deliveries_word(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Put the deliveries into a number and a word."""
    late = [row for row in rows if row["tries"] or row["dead"] or row["disabled"]]
    if not rows:
        return {"number": "none", "word": "no [[deliver]] in recrawl.toml"}
    return {"number": f"{len(rows) - len(late)} of {len(rows)}", "word": "sinks take what they are sent"}
