"""Observations: the visits of another crawler, as columns."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, IntArray

NO_WORDS = -1
NO_DIGEST = -1
_POSITIVE = (1 << 63) - 1  # hashes are compared within one process only


class Verdict(IntEnum):
    """The outcome of a visit by its source."""

    BY_DIGEST = 0  # a copy of the page: its digest tells whether it changed
    UNCHANGED = 1  # a 304, a revisit record
    GONE = 2  # 404, 410
    FAILED = 3  # tells nothing about the page


def verdict_of(status: int) -> Verdict:
    """Return what an HTTP status means for the page; a redirect is another page's content, so it tells nothing."""
    if 200 <= status < 300:
        return Verdict.BY_DIGEST
    if status == 304:
        return Verdict.UNCHANGED
    return Verdict.GONE if status in (404, 410) else Verdict.FAILED


class Observations:
    """Visits in any order: URL, time, digest, verdict and number of words; texts and links where the source has them.

    A million lines fit in memory: each URL is kept once, digests as hashes, the rest as plain arrays.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}  # URL as it was written -> its number
        self._url = array("i")
        self._at = array("d")
        self._digest = array("q")
        self._verdict = array("b")
        self._words = array("i")
        self.texts: dict[int, str] = {}  # row -> text of the version
        self.links: dict[int, Sequence[str]] = {}  # row -> normalised targets

    @property
    def rows(self) -> int:
        """How many visits there are."""
        return len(self._at)

    def add(
        self, url: str, at: float, digest: str | None, verdict: Verdict = Verdict.BY_DIGEST, words: int = NO_WORDS
    ) -> int:
        """Take in one visit and return its row."""
        self._url.append(self._numbers.setdefault(url, len(self._numbers)))
        self._at.append(at)
        self._digest.append(NO_DIGEST if digest is None else hash(digest) & _POSITIVE)
        self._verdict.append(verdict)
        self._words.append(words)
        return len(self._at) - 1

    def columns(self) -> tuple[list[str], IntArray, FloatArray, IntArray, npt.NDArray[np.int8], IntArray]:
        """Return the distinct URLs, and per row: URL number, time, digest (-1: none), verdict, words."""
        return (
            list(self._numbers),
            np.frombuffer(self._url, dtype=np.int32),
            np.frombuffer(self._at, dtype=np.float64),
            np.frombuffer(self._digest, dtype=np.int64),
            np.frombuffer(self._verdict, dtype=np.int8),
            np.frombuffer(self._words, dtype=np.int32),
        )
