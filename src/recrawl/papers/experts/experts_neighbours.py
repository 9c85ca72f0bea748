"""The links between the pages of the experiment on related pages, as they are at a time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from recrawl.columns import IntArray
from recrawl.papers.experts.expert_selection import Choice, by_links, by_shared_targets
from recrawl.recording.recording import Recording


class Neighbours:
    """The link graph of the pages with text at a time: pages one step away, or that link to the same addresses."""

    def __init__(self, recording: Recording, pages: IntArray) -> None:
        self._day: npt.NDArray[np.float64] = np.empty((0, 2))
        self.kind = "no links are recorded"
        self._ends = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
        self._target = np.empty(0, dtype=np.int64)
        self.pages = len(pages)
        if not recording.has_links:
            return
        number = np.full(len(recording) + 1, -1, dtype=np.int64)
        number[pages] = np.arange(len(pages))
        links = recording.links
        source = number[links.page]
        kept = source >= 0
        self._ends = source[kept], number[links.target_page[kept]]
        self._target = np.unique(links.key[kept], return_inverse=True)[1]
        self._day = np.stack([links.day_from[kept], links.day_to[kept]], axis=1)
        joined = (self._ends[1] >= 0) & (self._ends[0] != self._ends[1])
        self.kind = "one step in the link graph" if joined.any() else "pages that link to the same address (two steps)"

    def near(self, at: float, k: int, rows: IntArray) -> list[Choice]:
        """Return the neighbours of these pages as the links are at a time."""
        there = (self._day[:, 0] <= at) & (at < self._day[:, 1]) if len(self._day) else np.empty(0, dtype=np.bool_)
        source, target = self._ends[0][there], self._ends[1][there]
        if self.kind.startswith("one") or not len(self._target):
            return by_links((source, target), self.pages, k, rows)
        shape = (self.pages, int(self._target.max()) + 1)
        ones = np.ones(len(source), dtype=np.float32)
        return by_shared_targets(csr_matrix((ones, (source, self._target[there])), shape=shape).sign(), k, rows)
