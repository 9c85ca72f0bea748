"""The compiled simulator of a focused crawl (Johnson et al., section 2.1).

The crawler downloads from a current list, which starts with the seeds. Whenever it has fallen to 50 URLs, the 50 best
of the frontier join it with time stamp 1, and the stamps of those that wait go up by 1. The next URL to arrive is drawn
with probability proportional to its stamp, as slow hosts answer late. A downloaded page shows its links and, if the
topic classifier accepts it, joins the community.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import uint64

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds
from recrawl.compiled import kernel
from recrawl.focus.bayes import RETRAIN_EVERY, LinkWords, forget, learn, new_links, retrain
from recrawl.focus.frontier import FILL, Frontier, best, empty, enter, new_frontier, rank, scrambled
from recrawl.focus.scores import (
    ALL_SCORES,
    ANCHOR,
    BAYES,
    CURRENT,
    DEPTH,
    LEVELS,
    PARENT,
    STATUS,
    CrawlArrays,
    State,
    clear,
    download,
    new_state,
    see_seed,
    settle,
)
from recrawl.hashing import GOLDEN

FILL_AT = 50  # the current list is filled when so many URLs are left


@dataclass(frozen=True)
class Desk:
    """Room for one crawl at a time over one web; used again for the next."""

    state: State
    frontier: Frontier
    links: LinkWords


def new_desk(web: CrawlArrays) -> Desk:
    """Allocate the room for crawls over `web`."""
    return Desk(new_state(web), new_frontier(len(web.start) - 1), new_links(web))


@dataclass(frozen=True)
class FocusedCrawl:
    """What a simulated crawl downloaded, in order, and how many links from the seeds it then knew each page to be."""

    pages: PageIds
    depth: IntArray
    good: BoolArray

    @property
    def harvest(self) -> float:
        """Good pages / all pages: the fitness of eq. 1."""
        return float(self.good.mean()) if len(self.good) else 0.0


def simulate(
    web: CrawlArrays, desk: Desk, seeds: PageIds, weights: FloatArray, within: Sequence[int], pages: int, seed: int
) -> FocusedCrawl:
    """Crawl up to `pages` pages from `seeds`.

    `weights` has a row of weights (in the order of ALL_SCORES) for each sub-strategy; row i ranks the URLs that are at
    most `within[i]` links from the seeds, the last row all others.
    """
    assert weights.shape == (len(within) + 1, len(ALL_SCORES))
    downloaded = np.empty(min(pages, len(web.start) - 1), dtype=np.int64)
    depth = np.empty(len(downloaded), dtype=np.int32)
    count = _crawl(
        web,
        desk.state,
        desk.frontier,
        desk.links,
        seeds,
        weights,
        np.asarray(within, dtype=np.int64),
        np.uint64(seed % 2**64),
        downloaded,
        depth,
    )
    pages_ = downloaded[:count]
    return FocusedCrawl(pages_, depth[:count], web.good[pages_])


@kernel(error_model="numpy")
def _crawl(
    web: CrawlArrays,
    state: State,
    frontier: Frontier,
    links: LinkWords,
    seeds: PageIds,
    weights: FloatArray,
    within: IntArray,
    seed: np.uint64,
    downloaded: PageIds,
    depth: IntArray,
) -> int:
    clear(state)
    empty(frontier)
    learning = weights[:, BAYES].any()
    if learning:
        forget(links)
    levels = _levels(weights)
    hinted = len(web.hint) > 0 and weights[:, ANCHOR].any()
    luck = np.array([seed], dtype=np.uint64)
    current = np.empty(len(seeds) + 2 * FILL, dtype=np.int32)
    stamp = np.empty(len(current), dtype=np.int64)
    for i in range(len(seeds)):
        current[i] = see_seed(state, seeds[i])
        stamp[i] = 1
    waiting = len(seeds)
    total = waiting
    n = 0
    while waiting > 0 and n < len(downloaded):
        i = _draw(stamp, total, luck)
        number = current[i]
        total -= stamp[i]
        waiting -= 1
        current[i], stamp[i] = current[waiting], stamp[waiting]
        download(web, state, number, levels, hinted)
        downloaded[n] = state.page[number]
        depth[n] = state.row[number, DEPTH]
        n += 1
        if learning:
            learn(web, state, links, number)
            if n % RETRAIN_EVERY == 0:
                retrain(web, state, links)
        if waiting <= FILL_AT:
            settle(web, state, levels)
            enter(web, state, frontier, seed)
            rank(web, state, frontier, links, weights, within)
            chosen = best(state, frontier, seed)
            if len(chosen):
                for j in range(waiting):
                    stamp[j] += 1
                total += waiting
                for url in chosen:
                    state.row[url, STATUS] = CURRENT
                    frontier.part[url, 2] = -np.inf
                    current[waiting] = url
                    stamp[waiting] = 1
                    waiting += 1
                frontier.size[0] -= len(chosen)
                total += len(chosen)
    return n


@kernel(error_model="numpy")
def _levels(weights: FloatArray) -> int:
    """How many generations of ancestors have a weight."""
    for k in range(LEVELS, 0, -1):
        if weights[:, PARENT + k - 1].any():
            return k
    return 1


@kernel(error_model="numpy")
def _draw(stamp: IntArray, total: int, luck: npt.NDArray[np.uint64]) -> int:
    """Spin the roulette wheel: a place with probability proportional to its time stamp."""
    luck[0] += GOLDEN
    left = np.int64(scrambled(luck[0]) % uint64(total))
    i = 0
    while left >= stamp[i]:
        left -= stamp[i]
        i += 1
    return i
