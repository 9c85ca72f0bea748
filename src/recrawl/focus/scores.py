"""The scores that rank a URL of the frontier, kept up to date link by link (Johnson et al., section 2.2).

With D the downloaded pages, U the URLs seen, C the community (the seeds and every downloaded page that the topic
classifier accepts), L_p the out-links of p and P_u the downloaded pages that link to u:

    HUB        max over p in P_u of |L_p| / AveOut          AveOut = sum over D of |L_i| / |D|        eqs 3, 4
    AUTHORITY  |P_u| / AveIn                                AveIn = sum over U of |P_i| / |U|         eqs 5, 6
    COMM_in    |P_u and C| / |P_u|                                                                    eq. 7
    COMM_out   sum over i in P_u of |L_i and C| / |L_i|                                               eq. 8
    PARENT_k   the classifier's score of the ancestors k links back: of all of one sign the one with the greatest
               absolute value, of both signs the greatest                                             eqs 9-12

Eq. 3 leaves open which of several parents counts; it is the one with the most links. Further scores, which the paper
names as future work or which the baselines need:

    ANCHOR     max over links to u of the similarity of the link's words to the topic, 0..1
    HOST       good pages downloaded on u's host / (pages downloaded there + 1)
    QUEUE      minus u's number in the order of discovery (breadth-first crawling)
    BAYES      log-odds of a naive Bayes classifier of links, learnt during the crawl

The rule of PARENT_k is a maximum in a total order: non-positive scores by how negative they are, and above them the
positive ones by size. So only the winner's place in that order has to be kept for each level, and places only rise.
Changes that reach beyond a page's own out-links (a child that joins C, an ancestor that gains a parent) are noted and
carried on by `settle`, once for all downloads since the last ranking. COMM_out is summed in units of 2**-32, as
integers, so that it does not depend on the order of the downloads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray
from recrawl.compiled import kernel

LEVELS = 5
SCORES = ("HUB", "AUTHORITY", "COMM_in", "COMM_out", *(f"PARENT_{k}" for k in range(1, LEVELS + 1)))
EXTRAS = ("ANCHOR", "HOST")
ALL_SCORES = (*SCORES, *EXTRAS, "QUEUE", "BAYES")
HUB, AUTHORITY, COMM_IN, COMM_OUT, PARENT = 0, 1, 2, 3, 4
ANCHOR, HOST, QUEUE, BAYES = PARENT + LEVELS, PARENT + LEVELS + 1, PARENT + LEVELS + 2, PARENT + LEVELS + 3

UNIT = 2**32  # COMM_out is counted in units of 1 / UNIT
UNSEEN = -1
FRONTIER, CURRENT, DOWNLOADED = 1, 2, 3

# columns of `State.row`: all that a crawl knows of a page lies in one cache line of 64 bytes
STATUS, PARENTS, FROM_COMMUNITY, MOST_LINKS, DEPTH, HEAD = 0, 1, 2, 3, 4, 5  # HEAD: the last link found to it, plus 1
ANCESTOR = 6  # and the four after it: place of the best ancestor k links back in the classifier's order, 0: none
MARKS = 11  # what is queued, and whether it is in the community
INTO_COMMUNITY, SPREAD = 12, 13  # of a downloaded page: |L_p and C|, and how much of it the children know
WIDE_COMM_OUT = 7  # columns 14 and 15 as one 64-bit number: column 7 of `State.wide`
COLUMNS = 16
DIRTY, GROWN, MEMBER, LEVEL = 1, 2, 4, 8  # marks; LEVEL and the three bits after it: in `queue[k]`


class CrawlArrays(NamedTuple):
    """The simulator's input: the link graph and the classifier's score of every page."""

    start: IntArray
    out: IntArray
    source: IntArray  # the page that each link is on
    order: IntArray  # each page's place in the order of PARENT_k, from 1
    value: FloatArray  # the classifier's score at each place; value[0] = 0 stands for no ancestor
    good: BoolArray
    host: IntArray
    hint: npt.NDArray[np.float32]  # similarity of each link's words to the topic; empty: not known
    word_start: IntArray  # words of each page's address, numbered from 0; empty: not known
    word: IntArray
    anchor_start: IntArray  # words of each link's anchor; empty: not known
    anchor: IntArray


class State(NamedTuple):
    """Everything a crawl changes, allocated once and used for many crawls.

    Within a crawl a URL goes by its number in the order of discovery: links of one page are mostly discovered
    together, so what is known of them lies together.
    """

    page: npt.NDArray[np.int32]  # the page of each number
    number: npt.NDArray[np.int32]  # the number of each page, UNSEEN if it has none
    target: npt.NDArray[np.int32]  # for each link of a downloaded page, the number it leads to
    earlier: npt.NDArray[np.int32]  # for each link, the link to the same page that was found before it, plus 1
    row: npt.NDArray[np.int32]  # by number, as all that follows
    wide: npt.NDArray[np.int64]  # the same memory as `row`
    hint: npt.NDArray[np.float32]
    dirty: npt.NDArray[np.int32]  # URLs of the frontier whose scores changed since they were ranked
    grown: npt.NDArray[np.int32]  # downloaded pages with new community members among their links
    queue: npt.NDArray[np.int32]  # downloaded pages whose best ancestor k + 1 links back has changed
    tally: npt.NDArray[np.int64]  # the scalars below
    host_all: npt.NDArray[np.int64]
    host_good: npt.NDArray[np.int64]


# places in `State.tally`
N_SEEN, N_DOWNLOADED, N_LINKS, N_DIRTY, N_GROWN, N_QUEUE = 0, 1, 2, 3, 4, 5  # N_QUEUE and the three after it
TALLIES = 16


def new_state(web: CrawlArrays) -> State:
    """Allocate the state of a crawl over `web`."""
    pages, links = len(web.start) - 1, len(web.out)
    hosts = int(web.host.max(initial=0)) + 1
    room = np.zeros((pages + 1) * COLUMNS, dtype=np.int32)
    skip = (-room.ctypes.data // 4) % COLUMNS  # a row must not lie across two cache lines
    row = room[skip : skip + pages * COLUMNS].reshape(pages, COLUMNS)
    return State(
        page=np.empty(pages, dtype=np.int32),
        number=np.full(pages, UNSEEN, dtype=np.int32),
        target=np.empty(links, dtype=np.int32),
        earlier=np.empty(links, dtype=np.int32),
        row=row,
        wide=row.view(np.int64),
        hint=np.zeros(pages, dtype=np.float32),
        dirty=np.empty(pages, dtype=np.int32),
        grown=np.empty(pages, dtype=np.int32),
        queue=np.empty((LEVELS - 1, pages), dtype=np.int32),
        tally=np.zeros(TALLIES, dtype=np.int64),
        host_all=np.zeros(hosts, dtype=np.int64),
        host_good=np.zeros(hosts, dtype=np.int64),
    )


@kernel(error_model="numpy")
def clear(state: State) -> None:
    """Reset the state for a new crawl."""
    seen = state.tally[N_SEEN]
    for i in range(seen):
        state.number[state.page[i]] = UNSEEN
    state.row[:seen] = 0
    state.hint[:seen] = 0.0
    state.tally[:] = 0
    state.host_all[:] = 0
    state.host_good[:] = 0


@kernel(error_model="numpy")
def see_seed(state: State, page: int) -> int:
    """Put a seed into the community and among the URLs that are being downloaded; return its number."""
    number = state.tally[N_SEEN]
    state.number[page] = number
    state.page[number] = page
    state.row[number, STATUS] = CURRENT
    state.row[number, MARKS] = MEMBER
    state.tally[N_SEEN] += 1
    return number


# The kernels index `row` directly and inline what they share: a view of a row, or a call with the whole state, costs
# more than the work itself.


@kernel(error_model="numpy")
def download(web: CrawlArrays, state: State, number: int, levels: int, hinted: bool | np.bool_) -> None:
    """Download a URL: it joins D (and C, if good), its links become known, the scores of their targets follow.

    Only `levels` generations of ancestors are kept up, and anchors only if `hinted`.
    """
    row, wide, earlier, queue, tally = state.row, state.wide, state.earlier, state.queue, state.tally
    dirty, targets = state.dirty, state.target
    page = state.page[number]
    row[number, STATUS] = DOWNLOADED
    if web.good[page] and not row[number, MARKS] & MEMBER:
        row[number, MARKS] |= MEMBER
        _count_for_parents(web, state, number)
    first, last = web.start[page], web.start[page + 1]
    links = last - first
    depth = row[number, DEPTH] + 1
    inside = _look_up(web, state, first, last, depth)
    row[number, INTO_COMMUNITY] = inside
    row[number, SPREAD] = inside
    share = inside * (UNIT // max(links, 1))
    member = 1 if row[number, MARKS] & MEMBER else 0
    own = web.order[page]
    for e in range(first, last):
        target = targets[e]
        earlier[e] = row[target, HEAD]
        row[target, HEAD] = e + 1
        row[target, PARENTS] += 1
        row[target, FROM_COMMUNITY] += member
        row[target, MOST_LINKS] = max(row[target, MOST_LINKS], links)
        wide[target, WIDE_COMM_OUT] += share
        status = row[target, STATUS]
        if status == DOWNLOADED:
            for k in range(levels):
                place = row[number, ANCESTOR + k - 1] if k else own
                if place > row[target, ANCESTOR + k]:
                    row[target, ANCESTOR + k] = place
                    if k < levels - 1 and not row[target, MARKS] & (LEVEL << k):
                        row[target, MARKS] |= LEVEL << k
                        queue[k, tally[N_QUEUE + k]] = target
                        tally[N_QUEUE + k] += 1
        else:
            row[target, DEPTH] = min(row[target, DEPTH], depth)
            row[target, ANCESTOR] = max(row[target, ANCESTOR], own)
            for k in range(1, levels):
                row[target, ANCESTOR + k] = max(row[target, ANCESTOR + k], row[number, ANCESTOR + k - 1])
            if status == FRONTIER and not row[target, MARKS] & DIRTY:
                row[target, MARKS] |= DIRTY
                dirty[tally[N_DIRTY]] = target
                tally[N_DIRTY] += 1
    if hinted:
        for e in range(first, last):
            state.hint[targets[e]] = max(state.hint[targets[e]], web.hint[e])
    tally[N_DOWNLOADED] += 1
    tally[N_LINKS] += links
    state.host_all[web.host[page]] += 1
    state.host_good[web.host[page]] += 1 if web.good[page] else 0


@kernel(error_model="numpy")
def _look_up(web: CrawlArrays, state: State, first: int, last: int, depth: int) -> int:
    """Number the targets of these links, new ones as they come; return how many are in the community."""
    row, inside, seen = state.row, 0, state.tally[N_SEEN]
    for e in range(first, last):
        target = state.number[web.out[e]]
        if target == UNSEEN:
            target = seen
            state.number[web.out[e]] = seen
            state.page[seen] = web.out[e]
            row[seen, STATUS] = FRONTIER
            row[seen, DEPTH] = depth
            seen += 1
        state.target[e] = target
        inside += (row[target, MARKS] & MEMBER) // MEMBER
    state.tally[N_SEEN] = seen
    return inside


@kernel(error_model="numpy")
def _count_for_parents(web: CrawlArrays, state: State, number: int) -> None:
    """Increment the count of community links of every downloaded page that links to the new member."""
    row = state.row
    link = row[number, HEAD]
    while link:
        parent = state.number[web.source[link - 1]]
        row[parent, INTO_COMMUNITY] += 1
        if not row[parent, MARKS] & GROWN:
            row[parent, MARKS] |= GROWN
            state.grown[state.tally[N_GROWN]] = parent
            state.tally[N_GROWN] += 1
        link = state.earlier[link - 1]


@kernel(error_model="numpy")
def settle(web: CrawlArrays, state: State, levels: int) -> None:
    """Propagate pending updates: ancestors level by level, then new members among the links of downloaded pages."""
    row, wide, targets, queue, tally, dirty = state.row, state.wide, state.target, state.queue, state.tally, state.dirty
    for k in range(levels - 1):
        for i in range(tally[N_QUEUE + k]):
            number = queue[k, i]
            row[number, MARKS] &= ~(LEVEL << k)
            place = row[number, ANCESTOR + k]
            page = state.page[number]
            for e in range(web.start[page], web.start[page + 1]):
                target = targets[e]
                if place <= row[target, ANCESTOR + k + 1]:
                    continue
                row[target, ANCESTOR + k + 1] = place
                marks, status = row[target, MARKS], row[target, STATUS]
                if status == FRONTIER and not marks & DIRTY:
                    row[target, MARKS] = marks | DIRTY
                    dirty[tally[N_DIRTY]] = target
                    tally[N_DIRTY] += 1
                elif status == DOWNLOADED and k < levels - 2 and not marks & (LEVEL << (k + 1)):
                    row[target, MARKS] = marks | (LEVEL << (k + 1))
                    queue[k + 1, tally[N_QUEUE + k + 1]] = target
                    tally[N_QUEUE + k + 1] += 1
        tally[N_QUEUE + k] = 0
    for i in range(tally[N_GROWN]):
        number = state.grown[i]
        row[number, MARKS] &= ~GROWN
        page = state.page[number]
        first, last = web.start[page], web.start[page + 1]
        share = (row[number, INTO_COMMUNITY] - row[number, SPREAD]) * (UNIT // (last - first))
        row[number, SPREAD] = row[number, INTO_COMMUNITY]
        for e in range(first, last):
            target = targets[e]
            wide[target, WIDE_COMM_OUT] += share
            if row[target, STATUS] == FRONTIER and not row[target, MARKS] & DIRTY:
                row[target, MARKS] |= DIRTY
                dirty[tally[N_DIRTY]] = target
                tally[N_DIRTY] += 1
    tally[N_GROWN] = 0


def classifier_order(svm: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return each page's place (from 1) in the order of PARENT_k, and the score at each place (0 at place 0).

    Non-positive scores come first, the most negative last of them; then the positive ones, ascending.
    """
    values, inverse = np.unique(svm, return_inverse=True)
    order = np.concatenate([np.flatnonzero(values <= 0)[::-1], np.flatnonzero(values > 0)])
    place = np.empty(len(values), dtype=np.int32)
    place[order] = np.arange(1, len(values) + 1)
    return place[inverse], np.concatenate([[0.0], values[order]])
