"""log.jsonl: what a crawl did, one JSON object per line; control characters in web text are escaped."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from recrawl.clock import Clock
from recrawl.live.recorder import Noted
from recrawl.spans import iso_of
from recrawl.visits import Outcome

MAX_BYTES = 64 << 20  # then the log becomes log.1.jsonl, and a new one begins


class Journal:
    """Appends to a crawl's log. A log that cannot be written never stops a crawl."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.path = folder / "log.jsonl"
        self.clock = clock
        self._file: TextIO | None = None
        self._bytes = 0

    def __enter__(self) -> Journal:
        self._open()
        return self

    def _open(self) -> None:
        try:
            if self.path.exists() and self.path.stat().st_size > MAX_BYTES:
                self.path.replace(self.path.with_name("log.1.jsonl"))
            self._file = self.path.open("a", encoding="ascii")
            self._bytes = self.path.stat().st_size
        except OSError:
            self._file = None

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None

    def note(self, event: str, **what: Any) -> None:
        """Write one event."""
        if self._file is None and event != "visit":
            self._open()  # the disk may have room again
        if self._file is None:
            return
        try:
            line = json.dumps({"at": iso_of(self.clock.now()), "event": event, **what})
            self._file.write(line + "\n")
            self._bytes += len(line) + 1
            if event != "visit":
                self._file.flush()
        except OSError:
            self._close()  # a full disk: the store raises where it matters
        if self._bytes > MAX_BYTES:  # a run may last for months
            self._close()
            self._open()

    def visit(self, noted: Noted) -> None:
        """Write a visit."""
        seen = noted.record
        self.note(
            "visit",
            url=noted.url,
            outcome=Outcome(seen.outcome).name.lower(),
            status=seen.status,
            bytes=seen.body_bytes,
            elapsed_s=round(seen.elapsed_s, 4),
            new_links=sum(noted.new_links),
            new_pages=noted.discovered,
            **({"note": seen.note} if seen.note else {}),
        )
