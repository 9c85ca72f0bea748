"""The genetic operators of Santos et al. 2014, section 4: selection, crossover, swap and replacement mutation.

Every new individual is made by draws that are independent of each other: with the reproduction rate it is a copy of
the winner of a tournament; otherwise, with the crossover rate, a subtree of one winner takes the place of one of
another; then each mutation may follow with its own rate. A child that is too deep is tried again with other subtrees,
and after a few tries the parent takes its place. The best individual always stays (elitism).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.compiled import kernel
from recrawl.evolve.population import (
    MAX_NODES,
    Dice,
    FormulaArrays,
    FormulaPopulation,
    Leaves,
    arity,
    copy_piece,
    depth_of,
    draw_below,
    draw_share,
    subtree_begin,
)
from recrawl.policies.formulas.closure import CONSTANT, FUNCTIONS, Codes

TRIES = 5
_FUNCTIONS = len(FUNCTIONS)
GROW = 0.5  # chance that a place of a grown tree becomes a function
PostfixTree = tuple[Codes, FloatArray, int]  # codes, numbers, and how many of them
INNER = 0.9  # how many crossover points are functions rather than leaves (Koza 1992)


class OperatorRates(NamedTuple):
    """Shares of crossover and the two mutations; defaults are the paper's values."""

    reproduction: float = 0.15
    crossover: float = 0.90
    swap: float = 0.05
    replacement: float = 0.05
    tournament: int = 2
    depth: int = 9  # of what crossover and mutation make
    parents: int = 0  # trees deeper than this are not crossed; 0: all are


def breed(
    parents: FormulaPopulation,
    fitness: FloatArray,
    rates: OperatorRates,
    leaves: Leaves,
    dice: Dice,
    count: int = 0,
) -> FormulaPopulation:
    """Make the next generation, of `count` individuals or as many as there are parents; the best parent is first."""
    children = FormulaPopulation.empty(count or len(parents))
    _breed(parents.arrays, fitness, rates, leaves, dice, children.arrays)
    return children


class Scratch(NamedTuple):
    """Preallocated work arrays: a number for each node, and a formula."""

    room: IntArray
    code: Codes
    value: FloatArray


@kernel
def new_scratch() -> Scratch:
    """Allocate work arrays for the largest formula."""
    return Scratch(np.empty(MAX_NODES + 1, dtype=np.int64), np.empty(MAX_NODES, dtype=np.int16), np.empty(MAX_NODES))


@kernel
def _breed(
    parents: FormulaArrays, fitness: FloatArray, rates: OperatorRates, leaves: Leaves, dice: Dice, out: FormulaArrays
) -> None:
    (code, value, size), (to_code, to_value, to_size) = parents, out
    scratch = new_scratch()
    best = 0
    for i in range(1, len(size)):
        best = i if fitness[i] > fitness[best] else best
    to_size[0] = copy_piece(code[best], value[best], 0, size[best], to_code[0], to_value[0], 0)
    for i in range(1, len(to_size)):
        a = winner(fitness, rates.tournament, dice)
        child, number = to_code[i], to_value[i]
        copy = draw_share(dice) < rates.reproduction
        if not copy and draw_share(dice) < rates.crossover:
            b = winner(fitness, rates.tournament, dice)
            one, two = (code[a], value[a], size[a]), (code[b], value[b], size[b])
            if _crossable(one, rates.parents, scratch) and _crossable(two, rates.parents, scratch):
                to_size[i] = cross(one, two, rates.depth, dice, scratch, child, number)
            else:
                to_size[i] = copy_piece(code[a], value[a], 0, size[a], child, number, 0)
        else:
            to_size[i] = copy_piece(code[a], value[a], 0, size[a], child, number, 0)
        if not copy and draw_share(dice) < rates.swap:
            to_size[i] = swap(child, number, to_size[i], rates.depth, dice, scratch)
        if not copy and draw_share(dice) < rates.replacement:
            to_size[i] = replace(child, number, to_size[i], rates.depth, leaves, dice, scratch)


@kernel
def _crossable(tree: PostfixTree, depth: int, scratch: Scratch) -> bool:
    """Whether a tree is not too deep to be crossed."""
    return depth == 0 or depth_of(tree[0], tree[2], scratch.room) <= depth


@kernel
def winner(fitness: FloatArray, tournament: int, dice: Dice) -> int:
    """Return the best of some individuals drawn at random."""
    best = draw_below(dice, len(fitness))
    for _ in range(tournament - 1):
        other = draw_below(dice, len(fitness))
        if fitness[other] > fitness[best]:
            best = other
    return best


@kernel
def draw_node(code: Codes, size: int, dice: Dice) -> int:
    """Draw a node of a tree, with probability INNER a function if it has one."""
    inner = 0
    for i in range(size):
        inner += arity(code[i]) > 0
    if inner == 0 or inner == size:
        return draw_below(dice, size)
    wants = draw_share(dice) < INNER
    left = draw_below(dice, inner if wants else size - inner)
    for i in range(size):
        if (arity(code[i]) > 0) == wants:
            if left == 0:
                return i
            left -= 1
    return size - 1


