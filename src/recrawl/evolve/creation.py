"""New trees: ramped half-and-half (Koza 1992).

A tree is made for a depth drawn evenly from 2 to the limit. Half of the trees are full: every path has that depth.
The other half grow: a place above the limit becomes a function or a leaf with equal chance.
"""

from __future__ import annotations

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.compiled import kernel
from recrawl.evolve.population import MAX_NODES, Dice, FormulaPopulation, Leaves, arity, draw_below, draw_share
from recrawl.policies.formulas.closure import CONSTANT, FUNCTIONS, Codes

_FUNCTIONS = len(FUNCTIONS)
GROW = 0.5


def create(count: int, depth: int, leaves: Leaves, dice: Dice) -> FormulaPopulation:
    """Create `count` trees of depth 2 to `depth`, full and grown in turn."""
    made = FormulaPopulation.empty(count)
    _create(made.code, made.value, made.size, depth, leaves.terminals, leaves.constants, leaves.variable_share, dice)
    return made


@kernel
def _create(
    code: Codes,
    value: FloatArray,
    size: IntArray,
    depth: int,
    terminals: Codes,
    constants: FloatArray,
    variable_share: float,
    dice: Dice,
) -> None:
    room = np.empty(MAX_NODES + 1, dtype=np.int64)
    for i in range(len(size)):
        size[i] = 0
        while size[i] == 0:  # a tree that does not fit is thrown away
            reach = 2 + draw_below(dice, depth - 1) if depth > 1 else 1
            full = i % 2 == 0
            size[i] = new_tree(reach, full, terminals, constants, variable_share, dice, room, code[i], value[i])


@kernel
def new_tree(
    depth: int,
    full: bool,
    terminals: Codes,
    constants: FloatArray,
    variable_share: float,
    dice: Dice,
    room: IntArray,
    code: Codes,
    value: FloatArray,
) -> int:
    """Draw a tree of at most `depth` levels into `code` and `value`; returns its size, 0 if it does not fit.

    Nodes are drawn in prefix order; read backwards that is postfix order, with the arguments of each function
    exchanged, which for drawn trees makes no difference.
    """
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
