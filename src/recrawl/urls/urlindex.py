"""Which URLs are known: an open-addressing table of 64-bit URL hashes, 12 bytes per slot, queried in bulk.

Two of ten million URLs share a hash with a chance of about three in a million; the second would then count as known.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recrawl.columns import IntArray, PageIds
from recrawl.compiled import kernel

Hashes = npt.NDArray[np.uint64]
EMPTY = -1
NO_HASHES: Hashes = np.empty(0, dtype=np.uint64)


def url_hash(url: str) -> int:
    """Return 64 bits of BLAKE2b of a normalised URL: the same on every machine and in every run."""
    return int.from_bytes(hashlib.blake2b(url.encode(), digest_size=8).digest(), "little")


def url_hashes(urls: Sequence[str]) -> Hashes:
    """Hash many URLs."""
    blake = hashlib.blake2b
    return np.frombuffer(b"".join([blake(url.encode(), digest_size=8).digest() for url in urls]), dtype="<u8")


class HashedUrls:
    """Hashes of URLs met lately: a site's pages link to the same ones over and over."""

    def __init__(self, most: int = 100_000) -> None:
        self._most = most
        self._known: dict[str, bytes] = {}

    def of(self, urls: Sequence[str]) -> bytes:
        """Return the hashes of many URLs, 8 bytes each."""
        known, blake = self._known, hashlib.blake2b
        if len(known) > self._most:
            known.clear()
        for url in [url for url in urls if url not in known]:
            known[url] = blake(url.encode(), digest_size=8).digest()
        return b"".join([known[url] for url in urls])


class UrlIndex:
    """Maps URL hashes to page ids; grows by doubling, at most half full."""

    def __init__(self, room: int = 1024) -> None:
        slots = 1 << max(10, (2 * room - 1).bit_length())
        self._keys: Hashes = np.zeros(slots, dtype=np.uint64)
        self._pages = np.full(slots, EMPTY, dtype=np.int32)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def find(self, hashes: Hashes) -> PageIds:
        """Return the page of each hash, -1 where it is unknown."""
        return np.asarray(_find(hashes, self._keys, self._pages))

    def add(self, hashes: Hashes) -> tuple[PageIds, PageIds]:
        """Number the unknown ones in order; return every hash's page, and the positions that were new."""
        while 2 * (self._size + len(hashes)) > len(self._keys):
            self._grow()
        pages, fresh = _add(hashes, self._keys, self._pages, self._size)
        self._size += len(fresh)
        return pages, fresh

    def _grow(self) -> None:
        keys = np.zeros(2 * len(self._keys), dtype=np.uint64)
        pages = np.full(2 * len(self._pages), EMPTY, dtype=np.int32)
        _move(self._keys, self._pages, keys, pages)
        self._keys, self._pages = keys, pages


@kernel
def _slot(key: np.uint64, keys: Hashes, pages: IntArray) -> np.int64:
    mask = len(keys) - 1
    slot = np.int64(key & np.uint64(mask))
    while pages[slot] != EMPTY and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@kernel
def _find(hashes: Hashes, keys: Hashes, pages: IntArray) -> PageIds:
    out = np.empty(len(hashes), dtype=np.int64)
    for i in range(len(hashes)):
        out[i] = pages[_slot(hashes[i], keys, pages)]
    return out


@kernel
def _add(hashes: Hashes, keys: Hashes, pages: IntArray, size: int) -> tuple[PageIds, PageIds]:
    out = np.empty(len(hashes), dtype=np.int64)
    fresh = np.empty(len(hashes), dtype=np.int64)
    count = 0
    for i in range(len(hashes)):
        slot = _slot(hashes[i], keys, pages)
        if pages[slot] == EMPTY:
            keys[slot] = hashes[i]
            pages[slot] = size + count
            fresh[count] = i
            count += 1
        out[i] = pages[slot]
    return out, fresh[:count]


@kernel
def _move(old_keys: Hashes, old_pages: IntArray, keys: Hashes, pages: IntArray) -> None:
    for i in range(len(old_keys)):
        if old_pages[i] != EMPTY:
            slot = _slot(old_keys[i], keys, pages)
            keys[slot] = old_keys[i]
            pages[slot] = old_pages[i]
