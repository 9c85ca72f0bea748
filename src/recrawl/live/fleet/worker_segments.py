"""A worker's closed WARC files, sent to object storage beside its visits.

Files are named after the worker's session (w1-7-00001.warc.gz). A worker sends those of its own session that are
closed, and what earlier sessions of its name left in its folder, once their leases are over.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import threading
from pathlib import Path

from recrawl.errors import StoreError
from recrawl.live.bodies import Bodies
from recrawl.live.fleet.store_fleet import fleet_of
from recrawl.live.postgres.store_postgres import PostgresStore
from recrawl.live.remote_bodies import BodiesSettings, RemoteBodies
from recrawl.live.segments import send_files
from recrawl.live.store_place import StoreSettings

log = logging.getLogger(__name__)
EVERY_S = 5.0  # between looks for closed files


class SegmentSender:
    """Sends in a thread and by a connection of its own: a slow upload holds up neither visits nor the lease."""

    def __init__(self, place: StoreSettings, settings: BodiesSettings, bodies: Bodies, name: str, worker: int) -> None:
        self._place = place
        self._settings = settings
        self._bodies = bodies
        self._session = re.compile(rf"{re.escape(name)}-([0-9]+)-[0-9]{{5}}\.warc\.gz")
        self._worker = worker
        bodies.max_bytes, bodies.max_s = settings.segment_bytes, settings.segment_s
        self._sending = threading.Lock()  # the last look may begin before the one before it has ended
        self._task: asyncio.Future[None] | None = None

    async def begin(self) -> None:
        """Check that the storage answers, and send from now on."""
        await asyncio.to_thread(RemoteBodies(self._settings).check)
        self._task = asyncio.ensure_future(self._run())

    async def end(self) -> None:
        """Close the session's file, and send what is left."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        self._bodies.close()
        await asyncio.to_thread(self._send, self._files(""))

    async def _run(self) -> None:
        while True:
            self._bodies.close_when_due()
            await asyncio.to_thread(self._send, self._files(self._bodies.writing_to))
            await asyncio.sleep(EVERY_S)

    def _files(self, writing_to: str) -> list[Path]:
        """Return the files there are now but for that one: what the session begins from here on is not yet closed."""
        return [path for path in sorted(self._bodies.folder.glob("*.warc.gz")) if path.name != writing_to]

    def _send(self, files: list[Path]) -> None:
        try:
            with self._sending, contextlib.closing(PostgresStore.open_in(self._place)) as store:
                send_files(self._closed(files, fleet_of(store).alive()), store, self._settings)
        except StoreError as error:  # the next look tries again
            log.warning("bodies stay in %s: %s", self._bodies.folder, error)

    def _closed(self, files: list[Path], alive: set[int]) -> list[Path]:
        """Return the files that nobody writes to any more: of this session, and of those whose leases are over."""
        closed = []
        for path in files:
            session = self._session.fullmatch(path.name)
            if session is not None and (int(session[1]) == self._worker or int(session[1]) not in alive):
                closed.append(path)
        return closed
