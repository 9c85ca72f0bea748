"""jsonl:PATH: events appended to a file, one JSON object per line; %Y-%m-%d in PATH begins a new file when it is time.

A name that ends in .gz or .zst is compressed: each batch is a member of its own, so the file can be read at any time.
The length of the file is kept with the cursor. What a crash left after it is cut off before the next batch, so each
event is in the files exactly once.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from recrawl.deliver.sink import Sink, SinkSetting, add_sink, lines
from recrawl.live.feed import Event

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


class JsonlSink(Sink):
    """Appends to files and syncs them."""

    batch = 200

    def __init__(self, path: Path, state: str | None) -> None:
        self.path = path
        self._sizes: dict[str, int] = dict([json.loads(state)]) if state else {}
        self._current().parent.mkdir(parents=True, exist_ok=True)
        with self._current().open("ab"):  # raises at once if it cannot be written
            pass

    def _current(self) -> Path:
        return Path(time.strftime(str(self.path), time.gmtime()))

    def send(self, events: Sequence[Event]) -> str | None:
        """Append, sync, and return the file's name and length."""
        path = self._current()
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            known = self._sizes.get(str(path))
            if known is not None and known < file.tell():
                file.truncate(known)  # written before a crash, and not counted
            file.write(_packed(path)(lines(events)))
            file.flush()
            os.fsync(file.fileno())
            self._sizes = {str(path): file.tell()}
        return json.dumps([str(path), self._sizes[str(path)]])


def _packed(path: Path) -> Callable[[bytes], bytes]:
    if path.suffix == ".gz":
        return gzip.compress
    return zstd.compress if path.suffix in (".zst", ".zstd") else bytes


@add_sink("jsonl", formula="jsonl:PATH", source="JSON lines")
def make_jsonl(setting: SinkSetting, state: str | None) -> Sink:
    """Append events to a file."""
    if not setting.target:
        raise ValueError("needs a path")
    return JsonlSink(setting.path, state)
