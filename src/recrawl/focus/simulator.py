"""The compiled simulator of a focused crawl (Johnson et al., section 2.1).

The crawler downloads from a current list, which starts with the seeds. Whenever it has fallen to 50 URLs, the 50 best
of the frontier join it with time stamp 1, and the stamps of those that wait go up by 1. The next URL to arrive is drawn
with probability proportional to its stamp, as slow hosts answer late. A downloaded page shows its links and, if the
topic classifier accepts it, joins the community.

The rank of a URL is the weighted sum of its scores (eq. 2). All ranks are read only when the current list is filled,
so they are settled then. Equal ranks go by a number drawn for each page from the crawl's seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit, uint64

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds
from recrawl.focus.scores import (
    ALL_SCORES,
    ANCESTOR,
    ANCHOR,
    AUTHORITY,
    BAYES,
    COMM_IN,
    COMM_OUT,
    CURRENT,
    DEPTH,
    DIRTY,
    FROM_COMMUNITY,
    FRONTIER,
    HEAD,
    HOST,
    HUB,
    LEVELS,
    MARKS,
    MOST_LINKS,
    N_DIRTY,
    N_DOWNLOADED,
    N_LINKS,
    N_SEEN,
    NUMBER,
    PARENT,
    PARENTS,
    PLACE,
    QUEUE,
    STATUS,
    UNIT,
    WIDE_COMM_OUT,
    State,
    Web,
    clear,
    download,
    new_state,
    see_seed,
    settle,
)

FILL = 50  # so many URLs join the current list at a time,
FILL_AT = 50  # when so many are left
BLOCK = 64  # URLs in a block of the frontier
REBASE_EVERY = 16  # fillings between two full readings of the frontier
RETRAIN_EVERY = 500  # pages between two trainings of the link classifier
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Frontier(NamedTuple):
    """The ranked URLs, densely packed.

    Each has four parts: rank = part[0] / AveOut + part[1] / AveIn + part[2] + part[3] * the score of its host, where
    only the averages and the hosts change for all URLs at once. `top` bounds each block of URLs from above, so that
    blocks without a chance are passed over: the greatest part[0], part[1] and part[3], and in place of part[2] the
    greatest rank without the host under the averages of some fillings ago (`base`).
    """

    page: npt.NDArray[np.int32]
    host: npt.NDArray[np.int32]
    part: FloatArray
    top: FloatArray
    scanned: npt.NDArray[np.int64]  # the last filling for which the block was read
    size: npt.NDArray[np.int64]  # URLs; fillings so far
    worst: FloatArray  # rank of the last URL that was chosen
    base: FloatArray  # 1 / AveOut and 1 / AveIn that `top` was computed with


class Links(NamedTuple):
    """What the on-line link classifier has counted: words of links that led to good and to other pages."""

    good: npt.NDArray[np.int64]
    other: npt.NDArray[np.int64]
    odds: FloatArray  # log-odds of each word
    anchors: FloatArray  # of each URL: sum of the log-odds of the anchors of its links


@dataclass(frozen=True)
class Desk:
    """Room for one crawl at a time over one web; used again for the next."""

    state: State
    frontier: Frontier
    links: Links


def new_desk(web: Web) -> Desk:
    """Allocate the room for crawls over `web`."""
    pages = len(web.start) - 1
    words = 1 + int(max(web.word.max(initial=0), web.anchor.max(initial=0)))
    blocks = pages // BLOCK + 1
    frontier = Frontier(
        page=np.empty(pages, dtype=np.int32),
        host=np.empty(pages, dtype=np.int32),
        part=np.empty((pages, 4)),
        top=np.empty((blocks, 4)),
        scanned=np.zeros(blocks, dtype=np.int64),
        size=np.zeros(2, dtype=np.int64),
        worst=np.zeros(1),
        base=np.zeros(3),
    )
    known = np.zeros(words, dtype=np.int64)
    counted = Links(known, known.copy(), np.zeros(words), np.zeros(pages))
    return Desk(new_state(web), frontier, counted)


@dataclass(frozen=True)
class Crawl:
    """What a simulated crawl downloaded, in order, and how many links from the seeds it then knew each page to be."""

    pages: PageIds
    depth: IntArray
    good: BoolArray

    @property
    def harvest(self) -> float:
        """Good pages / all pages: the fitness of eq. 1."""
        return float(self.good.mean()) if len(self.good) else 0.0


def simulate(
    web: Web, desk: Desk, seeds: PageIds, weights: FloatArray, within: Sequence[int], pages: int, seed: int
) -> Crawl:
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
    return Crawl(pages_, depth[:count], web.good[pages_])


@njit(cache=True, nogil=True, error_model="numpy")
def _crawl(
    web: Web,
    state: State,
    frontier: Frontier,
    links: Links,
    seeds: PageIds,
    weights: FloatArray,
    within: IntArray,
    seed: int,
    downloaded: PageIds,
    depth: IntArray,
) -> int:
    clear(state)
    frontier.size[:] = 0
    frontier.scanned[:] = 0
    frontier.top[:] = -np.inf
    frontier.worst[0] = -np.inf
    frontier.base[:] = 0.0
    learn = weights[:, BAYES].any()
    if learn:
        links.good[:] = 0
        links.other[:] = 0
        links.odds[:] = 0.0
        links.anchors[:] = 0.0
    levels = _levels(weights)
    luck = np.array([seed], dtype=np.uint64)
    current = np.empty(len(seeds) + 2 * FILL, dtype=np.int32)
    stamp = np.empty(len(current), dtype=np.int64)
    for i in range(len(seeds)):
        see_seed(state, seeds[i])
        current[i] = seeds[i]
        stamp[i] = 1
    waiting = len(seeds)
    total = waiting
    n = 0
    while waiting > 0 and n < len(downloaded):
        i = _draw(stamp, total, luck)
        page = current[i]
        total -= stamp[i]
        waiting -= 1
        current[i], stamp[i] = current[waiting], stamp[waiting]
        download(web, state, page, levels)
        downloaded[n] = page
        depth[n] = state.row[page, DEPTH]
        n += 1
        if learn:
            _learn(web, state, links, page)
            if n % RETRAIN_EVERY == 0:
                _retrain(web, state, frontier, links)
                _rank(web, state, frontier, links, weights, within, frontier.page[: frontier.size[0]])
        if waiting <= FILL_AT:
            settle(web, state, levels)
            changed = _enter(web, state, frontier)
            _rank(web, state, frontier, links, weights, within, state.dirty[:changed])
            best = _best(state, frontier, seed)
            if len(best):
                for j in range(waiting):
                    stamp[j] += 1
                total += waiting
                _leave(state, frontier, best)
                for url in best:
                    current[waiting] = url
                    stamp[waiting] = 1
                    waiting += 1
                total += len(best)
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def _levels(weights: FloatArray) -> int:
    """How many generations of ancestors the weights ask for."""
    for k in range(LEVELS, 0, -1):
        if weights[:, PARENT + k - 1].any():
            return k
    return 1


@njit(cache=True, nogil=True, error_model="numpy")
def scramble(key: int) -> int:
    """The splitmix64 finaliser, as in recrawl.columns."""
    z = uint64(key)
    z = (z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
    return z ^ (z >> uint64(31))


@njit(cache=True, nogil=True, error_model="numpy")
def _draw(stamp: IntArray, total: int, luck: npt.NDArray[np.uint64]) -> int:
    """Spin the roulette wheel: a place with probability proportional to its time stamp."""
    luck[0] += _GOLDEN
    left = np.int64(scramble(luck[0]) % uint64(total))
    i = 0
    while left >= stamp[i]:
        left -= stamp[i]
        i += 1
    return i


@njit(cache=True, nogil=True, error_model="numpy")
def _enter(web: Web, state: State, frontier: Frontier) -> int:
    """Give every new URL its place in the frontier; return how many URLs changed, moved to the front of `dirty`."""
    row, changed, part = state.row, 0, frontier.part
    ahead = 0.0
    for i in range(state.tally[N_DIRTY]):
        page = state.dirty[i]
        row[page, MARKS] &= ~DIRTY
        if row[page, STATUS] != FRONTIER:
            continue
        if row[page, PLACE] < 0:
            row[page, PLACE] = frontier.size[0]
            frontier.page[frontier.size[0]] = page
            frontier.host[frontier.size[0]] = web.host[page]
            frontier.size[0] += 1
        ahead += part[row[page, PLACE], 0]
        state.dirty[changed] = page
        changed += 1
    frontier.base[2] = ahead
    state.tally[N_DIRTY] = 0
    return changed


@njit(cache=True, nogil=True, error_model="numpy")
def _rank(
    web: Web,
    state: State,
    frontier: Frontier,
    links: Links,
    weights: FloatArray,
    within: IntArray,
    pages: npt.NDArray[np.int32],
) -> None:
    """Compute the parts of the ranks of these URLs."""
    row, wide, value, hint = state.row, state.wide, web.value, state.hint
    part, top, out, in_ = frontier.part, frontier.top, frontier.base[0], frontier.base[1]
    for i in range(len(pages)):
        page = pages[i]
        band = 0
        while band < len(within) and row[page, DEPTH] > within[band]:
            band += 1
        rest = weights[band, COMM_IN] * (row[page, FROM_COMMUNITY] / row[page, PARENTS])
        rest += weights[band, COMM_OUT] * (wide[page, WIDE_COMM_OUT] / UNIT)
        for k in range(LEVELS):
            if weights[band, PARENT + k] != 0.0:
                rest += weights[band, PARENT + k] * value[row[page, ANCESTOR + k]]
        if len(hint):
            rest += weights[band, ANCHOR] * hint[page]
        rest -= weights[band, QUEUE] * row[page, NUMBER]
        if weights[band, BAYES] != 0.0:
            rest += weights[band, BAYES] * _odds(web, state, links, page)
        place = row[page, PLACE]
        part[place, 0] = weights[band, HUB] * row[page, MOST_LINKS]
        part[place, 1] = weights[band, AUTHORITY] * row[page, PARENTS]
        part[place, 2] = rest
        part[place, 3] = weights[band, HOST]
        _lift(part, top, place, out, in_)


@njit(cache=True, nogil=True, error_model="numpy")
def _leave(state: State, frontier: Frontier, pages: npt.NDArray[np.int32]) -> None:
    """Move URLs from the frontier to the current list; the last one of the frontier takes the place of each."""
    row, part, top, out, in_ = state.row, frontier.part, frontier.top, frontier.base[0], frontier.base[1]
    for i in range(len(pages)):
        place, last = row[pages[i], PLACE], frontier.size[0] - 1
        row[pages[i], STATUS] = CURRENT
        frontier.page[place] = frontier.page[last]
        frontier.host[place] = frontier.host[last]
        row[frontier.page[place], PLACE] = place
        for j in range(4):
            part[place, j] = part[last, j]
        _lift(part, top, place, out, in_)
        frontier.size[0] = last


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _lift(part: FloatArray, top: FloatArray, place: int, per_out: float, per_in: float) -> None:
    """Keep the bounds of a block above the URL at `place`."""
    block = place // BLOCK
    top[block, 0] = max(top[block, 0], part[place, 0])
    top[block, 1] = max(top[block, 1], part[place, 1])
    top[block, 2] = max(top[block, 2], part[place, 0] * per_out + part[place, 1] * per_in + part[place, 2])
    top[block, 3] = max(top[block, 3], part[place, 3])


@njit(cache=True, nogil=True, error_model="numpy")
def _best(state: State, frontier: Frontier, seed: int) -> npt.NDArray[np.int32]:
    """The FILL pages of highest rank, best first.

    First the blocks that may hold ranks as high as the last filling chose are read; then those of the others whose
    bound is not below the worst of the 50 that were found. What is passed over cannot be among the best.
    """
    part, top, size = frontier.part, frontier.top, frontier.size[0]
    keep = min(FILL, size)
    pages, ranks, ties = np.empty(keep, dtype=np.int32), np.empty(keep), np.empty(keep, dtype=np.uint64)
    if keep == 0:
        return pages
    per_out = state.tally[N_DOWNLOADED] / max(state.tally[N_LINKS], 1)
    per_in = state.tally[N_SEEN] / max(state.tally[N_LINKS], 1)
    host_score = state.host_good / (state.host_all + 1)
    best_host = host_score.max()
    frontier.size[1] += 1
    if frontier.size[1] % REBASE_EVERY == 1:
        _rebase(frontier, per_out, per_in)
    more_out, more_in = max(per_out - frontier.base[0], 0.0), max(per_in - frontier.base[1], 0.0)
    held = 0
    for sweep in range(2):
        for block in range((size - 1) // BLOCK + 1):
            bound = top[block, 2] + top[block, 0] * more_out + top[block, 1] * more_in + top[block, 3] * best_host
            bound += 1e-9 * abs(bound)  # rounding must not hide a rank
            if sweep == 0 and bound < frontier.worst[0]:
                continue
            if frontier.scanned[block] == frontier.size[1] or (held == keep and bound < ranks[keep - 1]):
                continue
            frontier.scanned[block] = frontier.size[1]
            for j in range(4):
                top[block, j] = -np.inf
            for i in range(block * BLOCK, min(block * BLOCK + BLOCK, size)):
                _lift(part, top, i, frontier.base[0], frontier.base[1])
                rank = part[i, 0] * per_out + part[i, 1] * per_in + part[i, 2]
                rank += part[i, 3] * host_score[frontier.host[i]]
                if held == keep and rank < ranks[keep - 1]:
                    continue
                tie = scramble(uint64(frontier.page[i]) + seed * _GOLDEN)
                if held == keep and rank == ranks[keep - 1] and tie > ties[keep - 1]:
                    continue
                held = min(held + 1, keep)
                j = held - 1
                while j > 0 and (ranks[j - 1] < rank or (ranks[j - 1] == rank and ties[j - 1] > tie)):
                    ranks[j], ties[j], pages[j] = ranks[j - 1], ties[j - 1], pages[j - 1]
                    j -= 1
                ranks[j], ties[j], pages[j] = rank, tie, frontier.page[i]
    frontier.worst[0] = ranks[keep - 1]
    return pages


@njit(cache=True, nogil=True, error_model="numpy")
def _rebase(frontier: Frontier, per_out: float, per_in: float) -> None:
    """Compute all bounds anew, under the averages of now."""
    frontier.base[0], frontier.base[1] = per_out, per_in
    frontier.top[: (frontier.size[0] - 1) // BLOCK + 1] = -np.inf
    for place in range(frontier.size[0]):
        _lift(frontier.part, frontier.top, place, per_out, per_in)


@njit(cache=True, nogil=True, error_model="numpy")
def _odds(web: Web, state: State, links: Links, page: int) -> float:
    """Log-odds that `page` is good: the words of its address, and of its anchors, averaged over the links to it."""
    odds = links.anchors[page] / state.row[page, PARENTS]
    if len(web.word_start) > 0:
        for i in range(web.word_start[page], web.word_start[page + 1]):
            odds += links.odds[web.word[i]]
    return odds


@njit(cache=True, nogil=True, error_model="numpy")
def _learn(web: Web, state: State, links: Links, page: int) -> None:
    """Count the words of a downloaded page's address and anchors for its class; read the anchors of its own links."""
    counts = links.good if web.good[page] else links.other
    if len(web.word_start) > 0:
        for i in range(web.word_start[page], web.word_start[page + 1]):
            counts[web.word[i]] += 1
    if len(web.anchor_start) == 0:
        return
    link = state.row[page, HEAD]
    while link:
        for j in range(web.anchor_start[link - 1], web.anchor_start[link]):
            counts[web.anchor[j]] += 1
        link = state.earlier[link - 1]
    for e in range(web.start[page], web.start[page + 1]):
        for j in range(web.anchor_start[e], web.anchor_start[e + 1]):
            links.anchors[web.out[e]] += links.odds[web.anchor[j]]


@njit(cache=True, nogil=True, error_model="numpy")
def _retrain(web: Web, state: State, frontier: Frontier, links: Links) -> None:
    """Make log-odds of the counts (Laplace's rule), and read all anchors anew."""
    words = len(links.odds)
    good, other = links.good.sum() + words, links.other.sum() + words
    for w in range(words):
        links.odds[w] = np.log((links.good[w] + 1) / good) - np.log((links.other[w] + 1) / other)
    if len(web.anchor_start) == 0:
        return
    for i in range(state.tally[N_SEEN]):
        page = state.seen[i]
        if state.row[page, STATUS] != FRONTIER:
            continue
        links.anchors[page] = 0.0
        link = state.row[page, HEAD]
        while link:
            for j in range(web.anchor_start[link - 1], web.anchor_start[link]):
                links.anchors[page] += links.odds[web.anchor[j]]
            link = state.earlier[link - 1]
