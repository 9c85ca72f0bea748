"""A web with words to crawl for a topic: of a recording, or synthetic.

Both are the same to the simulator: a link graph, the words of every page, of its address and, where known, of the
anchors of its links.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from recrawl.columns import BoolArray, IntArray
from recrawl.errors import InputError
from recrawl.focus.bags import Bags, address_words, bags_of
from recrawl.focus.crawl_graph import CrawlGraph, graph_of
from recrawl.recording.recording import Recording
from recrawl.see.words import bucket_of


@dataclass(frozen=True)
class WordLists:
    """Words (as buckets) of things 0..n-1: those of thing i are `word[start[i]:start[i + 1]]`."""

    start: IntArray
    word: IntArray


@dataclass(frozen=True)
class TopicalWeb:
    """Pages with links and words; `labels` are topics that are known beforehand, by name."""

    name: str
    graph: CrawlGraph
    bags: Bags
    addresses: WordLists  # the words of each page's address
    anchors: WordLists | None = None  # the words of each link's anchor
    labels: Mapping[str, BoolArray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.graph)


def open_web(data: str, *, seed: int = 0, pages: int = 0) -> TopicalWeb:
    """Open a web by name: the folder of a recording, or `synthetic`."""
    if data == "synthetic" and not Path(data).exists():
        from recrawl.focus.topical_web import DEFAULT_PAGES, synthetic_web

        return synthetic_web(pages or DEFAULT_PAGES, seed)
    if pages:
        raise InputError("--web-pages is for synthetic webs; a recording has the pages that it has")
    return web_of(Recording.open(data))


def web_of(recording: Recording, at: float | None = None) -> TopicalWeb:
    """Take the pages that live at day `at` (default: the end of the recording), with their links and words."""
    when = recording.end if at is None else at
    if not recording.has_links:
        raise InputError(f"{recording.name} has no table of links: there is no graph to crawl")
    alive = recording.keep((recording.born <= when) & (recording.died > when))
    if not len(alive):
        raise InputError(f"{recording.name}: no page is alive at day {when:g}")
    graph = graph_of(alive, when)
    if not graph.links:
        raise InputError(f"{recording.name}: no link of day {when:g} leads to a recorded page")
    lists = [[bucket_of(word) for word in address_words(url)] for url in graph.urls]
    start = np.concatenate([[0], np.cumsum([len(words) for words in lists])]).astype(np.int64)
    words = np.array([word for words in lists for word in words], dtype=np.int32)
    return TopicalWeb(recording.name, graph, bags_of(alive), WordLists(start, words))
