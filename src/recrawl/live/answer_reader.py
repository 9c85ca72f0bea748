"""From an answer to a visit that can be recorded: read the page, judge it against our copy, pack its body."""

from __future__ import annotations

import asyncio
from pathlib import Path

from recrawl.fetch.outcome import FetchResult
from recrawl.fetch.validators import Validators
from recrawl.live.bodies import gzip_record, keep_unreadable
from recrawl.live.judge import judge_read
from recrawl.live.page_reader import PageReader
from recrawl.live.recorder import Arrived
from recrawl.live.seen_before import SeenBefore
from recrawl.live.store_visits import Copy
from recrawl.see.version_contents import contents_of


class AnswerReader:
    """Reads answers beside the event loop; bodies that cannot be read are kept beside `folder`."""

    def __init__(self, reader: PageReader, folder: Path) -> None:
        self.reader = reader
        self.folder = folder
        self.before = SeenBefore()

    async def read(self, copy: Copy, result: FetchResult, validators: Validators) -> Arrived:
        """Return the visit that an answer is; never raises for a page's sake."""
        if result.outcome is not None:
            return Arrived(result, judge_read(copy, result, validators, None)[0], False, ())
        same = self.before.recall(copy, result)
        if same is not None:
            return Arrived(result, judge_read(copy, result, validators, same, same_links=True)[0], False, ())
        said = await self.reader.see(result)
        if said.unreadable:
            await asyncio.to_thread(self._keep_unreadable, result, said.digest)
        large = not said.unreadable and len(result.body) > self.reader.inline_bytes
        contents = await asyncio.to_thread(contents_of, said) if large else None
        record, seen = judge_read(copy, result, validators, said, contents)
        self.before.remember(record, result, said)
        keeps_body, feeds = (False, ()) if seen is None else (seen.may_keep_body, seen.feeds)
        if not keeps_body:
            return Arrived(result, record, False, feeds)
        packed = await self._packed(result)
        return Arrived(result.without_body(), record, True, feeds, packed)

    def _keep_unreadable(self, result: FetchResult, digest: bytes) -> None:
        packed = gzip_record(result.url, result.status, result.headers, result.body)
        keep_unreadable(self.folder.with_name("unreadable"), packed, digest)

    async def _packed(self, result: FetchResult) -> bytes:
        """Return the record of a body while that is at hand; of a large one by a thread: it takes long, and no lock."""
        about = (result.url, result.status, result.headers, result.body)
        if len(result.body) <= self.reader.inline_bytes:
            return gzip_record(*about)
        return await asyncio.to_thread(gzip_record, *about)
