"""The functions of score formulas, made total: whatever the arguments, the value is a finite number.

Santos et al. 2014, section 4.2.1 uses + - * / log pow exp and lets / and log "return the default value 0 when their
inputs are out of their domains". Exactly, for finite a and b:

    a + b, a - b, a * b   cut to [-1e300, 1e300]
    a / b                 0 if b = 0, else cut to [-1e300, 1e300]
    log(a)                0 if a <= 0
    exp(a)                exp(min(a, 690)), so at most about 5e299
    pow(a, b)             0 if a = 0, 0 if it is not a real number (a < 0, b not whole), else cut to [-1e300, 1e300]

Values beyond the cut tie, but keep their place above (below) all others; mapping them to 0 would put the best
pages last. float64 throughout: float32 makes ties that are not there.

A formula is a list of codes in postfix order. The machine runs each code over a block of rows at once, so the cost
of reading the code is shared by the block; the same compiled machine serves the crawl and the evolution, so both see
the very same numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray
from recrawl.compiled import kernel

Codes = npt.NDArray[np.int16]

FUNCTIONS = ("+", "-", "*", "/", "pow", "log", "exp")
ARITY = (2, 2, 2, 2, 2, 1, 1)
ADD, SUB, MUL, DIV, POW, LOG, EXP = range(7)
CONSTANT = 7  # a number, stored beside the code
TERMINAL = 8  # codes from here on are terminals: code - TERMINAL is the row of the column matrix

CUT = 1e300
EXP_CUT = 690.0
BLOCK = 256  # rows per pass: the stack stays in the first-level cache
MAX_DEPTH = 32  # of any formula, so the machine's stack has a fixed size


@kernel(error_model="numpy", inline="always")
def _cut(value: float) -> float:
    return min(max(value, -CUT), CUT)


@kernel(error_model="numpy")
def _power(a: float, b: float) -> float:
    if a == 0.0:
        return 0.0
    value = a**b
    return 0.0 if value != value else _cut(value)


@kernel(error_model="numpy")
def apply(code: int, a: float, b: float) -> float:
    """Apply one function to numbers; `b` is ignored by log and exp."""
    if code == ADD:
        return _cut(a + b)
    if code == SUB:
        return _cut(a - b)
    if code == MUL:
        return _cut(a * b)
    if code == DIV:
        return 0.0 if b == 0.0 else _cut(a / b)
    if code == POW:
        return _power(a, b)
    if code == LOG:
        return math.log(a) if a > 0.0 else 0.0
    return math.exp(min(a, EXP_CUT))


@kernel(error_model="numpy")
def run(code: Codes, value: FloatArray, size: int, columns: FloatArray, rows: int, stack: FloatArray, out: Any) -> None:
    """Run a postfix formula over `rows` rows of the terminals' columns (one row per terminal) into `out`."""
    for begin in range(0, rows, BLOCK):
        width = min(BLOCK, rows - begin)
        top = -1
        for i in range(size):
            c = code[i]
            if c >= CONSTANT:
                top += 1
                if c == CONSTANT:
                    v = value[i]
                    for r in range(width):
                        stack[top, r] = v
                else:
                    line = c - TERMINAL
                    for r in range(width):
                        stack[top, r] = columns[line, begin + r]
            elif c >= LOG:
                _unary(c, stack[top], width)
            else:
                top -= 1
                _binary(c, stack[top], stack[top + 1], width)
        for r in range(width):
            out[begin + r] = stack[0, r]


@kernel(error_model="numpy")
def _unary(code: int, a: FloatArray, width: int) -> None:
    if code == LOG:
        for r in range(width):
            a[r] = math.log(a[r]) if a[r] > 0.0 else 0.0
    else:
        for r in range(width):
            a[r] = math.exp(min(a[r], EXP_CUT))


@kernel(error_model="numpy")
def _binary(code: int, a: FloatArray, b: FloatArray, width: int) -> None:
    if code == ADD:
        for r in range(width):
            a[r] = _cut(a[r] + b[r])
    elif code == SUB:
        for r in range(width):
            a[r] = _cut(a[r] - b[r])
    elif code == MUL:
        for r in range(width):
            a[r] = _cut(a[r] * b[r])
    elif code == DIV:
        for r in range(width):
            a[r] = 0.0 if b[r] == 0.0 else _cut(a[r] / b[r])
    else:
        for r in range(width):
            a[r] = _power(a[r], b[r])


def new_stack() -> FloatArray:
    """Return an empty stack for `run`."""
    return np.empty((MAX_DEPTH + 1, BLOCK))
