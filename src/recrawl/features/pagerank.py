"""PageRank and TrustRank: the stationary distribution of a random walk over links with restarts.

    r = d (A' r + m v) + (1 - d) v        A[i, j] = share of page i's links that lead to j, m = sum of r over pages
                                          without links (a walker who is stuck starts anew), v = where a walk starts

Brin & Page 1998 start anywhere (v = 1/n), Gyongyi et al. 2004 from trusted pages only: TrustRank is the same walk with
another v.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.compiled import kernel
from recrawl.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from recrawl.recording.recording import Recording


def pagerank(
    source: IntArray,
    target: IntArray,
    size: int,
    *,
    damping: float = 0.85,
    restart: FloatArray | None = None,
    tolerance: float = 1e-9,
    max_rounds: int = 100,
) -> FloatArray:
    """Return the rank of each of `size` pages; the ranks sum to 1.

    Link i leads from page `source[i]` to page `target[i]`; the same link twice counts twice. `restart` are weights of
    where walks start, scaled to sum 1; None: anywhere. Rounds end when the ranks move by less than `tolerance` in sum.
    """
    if not 0.0 <= damping < 1.0:
        raise InputError(f"the damping of PageRank must be at least 0 and below 1, not {damping:g}")
    if size == 0:
        return np.empty(0)
    if len(source) != len(target):
        raise InputError(
            f"a link has a source and a target, but there are {len(source)} sources, {len(target)} targets"
        )
    if len(source) and not (min(source.min(), target.min()) >= 0 and max(source.max(), target.max()) < size):
        raise InputError(f"a link leads from or to a page outside 0 to {size - 1}")
    start = _start(restart, size)
    order = np.argsort(target, kind="stable")
    first = np.append(0, np.cumsum(np.bincount(target, minlength=size)))
    out = np.bincount(source, minlength=size).astype(np.float64)
    return _walk(source[order].astype(np.int64), first, out, start, damping, tolerance, max_rounds)


def trusted(pages: IntArray, size: int) -> FloatArray:
    """Return the `restart` of a TrustRank from these pages."""
    weights = np.zeros(size)
    weights[pages] = 1.0
    return weights


def _start(restart: FloatArray | None, size: int) -> FloatArray:
    if restart is None:
        return np.full(size, 1.0 / size)
    weights = np.asarray(restart, dtype=np.float64)
    total = float(weights.sum())
    if weights.shape != (size,) or not np.isfinite(total) or (weights < 0).any() or total <= 0:
        raise InputError(f"the restart needs one weight per page ({size}), none negative and at least one positive")
    return weights / total


@kernel
def _walk(
    source: IntArray,
    first: IntArray,
    out: FloatArray,
    start: FloatArray,
    damping: float,
    tolerance: float,
    max_rounds: int,
) -> FloatArray:
    size = len(start)
    rank = start.copy()
    share = np.zeros(size)
    ends, leads = np.flatnonzero(out == 0), np.flatnonzero(out > 0)  # pages without links, and with some
    for _ in range(max_rounds):
        stuck = 0.0
        for end in ends:
            stuck += rank[end]
        for lead in leads:
            share[lead] = rank[lead] / out[lead]
        moved = 0.0
        total = 0.0
        link = first[0]
        for page in range(size):
            came = 0.0
            while link < first[page + 1]:
                came += share[source[link]]
                link += 1
            now = damping * (came + stuck * start[page]) + (1.0 - damping) * start[page]
            moved += abs(now - rank[page])
            total += now
            rank[page] = now
        rank /= total  # against rounding
        if moved < tolerance:
            break
    return rank


IMPORTANCES = ("uniform", "inlinks")


def importance_of(recording: Recording, name: str) -> FloatArray | None:
    """Return a weight for every page, from what is visible when a crawl begins; None if all count the same.

    uniform   all pages count the same
    inlinks   1 + the pages of the recording that link to the page when the window opens, itself not counted; a page
              born later has nothing that could be seen by then, and weighs 1 unless something links to it already
    """
    if name == "uniform":
        return None
    if name != "inlinks":
        near = difflib.get_close_matches(name.lower(), IMPORTANCES, n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]!r}?" if near else f"; it is one of {', '.join(IMPORTANCES)}"
        raise UnknownNameError(f"unknown importance {name!r}{hint}")
    links = recording.links
    counts = links.at(recording.start) & (links.target_page >= 0) & (links.target_page != links.page)
    return np.asarray(1.0 + np.bincount(links.target_page[counts], minlength=len(recording)), dtype=np.float64)
