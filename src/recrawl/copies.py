"""What can be read off the copies that a crawler holds, without asking the web again."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, IntArray, PageIds


class PageBags(NamedTuple):
    """Hashed words of pages, one after another: page i's are `start[i]` to `start[i + 1]`."""

    start: IntArray
    bucket: IntArray
    counts: IntArray


class Copies(Protocol):
    """The crawler's copies, one row per page; rows of pages without a copy mean nothing and must not be read."""

    def column(self, name: str) -> FloatArray | None:
        """Return a count of the copies (words, text_bytes, images, tables, ...); None where it is not recorded."""

    def moved(self, name: str) -> FloatArray | None:
        """Return by how much the count differs from that of the copy before, at the last visit."""

    def similarity(self) -> FloatArray | None:
        """Return the cosine similarity of the words of the copy and of the copy before, at the last visit."""

    def links(self, taken_at: FloatArray) -> tuple[PageIds, PageIds] | None:
        """Return source and target of the links between pages, on copies taken at these times (NaN: no copy).

        A target may be a page that the crawler has yet to hear of; whoever counts must leave those out.
        """

    def word_vectors(self) -> npt.NDArray[np.float32] | None:
        """Return unit vectors of what the copies are about; None where words are not recorded."""

    def bags(self, pages: PageIds) -> PageBags | None:
        """Return the words of the first copies of these pages, in this order; None where words are not recorded."""

    def hosts(self) -> npt.NDArray[np.object_]:
        """Return the name of each page's site."""

    def endings(self) -> npt.NDArray[np.object_] | None:
        """Return the ending of each page's address: html, txt, ..."""
