"""URLs met lately and the page of each, found as they stand in the joined addresses of a page's links.

A site's pages link to the same pages over and over. Their addresses are hashed, and compared byte by byte, where they
stand, so no text is made of one that was met before.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recrawl.columns import ByteArray
from recrawl.compiled import borrowing, kernel, nth
from recrawl.joined_texts import joined
from recrawl.see.byte_masks import BYTES, line_feeds, lowest_bit
from recrawl.see.hashed_bytes import are_same, hash_of

UNMET = -2  # in the place of a page: the URL was not met
_MOST_BYTES = 1 << 25  # of addresses that are kept; others count as not met
_EMPTY = -1
_BEGIN, _END, _PAGE, _CHECK = range(4)  # where an address is in the texts, its page, and half of its hash

Pages = npt.NDArray[np.int32]
Slots = npt.NDArray[np.int32]


class MetUrls:
    """Pages of URLs, in an open-addressing table of 16 bytes per slot, at most half full, beside their texts."""

    def __init__(self) -> None:
        self._slots: Slots = np.full((1 << 10, 4), _EMPTY, dtype=np.int32)
        self._texts: ByteArray = np.empty(1 << 15, dtype=np.uint8)
        self._count, self._end = 0, 0
        self._seed = np.uint64(int.from_bytes(os.urandom(8), "little"))

    def __len__(self) -> int:
        return self._count

    def pages_of(self, urls: Sequence[str]) -> tuple[Pages, list[int]]:
        """Return the page of each URL as it was given, UNMET where it was not; and the places of those."""
        pages = np.empty(len(urls), dtype=np.int32)
        unmet = _find(_bytes_of(urls), self._slots, self._texts, self._seed, pages)
        return pages, np.flatnonzero(pages == UNMET).tolist() if unmet else []

    def add(self, urls: Sequence[str], pages: Sequence[int]) -> None:
        """Take URLs, each once, that were not met before, and their pages."""
        addresses = _bytes_of(urls)
        if self._end + len(addresses) > _MOST_BYTES:
            return
        while 2 * (self._count + len(urls)) > len(self._slots):
            self._grow()
        while self._end + len(addresses) > len(self._texts):
            self._texts = np.concatenate((self._texts, np.empty_like(self._texts)))
        self._texts[self._end : self._end + len(addresses)] = addresses
        start, self._end = self._end, self._end + len(addresses)
        _add(self._texts, start, self._end, self._slots, self._seed, np.array(pages, dtype=np.int32))
        self._count += len(urls)

    def _grow(self) -> None:
        slots = np.full((2 * len(self._slots), 4), _EMPTY, dtype=np.int32)
        _move(self._slots, slots, self._texts, self._seed)
        self._slots = slots


def _bytes_of(urls: Sequence[str]) -> ByteArray:
    return np.frombuffer(joined(urls).encode("utf-8", "surrogatepass"), dtype=np.uint8)


@kernel
def _find(addresses: ByteArray, slots: Slots, texts: ByteArray, seed: np.uint64, pages: Pages) -> int:
    """Look up addresses joined by line feeds, as many as there are pages to write; return how many were not met."""
    mask, start, unmet = np.uint64(len(slots) - 1), 0, 0
    for k in range(len(pages)):
        end = _line_end(addresses, start, len(addresses))
        value = hash_of(addresses, start, end, seed)
        check, slot = np.int32(value), (value >> np.uint64(32)) & mask
        pages[k] = UNMET
        while slots[slot, _BEGIN] != _EMPTY:
            if slots[slot, _CHECK] == check and are_same(
                addresses, start, end, texts, int(slots[slot, _BEGIN]), int(slots[slot, _END])
            ):
                pages[k] = slots[slot, _PAGE]
                break
            slot = (slot + np.uint64(1)) & mask
        unmet += pages[k] == UNMET
        start = end + 1
    return unmet


@borrowing
def _line_end(addresses: ByteArray, i: int, end: int) -> int:
    """Return where the line ends that `i` is in."""
    while i + BYTES <= end:
        found = lowest_bit(line_feeds(addresses, i))
        if found < BYTES:
            return i + found
        i += BYTES
    while i < end and addresses[nth(i)] != 10:
        i += 1
    return i


@kernel
def _add(texts: ByteArray, start: int, stop: int, slots: Slots, seed: np.uint64, pages: Pages) -> None:
    """Note where addresses begin that were written from `start` to `stop`, joined by line feeds, and their pages."""
    for k in range(len(pages)):
        end = _line_end(texts, start, stop)
        _put(slots, hash_of(texts, start, end, seed), start, end, pages[k])
        start = end + 1


@borrowing
def _put(slots: Slots, value: np.uint64, start: int, end: int, page: int) -> None:
    """Write a row into the first free slot."""
    mask = np.uint64(len(slots) - 1)
    slot = (value >> np.uint64(32)) & mask
    while slots[slot, _BEGIN] != _EMPTY:
        slot = (slot + np.uint64(1)) & mask
    slots[slot, _BEGIN], slots[slot, _END] = start, end
    slots[slot, _PAGE], slots[slot, _CHECK] = page, np.int32(value)


@kernel
def _move(old: Slots, slots: Slots, texts: ByteArray, seed: np.uint64) -> None:
    for k in range(len(old)):
        start, end = int(old[k, _BEGIN]), int(old[k, _END])
        if start != _EMPTY:
            _put(slots, hash_of(texts, start, end, seed), start, end, old[k, _PAGE])
