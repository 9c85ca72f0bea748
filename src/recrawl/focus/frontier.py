"""The frontier of a focused crawl: the rank of every URL, and the best of them without reading all.

The rank is the weighted sum of the scores (eq. 2). All ranks are read only when the current list is filled. Equal ranks
go by a number drawn for each page from the crawl's seed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import uint64

from recrawl.columns import FloatArray, IntArray
from recrawl.compiled import kernel
from recrawl.focus.bayes import LinkWords, odds_of
from recrawl.focus.scores import (
    ANCESTOR,
    ANCHOR,
    AUTHORITY,
    BAYES,
    COMM_IN,
    COMM_OUT,
    DEPTH,
    DIRTY,
    FROM_COMMUNITY,
    FRONTIER,
    HOST,
    HUB,
    MARKS,
    MOST_LINKS,
    N_DIRTY,
    N_DOWNLOADED,
    N_LINKS,
    N_SEEN,
    PARENT,
    PARENTS,
    QUEUE,
    STATUS,
    UNIT,
    WIDE_COMM_OUT,
    CrawlArrays,
    State,
)
from recrawl.hashing import GOLDEN, scramble

FILL = 50  # so many URLs are taken at a time
BLOCK = 64  # URLs in a block of the frontier
REBASE_EVERY = 64  # fillings between two full readings of the frontier; more often at first
FARTHEST = 2**31  # links from the seeds that no URL can be
CHANCE = 2.0**-93  # equal ranks differ by a chance below 2**-40, so that few of them are really equal
scrambled = kernel(scramble)


class Frontier(NamedTuple):
    """The ranked URLs, by number.

    Each has four parts: rank = part[0] / AveOut + part[1] / AveIn + part[2] + part[3] * the score of its host, where
    only the averages and the hosts change for all URLs at once. `top` bounds each block of URLs from above, so that
    blocks without a chance are passed over: the greatest part[0], part[1] and part[3], and in place of part[2] the
    greatest rank without the host under the averages of some fillings ago (`base`).
    """

    host: npt.NDArray[np.int32]
    chance: FloatArray  # a little less rank, to tell equal ones apart
    part: FloatArray  # by number; a URL that has left the frontier has the rank -inf
    top: FloatArray
    scanned: npt.NDArray[np.int64]  # the last filling for which the block was read
    size: npt.NDArray[np.int64]  # URLs in the frontier; numbers that have a rank; fillings so far
    worst: FloatArray  # rank of the last URL that was chosen
    base: FloatArray  # 1 / AveOut and 1 / AveIn that `top` was computed with


def new_frontier(pages: int) -> Frontier:
    """Allocate a frontier for a web of so many pages."""
    blocks = pages // BLOCK + 1
    return Frontier(
        host=np.empty(pages, dtype=np.int32),
        chance=np.empty(pages),
        part=np.empty((pages, 4)),
        top=np.empty((blocks, 4)),
        scanned=np.zeros(blocks, dtype=np.int64),
        size=np.zeros(3, dtype=np.int64),
        worst=np.zeros(1),
        base=np.zeros(2),
    )


@kernel(error_model="numpy")
def empty(frontier: Frontier) -> None:
    """Begin a new crawl."""
    frontier.size[:] = 0
    frontier.scanned[:] = 0
    frontier.top[:] = -np.inf
    frontier.worst[0] = -np.inf
    frontier.base[:] = 0.0


@kernel(error_model="numpy")
def enter(web: CrawlArrays, state: State, frontier: Frontier, seed: np.uint64) -> None:
    """Add the URLs that were discovered since the last filling to the frontier; seeds are left out."""
    host, part, row, entered = frontier.host, frontier.part, state.row, 0
    for number in range(frontier.size[1], state.tally[N_SEEN]):
        host[number] = web.host[state.page[number]]
        frontier.chance[number] = CHANCE * (scrambled(uint64(state.page[number]) + seed * GOLDEN) >> uint64(11))
        for j in range(4):
            part[number, j] = 0.0
        part[number, 2] = -np.inf
        entered += row[number, STATUS] == FRONTIER
    frontier.size[0] += entered
    frontier.size[1] = state.tally[N_SEEN]


@kernel(error_model="numpy")
def rank(
    web: CrawlArrays, state: State, frontier: Frontier, links: LinkWords, weights: FloatArray, within: IntArray
) -> None:
    """Compute the parts of the ranks of all URLs whose scores have changed, one sub-strategy after the other."""
    row, wide, value, hint, chance = state.row, state.wide, web.value, state.hint, frontier.chance
    part, top, out, in_ = frontier.part, frontier.top, frontier.base[0], frontier.base[1]
    near = -1
    for band in range(len(weights)):
        far = within[band] if band < len(within) else FARTHEST
        hub, authority = weights[band, HUB], weights[band, AUTHORITY]
        comm_in, comm_out = weights[band, COMM_IN], weights[band, COMM_OUT]
        one, two, three = weights[band, PARENT], weights[band, PARENT + 1], weights[band, PARENT + 2]
        four, five = weights[band, PARENT + 3], weights[band, PARENT + 4]
        anchor, host = weights[band, ANCHOR], weights[band, HOST]
        order, bayes = weights[band, QUEUE], weights[band, BAYES]
        for i in range(state.tally[N_DIRTY]):
            number = state.dirty[i]
            if row[number, DEPTH] <= near or row[number, DEPTH] > far:
                continue
            row[number, MARKS] &= ~DIRTY
            if row[number, STATUS] != FRONTIER:
                continue
            rest = comm_in * (row[number, FROM_COMMUNITY] / row[number, PARENTS])
            rest -= chance[number]
            rest += comm_out * (wide[number, WIDE_COMM_OUT] / UNIT)
            # one line each: a loop over the levels would read every weight anew for every URL
            rest += one * value[row[number, ANCESTOR]]
            rest += two * value[row[number, ANCESTOR + 1]]
            rest += three * value[row[number, ANCESTOR + 2]]
            rest += four * value[row[number, ANCESTOR + 3]]
            rest += five * value[row[number, ANCESTOR + 4]]
            rest += anchor * hint[number]
            rest -= order * number
            if bayes != 0.0:
                rest += bayes * odds_of(web, state, links, number)
            part[number, 0] = hub * row[number, MOST_LINKS]
            part[number, 1] = authority * row[number, PARENTS]
            part[number, 2] = rest
            part[number, 3] = host
            _lift(part, top, number, out, in_)
        near = far
    state.tally[N_DIRTY] = 0


@kernel(error_model="numpy")
def _lift(part: FloatArray, top: FloatArray, place: int, per_out: float, per_in: float) -> None:
    """Keep the bounds of a block above the URL at `place`."""
    block = place // BLOCK
    top[block, 0] = max(top[block, 0], part[place, 0])
    top[block, 1] = max(top[block, 1], part[place, 1])
    top[block, 2] = max(top[block, 2], part[place, 0] * per_out + part[place, 1] * per_in + part[place, 2])
    top[block, 3] = max(top[block, 3], part[place, 3])


@kernel(error_model="numpy")
def best(state: State, frontier: Frontier, seed: np.uint64) -> npt.NDArray[np.int32]:
    """The FILL URLs of highest rank, best first.

    First the blocks that may hold ranks as high as the last filling chose are read; then those of the others whose
    bound is not below the worst of the 50 that were found. What is passed over cannot be among the best.
    """
    part, top, size = frontier.part, frontier.top, frontier.size[1]
    keep = min(FILL, frontier.size[0])
    numbers, ranks, ties = np.empty(keep, dtype=np.int32), np.empty(keep), np.empty(keep, dtype=np.uint64)
    if keep == 0:
        return numbers
    per_out = state.tally[N_DOWNLOADED] / max(state.tally[N_LINKS], 1)
    per_in = state.tally[N_SEEN] / max(state.tally[N_LINKS], 1)
    host_score = state.host_good / (state.host_all + 1)
    best_host = host_score.max()
    frontier.size[2] += 1
    fillings = frontier.size[2]
    if fillings % REBASE_EVERY == 0 or fillings & (fillings - 1) == 0:
        frontier.base[0], frontier.base[1] = per_out, per_in
        for block in range((size - 1) // BLOCK + 1):
            _bound(part, top, block, size, per_out, per_in)
    more_out, more_in = max(per_out - frontier.base[0], 0.0), max(per_in - frontier.base[1], 0.0)
    taken = 0
    for sweep in range(2):
        for block in range((size - 1) // BLOCK + 1):
            bound = top[block, 2] + top[block, 0] * more_out + top[block, 1] * more_in + top[block, 3] * best_host
            if top[block, 0] > 0.0 or top[block, 1] > 0.0 or top[block, 3] > 0.0:
                bound += 1e-9 * min(1.0 + abs(bound), FARTHEST)  # rounding must not hide a rank
            if bound == -np.inf or (sweep == 0 and bound < frontier.worst[0]):
                continue
            if frontier.scanned[block] == frontier.size[2] or (taken == keep and bound < ranks[keep - 1]):
                continue
            frontier.scanned[block] = frontier.size[2]
            _bound(part, top, block, size, frontier.base[0], frontier.base[1])
            for i in range(block * BLOCK, min(block * BLOCK + BLOCK, size)):
                rank = part[i, 0] * per_out + part[i, 1] * per_in + part[i, 2]
                rank += part[i, 3] * host_score[frontier.host[i]]
                if rank == -np.inf or (taken == keep and rank < ranks[keep - 1]):
                    continue
                tie = scrambled(uint64(state.page[i]) + seed * GOLDEN)
                if taken == keep and rank == ranks[keep - 1] and tie > ties[keep - 1]:
                    continue
                taken = min(taken + 1, keep)
                j = taken - 1
                while j > 0 and (ranks[j - 1] < rank or (ranks[j - 1] == rank and ties[j - 1] > tie)):
                    ranks[j], ties[j], numbers[j] = ranks[j - 1], ties[j - 1], numbers[j - 1]
                    j -= 1
                ranks[j], ties[j], numbers[j] = rank, tie, i
    frontier.worst[0] = ranks[keep - 1]
    return numbers


@kernel(error_model="numpy")
def _bound(part: FloatArray, top: FloatArray, block: int, size: int, per_out: float, per_in: float) -> None:
    """Compute the bounds of a block anew."""
    hub = authority = rank = host = -np.inf
    for i in range(block * BLOCK, min(block * BLOCK + BLOCK, size)):
        hub, authority, host = max(hub, part[i, 0]), max(authority, part[i, 1]), max(host, part[i, 3])
        rank = max(rank, part[i, 0] * per_out + part[i, 1] * per_in + part[i, 2])
    top[block, 0], top[block, 1], top[block, 2], top[block, 3] = hub, authority, rank, host
