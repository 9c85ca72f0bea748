"""Which pages may have a text in their URL: a summary per block of pages, so that a search need not read all URLs.

A page's URL never changes and pages are never deleted, so a block of BLOCK pages is summarised once, when it is full
and a cycle ends: a Bloom filter with one hash function over the runs of GRAM bytes in its URLs, 131,072 bits as base64
in a row of `meta`, 2.7 bytes per page. A text can be in a block only if all its runs are. The last block, blocks
without a summary, and for texts shorter than a run all blocks must be read.
"""

from __future__ import annotations

import base64

from recrawl.live.store_database import Database

BLOCK = 8_192  # pages
GRAM = 5  # bytes: shorter runs of digits are in every block
BITS = 17  # of a hash
FACTOR = 0x9E3779B1  # of the polynomial hash, modulo 2**32
KEY = "url-parts-"
MOST_RANGES = 50  # of pages that are read one by one; where there are more, all URLs are
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_VALUE = {chr(letter): value for value, letter in enumerate(_ALPHABET)}

Ranges = list[tuple[int, int]]  # first and last page


def is_text(part: str) -> bool:
    """Whether a text can be part of a URL in the store: not with bytes in it that are no UTF-8."""
    return not any("\ud800" <= letter <= "\udfff" for letter in part)


def bits_of(part: str) -> list[int]:
    """Return the bits that the runs of a text set."""
    raw, bits = part.encode(), []
    for start in range(len(raw) - GRAM + 1):
        value = 0
        for byte in raw[start : start + GRAM]:
            value = (value * FACTOR + byte) & 0xFFFFFFFF
        bits.append(value >> (32 - BITS))
    return bits


def summary_of(urls: list[str]) -> str:
    """Return the summary of a block's URLs."""
    import numpy as np  # only by who writes

    letters = np.frombuffer("\n".join(urls).encode(), dtype=np.uint8)
    count = max(0, len(letters) - GRAM + 1)
    value = np.zeros(count, dtype=np.uint32)
    for place in range(GRAM):
        value *= np.uint32(FACTOR)
        value += letters[place : place + count]
    flags = np.zeros(1 << BITS, dtype=np.bool_)
    flags[value >> np.uint32(32 - BITS)] = True
    return base64.b64encode(np.packbits(flags).tobytes()).decode("ascii")


def may_hold(summary: str, bits: list[int]) -> bool:
    """Whether URLs with this summary may hold a text whose runs set these bits."""
    return all(_VALUE[summary[bit // 6]] >> (5 - bit % 6) & 1 for bit in bits)


class StoredUrlParts:
    """The summaries, in the table meta; writing is within a transaction."""

    db: Database

    def summarise_urls(self) -> None:
        """Summarise the blocks that are full and have no summary yet."""
        full = int(self.db.execute("select coalesce(max(page) + 1, 0) from pages").fetchone()[0]) // BLOCK
        (done,) = self.db.execute("select count(*) from meta where key like ?", (f"{KEY}%",)).fetchone()
        for block in range(done, full):
            ask = "select url from pages where page between ? and ?"
            urls = [url for (url,) in self.db.execute(ask, (block * BLOCK, (block + 1) * BLOCK - 1))]
            self.db.execute("insert or replace into meta values (?, ?)", (f"{KEY}{block:08}", summary_of(urls)))

    def pages_that_may_hold(self, part: str) -> Ranges | None:
        """Return ranges of pages that hold all URLs with a text in them; None: all URLs are to be read."""
        bits = bits_of(part)
        if not bits:
            return None
        rows = self.db.execute("select value from meta where key like ? order by key", (f"{KEY}%",)).fetchall()
        ranges: Ranges = []
        for block, (summary,) in enumerate(rows):
            if may_hold(summary, bits):
                first = block * BLOCK
                before = ranges.pop()[0] if ranges and ranges[-1][1] == first - 1 else first
                ranges.append((before, first + BLOCK - 1))
        known = len(rows) * BLOCK
        rest = self.db.execute("select coalesce(max(page), -1) from pages").fetchone()[0]
        ranges += [(known, int(rest))] if rest >= known else []
        return None if len(ranges) > MOST_RANGES or not rows else ranges
