"""The link classifier that learns during the crawl: naive Bayes on the words of addresses and anchors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray
from recrawl.compiled import kernel
from recrawl.focus.scores import DIRTY, FRONTIER, HEAD, MARKS, N_DIRTY, N_SEEN, PARENTS, STATUS, CrawlArrays, State

RETRAIN_EVERY = 500  # pages between two trainings


class LinkWords(NamedTuple):
    """The counts of the online link classifier: words of links that led to good and to other pages."""

    good: npt.NDArray[np.int64]
    other: npt.NDArray[np.int64]
    odds: FloatArray  # log-odds of each word
    anchors: FloatArray  # of each URL: sum of the log-odds of the anchors of its links


def new_links(web: CrawlArrays) -> LinkWords:
    """Allocate the counts for the words of `web`."""
    words = 1 + int(max(web.word.max(initial=0), web.anchor.max(initial=0)))
    known = np.zeros(words, dtype=np.int64)
    return LinkWords(known, known.copy(), np.zeros(words), np.zeros(len(web.start) - 1))


@kernel(error_model="numpy")
def forget(links: LinkWords) -> None:
    """Reset the counts for a new crawl."""
    links.good[:] = 0
    links.other[:] = 0
    links.odds[:] = 0.0
    links.anchors[:] = 0.0


@kernel(error_model="numpy")
def odds_of(web: CrawlArrays, state: State, links: LinkWords, number: int) -> float:
    """Log-odds that a URL is good: the words of its address, and of its anchors, averaged over the links to it."""
    odds = links.anchors[number] / state.row[number, PARENTS]
    if len(web.word_start) > 0:
        page = state.page[number]
        for i in range(web.word_start[page], web.word_start[page + 1]):
            odds += links.odds[web.word[i]]
    return odds


@kernel(error_model="numpy")
def learn(web: CrawlArrays, state: State, links: LinkWords, number: int) -> None:
    """Count the words of a downloaded page's address and anchors for its class; read the anchors of its own links."""
    page = state.page[number]
    counts = links.good if web.good[page] else links.other
    if len(web.word_start) > 0:
        for i in range(web.word_start[page], web.word_start[page + 1]):
            counts[web.word[i]] += 1
    if len(web.anchor_start) == 0:
        return
    link = state.row[number, HEAD]
    while link:
        for j in range(web.anchor_start[link - 1], web.anchor_start[link]):
            counts[web.anchor[j]] += 1
        link = state.earlier[link - 1]
    for e in range(web.start[page], web.start[page + 1]):
        for j in range(web.anchor_start[e], web.anchor_start[e + 1]):
            links.anchors[state.target[e]] += links.odds[web.anchor[j]]


@kernel(error_model="numpy")
def retrain(web: CrawlArrays, state: State, links: LinkWords) -> None:
    """Make log-odds of the counts (Laplace's rule); all of the frontier must be ranked anew."""
    words = len(links.odds)
    good, other = links.good.sum() + words, links.other.sum() + words
    for w in range(words):
        links.odds[w] = np.log((links.good[w] + 1) / good) - np.log((links.other[w] + 1) / other)
    row, tally = state.row, state.tally
    for number in range(tally[N_SEEN]):
        if row[number, STATUS] != FRONTIER:
            continue
        if not row[number, MARKS] & DIRTY:
            row[number, MARKS] |= DIRTY
            state.dirty[tally[N_DIRTY]] = number
            tally[N_DIRTY] += 1
        if len(web.anchor_start) > 0:
            links.anchors[number] = 0.0
            link = row[number, HEAD]
            while link:
                for j in range(web.anchor_start[link - 1], web.anchor_start[link]):
                    links.anchors[number] += links.odds[web.anchor[j]]
                link = state.earlier[link - 1]