@kernel
def cross(
    a: PostfixTree, b: PostfixTree, depth: int, dice: Dice, scratch: Scratch, code: Codes, value: FloatArray
) -> int:
    """Put a subtree of b in the place of one of a; writes the child and returns its size."""
    (a_code, a_value, a_size), (b_code, b_value, b_size) = a, b
    for _ in range(TRIES):
        end, b_end = draw_node(a_code, a_size, dice) + 1, draw_node(b_code, b_size, dice) + 1
        begin, b_begin = subtree_begin(a_code, end - 1), subtree_begin(b_code, b_end - 1)
        if a_size - (end - begin) + (b_end - b_begin) > MAX_NODES:
            continue
        size = copy_piece(a_code, a_value, 0, begin, code, value, 0)
        size = copy_piece(b_code, b_value, b_begin, b_end, code, value, size)
        size = copy_piece(a_code, a_value, end, a_size, code, value, size)
        if depth_of(code, size, scratch.room) <= depth:
            return size
    return copy_piece(a_code, a_value, 0, a_size, code, value, 0)


@kernel
def swap(code: Codes, value: FloatArray, size: int, depth: int, dice: Dice, scratch: Scratch) -> int:
    """Exchange two subtrees of a tree that do not contain each other; its size stays the same."""
    room, old_code, old_value = scratch
    for _ in range(TRIES):
        end, other_end = draw_below(dice, size) + 1, draw_below(dice, size) + 1
        if end > other_end:
            end, other_end = other_end, end
        begin, other_begin = subtree_begin(code, end - 1), subtree_begin(code, other_end - 1)
        if other_begin < end:  # the same, or one within the other
            continue
        copy_piece(code, value, 0, size, old_code, old_value, 0)
        at = copy_piece(old_code, old_value, other_begin, other_end, code, value, begin)
        at = copy_piece(old_code, old_value, end, other_begin, code, value, at)
        copy_piece(old_code, old_value, begin, end, code, value, at)
        if depth_of(code, size, room) <= depth:
            return size
        copy_piece(old_code, old_value, 0, size, code, value, 0)
    return size


@kernel
def replace(code: Codes, value: FloatArray, size: int, depth: int, leaves: Leaves, dice: Dice, scratch: Scratch) -> int:
    """Put a new random tree in the place of a random subtree; returns the size."""
    room, new_code, new_value = scratch
    for _ in range(TRIES):
        end = draw_below(dice, size) + 1
        begin = subtree_begin(code, end - 1)
        levels = depth - _level(code, size, end - 1)
        if levels < 1:
            continue
        new = new_tree(levels, False, leaves, dice, room, new_code, new_value)
        if new == 0 or size - (end - begin) + new > MAX_NODES:
            continue
        tail = size - end
        step = 1 if begin + new < end else -1  # move the tail without writing over what is still to be read
        for i in range(tail):
            k = i if step == 1 else tail - 1 - i
            code[begin + new + k], value[begin + new + k] = code[end + k], value[end + k]
        copy_piece(new_code, new_value, 0, new, code, value, begin)
        return begin + new + tail
    return size


@kernel
def _level(code: Codes, size: int, node: int) -> int:
    """Return how many nodes are above a node."""
    level = 0
    above = 0  # finished subtrees on top of the one that holds the node
    for i in range(node + 1, size):
        takes = arity(code[i])
        if takes > above:  # this function takes the subtree that holds the node
            level += 1
            above = 0
        else:
            above += 1 - takes
    return level


def create(count: int, depth: int, leaves: Leaves, dice: Dice) -> FormulaPopulation:
    """Create `count` trees, full and grown in turn: ramped half-and-half (Koza 1992).

    A tree is made for a depth drawn evenly from 2 to the limit. Half of the trees are full: every path has that depth.
    The other half grow: a place above the limit becomes a function or a leaf with equal chance.
    """
    made = FormulaPopulation.empty(count)
    _create(made.arrays, depth, leaves, dice)
    return made


@kernel
def _create(made: FormulaArrays, depth: int, leaves: Leaves, dice: Dice) -> None:
    code, value, size = made
    room = np.empty(MAX_NODES + 1, dtype=np.int64)
    for i in range(len(size)):
        size[i] = 0
        while size[i] == 0:  # a tree that does not fit is thrown away
            reach = 2 + draw_below(dice, depth - 1) if depth > 1 else 1
            full = i % 2 == 0
            size[i] = new_tree(reach, full, leaves, dice, room, code[i], value[i])


@kernel
def new_tree(depth: int, full: bool, leaves: Leaves, dice: Dice, room: IntArray, code: Codes, value: FloatArray) -> int:
    """Draw a tree of at most `depth` levels into `code` and `value`; returns its size, 0 if it does not fit.

    Nodes are drawn in prefix order; read backwards that is postfix order, with the arguments of each function
    exchanged, which for drawn trees makes no difference.
    """
    terminals, constants, variable_share = leaves
    size = 0
    room[0] = depth  # levels left for each open place
    places = 1
    while places > 0:
        places -= 1
        levels = room[places]
        if size == MAX_NODES:
            return 0
        root = size == 0
        if levels > 1 and (full or root or draw_share(dice) < GROW):
            code[size], value[size] = draw_below(dice, _FUNCTIONS), 0.0
            for _ in range(arity(code[size])):
                room[places] = levels - 1
                places += 1
        elif draw_share(dice) < variable_share:
            code[size], value[size] = terminals[draw_below(dice, len(terminals))], 0.0
        else:
            code[size], value[size] = CONSTANT, constants[draw_below(dice, len(constants))]
        size += 1
    for i in range(size // 2):
        j = size - 1 - i
        code[i], code[j] = code[j], code[i]
        value[i], value[j] = value[j], value[i]
    return size
