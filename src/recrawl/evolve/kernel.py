"""A simulated crawl over classes of pages in the same state: the fast fitness.

Pages of which the crawler has seen the same get the same score, whatever the formula. So pages are kept in classes
of equal state, a formula is evaluated once a class, and a cycle costs time in proportion to the classes and the
visits, not to the pages. The crawl is the very one of `run_cycle` with a top-k policy over pages that live throughout:

* pages are numbered by their tie-break, and a class keeps its members in that order, so the members that a cut
  takes are always the first ones: a class only ever loses a prefix;
* classes of exactly equal score are merged in tie order, as the ranking of the pages would be;
* a class visited in a cycle splits into those found changed and those not; members of different classes that
  arrive in the same state are merged into one class. Two states are the same if they agree in everything that the
  formula at hand reads, so a formula of t and X makes fewer classes than one of GAD.

Whether a page changed since its last visit is a test of its bits, one per cycle. The number of stale pages, needed for
the ideal DCG, is kept up to date with the visits: a page found changed goes stale again at its next change.

Within a cycle arrays are passed one by one: reading them from a tuple in a loop would count references each time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.compiled import kernel
from recrawl.evolve.classes import class_after, fill_holes, fill_terminals, settle
from recrawl.evolve.ground import (
    COUNT,
    END,
    FIRST_RUN,
    FREE,
    FROM,
    HEAD,
    HELD,
    HIGH,
    LOW,
    MADE,
    PICK,
    STAMP,
    TO,
    VISITED,
    Bits,
    Ground,
    Members,
    Room,
    Small,
    WarmState,
)
from recrawl.evolve.merging import changed_since, count_stale, merge_lists, pairwise_sum, sink, window_of
from recrawl.evolve.population import FormulaArrays
from recrawl.policies.formulas.closure import TERMINAL, run


@kernel(error_model="numpy")
def simulate(
    rows: IntArray, formulas: FormulaArrays, ground: Ground, start: WarmState, room: Room, found: IntArray, ndcg: Any
) -> None:
    """Crawl with some formulas: rows of `found` get the changes found and of `ndcg` the NDCG of every scored cycle."""
    for i in rows:
        formula = formulas.code[i], formulas.value[i], formulas.size[i]
        _simulate(formula, ground, start, room, found[i], ndcg[i])


@kernel(error_model="numpy")
def _simulate(formula: Any, ground: Ground, start: WarmState, room: Room, found: IntArray, ndcg: FloatArray) -> None:
    code, value, size = formula
    pages, budget, pool, table, sums = ground.bits.shape[1], ground.budget, room.pool, room.table, room.sums
    if room.note[HELD] != start.reads:
        _copy(start.member, pool)
        room.note[HELD] = start.reads
    classes = len(start.table)
    _copy_rows(start.table, table)
    _copy_rows(start.sums, sums)
    _copy(ground.becomes_stale, room.stale)
    stale, pool_end = 0, pages
    used = 0
    for i in range(size):
        if code[i] >= TERMINAL:
            used |= 1 << (code[i] - TERMINAL)
    for cycle in range(ground.warmup + 1, ground.cycles + 1):
        stale += room.stale[cycle]
        fill_terminals(used, classes, cycle, ground, table, sums, room.columns)
        run(code, value, size, room.columns, classes, room.stack, room.score)
        room.note[STAMP] += 1
        changed, made, classes, holes = _visit_best(classes, cycle, start.reads, ground, room)
        if ground.counts_stale:
            count_stale(changed, cycle, ground.cycles, budget, ground.bits, pool, room.stale)
        pool_end = settle(made, pool_end, budget, table, room.lists, room.runs, pool)
        classes = fill_holes(classes, holes, table, sums, room.lists)
        ideal = ground.ideal
        if ground.counts_stale and stale < budget:
            ideal = pairwise_sum(ground.gain, stale)
        found[cycle - ground.warmup - 1] = changed
        ndcg[cycle - ground.warmup - 1] = pairwise_sum(room.gains, changed) / ideal if ideal > 0 else 0.0
        stale -= changed


# A slice on the left would have numba compile the text of its error, a second of compiling.


@kernel
def _copy(source: IntArray, target: IntArray) -> None:
    for i in range(len(source)):
        target[i] = source[i]


@kernel
def _copy_rows(source: Any, target: Any) -> None:
    for i in range(len(source)):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


# -- choosing and visiting ---------------------------------------------------------------------------------------------
# The end of the pool is scratch, in parts of `budget`: pages found changed, pages found unchanged, ranks of equals,
# and two for merges.


@kernel(error_model="numpy")
def _visit_best(classes: int, cycle: int, reads: int, ground: Ground, room: Room) -> tuple[int, int, int, int]:
    """Visit the best pages within the budget: writes the gains of the changed, and the runs of new classes.

    Returns how many pages had changed, how many classes the visits made, and where the classes end with how many
    holes among them.
    """
    budget, bits, gain, stamp = ground.budget, ground.bits, ground.gain, room.note[STAMP]
    table, sums, lists, heap, key = room.table, room.sums, room.lists, room.heap, room.key
    pool, gains, runs, slots, score = room.pool, room.gains, room.runs, room.slots, room.score
    for i in range(classes):
        heap[i], key[i] = i, score[i]
    for i in range(classes // 2 - 1, -1, -1):
        sink(heap, key, i, classes)
    waiting, left, changed, run_count, made, holes = classes, budget, 0, 0, 0, 0
    while left > 0 and waiting > 0:
        best, equal, members = key[0], 0, 0
        while waiting > 0 and key[0] == best:
            i = heap[0]
            lists[PICK, equal], lists[COUNT, equal] = i, table[i, END] - table[i, HEAD]
            members += lists[COUNT, equal]
            equal += 1
            waiting -= 1
            heap[0], key[0] = heap[waiting], key[waiting]
            sink(heap, key, 0, waiting)
        if members > left:
            _cut(equal, left, table, lists, pool)
        rank = budget - left
        if equal > 1:
            _rank_equals(equal, rank, changed, cycle, budget, bits, gain, table, lists, pool, gains)
        for c in range(equal):
            i, count = lists[PICK, c], lists[COUNT, c]
            if count == 0:
                continue
            counted = budget if equal > 1 else changed
            hits = _split(
                table[i, HEAD], count, table[i, VISITED], cycle, rank, changed, counted, budget, bits, gain, pool, gains
            )
            for hit in range(2):
                size = hits if hit else count - hits
                if size == 0:
                    continue
                place = lists[FREE, holes - 1] if holes else classes
                j = class_after(i, hit, place, cycle, reads, ground.over_cycles, table, sums, slots, stamp)
                if j == place:
                    lists[MADE, made] = j
                    made += 1
                    if holes:
                        holes -= 1
                    else:
                        classes += 1
                begin = len(pool) + (changed - 5 * budget if hit else rank - changed - 4 * budget)
                runs[run_count, 0], runs[run_count, 1], runs[run_count, 2] = begin, begin + size, table[j, FIRST_RUN]
                table[j, FIRST_RUN] = run_count
                run_count += 1
            table[i, HEAD] += count
            if table[i, HEAD] == table[i, END]:
                lists[FREE, holes] = i
                holes += 1
            changed += hits
            rank += count
            left -= count
    return changed, made, classes, holes


@kernel(error_model="numpy")
def _cut(choices: int, left: int, table: Small, lists: Small, pool: Members) -> None:
    """Take only the `left` first pages by tie of several classes: search the last page number that is still taken."""
    for c in range(choices):
        head = table[lists[PICK, c], HEAD]
        lists[COUNT, c] = min(lists[COUNT, c], left)
        lists[LOW, c], lists[HIGH, c] = head, head + lists[COUNT, c]  # before LOW: taken; from HIGH on: not
    below, above = -1, 2**32
    while choices > 1 and above - below > 1:
        middle = (below + above) // 2
        taken = 0
        for c in range(choices):
            a, b = lists[LOW, c], lists[HIGH, c]
            while a < b:
                m = (a + b) // 2
                if pool[m] <= middle:
                    a = m + 1
                else:
                    b = m
            lists[COUNT, c] = a - table[lists[PICK, c], HEAD]
            taken += lists[COUNT, c]
        if taken == left:
            break
        bound = HIGH if taken > left else LOW
        for c in range(choices):
            lists[bound, c] = table[lists[PICK, c], HEAD] + lists[COUNT, c]
        if taken > left:
            above = middle
        else:
            below = middle


@kernel(error_model="numpy")
def _split(
    head: int,
    count: int,
    since: int,
    cycle: int,
    rank: int,
    changed: int,
    counted: int,
    budget: int,
    bits: Bits,
    gain: FloatArray,
    pool: Members,
    gains: FloatArray,
) -> int:
    """Visit the first members of a class; returns how many had changed. Their gains go to `gains[counted:]`.

    Of the `rank` pages visited before in this cycle `changed` had changed. Both sides are written for each page and
    only one advances: a branch on the outcome would be guessed wrong too often.
    """
    # unsigned numbers as indices: signed ones are tested for counting from the end, at twice the cost of this loop
    yes, no = np.uint64(len(pool) - 5 * budget + changed), np.uint64(len(pool) - 4 * budget + rank - changed)
    at, first, score = np.uint64(counted), np.uint64(head), np.uint64(rank)
    window, one_word = window_of(since, cycle), bits.shape[0] == 1
    hits = np.uint64(0)
    for i in range(count):
        m = np.uint64(i)
        page = pool[first + m]
        hit = (np.uint64(bits[0, page]) & window) != 0 if one_word else changed_since(bits, page, since, cycle)
        pool[yes + hits] = page
        pool[no + m - hits] = page
        gains[at + hits] = gain[score + m]
        hits += np.uint64(hit)
    return int(hits)


@kernel(error_model="numpy")
def _rank_equals(
    equal: int,
    rank: int,
    changed: int,
    cycle: int,
    budget: int,
    bits: Bits,
    gain: FloatArray,
    table: Small,
    lists: Small,
    pool: Members,
    gains: FloatArray,
) -> None:
    """Rank the pages of several classes of one score by tie, and write the gains of those that changed."""
    begin = end = len(pool) - 3 * budget
    for c in range(equal):
        i = lists[PICK, c]
        since, head = table[i, VISITED], table[i, HEAD]
        lists[FROM, c] = end
        first, at = np.uint64(head), np.uint64(end)
        window, one_word = window_of(since, cycle), bits.shape[0] == 1
        for i in range(lists[COUNT, c]):
            page = pool[first + np.uint64(i)]
            hit = (np.uint64(bits[0, page]) & window) != 0 if one_word else changed_since(bits, page, since, cycle)
            pool[at + np.uint64(i)] = np.uint32(2) * page + np.uint32(hit)
        end += lists[COUNT, c]
        lists[TO, c] = end
    merge_lists(equal, begin, budget, lists, pool)
    first, score, hits = np.uint64(begin), np.uint64(rank), np.uint64(changed)
    for i in range(end - begin):
        gains[hits] = gain[score + np.uint64(i)]
        hits += np.uint64(pool[first + np.uint64(i)] & np.uint32(1))
