"""The link graph that a focused crawl walks: out-links in CSR, the host of every page, and its address.

Pages are dense ids 0..n-1. A graph holds each link once, no link from a page to itself, and only links whose both
ends were recorded: a page that was never fetched has neither text nor links to simulate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from recrawl.columns import IntArray, PageIds
from recrawl.compiled import kernel
from recrawl.errors import InputError
from recrawl.focus.resolve import PUBLISHED, Addresses, Mounts
from recrawl.recording.recording import Recording
from recrawl.recording.tables import Column, as_numpy

UNREACHED = -1


@dataclass(frozen=True)
class CrawlGraph:
    """Links in CSR: page p links to `out[start[p]:start[p + 1]]`, in ascending order."""

    start: IntArray
    out: IntArray
    host: IntArray  # each page's host (site) as a dense number
    urls: npt.NDArray[np.object_]  # each page's address: `site/path`

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def links(self) -> int:
        """How many links there are."""
        return len(self.out)

    @cached_property
    def source(self) -> IntArray:
        """The page that each link is on."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.start))

    def distances(self, seeds: PageIds) -> IntArray:
        """Links on the shortest path from the nearest seed to each page; UNREACHED where there is none."""
        return np.asarray(_distances(self.start, self.out, seeds))

    def pages_of(self, urls: list[str]) -> PageIds:
        """Find pages by address; an address that is not in the graph is an error that names it."""
        known = {url: page for page, url in enumerate(self.urls)}
        missing = [url for url in urls if url not in known]
        if missing:
            more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            raise InputError(f"no page {missing[0]!r} in the link graph{more}")
        return np.array([known[url] for url in urls], dtype=np.int64)


def make_graph(
    sources: IntArray,
    targets: IntArray,
    host: IntArray,
    urls: npt.NDArray[np.object_],
) -> CrawlGraph:
    """Build the CSR from pairs of pages: duplicates and links of a page to itself are dropped."""
    pages = len(host)
    pairs = np.unique(sources.astype(np.int64) * pages + targets)
    pairs = pairs[pairs // max(pages, 1) != pairs % max(pages, 1)]
    source = pairs // max(pages, 1)
    start = np.searchsorted(source, np.arange(pages + 1)).astype(np.int64)
    out = (pairs % max(pages, 1)).astype(np.int32)
    return CrawlGraph(start, out, np.asarray(host, dtype=np.int32), urls)


def graph_of(alive: Recording, at: float, mounts: Mounts = PUBLISHED) -> CrawlGraph:
    """Build the graph of the pages of a recording with their links of day `at`.

    A link counts if its target is one of these pages: named by `target_page`, or found by its address, on its own
    site or on another one (`mounts` says under which address each site's files are published).
    """
    links = alive.links
    there = np.flatnonzero(links.at(at))
    source, target = links.page[there], links.target_page[there].astype(np.int64)
    names = np.array(alive.site_names, dtype=object)
    paths = alive.page("path")
    unknown = np.flatnonzero(target < 0)
    if len(unknown) and alive.tables.has("links", "target"):
        target[unknown] = _by_address(alive, links.places[there[unknown]], source[unknown], paths, mounts)
    found = target >= 0
    urls = np.array([f"{names[s]}/{p}" for s, p in zip(alive.site, paths, strict=True)], dtype=object)
    return make_graph(source[found], target[found], alive.site, urls)


def _by_address(alive: Recording, places: PageIds, source: PageIds, paths: Column, mounts: Mounts) -> PageIds:
    """Find the pages that the links at these places of the ordered links table mean by their addresses; -1: none."""
    addresses = Addresses(alive.site, paths, alive.site_names, mounts)
    order = alive.whole.links.rows.order
    rows = places if order is None else order[places]
    link_at = np.full(alive.tables.rows("links"), -1, dtype=np.int64)
    link_at[rows] = np.arange(len(rows))
    found = np.full(len(rows), -1, dtype=np.int64)
    for first, part in alive.tables.parts("links", "target", link_at >= 0):
        inside = np.flatnonzero(link_at[first : first + len(part)] >= 0)
        strings = part.take(pa.array(inside))
        plain = strings.cast(pa.string())
        hopeful = as_numpy(pa.chunked_array([pc.match_substring_regex(plain, addresses.pattern)]))
        inner = as_numpy(pa.chunked_array([pc.starts_with(plain, "/")]))
        mounted = addresses.mounted[alive.site[source[link_at[first + inside]]]]
        chosen = np.flatnonzero(hopeful & (mounted | ~inner))
        links = link_at[first + inside[chosen]]
        found[links] = addresses.find(source[links], strings.take(pa.array(chosen)).to_pylist())
    return found


def check_seeds(graph: CrawlGraph, seeds: PageIds) -> PageIds:
    """Return the seeds once each; raise InputError if there are none or one lies outside the graph."""
    if not len(seeds):
        raise InputError("a focused crawl needs at least one seed page")
    outside = seeds[(seeds < 0) | (seeds >= len(graph))]
    if len(outside):
        raise InputError(f"seed page {outside[0]} is not in the link graph of {len(graph):,} pages")
    return np.asarray(np.unique(seeds), dtype=np.int64)


@kernel
def _distances(start: IntArray, out: IntArray, seeds: PageIds) -> IntArray:
    distance = np.full(len(start) - 1, UNREACHED, dtype=np.int32)
    queue = np.empty(len(start) - 1, dtype=np.int64)
    tail = 0
    for seed in seeds:
        if distance[seed] == UNREACHED:
            distance[seed] = 0
            queue[tail] = seed
            tail += 1
    head = 0
    while head < tail:
        page = queue[head]
        head += 1
        for e in range(start[page], start[page + 1]):
            if distance[out[e]] == UNREACHED:
                distance[out[e]] = distance[page] + 1
                queue[tail] = out[e]
                tail += 1
    return distance
