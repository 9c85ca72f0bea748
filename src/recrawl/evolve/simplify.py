"""Shorter formulas that rank pages the same, for people to read.

Rewrites are proposed by algebra and tested on a sample of states: a proposal stands only if no two states that the
formula tells apart change their order, and none that it holds equal come apart (to 12 digits, because equal worths
computed in two ways differ in the last). Besides algebra, `prune` tries to leave out every part of the formula: what
makes no difference to any state of the sample goes.

At the root, what does not change an order is dropped: exp(x), x + c, c * x for c > 0, log(x) and powers of what is
positive.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from recrawl.columns import FloatArray
from recrawl.evolve.bounds import bounds
from recrawl.evolve.canonical import canonical_form
from recrawl.memory import Memory
from recrawl.policies.formulas.closure import CUT, EXP_CUT
from recrawl.policies.formulas.expression import Expression, Tree
from recrawl.policies.formulas.formula import evaluate
from recrawl.policies.formulas.terminals import NAMES, columns
from recrawl.visits import Outcome, Visits

ALIKE = 1e-12  # relative difference of scores that count as equal


def simplify(expression: Expression, *, states: FloatArray | None = None, prune: bool = True) -> Expression:
    """Return the shortest formula found that ranks like this one."""
    sample = sample_states() if states is None else states
    wanted = Ranking(evaluate(expression, sample))
    best = canonical_form(expression)
    if not wanted.fits(evaluate(best, sample)):
        best = expression
    while True:
        for proposal in _proposals(best, prune):
            if wanted.fits(evaluate(proposal, sample)):
                best = proposal
                break
        else:
            return best


class Ranking:
    """An order of states with ties."""

    def __init__(self, scores: FloatArray) -> None:
        self.order = np.argsort(scores, kind="stable")
        ranked = scores[self.order]
        scale = np.maximum(np.abs(ranked[1:]), np.abs(ranked[:-1]))
        self.begins = np.flatnonzero(np.r_[True, np.diff(ranked) > ALIKE * scale])  # of each group of equals

    def fits(self, scores: FloatArray) -> bool:
        """Whether other scores give the same order, equal where these are equal."""
        ranked = scores[self.order]
        low, high = np.minimum.reduceat(ranked, self.begins), np.maximum.reduceat(ranked, self.begins)
        alike = high - low <= 1e3 * ALIKE * np.maximum(np.abs(low), np.abs(high))
        return bool(alike.all() and (low[1:] > high[:-1]).all())


def sample_states(pages: int = 2000, cycles: int = 40, seed: int = 0, form: str = "chance") -> FloatArray:
    """Return the terminals of many pages with different histories, one row per terminal."""
    memory = sample_memory(pages, cycles, seed)
    return columns(memory, NAMES, float(memory.cycle), form=form)


def sample_memory(pages: int = 2000, cycles: int = 40, seed: int = 0) -> Memory:
    """Return a memory of pages that change and are visited at very different rates; the next cycle is open."""
    draw = np.random.default_rng(seed)
    memory = Memory(np.arange(pages), draw.integers(0, 20, pages), cycle_days=1.0, seed=seed)
    memory.importance = draw.lognormal(size=pages)
    memory.hold_copies(np.arange(pages), 0.0)
    changes, eager, warm = draw.beta(0.4, 0.8, pages), draw.beta(0.5, 1.0, pages), draw.random(pages) < 0.9
    until = draw.integers(0, cycles + 1, pages)
    for cycle in range(1, cycles + 1):
        memory.begin_cycle()
        visited = np.flatnonzero(((cycle <= 2) & warm) | ((draw.random(pages) < eager) & (cycle <= until)))
        changed = draw.random(len(visited)) < changes[visited]
        memory.record(
            Visits(
                pages=visited,
                at=np.full(len(visited), float(cycle)),
                outcome=np.where(changed, Outcome.CHANGED, Outcome.UNCHANGED).astype(np.uint8),
                new_internal=draw.poisson(0.3, len(visited)) * changed,
                new_external=np.zeros(len(visited), dtype=np.int64),
                change_size=changed.astype(np.float64),
            )
        )
    memory.begin_cycle()
    return memory


# -- proposals ------------------------------------------------------------------------------------------------------


def _proposals(expression: Expression, prune: bool) -> Iterator[Expression]:
    """Yield shorter or plainer formulas, the boldest first."""
    seen = {expression.key}
    for tree in _trees(expression.tree, prune):
        if any(isinstance(node, float) and not abs(node) <= CUT for _, node in _nodes(tree)):
            continue  # two constants became one that no formula can hold
        proposal = canonical_form(Expression.of(tree))
        if proposal.key not in seen and _plainer(proposal, expression):
            seen.add(proposal.key)
            yield proposal


def _plainer(a: Expression, b: Expression) -> bool:
    return _weight(a) < _weight(b)


def _weight(expression: Expression) -> tuple[int, int]:
    """Nodes, then digits of the constants."""
    constants = [value for value in expression.value.tolist() if value]
    return len(expression), sum(len(f"{value:.12g}".strip("-0.").replace(".", "")) for value in constants)


def _trees(tree: Tree, prune: bool) -> Iterator[Tree]:
    yield from _root(tree)
    for path, node in sorted(_nodes(tree), key=lambda item: -_size(item[1])):
        for other in _rewrites(node):
            yield _put(tree, path, other)
        if prune and isinstance(node, tuple):
            for part in node[1:]:
                yield _put(tree, path, part)
            yield _put(tree, path, 1.0)
            yield _put(tree, path, 0.0)
        if prune and isinstance(node, float):
            for digits in (1, 2, 3, 4):
                yield _put(tree, path, float(f"{node:.{digits}g}"))


def _root(tree: Tree) -> Iterator[Tree]:
    """Drop what does not change an order, or turn it around in a plainer way."""
    match tree:
        case ("exp", x) if bounds(x).high <= EXP_CUT:
            yield x
        case ("log", x) if bounds(x).low > 0:
            yield x
        case ("+", x, float()) | ("+", float(), x) | ("-", x, float()):
            yield x
        case ("-", x, ("+", y, float())):
            yield ("-", x, y)
        case ("-", float(), x):
            yield ("-", 0.0, x)
        case ("*", x, float(c)) | ("*", float(c), x) | ("/", x, float(c)):
            yield x if c > 0 else ("-", 0.0, x)
        case ("/", float(c), x) if c > 0 and bounds(x).low > 0:
            yield ("-", 0.0, x)
        case ("pow", x, float(c)) if c > 0 and bounds(x).low >= 0:
            yield x
        case ("pow", float(c), x) if c > 1:
            yield x


def _rewrites(node: Tree) -> Iterator[Tree]:
    """Rewrite one node by algebra."""
    match node:
        case ("log", ("exp", x)) | ("exp", ("log", x)):
            yield x
        case ("+", x, y) | ("*", x, y):
            yield from _sums(str(node[0]), x, y)
            yield from _sums(str(node[0]), y, x)
        case ("-", ("+", x, y), z) if z in (x, y):
            yield y if x == z else x
        case ("-", x, ("-", y, z)):
            yield ("+", ("-", x, y), z)
        case ("/", x, y) if x == y:
            yield 1.0
        case ("/", ("*", x, y), z) if z in (x, y):
            yield y if x == z else x
        case ("/", x, float(c)) if c:
            yield ("*", x, 1.0 / c)
        case ("pow", ("pow", x, float(c)), float(d)):
            yield ("pow", x, c * d)


def _sums(name: str, x: Tree, y: Tree) -> Iterator[Tree]:
    """Rewrite a sum or product, looking into its first argument."""
    match name, x, y:
        case "+", _, _ if x == y:
            yield ("*", x, 2.0)
        case "*", _, _ if x == y:
            yield ("pow", x, 2.0)
        case "+", ("-", a, b), _ if b == y:
            yield a
        case "+", ("+", a, float(c)), float(d):
            yield ("+", a, c + d)
        case "*", ("*", a, float(c)), float(d):
            yield ("*", a, c * d)
        case "*", ("pow", a, float(c)), _ if a == y:
            yield ("pow", a, c + 1.0)


def _nodes(tree: Tree, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Tree]]:
    yield path, tree
    if isinstance(tree, tuple):
        for i, part in enumerate(tree[1:], 1):
            yield from _nodes(part, (*path, i))


def _size(tree: Tree) -> int:
    return 1 + sum(map(_size, tree[1:])) if isinstance(tree, tuple) else 1


def _put(tree: Tree, path: tuple[int, ...], other: Tree) -> Tree:
    if not path:
        return other
    assert isinstance(tree, tuple)
    i = path[0]
    return (*tree[:i], _put(tree[i], path[1:], other), *tree[i + 1 :])
