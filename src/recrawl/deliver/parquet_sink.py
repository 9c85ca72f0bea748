"""parquet:DIR: events as part files, one for each cycle or 50,000 events, for DuckDB, Polars, Spark and pandas.

A part is named after its first event and put in place whole, so a part that is written again replaces itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recrawl.deliver.sink import Sink, SinkSetting, add_sink
from recrawl.live.feed import Event


def event_schema() -> Any:
    """Return the columns: those of the event; null where an event has no such field."""
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    links = pa.struct([("internal", number), ("external", number)])
    change = [("words_added", number), ("words_removed", number), ("significant", pa.bool_()), ("new_links", links)]
    visits = [(name, number) for name in ("unchanged", "changed", "new", "gone", "failed")]
    return pa.schema(
        [
            ("id", text), ("type", text), ("time", pa.timestamp("s", tz="UTC")), ("url", text), ("title", text),
            ("status", pa.int32()), ("previous", pa.struct([("id", number), ("time", pa.timestamp("s", tz="UTC"))])),
            ("change", pa.struct(change)), ("digest", text), ("content_type", text),
            ("warc", pa.struct([("file", text), ("offset", number), ("length", number)])),
            ("crawl", text), ("cycle", number), ("policy", text), ("diff", text), ("added", text), ("removed", text),
            ("text", text), ("markdown", text), ("links_added", pa.list_(text)), ("why", text), ("cut", pa.bool_()),
            ("failure", pa.struct([("kind", text), ("reason", text)])), ("visits", pa.struct(visits)),
            ("budget", number),
        ]
    )  # fmt: skip


def write_part(path: Path, rows: Sequence[dict[str, Any]], schema: Any) -> None:
    """Write rows as one Parquet file, whole or not at all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    part = path.with_name(f".{path.name}.part")
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), part, compression="zstd")
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    part.replace(path)


class ParquetSink(Sink):
    """Writes part files."""

    batch = 50_000
    types = ("cycle.done",)
    whole_cycles = True

    def __init__(self, folder: Path, wanted: Sequence[str]) -> None:
        self.folder, self.wanted = folder, wanted  # the end of a cycle closes a part, and is a row only where asked for
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".recrawl.part"
        probe.touch()
        probe.unlink()

    def send(self, events: Sequence[Event]) -> str | None:
        """Write one part."""
        rows = [_row(event) for event in events if event["type"] in self.wanted]
        if not rows:
            return None
        first = re.sub(r"\W", "-", str(events[0]["id"]))
        name = f"events-{int(first):012d}" if first.isdigit() else f"events-{first}"
        write_part(self.folder / f"{name}.parquet", rows, event_schema())
        return None


def _row(event: Event) -> dict[str, Any]:
    import datetime as dt

    before = event.get("previous")
    times = {"time": dt.datetime.fromisoformat(event["time"])}
    old = {"previous": before | {"time": dt.datetime.fromisoformat(before["time"])}} if before else {}
    return event | times | old | {"id": str(event["id"])}


@add_sink("parquet", formula="parquet:DIR", source="Parquet part files")
def make_parquet(setting: SinkSetting, state: str | None) -> Sink:
    """Write events as Parquet."""
    if not setting.target:
        raise ValueError("needs a folder")
    return ParquetSink(setting.path, setting.types)
