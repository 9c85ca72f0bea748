"""A population of formulas in a few arrays, and the draws and walks that the operators share.

Formulas are postfix: an argument's codes come right before those of its function, so a subtree is a contiguous piece
that ends with its root, and exchanging subtrees is copying pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, IntArray
from recrawl.compiled import kernel
from recrawl.hashing import GOLDEN, scramble
from recrawl.policies.formulas.closure import CONSTANT, LOG, TERMINAL, Codes
from recrawl.policies.formulas.expression import Expression
from recrawl.policies.formulas.terminals import CONSTANTS, NAMES

MAX_NODES = 1023  # a full binary tree of depth 10
_scrambled = kernel(scramble)
Dice = npt.NDArray[np.uint64]  # the state of a stream of random numbers


class FormulaArrays(NamedTuple):
    """The arrays of a population, as the compiled functions read and write them."""

    code: Codes
    value: FloatArray
    size: IntArray


@dataclass
class FormulaPopulation:
    """Formulas side by side: row i has size[i] codes and as many numbers (0 where the code is no constant)."""

    code: npt.NDArray[np.int16]
    value: npt.NDArray[np.float64]
    size: npt.NDArray[np.int64]

    @classmethod
    def empty(cls, count: int) -> FormulaPopulation:
        """Allocate a population of this size."""
        shape = (count, MAX_NODES)
        return cls(np.zeros(shape, dtype=np.int16), np.zeros(shape), np.zeros(count, dtype=np.int64))

    @classmethod
    def of(cls, expressions: list[Expression]) -> FormulaPopulation:
        """Pack expressions."""
        population = cls.empty(len(expressions))
        for i, expression in enumerate(expressions):
            population.size[i] = len(expression)
            population.code[i, : len(expression)] = expression.code
            population.value[i, : len(expression)] = expression.value
        return population

    @property
    def arrays(self) -> FormulaArrays:
        """All arrays."""
        return FormulaArrays(self.code, self.value, self.size)

    def __len__(self) -> int:
        return len(self.size)

    def __getitem__(self, i: int) -> Expression:
        size = self.size[i]
        return Expression(self.code[i, :size].copy(), self.value[i, :size].copy())

    def key(self, i: int) -> bytes:
        """The same for equal formulas."""
        size = self.size[i]
        return bytes(self.code[i, :size].tobytes() + self.value[i, :size].tobytes())


class Leaves(NamedTuple):
    """What the leaves of new trees are drawn from."""

    terminals: npt.NDArray[np.int16]  # codes
    constants: FloatArray
    variable_share: float  # how many leaves are terminals; the others are constants

    @classmethod
    def of(cls, names: tuple[str, ...], variable_share: float) -> Leaves:
        """Take these terminals and the paper's constants."""
        codes = np.array([TERMINAL + NAMES.index(name) for name in names], dtype=np.int16)
        return cls(codes, np.array(CONSTANTS), variable_share)


def new_dice(seed: int, stream: int = 0) -> Dice:
    """Return a stream of random numbers; different seeds and streams are independent."""
    return np.asarray(np.random.SeedSequence([seed, stream]).generate_state(1, np.uint64), dtype=np.uint64)


@kernel
def draw_bits(dice: Dice) -> np.uint64:
    """Draw 64 bits: splitmix64 (Steele, Lea, Flood 2014)."""
    dice[0] += GOLDEN
    return _scrambled(dice[0])


@kernel
def draw_below(dice: Dice, bound: int) -> Any:
    """Draw a number from 0 to bound - 1."""
    return np.int64(((draw_bits(dice) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@kernel
def draw_share(dice: Dice) -> float:
    """Draw a number from [0, 1)."""
    return np.float64(draw_bits(dice) >> np.uint64(11)) * 2.0**-53


@kernel
def arity(code: int) -> int:
    """Return how many arguments a code takes."""
    return 0 if code >= CONSTANT else (1 if code >= LOG else 2)


@kernel
def subtree_begin(code: Codes, root: int) -> int:
    """Return where the subtree that ends at `root` begins."""
    open_places = 1
    at = root
    while True:
        open_places += arity(code[at]) - 1
        if open_places == 0:
            return at
        at -= 1


@kernel
def depth_of(code: Codes, size: int, heights: IntArray) -> int:
    """Return the nodes on the longest path; `heights` has room for as many numbers as the tree has nodes."""
    top = -1
    for i in range(size):
        takes = arity(code[i])
        if takes == 0:
            top += 1
            heights[top] = 1
        elif takes == 1:
            heights[top] += 1
        else:
            top -= 1
            heights[top] = max(heights[top], heights[top + 1]) + 1
    return heights[0]


@kernel
def copy_piece(
    code: Codes, value: FloatArray, begin: int, end: int, to_code: Codes, to_value: FloatArray, at: int
) -> int:
    """Copy the codes [begin, end) to place `at`; returns where they end."""
    for i in range(begin, end):
        to_code[at], to_value[at] = code[i], value[i]
        at += 1
    return at
