"""Score formulas as values: a nested tree for people, postfix codes for the machine.

A tree is a number, the name of a terminal, or a tuple of a function's name and its arguments:

    ("*", "t", ("pow", "CG", 2.72))        prints as t * CG**2.72
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from recrawl.columns import FloatArray
from recrawl.errors import InputError
from recrawl.policies.formulas.closure import ARITY, CONSTANT, FUNCTIONS, MAX_DEPTH, TERMINAL, Codes
from recrawl.policies.formulas.terminals import NAMES

Tree: TypeAlias = "float | str | tuple[Tree, ...]"

_CODE = {name: code for code, name in enumerate(FUNCTIONS)}
_LINE = {name: line for line, name in enumerate(NAMES)}
_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2, "pow": 4}


@dataclass(frozen=True, eq=False)
class Expression:
    """A formula in postfix order: one code per node, and the number of each constant."""

    code: Codes
    value: FloatArray

    @classmethod
    def of(cls, tree: Tree) -> Expression:
        """Compile a nested tree."""
        codes: list[int] = []
        values: list[float] = []
        for node in _postfix(tree):
            codes.append(_code_of(node))
            values.append(float(node) if isinstance(node, (int, float)) else 0.0)
        expression = cls(np.array(codes, dtype=np.int16), np.array(values))
        if expression.depth > MAX_DEPTH:
            raise InputError(f"the formula is {expression.depth} levels deep; at most {MAX_DEPTH} are allowed")
        return expression

    @cached_property
    def tree(self) -> Tree:
        """The nested tree."""
        stack: list[Tree] = []
        for code, value in zip(self.code.tolist(), self.value.tolist(), strict=True):
            if code < CONSTANT:
                cut = len(stack) - ARITY[code]
                stack[cut:] = [(FUNCTIONS[code], *stack[cut:])]
            else:
                stack.append(value if code == CONSTANT else NAMES[code - TERMINAL])
        return stack[0]

    @cached_property
    def depth(self) -> int:
        """Nodes on the longest path from the root to a leaf."""
        stack: list[int] = []
        for code in self.code.tolist():
            arity = ARITY[code] if code < CONSTANT else 0
            cut = len(stack) - arity
            stack[cut:] = [1 + max(stack[cut:], default=0)]
        return stack[0]

    @cached_property
    def terminals(self) -> tuple[str, ...]:
        """The terminals that occur, in the order of the catalogue."""
        used = set(self.code[self.code >= TERMINAL].tolist())
        return tuple(name for line, name in enumerate(NAMES) if line + TERMINAL in used)

    @cached_property
    def key(self) -> bytes:
        """The same for equal formulas, different for others."""
        return bytes(self.code.tobytes() + self.value.tobytes())

    @cached_property
    def digest(self) -> str:
        """A short hash of the formula, the same on every machine."""
        text = repr(self.tree).encode()
        return hashlib.sha256(text).hexdigest()[:16]

    def __len__(self) -> int:
        return len(self.code)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        return infix(self.tree)

    def __repr__(self) -> str:
        return f"Expression({self})"


def infix(tree: Tree) -> str:
    """Write a tree as people do: `t * CG**2.72`. Numbers are rounded to 6 digits; the stored form is exact."""
    return _infix(tree)[0]


def _infix(tree: Tree) -> tuple[str, int]:
    """Text and how tightly its outermost operation binds."""
    if isinstance(tree, str):
        return tree, 9
    if not isinstance(tree, tuple):
        return f"{tree:.6g}", 9 if tree >= 0 else 3
    name = str(tree[0])
    parts = [_infix(argument) for argument in tree[1:]]
    if name not in _BINDS:
        return f"{name}({parts[0][0]})", 9
    if name == "+" and isinstance(tree[2], float) and tree[2] < 0:
        return _infix(("-", tree[1], -tree[2]))
    if name == "-" and tree[1] == 0:
        return f"-{_wrap(parts[1], 2)}", 1
    binds = _BINDS[name]
    # a - (b - c) and a / (b * c) need their parentheses, (a - b) - c does not; powers group to the right
    left = _wrap(parts[0], binds + (name == "pow"))
    right = _wrap(parts[1], binds + (name in ("-", "/", "*")))
    return (f"{left}**{right}" if name == "pow" else f"{left} {name} {right}"), binds


def _wrap(part: tuple[str, int], least: int) -> str:
    return part[0] if part[1] >= least else f"({part[0]})"


def _postfix(tree: Tree) -> Iterator[Tree]:
    """Walk a tree, arguments before their function, without recursion: hostile trees may be very deep."""
    todo: list[tuple[Tree, bool]] = [(tree, False)]
    while todo:
        node, done = todo.pop()
        if done or not isinstance(node, tuple):
            yield node
            continue
        todo.append((node, True))
        todo.extend((argument, False) for argument in reversed(node[1:]))


def _code_of(node: Tree) -> int:
    if isinstance(node, tuple):
        name, arity = node[0], len(node) - 1
        if not isinstance(name, str) or name not in _CODE:
            raise InputError(f"unknown function {name!r}; there are {' '.join(FUNCTIONS)}")
        if ARITY[_CODE[name]] != arity:
            raise InputError(f"function {name!r} takes {ARITY[_CODE[name]]} arguments, not {arity}")
        return _CODE[name]
    if isinstance(node, str):
        if node not in _LINE:
            raise InputError(f"unknown terminal {node!r}; there are {' '.join(NAMES)}")
        return TERMINAL + _LINE[node]
    if isinstance(node, bool) or not isinstance(node, (int, float)) or not abs(node) <= 1e300:
        raise InputError(f"a constant must be a number between -1e300 and 1e300, not {node!r}")
    return CONSTANT
