"""The links of a page as workers send and stores keep them: compressed once, read only where they are needed.

The planner needs no address of a link whose page it knows: the hashes of the addresses come along, so that it looks up
the pages of all links of many visits at once. Addresses are unpacked where one of them is new.
"""

from __future__ import annotations

import struct
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from recrawl.joined_texts import joined

if TYPE_CHECKING:
    from recrawl.live.met_urls import MetUrls
    from recrawl.live.store_visits import SeenLinks, VisitRecord
    from recrawl.urls.urlindex import Hashes, UrlIndex

LEVEL = 3
_kept = threading.local()  # a compressor of each thread's own
NOBODY = -1  # in the place of a page: the target is none
_DIGITS = b"01".ljust(256)  # of False and True
_NO_HASHES = np.empty(0, dtype=np.uint64)

FirstRow = tuple[int, float, int, bytes, bytes]  # page, when first seen, how many, links, the pages they lead to
TargetPages = npt.NDArray[np.int32]


class PackedLinks:
    """The links that a visit showed, as `SeenLinks` has them, unpacked when they are asked for."""

    def __init__(self, packed: bytes, total: int, total_internal: int, hashes: Hashes) -> None:
        self.packed = packed
        self.total = total
        self.total_internal = total_internal
        self.hashes = hashes
        self.targets: TargetPages | None = None  # pages that the links lead to, once they are looked up

    @cached_property
    def _texts(self) -> list[str]:
        return _texts(self.packed)

    @property
    def urls(self) -> Sequence[str]:
        """The targets."""
        return self._texts[0].split("\n") if self.total else []

    @property
    def anchors(self) -> Sequence[str]:
        """The words of the links."""
        return self._texts[1].split("\n") if self.total else []

    @property
    def internal(self) -> Sequence[bool]:
        """Whether a link leads to the page's own host."""
        return _flags(self._texts[2])

    def target_pages(self, pages: Mapping[str, int]) -> list[int]:
        """Return the page that each link leads to; NOBODY where it is none."""
        return pages_of(self.urls, pages) if self.targets is None else self.targets.tolist()

    def target_bytes(self, pages: Mapping[str, int]) -> bytes:
        """Return the same as it is stored."""
        return pack_targets(self.target_pages(pages)) if self.targets is None else self.targets.tobytes()


class FoundLinks(PackedLinks):
    """Links that were packed where they were found; the pages that they lead to, as far as these were known then."""

    def __init__(self, links: SeenLinks, met: MetUrls) -> None:
        super().__init__(pack_columns(*links), links.total, links.total_internal, _NO_HASHES)
        self._found, unmet = met.pages_of(links.urls)
        self.strange = [(place, links.urls[place]) for place in unmet]

    def target_pages(self, pages: Mapping[str, int]) -> list[int]:
        """Return the page that each link leads to; NOBODY where it is none."""
        return self._settled(pages).tolist()

    def target_bytes(self, pages: Mapping[str, int]) -> bytes:
        """Return the same as it is stored."""
        return self._settled(pages).astype("<i4", copy=False).tobytes()

    def _settled(self, pages: Mapping[str, int]) -> TargetPages:
        """Look up those that were not known."""
        for place, url in self.strange:
            self._found[place] = pages.get(url, NOBODY)
        return self._found


class LinkLookup:
    """The pages that the links of several visits lead to, looked up at once."""

    def __init__(self, links: Sequence[PackedLinks], index: UrlIndex) -> None:
        self._links = links
        self._index = index
        self._hashes = np.concatenate([each.hashes for each in links])
        self._pages = index.find(self._hashes).astype("<i4")
        self._ends = np.cumsum([each.total for each in links])

    def strange(self, outside: UrlIndex) -> list[list[str]]:
        """Return for each visit the addresses that are neither pages nor among `outside`, in their order."""
        missing = np.flatnonzero(self._pages < 0)
        missing = missing[outside.find(self._hashes[missing]) < 0]
        found: list[list[str]] = [[] for _ in self._links]
        last = 0
        for owner, (end, cut) in enumerate(zip(self._ends.tolist(), np.searchsorted(missing, self._ends), strict=True)):
            if cut > last:
                urls, start = self._links[owner].urls, end - self._links[owner].total
                found[owner] = [urls[place - start] for place in missing[last:cut].tolist()]
                last = cut
        return found

    def settle(self) -> None:
        """Tell all links their pages, also those that have been made meanwhile."""
        missing = np.flatnonzero(self._pages < 0)
        self._pages[missing] = self._index.find(self._hashes[missing])
        for each, end in zip(self._links, self._ends.tolist(), strict=True):
            each.targets = self._pages[end - each.total : end]


