"""What a crawl's versions contain, for its recording: counts, terms and texts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from recrawl.columns import FloatArray, IntArray
from recrawl.errors import StoreError
from recrawl.live.bodies import Bodies
from recrawl.live.store import Store
from recrawl.live.store_contents import COUNTS
from recrawl.recording.tables import Column
from recrawl.see.page import see_page
from recrawl.see.words import unpack_bag

AT_ONCE = 1_000  # texts written at a time
COMPARED = ("added", "removed", "cosine", "chi2_p")
TEXTS = pa.schema([("page_id", pa.int32()), ("day", pa.float64()), ("text", pa.string())])


class VersionCounts:
    """The counts of all versions whose words are known, by visit."""

    def __init__(self, store: Store) -> None:
        names = (*COUNTS, *COMPARED)
        kinds = np.dtype([("visit", "i8"), *((name, "f8") for name in names)])
        rows = ((*(np.nan if value is None else value for value in row),) for row in store.all_contents(names))
        self._rows = np.fromiter(rows, dtype=kinds)

    def __len__(self) -> int:
        return len(self._rows)

    def column(self, name: str, visits: IntArray) -> FloatArray:
        """Return a column of these versions; NaN where it is not known."""
        out = np.full(len(visits), np.nan)
        if len(self._rows):
            place = np.minimum(np.searchsorted(self._rows["visit"], visits), len(self._rows) - 1)
            known = self._rows["visit"][place] == visits
            out[known] = self._rows[name][place[known]]
        return out


def terms_table(store: Store, pages: set[int]) -> dict[str, Column]:
    """Return the table `terms`: the words of each page's first version, and of its last where that is another."""
    rows = [(page, last, unpack_bag(packed)) for page, last, packed in store.bags() if page in pages]
    return {
        "page_id": np.array([page for page, _, _ in rows], dtype=np.int32),
        "when": np.array(["end" if last else "start" for _, last, _ in rows], dtype=object),
        "bucket": _lists([bag.bucket for _, _, bag in rows]),
        "count": _lists([bag.count for _, _, bag in rows]),
        "total": np.array([bag.total for _, _, bag in rows], dtype=np.int32),
    }


def _lists(values: list[Any]) -> Column:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def write_texts(store: Store, bodies: Bodies, cycles: FloatArray, pages: set[int], path: Path) -> int:
    """Write the table `texts` of the versions whose bodies were kept; return how many. Texts are not held in memory."""
    from recrawl.live.history_export import days_of

    rows, written = _texts(store, bodies, pages), 0
    with pq.ParquetWriter(path, TEXTS, compression="zstd") as writer:
        while part := list(islice(rows, AT_ONCE)):
            numbers, times, texts = zip(*part, strict=True)
            days = days_of(np.array(times), cycles)
            writer.write_table(pa.table([numbers, days, texts], schema=TEXTS))
            written += len(part)
    if not written:
        path.unlink()
    return written


def _texts(store: Store, bodies: Bodies, pages: set[int]) -> Iterator[tuple[int, float, str]]:
    for page, url, at, place in store.kept_bodies():
        if page not in pages:
            continue
        try:
            headers, body = bodies.answer(place)
        except StoreError:  # deleted since, or damaged: the version is there without its text
            continue
        yield page, at, see_page(body, url, headers).main_text.encode("utf-8", "replace").decode()
