"""The link graph of a recording: its size, its degrees, and how many of the new pages can be found by links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.columns import BoolArray, FloatArray, IntArray
from recrawl.compiled import kernel
from recrawl.recording.recording import Recording
from recrawl.recording.whole import Links


@dataclass(frozen=True)
class LinkGraph:
    """The graph when the window opens, and what of the pages born later can be found by following links."""

    nodes: int  # pages alive
    edges: int  # links to distinct targets on those pages
    internal: int  # of these, links within a site
    known: int  # of these, links to a page of the recording
    out_degree: IntArray  # of each node: distinct targets of any sort
    in_degree: IntArray  # of each node: other pages of the recording that link to it
    born: int  # pages born in the window
    linked: int  # of these, pages that some other page links to while they live
    discoverable: int  # of these, pages that a crawler finds who is everywhere at once


def link_graph(recording: Recording) -> LinkGraph:
    """Describe the links of a recording."""
    links = recording.links
    there = links.at(recording.start)
    page = links.page
    alive = (recording.born <= recording.start) & (recording.died > recording.start)
    inside = there & (links.target_page >= 0)
    others = inside & (links.target_page != page)
    size = len(recording)
    born = ~(recording.born <= recording.start)
    linked, discoverable = _found(recording, links)
    return LinkGraph(
        nodes=int(alive.sum()),
        edges=int(there.sum()),
        internal=int((there & links.internal).sum()),
        known=int(inside.sum()),
        out_degree=np.bincount(page[there], minlength=size)[alive],
        in_degree=np.bincount(links.target_page[others], minlength=size)[alive],
        born=int(born.sum()),
        linked=int((linked & born).sum()),
        discoverable=int((discoverable & born).sum()),
    )


def _found(recording: Recording, links: Links) -> tuple[BoolArray, BoolArray]:
    """Return which pages are linked to while they live, and which are found by following links from the first pages.

    A link shows its target to a crawler when the linking page is found changed, or is new itself, while the link is
    there and the target lives. The most that any crawler can find is what this reaches, step by step.
    """
    born, died = recording.born, recording.died
    known = born <= recording.start
    page, target = links.page, links.target_page
    rows = np.flatnonzero((target >= 0) & (target != page) & ~known[target])
    page, target = page[rows], target[rows]
    first = np.maximum(links.day_from[rows], born[target])
    last = np.minimum(links.day_to[rows], died[target])
    lives = first < last
    linked = np.zeros(len(recording), dtype=np.bool_)
    linked[target[lives]] = True
    seen_change = _next_change(page, first, recording.change_start, recording.change_day) < last
    shows = lives & (seen_change | (links.day_from[rows] >= born[target]) | ~known[page])
    page, target = page[shows], target[shows]
    found = known.copy()
    while True:
        fresh = found[page] & ~found[target]
        if not fresh.any():
            return linked, found
        found[target[fresh]] = True


@kernel
def _next_change(page: IntArray, since: FloatArray, start: IntArray, day: FloatArray) -> FloatArray:
    """When each page changes next at or after a time; inf if it does not."""
    when = np.full(len(page), np.inf)
    for i in range(len(page)):
        row = start[page[i]] + np.searchsorted(day[start[page[i]] : start[page[i] + 1]], since[i])
        if row < start[page[i] + 1]:
            when[i] = day[row]
    return when
