"""Canonical forms: formulas that always give the very same numbers are recognised as one.

Only rewrites that change no bit of any value are made, so a cached fitness is exact for every formula of the class:

    functions of constants are computed         a + b, a * b: arguments in a fixed order
    x + 0, x - 0, x * 1, x / 1, pow(x, 1)  = x  x - c = x + (-c)
    x * 0, 0 / x, x / 0, x - x, pow(0, x)  = 0  pow(1, x) = 1
"""

from __future__ import annotations

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.compiled import kernel
from recrawl.evolve.population import MAX_NODES, FormulaArrays, FormulaPopulation, arity
from recrawl.policies.formulas.closure import ADD, CONSTANT, DIV, MUL, POW, SUB, TERMINAL, Codes, apply
from recrawl.policies.formulas.expression import Expression

Spare = tuple[Codes, FloatArray]  # room to write a formula


def canonical(population: FormulaPopulation) -> FormulaPopulation:
    """Return the canonical form of every formula."""
    forms = FormulaPopulation.empty(len(population))
    _canonical(population.arrays, forms.arrays)
    return forms


def canonical_form(expression: Expression) -> Expression:
    """Return the canonical form of one formula."""
    return canonical(FormulaPopulation.of([expression]))[0]


@kernel
def _canonical(population: FormulaArrays, forms: FormulaArrays) -> None:
    begins = np.empty(MAX_NODES + 1, dtype=np.int64)
    spare = np.empty(MAX_NODES, dtype=np.int16), np.empty(MAX_NODES)
    (code, value, size), (to_code, to_value, to_size) = population, forms
    for i in range(len(size)):
        to_size[i] = _rewrite(code[i], value[i], size[i], to_code[i], to_value[i], begins, spare)


@kernel
def _rewrite(
    code: Codes, value: FloatArray, size: int, out: Codes, number: FloatArray, begins: IntArray, spare: Spare
) -> int:
    """Rewrite from the leaves up; `begins` has where each finished subtree begins in the output."""
    top, end = -1, 0
    for i in range(size):
        c = code[i]
        takes = arity(c)
        if takes == 0:
            top += 1
            begins[top] = end
            out[end], number[end] = c, value[i]
            end += 1
        elif takes == 1:
            if out[end - 1] == CONSTANT:
                number[end - 1] = apply(c, number[end - 1], 0.0)
            else:
                out[end], number[end] = c, 0.0
                end += 1
        else:
            top -= 1
            end = _join(c, begins[top], begins[top + 1], end, out, number, spare)
    return end


@kernel
def _join(c: int, a: int, b: int, end: int, out: Codes, number: FloatArray, spare: Spare) -> int:
    """Apply a function to the finished subtrees [a, b) and [b, end); returns where the result ends."""
    a_const, b_const = out[b - 1] == CONSTANT, out[end - 1] == CONSTANT
    left, right = number[b - 1], number[end - 1]
    if a_const and b_const:
        return _put(apply(c, left, right), a, out, number)
    if c == SUB and b_const:
        c = ADD
        number[end - 1] = right = -right
    if b_const:
        if (right == 0.0 and c == ADD) or (right == 1.0 and c in (MUL, DIV, POW)):
            return b
        if right == 0.0 and c in (MUL, DIV):
            return _put(0.0, a, out, number)
    if a_const:
        if left == 0.0 and c in (MUL, DIV, POW):
            return _put(0.0, a, out, number)
        if left == 1.0 and c == POW:
            return _put(1.0, a, out, number)
        if (left == 0.0 and c == ADD) or (left == 1.0 and c == MUL):
            for i in range(b, end):
                out[i - 1], number[i - 1] = out[i], number[i]
            return end - 1
    if c == SUB and end - b == b - a and _compare(a, b, b, end, out, number) == 0:
        return _put(0.0, a, out, number)
    if c in (ADD, MUL) and _compare(a, b, b, end, out, number) > 0:
        _exchange(a, b, end, out, number, spare)
    out[end], number[end] = c, 0.0
    return end + 1


@kernel
def _put(value: float, at: int, out: Codes, number: FloatArray) -> int:
    out[at], number[at] = CONSTANT, value
    return at + 1


@kernel
def _compare(a: int, a_end: int, b: int, b_end: int, out: Codes, number: FloatArray) -> int:
    """Order subtrees: constants last, then the shorter first, then by codes and numbers."""
    last = (out[a_end - 1] == CONSTANT) - (out[b_end - 1] == CONSTANT)
    if last != 0:
        return last
    if a_end - a != b_end - b:
        return -1 if a_end - a < b_end - b else 1
    for i in range(a_end - a):
        if out[a + i] != out[b + i]:
            return -1 if _place(out[a + i]) < _place(out[b + i]) else 1
        if number[a + i] != number[b + i]:
            return -1 if number[a + i] < number[b + i] else 1
    return 0


@kernel
def _place(c: int) -> int:
    """Order codes as people write them: t * X, not X * t."""
    return 2 * TERMINAL + 2 - c if c in (TERMINAL, TERMINAL + 2) else c


@kernel
def _exchange(a: int, b: int, end: int, out: Codes, number: FloatArray, spare: Spare) -> None:
    spare_code, spare_value = spare
    for i in range(a, end):
        spare_code[i - a], spare_value[i - a] = out[i], number[i]
    at = a
    for i in range(b - a, end - a):
        out[at], number[at] = spare_code[i], spare_value[i]
        at += 1
    for i in range(b - a):
        out[at], number[at] = spare_code[i], spare_value[i]
        at += 1
