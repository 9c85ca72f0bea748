"""The inputs of the fast fitness: the pages' changes as bits, and the state after the warm-up."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray, tie_order
from recrawl.errors import InputError
from recrawl.evaluate.measures.ranking import discounts
from recrawl.policies.formulas.closure import new_stack
from recrawl.policies.formulas.terminals import NAMES
from recrawl.recording.recording import Recording

Bits = npt.NDArray[np.uint64] | npt.NDArray[np.uint32]
Small = npt.NDArray[np.int32]
Members = npt.NDArray[np.uint32]  # unsigned: compiled indexing needs no test for counting from the end

# what a state may consist of beside the cycle of the last visit; a formula reads some of it
READS_N, READS_X, READS_LAST, READS_TOTAL, READS_DECAY = 1, 2, 4, 8, 16


class Ground(NamedTuple):
    """Inputs that are the same for every formula."""

    bits: Bits  # words x pages: bit c-1 says that the page changed in cycle c; pages are numbered by tie-break
    cycles: int
    warmup: int
    budget: int
    gain: FloatArray  # of the first, second, ... rank
    ideal: float  # DCG if all ranks hit
    becomes_stale: IntArray  # how many copies of the warm-up's end go stale in cycle c
    counts_stale: bool  # False if more pages change in every cycle than can be visited: then the ideal is known
    over_cycles: bool  # the estimators' weights run over all cycles instead of the page's own visits
    chances: bool  # the estimators are probabilities of a change by now, not rates
    decay_norm: FloatArray  # what GAD's sum over all cycles is divided by in cycle c


class WarmState(NamedTuple):
    """The classes after the warm-up, for formulas that read the same parts of the state."""

    reads: int
    member: Members  # pages, class by class, each in tie order
    table: Small  # as in Room
    sums: FloatArray


class Room(NamedTuple):
    """Preallocated memory for one simulation at a time.

    A class is a row of `table` (columns N to FIRST_RUN below) and of `sums` (TOTAL, DECAY). Rows keep what belongs
    together in one cache line.
    """

    table: Small
    sums: FloatArray
    score: FloatArray
    columns: FloatArray  # the terminals, one line each, for the formula machine
    stack: FloatArray
    lists: Small  # one row per list, see FREE to HIGH
    heap: Small  # classes, the one with the highest score on top, and their scores
    key: FloatArray
    pool: Members  # the start's members, those of each cycle's visits, then five scratch parts of `budget`
    gains: FloatArray  # of the ranks that hit; the second half is scratch space
    runs: Small  # begin, end, next: members of one class whose visits found the same
    slots: Small  # stamp, class: a hash table of the classes that a cycle makes
    stale: IntArray  # how many copies go stale in cycle c
    note: Small  # STAMP of the hash table, and which start is HELD in the pool


# columns of the table: the state, the members pool[head:end], the first run of a class that is being made
N, X, LAST, VISITED, HEAD, END, FIRST_RUN = range(7)
TOTAL, DECAY = range(2)  # sums: AAD's, GAD's
# lists: places of classes without members; classes made in this cycle; sorted lists to be merged; the classes of one
# score that are chosen, how many members of each, and bounds of the search for a cut
FREE, MADE, FROM, TO, PICK, COUNT, LOW, HIGH = range(8)
STAMP, HELD = range(2)


def change_bits(recording: Recording, ends: FloatArray, seed: int) -> Bits:
    """Return words x pages: bit c-1 of a page, pages in tie order, is set if it changed in cycle c."""
    pages = np.repeat(np.arange(len(recording)), np.diff(recording.change_start))
    cycle = np.searchsorted(ends, recording.change_day)  # 0-based: the first end at or after the change
    pages, cycle = pages[cycle < len(ends)], cycle[cycle < len(ends)]
    by_tie = np.empty(len(recording), dtype=np.int64)
    by_tie[np.argsort(tie_order(recording.page_ids, seed))] = np.arange(len(recording))
    bits = np.zeros((max(1, math.ceil(len(ends) / 64)), len(recording)), dtype=np.uint64)
    np.bitwise_or.at(bits, (cycle // 64, by_tie[pages]), np.uint64(1) << (cycle % 64).astype(np.uint64))
    return bits.astype(np.uint32) if len(ends) <= 32 else bits  # half the size stays in a nearer cache


def changed_in(bits: Bits, cycle: int) -> BoolArray:
    """Which pages changed in a cycle, counted from 1."""
    word, bit = divmod(cycle - 1, 64)
    return np.asarray((bits[word].astype(np.uint64) >> np.uint64(bit)) & np.uint64(1)).astype(np.bool_)


def make_ground(
    bits: Bits, cycles: int, warmup: int, budget: int, *, over: str = "visits", form: str = "chance"
) -> Ground:
    """Prepare a crawl of `cycles` cycles."""
    pages = bits.shape[1]
    if not 0 <= warmup < cycles:
        raise InputError(f"{cycles} cycles leave none to score after {warmup} of warm-up")
    if not 0 < budget <= pages:
        raise InputError(f"a budget of {budget} pages does not fit {pages} pages")
    becomes_stale = np.zeros(cycles + 2, dtype=np.int64)
    fresh = np.ones(pages, dtype=np.bool_)
    for cycle in range(warmup + 1, cycles + 1):
        changed = changed_in(bits, cycle)
        becomes_stale[cycle] = int((changed & fresh).sum())
        fresh &= ~changed
    least = min(int(changed_in(bits, c).sum()) for c in range(warmup + 1, cycles + 1))
    gain = discounts(budget)
    return Ground(
        bits=bits,
        cycles=cycles,
        warmup=warmup,
        budget=budget,
        gain=gain,
        ideal=float(gain.sum()),
        becomes_stale=becomes_stale,
        counts_stale=least < budget,
        over_cycles=over == "cycles",
        chances=form == "chance",
        decay_norm=1.0 - 0.5 ** np.maximum(np.arange(cycles + 1) - 1.0, 1.0),
    )


def make_start(ground: Ground, reads: int) -> WarmState:
    """Group the pages by the parts of their state that are read, after visits to all pages in every warm-up cycle."""
    pages = ground.bits.shape[1]
    seen, last = np.zeros(pages, dtype=np.int32), np.zeros(pages, dtype=np.int32)
    total, decay = np.zeros(pages), np.zeros(pages)
    for cycle in range(1, ground.warmup + 1):  # every page every cycle: the i-th visit is that of cycle i
        changed = changed_in(ground.bits, cycle)
        seen += changed if reads & READS_X else 0
        last = changed.astype(np.int32) if reads & READS_LAST else last
        total += cycle * changed if reads & READS_TOTAL else 0
        decay = 0.5 * decay + 0.5 * changed if reads & READS_DECAY else decay
    order = np.lexsort((np.arange(pages), decay, total, last, seen))
    state = np.stack([seen, last, total, decay])[:, order]
    first = np.flatnonzero(np.r_[True, (np.diff(state) != 0).any(axis=0)])
    table = np.zeros((len(first), FIRST_RUN + 1), dtype=np.int32)
    table[:, N] = ground.warmup if reads & READS_N else 0
    table[:, X] = seen[order[first]]
    table[:, LAST] = last[order[first]]
    table[:, VISITED] = ground.warmup
    table[:, HEAD] = first
    table[:, END] = np.r_[first[1:], pages]
    sums = np.stack([total, decay], axis=1)[order[first]]
    return WarmState(reads, order.astype(np.uint32), table, sums)


def make_room(ground: Ground) -> Room:
    """Allocate for the worst case; memory that is never touched costs nothing."""
    pages, budget, scored = ground.bits.shape[1], ground.budget, ground.cycles - ground.warmup
    classes = min(pages, 2**ground.warmup + scored * budget) + 2 * budget + 2
    slots = 1 << math.ceil(math.log2(2 * budget + 64))  # a visit makes at most one class
    return Room(
        table=np.zeros((classes, FIRST_RUN + 1), dtype=np.int32),
        sums=np.zeros((classes, 2)),
        score=np.zeros(classes),
        columns=np.zeros((len(NAMES), classes)),
        stack=new_stack(),
        lists=np.zeros((HIGH + 1, classes + 1), dtype=np.int32),
        heap=np.zeros(classes, dtype=np.int32),
        key=np.zeros(classes),
        pool=np.zeros(pages + (scored + 5) * budget, dtype=np.uint32),
        gains=np.zeros(2 * budget + 1),
        runs=np.zeros((2 * budget + 1, 3), dtype=np.int32),
        slots=np.zeros((slots, 2), dtype=np.int32),
        stale=np.zeros(ground.cycles + 2, dtype=np.int64),
        note=np.array([0, -1], dtype=np.int32),
    )
