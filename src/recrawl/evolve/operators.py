"""The genetic operators of Santos et al. 2014, section 4: selection, crossover, swap and replacement mutation.

Every new individual is made by draws that are independent of each other: with the reproduction rate it is a copy of
the winner of a tournament; otherwise, with the crossover rate, a subtree of one winner takes the place of one of
another; then each mutation may follow with its own rate. A child that is too deep is tried again with other subtrees,
and after a few tries the parent takes its place. The best individual always stays (elitism).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.compiled import kernel
from recrawl.evolve.creation import new_tree
from recrawl.evolve.population import (
    MAX_NODES,
    Dice,
    FormulaPopulation,
    Leaves,
    arity,
    copy_piece,
    depth_of,
    draw_below,
    draw_share,
    subtree_begin,
)
from recrawl.policies.formulas.closure import Codes

TRIES = 5
INNER = 0.9  # how many crossover points are functions rather than leaves (Koza 1992)


@dataclass(frozen=True)
class OperatorRates:
    """How individuals are made; the paper's values."""

    reproduction: float = 0.15
    crossover: float = 0.90
    swap: float = 0.05
    replacement: float = 0.05
    tournament: int = 2
    depth: int = 9  # of what crossover and mutation make


def breed(
    parents: FormulaPopulation, fitness: FloatArray, rates: OperatorRates, leaves: Leaves, dice: Dice
) -> FormulaPopulation:
    """Make the next generation; the best parent is its first individual."""
    children = FormulaPopulation.empty(len(parents))
    shares = np.array([rates.reproduction, rates.crossover, rates.swap, rates.replacement])
    _breed(
        parents.code, parents.value, parents.size, fitness, shares, rates.tournament, rates.depth,
        leaves.terminals, leaves.constants, leaves.variable_share, dice,
        children.code, children.value, children.size,
    )  # fmt: skip
    return children


@kernel
def _breed(
    code: Codes,
    value: FloatArray,
    size: IntArray,
    fitness: FloatArray,
    shares: FloatArray,
    tournament: int,
    depth: int,
    terminals: Codes,
    constants: FloatArray,
    variable_share: float,
    dice: Dice,
    to_code: Codes,
    to_value: FloatArray,
    to_size: IntArray,
) -> None:
    room = np.empty(MAX_NODES + 1, dtype=np.int64)
    spare_code, spare_value = np.empty(MAX_NODES, dtype=np.int16), np.empty(MAX_NODES)
    best = 0
    for i in range(1, len(size)):
        best = i if beats(i, best, fitness, size) else best
    to_size[0] = copy_piece(code[best], value[best], 0, size[best], to_code[0], to_value[0], 0)
    for i in range(1, len(size)):
        a = winner(fitness, size, tournament, dice)
        child, number = to_code[i], to_value[i]
        copy = draw_share(dice) < shares[0]
        if not copy and draw_share(dice) < shares[1]:
            b = winner(fitness, size, tournament, dice)
            to_size[i] = cross(code[a], value[a], size[a], code[b], value[b], size[b], depth, dice, room, child, number)
        else:
            to_size[i] = copy_piece(code[a], value[a], 0, size[a], child, number, 0)
        if not copy and draw_share(dice) < shares[2]:
            to_size[i] = swap(child, number, to_size[i], depth, dice, room, spare_code, spare_value)
        if not copy and draw_share(dice) < shares[3]:
            to_size[i] = replace(
                child, number, to_size[i], depth, terminals, constants, variable_share, dice, room,
                spare_code, spare_value,
            )  # fmt: skip


@kernel
def beats(i: int, j: int, fitness: FloatArray, size: IntArray) -> bool:
    """Whether individual i is fitter than j, or as fit and shorter."""
    return fitness[i] > fitness[j]


@kernel
def winner(fitness: FloatArray, size: IntArray, tournament: int, dice: Dice) -> int:
    """Return the best of some individuals drawn at random."""
    best = draw_below(dice, len(size))
    for _ in range(tournament - 1):
        other = draw_below(dice, len(size))
        if beats(other, best, fitness, size):
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
    a_code: Codes,
    a_value: FloatArray,
    a_size: int,
    b_code: Codes,
    b_value: FloatArray,
    b_size: int,
    depth: int,
    dice: Dice,
    room: IntArray,
    code: Codes,
    value: FloatArray,
) -> int:
    """Put a subtree of b in the place of one of a; writes the child and returns its size."""
    for _ in range(TRIES):
        end, b_end = draw_node(a_code, a_size, dice) + 1, draw_node(b_code, b_size, dice) + 1
        begin, b_begin = subtree_begin(a_code, end - 1), subtree_begin(b_code, b_end - 1)
        if a_size - (end - begin) + (b_end - b_begin) > MAX_NODES:
            continue
        size = copy_piece(a_code, a_value, 0, begin, code, value, 0)
        size = copy_piece(b_code, b_value, b_begin, b_end, code, value, size)
        size = copy_piece(a_code, a_value, end, a_size, code, value, size)
        if depth_of(code, size, room) <= depth:
            return size
    return copy_piece(a_code, a_value, 0, a_size, code, value, 0)


@kernel
def swap(
    code: Codes,
    value: FloatArray,
    size: int,
    depth: int,
    dice: Dice,
    room: IntArray,
    old_code: Codes,
    old_value: FloatArray,
) -> int:
    """Exchange two subtrees of a tree that do not contain each other; its size stays the same."""
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
def replace(
    code: Codes,
    value: FloatArray,
    size: int,
    depth: int,
    terminals: Codes,
    constants: FloatArray,
    variable_share: float,
    dice: Dice,
    room: IntArray,
    new_code: Codes,
    new_value: FloatArray,
) -> int:
    """Put a new random tree in the place of a random subtree; returns the size."""
    for _ in range(TRIES):
        end = draw_below(dice, size) + 1
        begin = subtree_begin(code, end - 1)
        levels = depth - _level(code, size, end - 1)
        if levels < 1:
            continue
        new = new_tree(levels, False, terminals, constants, variable_share, dice, room, new_code, new_value)
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
