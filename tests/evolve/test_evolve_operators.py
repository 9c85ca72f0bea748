"""Creation, crossover and mutation keep trees whole; canonical forms keep every bit of every value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.columns import IntArray
from recrawl.evolve.canonical import canonical, canonical_form
from recrawl.evolve.operators import OperatorRates, breed, create, cross, new_scratch, replace, swap, winner
from recrawl.evolve.population import (
    MAX_NODES,
    FormulaPopulation,
    Leaves,
    depth_of,
    draw_below,
    draw_share,
    new_dice,
    subtree_begin,
)
from recrawl.evolve.simplify import sample_states
from recrawl.policies.formulas.closure import ARITY, CONSTANT
from recrawl.policies.formulas.expression import Expression, Tree
from recrawl.policies.formulas.formula import evaluate
from recrawl.policies.formulas.terminals import CONSTANTS, NAMES, terminal_set

LEAVES = Leaves.of(terminal_set("all"), 0.5)
seeds = st.integers(0, 10_000)


def is_whole(expression: Expression) -> bool:
    """Whether the codes are one tree: each function finds its arguments, and one value is left."""
    open_values = 0
    for code in expression.code.tolist():
        takes = ARITY[code] if code < CONSTANT else 0
        if open_values < takes:
            return False
        open_values += 1 - takes
    return open_values == 1


def depths(made: FormulaPopulation) -> IntArray:
    """The depth of every formula."""
    room = np.empty(MAX_NODES, dtype=np.int64)
    return np.array([depth_of(made.code[i], made.size[i], room) for i in range(len(made))])


def population(seed: int, count: int = 40, depth: int = 7) -> FormulaPopulation:
    return create(count, depth, LEAVES, new_dice(seed))


@given(seeds, st.integers(1, 10))
@settings(max_examples=30)
def test_created_trees_are_whole_and_not_too_deep(seed: int, depth: int) -> None:
    """Ramped half-and-half: depth 2 to the limit, only the given leaves."""
    made = population(seed, 30, depth)
    assert all(is_whole(made[i]) for i in range(len(made)))
    assert depths(made).max() <= depth
    leaves = {value for i in range(len(made)) for value in made[i].value[made[i].code == CONSTANT].tolist()}
    assert leaves <= set(CONSTANTS)
    assert {name for i in range(len(made)) for name in made[i].terminals} <= set(terminal_set("all"))


def test_half_of_the_created_trees_are_full() -> None:
    """Every path of a full tree has the same length; depths are spread evenly over the ramp."""
    made = create(900, 10, LEAVES, new_dice(1))
    found = depths(made)[::2]  # the full half has exactly the depth that was drawn
    assert np.bincount(found, minlength=11)[2:].min() > 25
    assert set(found.tolist()) == set(range(2, 11))


def test_the_whole_stream_follows_from_the_seed() -> None:
    """Same seed, same trees; neighbouring seeds have nothing in common."""
    one, again, other = (create(50, 7, LEAVES, new_dice(seed)) for seed in (3, 3, 4))
    assert one.code.tobytes() == again.code.tobytes()
    assert len({one.key(i) for i in range(50)} & {other.key(i) for i in range(50)}) < 15


def test_draws_are_even() -> None:
    """Dice fall evenly."""
    dice = new_dice(5)
    counts = np.bincount([draw_below(dice, 7) for _ in range(14_000)], minlength=7)
    assert counts.min() > 1800
    assert np.mean([draw_share(dice) for _ in range(10_000)]) == pytest.approx(0.5, abs=0.02)


@given(seeds, st.integers(3, 10))
@settings(max_examples=40)
def test_crossover_keeps_trees_whole_and_within_the_limit(seed: int, depth: int) -> None:
    """A child is a whole tree, at most as deep as allowed, unless it is its parent."""
    parents, dice = population(seed), new_dice(seed, 1)
    scratch, code, value = new_scratch(), np.empty(MAX_NODES, dtype=np.int16), np.empty(MAX_NODES)
    for i in range(0, len(parents), 2):
        a, b = i, i + 1
        one, two = ((parents.code[at], parents.value[at], parents.size[at]) for at in (a, b))
        size = cross(one, two, depth, dice, scratch, code, value)
        child = Expression(code[:size].copy(), value[:size].copy())
        assert is_whole(child)
        assert child.depth <= depth or child == parents[a]


@given(seeds)
@settings(max_examples=40)
def test_swap_mutation_only_moves_what_is_there(seed: int) -> None:
    """The same nodes, in another order."""
    held, dice = population(seed), new_dice(seed, 1)
    scratch = new_scratch()
    moved = 0
    for i in range(len(held)):
        before = held[i]
        size = swap(held.code[i], held.value[i], held.size[i], 20, dice, scratch)
        after = held[i]
        assert size == len(before)
        assert is_whole(after)
        assert sorted(after.code.tolist()) == sorted(before.code.tolist())
        assert sorted(after.value.tolist()) == sorted(before.value.tolist())
        moved += after != before
    assert moved


@given(seeds, st.integers(2, 10))
@settings(max_examples=40)
def test_replacement_mutation_keeps_trees_whole_and_within_the_limit(seed: int, depth: int) -> None:
    """A new subtree fits below its place."""
    held, dice = population(seed, depth=depth), new_dice(seed, 1)
    scratch = new_scratch()
    for i in range(len(held)):
        held.size[i] = replace(held.code[i], held.value[i], held.size[i], depth, LEAVES, dice, scratch)
        assert is_whole(held[i])
        assert held[i].depth <= depth


def test_subtrees_are_contiguous() -> None:
    """In postfix order a subtree is the piece that ends with its root."""
    code = Expression.of(("-", ("*", "t", ("log", "X")), ("+", "n", 1.0))).code  # t X log * n 1 + -
    assert [subtree_begin(code, i) for i in range(len(code))] == [0, 1, 1, 0, 4, 5, 4, 0]
    assert depth_of(code, len(code), np.empty(9, dtype=np.int64)) == 4


def test_the_best_individual_stays() -> None:
    """Elitism: the first child is the fittest parent."""
    parents = population(1)
    fitness = np.random.default_rng(0).random(len(parents))
    children = breed(parents, fitness, OperatorRates(), LEAVES, new_dice(9))
    assert children[0] == parents[int(fitness.argmax())]
    assert all(is_whole(children[i]) for i in range(len(children)))


def test_rates_of_zero_and_one_do_what_they_say() -> None:
    """Reproduction alone copies; without any operation nothing new appears."""
    parents = population(2)
    fitness = np.random.default_rng(0).random(len(parents))
    keys = {parents.key(i) for i in range(len(parents))}
    for rates in (OperatorRates(reproduction=1.0), OperatorRates(0.0, 0.0, 0.0, 0.0)):
        children = breed(parents, fitness, rates, LEAVES, new_dice(9))
        assert {children.key(i) for i in range(len(children))} <= keys


def test_too_deep_parents_are_not_crossed() -> None:
    """With a bound on the parents, trees beyond it live on as they are, and others are crossed."""
    made = population(3, 60, 9)
    rates = OperatorRates(reproduction=0.0, crossover=1.0, swap=0.0, replacement=0.0, depth=17, parents=4)
    old = {made[i].key for i in range(len(made))}
    children = breed(made, np.ones(len(made)), rates, LEAVES, new_dice(1))
    crossed = [i for i in range(len(children)) if children[i].key not in old]
    assert 0 < len(crossed) < len(children) - 1
    assert depths(children)[crossed].max() <= 8  # a subtree of a tree of depth 4 at the deepest place of another


def test_larger_tournaments_choose_better_parents() -> None:
    """The winner of a tournament is its fittest member."""
    fitness = np.arange(100.0)
    means = [np.mean([winner(fitness, n, new_dice(s)) for s in range(300)]) for n in (1, 2, 7)]
    assert means[0] < 60 < means[1] < 75 < means[2]


# -- canonical forms -------------------------------------------------------------------------------------------------


@given(seeds)
@settings(max_examples=40)
def test_canonical_forms_give_the_very_same_values(seed: int) -> None:
    """Bit by bit, for all states: so a cached fitness is the fitness, whoever came first."""
    held = sample_states(300)
    made = create(20, 8, Leaves.of(NAMES, 0.4), new_dice(seed))
    forms = canonical(made)
    for i in range(len(made)):
        assert is_whole(forms[i])
        assert len(forms[i]) <= len(made[i])
        assert np.array_equal(evaluate(made[i], held), evaluate(forms[i], held)), str(made[i])
        assert canonical_form(forms[i]) == forms[i]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("+", "n", "X"), ("+", "X", "n")),
        (("*", ("+", "t", 1.0), "X"), ("*", "X", ("+", 1.0, "t"))),
        (("*", "t", ("-", 2.0, 1.0)), "t"),
        (("-", "t", ("*", "X", 0.0)), "t"),
        (("-", ("log", "X"), ("log", "X")), 0.0),
        (("pow", "CG", ("exp", 0.0)), "CG"),
        (("pow", ("-", 1.0, 1.0), "t"), 0.0),
        (("-", "X", 0.5), ("+", "X", -0.5)),
        (("/", ("/", "t", 1.0), 0.0), 0.0),
    ],
)
def test_equal_formulas_have_one_form(one: Tree, other: Tree) -> None:
    """Spellings of the same formula are recognised."""
    assert canonical_form(Expression.of(one)) == canonical_form(Expression.of(other))


@pytest.mark.parametrize(("one", "other"), [("n", "X"), (("-", "n", "X"), ("-", "X", "n")), (("/", "t", "t"), 1.0)])
def test_different_formulas_have_different_forms(one: Tree, other: Tree) -> None:
    """t / t is 0 where t is 0, so it is not 1."""
    assert canonical_form(Expression.of(one)) != canonical_form(Expression.of(other))
