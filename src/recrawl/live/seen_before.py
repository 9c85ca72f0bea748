"""Answers that are the same to the byte as the last one from their page: they say the same, and need not be read again.

Hosts without validators send whole pages that have not changed. Of each page the process keeps a hash of its last
answer (64 bits, keyed by process: nobody can make two bodies that collide) and what the answer said, without its text.
"""

from __future__ import annotations

from typing import NamedTuple

from recrawl.fetch.outcome import FetchResult
from recrawl.live.store_visits import Copy, VisitRecord
from recrawl.see.page import SeenPage
from recrawl.visits import Outcome

MOST_PAGES = 50_000  # about 30 MB; the pages that come first stay, so that pages visited in turn do not drive out all
_READ_HEADERS = ("content-type", "x-robots-tag")  # what reading looks at besides the body
_Answer = tuple[int, int, int]


class _Before(NamedTuple):
    answer: _Answer
    seen: SeenPage  # without text and links
    links_digest: bytes | None


class SeenBefore:
    """What pages said at their last visit, by a hash of the answer."""

    def __init__(self, most: int = MOST_PAGES) -> None:
        self.most = most
        self._pages: dict[int, _Before] = {}

    def recall(self, copy: Copy, result: FetchResult) -> SeenPage | None:
        """Return what this answer says, without text and links, if it is the one that our copy is of; else None."""
        before = self._pages.get(copy.page)
        if before is None or (before.seen.digest, before.links_digest) != (copy.digest, copy.links_digest):
            return None
        return before.seen if before.answer == _answer(result) else None

    def remember(self, record: VisitRecord, result: FetchResult, seen: SeenPage) -> None:
        """Keep what an answer said; one that is no copy of its page is read each time."""
        if record.outcome == Outcome.FAILED or seen.needs_rendering:
            self._pages.pop(record.page, None)
        elif record.page in self._pages or len(self._pages) < self.most:
            what = SeenPage(
                seen.url,
                seen.media,
                seen.content_type,
                seen.digest,
                title=seen.title,
                words=seen.words,
                canonical=seen.canonical,
            )
            self._pages[record.page] = _Before(_answer(result), what, record.links_digest)


def _answer(result: FetchResult) -> _Answer:
    headers = tuple([header for header in result.headers if header[0] in _READ_HEADERS])
    return len(result.body), hash(result.body), hash((result.final_url, headers))
