"""The tables of texts and links of an adopted history, from the text and links of each version."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.recording.tables import Column
from recrawl.urls.url import Base, host_of, normalise


def text_table(pages: IntArray, days: FloatArray, texts: Sequence[str | None]) -> dict[str, Column]:
    """Return the table `texts`: one row per version whose text is known."""
    rows = [i for i, text in enumerate(texts) if text is not None]
    return {
        "page_id": pages[rows].astype(np.int32),
        "day": np.maximum(days[rows], 0.0),
        "text": np.array([texts[i] for i in rows], dtype=object),
    }


def link_table(
    pages: IntArray, days: FloatArray, died: FloatArray, links: Sequence[Sequence[str] | None], hrefs: Sequence[str]
) -> dict[str, Column]:
    """Return the table `links`: one row per stretch of time in which consecutive versions of a page link to a target.

    Versions are in the order of page and time. A target that is an address of a page of the recording is that page.
    """
    owner = {href: page for page, href in enumerate(hrefs)}
    rows: list[tuple[int, float, float, bool, int, str]] = []
    since: dict[str, float] = {}
    current = -1

    def close(targets: Iterable[str], day: float) -> None:
        host = host_of(hrefs[current])
        for target in targets:
            begun = max(since.pop(target), 0.0)
            if not day <= begun:
                rows.append((current, begun, day, host_of(target) == host, owner.get(target, -1), target))

    for page, day, found in zip(pages.tolist(), days.tolist(), links, strict=True):
        if page != current and current >= 0:
            close(sorted(since), float(died[current]))
        if page != current:
            since, current = {}, page
        if found is not None:
            here = set(found)
            close(sorted(since.keys() - here), day)
            since.update(dict.fromkeys(here - since.keys(), day))
    if current >= 0:
        close(sorted(since), float(died[current]))
    rows.sort(key=lambda row: (row[0], row[1], row[5]))
    columns = list(zip(*rows, strict=True)) or [(), (), (), (), (), ()]
    types: tuple[type, ...] = (np.int32, np.float64, np.float64, np.bool_, np.int32, object)
    names = ("page_id", "day_from", "day_to", "internal", "target_page", "target")
    return {name: np.array(column, dtype=kind) for name, column, kind in zip(names, columns, types, strict=True)}


def resolved(targets: Iterable[str], base: str) -> list[str]:
    """Return the distinct normal forms of links found on a page."""
    root = Base(base)
    return list(dict.fromkeys(href for target in targets if (href := normalise(target, root)) is not None))
