"""Interval arithmetic: bounds on a formula's values over all pages, for simplification and export."""

from __future__ import annotations

import math
from typing import NamedTuple

from recrawl.policies.formulas.closure import ADD, CUT, DIV, EXP, FUNCTIONS, LOG, POW, SUB, apply
from recrawl.policies.formulas.expression import Tree

MANY = 1e9  # visits, cycles, links of one page: more than any crawl has


class Bounds(NamedTuple):
    """An interval that contains every value."""

    low: float
    high: float

    @property
    def nonzero(self) -> bool:
        """Whether the value is never 0."""
        return self.low > 0 or self.high < 0


_COUNT, _SHARE = Bounds(0.0, MANY), Bounds(0.0, 1.0)
TERMINALS = {
    "n": _COUNT,
    "X": _COUNT,
    "t": Bounds(1.0, MANY),
    "CG": Bounds(0.0, 50.0),  # as a rate: ln(2n + 1) at most
    "NAD": _SHARE,
    "SAD": _SHARE,
    "AAD": _SHARE,
    "GAD": _SHARE,
    "since": _COUNT,
    "age": _COUNT,
    "recent": _SHARE,
    "site": _SHARE,
    "dir": _SHARE,
    "links": _COUNT,
    "importance": Bounds(0.0, CUT),
}
_CODE = {name: code for code, name in enumerate(FUNCTIONS)}


def bounds(tree: Tree) -> Bounds:
    """Bound the values of a tree."""
    if isinstance(tree, str):
        return TERMINALS[tree]
    if not isinstance(tree, tuple):
        return Bounds(tree, tree)
    code = _CODE[str(tree[0])]
    a = bounds(tree[1])
    if code in (LOG, EXP):
        return _unary(code, a)
    if code == DIV and tree[2] in ("n", "X"):  # whole numbers: at least 1, or 0, which gives 0
        low, high = _binary(DIV, a, Bounds(1.0, MANY))
        return Bounds(min(low, 0.0), max(high, 0.0))
    return _binary(code, a, bounds(tree[2]))


def _unary(code: int, a: Bounds) -> Bounds:
    if code == EXP or a.low > 0:
        return _widen(apply(code, a.low, 0.0), apply(code, a.high, 0.0))
    if a.high <= 0:
        return Bounds(0.0, 0.0)
    return _widen(-745.0, max(math.log(a.high), 0.0))  # log of the smallest positive number


def _binary(code: int, a: Bounds, b: Bounds) -> Bounds:
    if code == ADD:
        return _widen(apply(ADD, a.low, b.low), apply(ADD, a.high, b.high))
    if code == SUB:
        return _widen(apply(SUB, a.low, b.high), apply(SUB, a.high, b.low))
    if code == DIV and not b.nonzero:
        # near 0 a quotient is as large as it can be; its sign is known if both signs are
        if a.low >= 0 and b.low >= 0:
            return Bounds(0.0, CUT)
        return Bounds(-CUT, CUT)
    if code == POW and a.low < 0:
        return Bounds(-CUT, CUT)
    corners = [apply(code, x, y) for x in a for y in b]
    if code == POW and a.low == 0:
        # from 0 upwards: small numbers to negative powers are large, 0 itself gives 0
        corners += [0.0, CUT if b.low < 0 else 1.0]
    return _widen(min(corners), max(corners))


def _widen(low: float, high: float) -> Bounds:
    """Widen the interval by the rounding error."""
    return Bounds(max(low - 1e-12 * abs(low), -CUT), min(high + 1e-12 * abs(high), CUT))