def pack_columns(urls: Sequence[str], anchors: Sequence[str], internal: Sequence[bool]) -> bytes:
    """Return links compressed: three texts, which are read several times faster than as many as there are links."""
    if not urls:
        return b""
    flags = bytes(internal).translate(_DIGITS).decode()
    text = "\t".join((joined(urls), joined(anchors), flags))
    return _compressed(text.encode("utf-8", "surrogatepass"))


def _compressed(text: bytes) -> bytes:
    """Compress a text; a compressor for each text would take three times as long."""
    compressor: zstd.ZstdCompressor | None = getattr(_kept, "compressor", None)
    if compressor is None:
        compressor = _kept.compressor = zstd.ZstdCompressor(LEVEL)
    return bytes(compressor.compress(text, zstd.ZstdCompressor.FLUSH_FRAME))


def _texts(packed: bytes) -> list[str]:
    return zstd.decompress(packed).decode("utf-8", "surrogatepass").split("\t") if packed else ["", "", ""]


def _flags(text: str) -> list[bool]:
    return [inside == "1" for inside in text]


def pages_of(urls: Sequence[str], pages: Mapping[str, int]) -> list[int]:
    """Return the page of each URL; NOBODY where it is none."""
    return list(map(pages.get, urls, repeat(NOBODY)))


def pack_targets(pages: Sequence[int]) -> bytes:
    """Return pages that links lead to as they are stored: 32 bits each."""
    return struct.pack(f"<{len(pages)}i", *pages)


def unpack_stored(at: float, packed: bytes, targets: bytes) -> Iterator[tuple[str, int | None, bool, str, float, None]]:
    """Read stored links: target, its page, internal, words, when first seen, not gone."""
    urls, anchors, flags = _texts(packed)
    if not urls:
        return
    pages = np.frombuffer(targets, dtype="<i4").tolist()
    for url, page, inside, anchor in zip(urls.split("\n"), pages, _flags(flags), anchors.split("\n"), strict=True):
        yield url, None if page == NOBODY else page, inside, anchor, at, None


def unpack_lines(text: str) -> Iterator[tuple[str, int | None, bool, str]]:
    """Read links as they were stored up to format 4, a line of text each: target, its page, internal, anchor."""
    for line in text.split("\n") if text else ():
        internal, page, target, anchor = line.split("\t")
        yield target, None if page == "None" else int(page), internal == "1", anchor


def packed_lines(text: str) -> bytes:
    """Return links that were stored as lines of text as they are stored now."""
    rows = list(unpack_lines(text))
    return pack_columns([row[0] for row in rows], [row[3] for row in rows], [row[2] for row in rows])


def targets_of_lines(text: str) -> bytes:
    """Return the pages that they lead to, the same."""
    return pack_targets([NOBODY if page is None else page for _, page, _, _ in unpack_lines(text)])


def first_rows(records: Sequence[VisitRecord], pages: Mapping[str, int]) -> list[FirstRow]:
    """Return what is stored of the links of pages that are visited for the first time."""
    rows = []
    for r in records:
        if isinstance(r.links, PackedLinks):
            rows.append((r.page, r.at, r.links.total, r.links.packed, r.links.target_bytes(pages)))
        elif r.links is not None:
            targets = pack_targets(r.links.target_pages(pages))
            rows.append((r.page, r.at, r.links.total, pack_columns(*r.links), targets))
    return rows
