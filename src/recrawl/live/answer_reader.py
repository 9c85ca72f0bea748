"""From an answer to a visit that can be recorded: read the page, judge it against our copy, pack its body.

Answers that came together are read together, one step for all of them before the next: the code of a step is then at
hand in the processor's caches for every page but the first, which takes half the time of whole pages in turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import NamedTuple

from recrawl.fetch.outcome import FetchResult, Headers
from recrawl.fetch.validators import Validators
from recrawl.live.bodies import keep_unreadable
from recrawl.live.judge import judge_read
from recrawl.live.page_reader import PageReader
from recrawl.live.recorder import Arrived
from recrawl.live.seen_before import SeenBefore
from recrawl.live.store_visits import Copy, VisitRecord
from recrawl.live.warc_records import gzip_records
from recrawl.see.page import SeenPage, see_pages
from recrawl.see.version_contents import contents_of

READING_S = 0.02  # before other hosts are served; pages that are slow to read are read by twos


class Answered(NamedTuple):
    """The answer to a visit, not read yet."""

    copy: Copy
    result: FetchResult
    validators: Validators


class AnswerReader:
    """Reads answers, large ones beside the event loop; bodies that cannot be read are kept beside `folder`."""

    def __init__(self, reader: PageReader, folder: Path) -> None:
        self.reader = reader
        self.folder = folder
        self.before = SeenBefore()

    def is_small(self, result: FetchResult) -> bool:
        """Whether an answer may be read by `read_small`."""
        return len(result.body) <= self.reader.inline_bytes

    async def read(self, copy: Copy, result: FetchResult, validators: Validators) -> Arrived:
        """Return the visit that an answer is; never raises for a page's sake."""
        if self.is_small(result):
            return (await self.read_small([Answered(copy, result, validators)]))[0]
        same = self.before.recall(copy, result)
        if same is not None:
            return Arrived(result, judge_read(copy, result, validators, same, same_links=True)[0], False, ())
        said = await self.reader.see(result)
        if said.unreadable:
            await self._keep_unreadable(result, said)
        contents = None if said.unreadable else await asyncio.to_thread(contents_of, said)
        record, seen = judge_read(copy, result, validators, said, contents)
        self.before.remember(record, result, said)
        if seen is None or not seen.may_keep_body:
            return Arrived(result, record, False, () if seen is None else seen.feeds)
        packed = await asyncio.to_thread(_packed, [result])  # it takes long, and no lock
        return Arrived(result.without_body(), record, True, seen.feeds, packed[0])

    async def read_small(self, answers: Sequence[Answered]) -> list[Arrived]:
        """Return the visits that the first of these answers are, in their order: as many as are read in READING_S."""
        known = [self.before.recall(copy, result) for copy, result, _ in answers]
        said = _said_in_time([(result, same) for (_, result, _), same in zip(answers, known, strict=True)])
        answers, known = answers[: len(said)], known[: len(said)]
        judged = [
            judge_read(*answer, seen, same_links=same is not None)
            for answer, seen, same in zip(answers, said, known, strict=True)
        ]
        for (_, result, _), seen, same, (record, _) in zip(answers, said, known, judged, strict=True):
            if seen is not None and same is None:
                self.before.remember(record, result, seen)
                if seen.unreadable:
                    await self._keep_unreadable(result, seen)
        return _arrived([result for _, result, _ in answers], judged)

    async def _keep_unreadable(self, result: FetchResult, seen: SeenPage) -> None:
        folder = self.folder.with_name("unreadable")
        await asyncio.to_thread(lambda: keep_unreadable(folder, _packed([result])[0], seen.digest))


def _said_in_time(answers: Iterable[tuple[FetchResult, SeenPage | None]]) -> list[SeenPage | None]:
    """Return what the first of these answers say, one at least; beside each, what is known of it already.

    None for those that have no content.
    """
    time_s = asyncio.get_running_loop().time
    until_s = time_s() + READING_S
    said, read = list[SeenPage | None](), list[int]()

    def unread() -> Iterator[tuple[bytes, str, Headers]]:
        for result, same in answers:
            said.append(same)
            if same is None and result.outcome is None:
                read.append(len(said) - 1)
                yield result.body, result.final_url, result.headers
            if time_s() > until_s:
                return

    for place, seen in zip(read, see_pages(unread()), strict=True):
        said[place] = seen
    return said


def _arrived(results: Sequence[FetchResult], judged: Sequence[tuple[VisitRecord, SeenPage | None]]) -> list[Arrived]:
    """Return the visits to pages, those with a new version with its body packed while that is at hand."""
    kept = [seen is not None and seen.may_keep_body for _, seen in judged]
    packed = iter(_packed(list(compress(results, kept))))
    return [
        Arrived(
            result.without_body() if keeps else result,
            record,
            keeps,
            () if seen is None else seen.feeds,
            next(packed) if keeps else b"",
        )
        for result, (record, seen), keeps in zip(results, judged, kept, strict=True)
    ]


def _packed(results: Sequence[FetchResult]) -> list[bytes]:
    return gzip_records([(result.url, result.status, result.headers, result.body) for result in results])
