"""The fast fitness is the crawl itself: same semantics, same numbers, for any formula and any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.columns import tie_order
from recrawl.errors import InputError
from recrawl.evaluate.compare import compare
from recrawl.evaluate.measures.ranking import NDCG, ChangeRate
from recrawl.evolve.fitness import ClassFitness, PageFitness, make_fitness
from recrawl.evolve.ground import change_bits, changed_in
from recrawl.evolve.merging import pairwise_sum
from recrawl.evolve.operators import create
from recrawl.evolve.population import FormulaPopulation, Leaves, new_dice
from recrawl.plan import Plan
from recrawl.policies.formulas.expression import Expression, Tree
from recrawl.policies.formulas.terminals import terminal_set
from recrawl.recording.recording import Recording
from support.formula_crawls import by_pages
from support.real_recordings import THREE_SITES
from support.small_recordings import random_tables, recording

MEASURES = (ChangeRate(), NDCG())


def by_classes(
    formulas: FormulaPopulation,
    data: Recording,
    plan: Plan,
    over: str = "visits",
    jobs: int = 1,
    form: str = "chance",
) -> tuple[list[list[float]], list[list[float]]]:
    """The same by the fast kernel, for all formulas."""
    fitness = make_fitness(data, plan, "ndcg", "all", over=over, form=form, jobs=jobs)
    assert isinstance(fitness, ClassFitness)
    found, ndcg = fitness.both(formulas)
    return found.tolist(), ndcg.tolist()


def of(*trees: Tree) -> FormulaPopulation:
    return FormulaPopulation.of([Expression.of(tree) for tree in trees])


def test_a_crawl_by_hand() -> None:
    """Three pages, one visit a cycle by t * X after two cycles of warm-up (Santos 2014, §5.2).

    Page 0 changes in cycles 1, 2 and 4, page 1 in 1 and 5, page 2 never, so after the warm-up X = 2, 1, 0. In cycle 3
    page 0 is first (1 * 2) and has not changed. In cycle 4 pages 0 (1 * 2) and 1 (2 * 1) tie. If the tie prefers page
    0, it is found changed, in cycle 5 both tie again (1 * 3 and 3 * 1), and page 0 has not changed. Otherwise page 1
    has not changed in cycle 4, and in cycle 5 page 0 (2 * 2) has.
    """
    data = recording(5, [[0.5, 1.5, 3.5], [0.5, 4.5], []])
    seen = set()
    for seed in range(6):
        curve = make_fitness(data, Plan(1.0, 1, 2, seed=seed), "changerate", "basic").curves(of(("*", "t", "X")))[0]
        tie = tie_order(np.arange(2), seed)
        assert curve.tolist() == ([0.0, 1.0, 0.0] if tie[0] < tie[1] else [0.0, 0.0, 1.0])
        seen.add(bool(tie[0] < tie[1]))
    assert seen == {True, False}


def test_ndcg_by_hand() -> None:
    """Gains 1 and 1/ln 3 at ranks 1 and 2; the ideal counts only pages that are stale for this crawler (eqs. 2-3)."""
    # t * X after one cycle of warm-up: pages 0 and 1 have X = 1, page 2 none; two visits per cycle
    data = recording(3, [[0.5], [0.5, 1.5], [1.5, 2.5]])
    plan = Plan(1.0, 2, 1, seed=0)
    ndcg = make_fitness(data, plan, "ndcg", "basic").curves(of(("-", "X", "n")))[0]
    order = np.argsort(tie_order(np.arange(2), 0)).tolist()
    gain = [1.0, 1 / np.log(3)]
    # cycle 2: pages 0 and 1 tie in front; page 1 has changed; pages 1 and 2 are stale
    assert ndcg[0] == pytest.approx(gain[order.index(1)] / sum(gain))
    # cycle 3: page 1 (X - n = 0), then pages 0 and 2 (-1 both): only page 2 is stale
    second = int(np.argmin(tie_order(np.arange(3), 0)[[0, 2]]))
    assert ndcg[1] == pytest.approx(gain[1] if second == 1 else 0.0)


@given(
    seed=st.integers(0, 10_000),
    pages=st.sampled_from([1, 7, 60, 400]),
    days=st.sampled_from([5.0, 19.0, 33.0, 70.0]),
    warmup=st.integers(0, 3),
    budget=st.sampled_from([1, 0.05, 0.3, 1.0]),
    over=st.sampled_from(["visits", "cycles"]),
)
@settings(max_examples=25)
def test_classes_and_pages_give_identical_numbers(
    seed: int, pages: int, days: float, warmup: int, budget: float, over: str
) -> None:
    """To the last bit, cycle by cycle: random formulas, random webs, ties galore, crawls of more than 64 cycles."""
    data = Recording.from_arrays(random_tables(pages, days, seed))
    plan = Plan(1.0, budget if budget == 1 or round(budget * pages) else 1, warmup, seed=seed)
    formulas = create(3, 5, Leaves.of(terminal_set("all"), 0.7), new_dice(seed))
    found, ndcg = by_classes(formulas, data, plan, over)
    for i in range(len(formulas)):
        assert (found[i], ndcg[i]) == by_pages(formulas[i], data, plan, over), str(formulas[i])


@pytest.mark.parametrize(
    "tree",
    [
        1.0,
        "t",
        "X",
        "n",
        "CG",
        "NAD",
        "SAD",
        "AAD",
        "GAD",
        ("*", "t", "X"),
        ("*", "t", ("pow", "CG", 2.72)),
        ("-", 0.0, "GAD"),
        ("*", "GAD", ("exp", ("+", "NAD", "t"))),
        ("+", "GAD", "X"),
        ("pow", ("*", "t", "X"), 100.1),
    ],
)
@pytest.mark.parametrize("over", ["visits", "cycles"])
@pytest.mark.parametrize("form", ["rate", "chance"])
def test_known_formulas_give_identical_numbers(tree: Tree, over: str, form: str) -> None:
    """Every estimator, the paper's formulas, and such as never change their mind; with rates and with chances."""
    data = Recording.from_arrays(random_tables(500, 40.0, 3))
    plan = Plan(1.0, 0.1, 2, seed=5)
    found, ndcg = by_classes(of(tree), data, plan, over, form=form)
    assert (found[0], ndcg[0]) == by_pages(Expression.of(tree), data, plan, over, form)


NAMED = ("gp:t-cg", "gp:gad-nad")


def test_fitness_and_compare_agree(tmp_path: object) -> None:
    """What `recrawl compare` says of a formula is its fitness."""
    data = Recording.from_arrays(random_tables(300, 30.0, 8))
    plan = Plan(1.0, 0.1, 2, seed=1)
    comparison = compare(data, [*NAMED, "cg(form=rate)"], MEASURES, plan)
    formulas = of(("*", "t", ("pow", "CG", 2.72)), ("*", "GAD", ("exp", ("+", "NAD", "t"))), "CG")
    for measure in MEASURES:
        fitness = make_fitness(data, plan, measure.spec, "all", form="rate")
        want = [comparison.summary(policy, measure).mean for policy in (*NAMED, "cg(form=rate)")]
        assert fitness.total(fitness.curves(formulas)).tolist() == want


def test_real_pages_give_identical_numbers() -> None:
    """On pages of real sites in weekly cycles."""
    data = Recording.open(THREE_SITES)
    data = data.window(0, min(data.end, 182)).fixed()
    plan = Plan(7.0, 0.05, 2, seed=2)
    formulas = create(6, 6, Leaves.of(terminal_set("all"), 0.7), new_dice(4))
    found, ndcg = by_classes(formulas, data, plan)
    for i in range(len(formulas)):
        assert (found[i], ndcg[i]) == by_pages(formulas[i], data, plan)


def test_threads_do_not_matter() -> None:
    """One thread or three: the same bits."""
    data = Recording.from_arrays(random_tables(800, 25.0, 4))
    formulas = create(120, 7, Leaves.of(terminal_set("all"), 0.5), new_dice(6))
    one, three = (by_classes(formulas, data, Plan(1.0, 0.1, 2, seed=1), jobs=jobs) for jobs in (1, 3))
    assert one == three


def test_rooms_are_clean_after_use() -> None:
    """A formula's numbers do not depend on those judged before it."""
    data = Recording.from_arrays(random_tables(400, 25.0, 4))
    plan = Plan(1.0, 0.1, 2, seed=1)
    formulas = create(30, 6, Leaves.of(terminal_set("all"), 0.6), new_dice(6))
    together = by_classes(formulas, data, plan)
    for i in range(0, 30, 5):
        alone = by_classes(FormulaPopulation.of([formulas[i]]), data, plan)
        assert (alone[0][0], alone[1][0]) == (together[0][i], together[1][i])


def test_extended_terminals_crawl_page_by_page() -> None:
    """Where pages of one state differ otherwise, the crawl loop itself is the fitness, with threads or without."""
    data = Recording.from_arrays(random_tables(120, 15.0, 4))
    plan = Plan(1.0, 0.1, 2, seed=1)
    formulas = of(("*", "t", "site"), ("/", "age", "since"), ("*", "t", ("pow", "CG", 2.72)))
    slow, threaded = (make_fitness(data, plan, "ndcg", "extended", jobs=jobs) for jobs in (1, 2))
    assert isinstance(slow, PageFitness)
    curves = slow.curves(formulas)
    assert curves.tolist() == threaded.curves(formulas).tolist()
    assert curves[2].tolist() == by_classes(of(("*", "t", ("pow", "CG", 2.72))), data, plan)[1][0]


def test_other_measures_and_mortal_pages_crawl_page_by_page() -> None:
    """Any measure by name; lower is better is turned around; pages may be born and die."""
    lasting = Recording.from_arrays(random_tables(60, 15.0, 4))
    mortal = Recording.from_arrays(random_tables(60, 15.0, 4, births=True))
    plan = Plan(1.0, 0.2, 2, seed=1)
    ages = make_fitness(lasting, plan, "Age", "basic")
    assert isinstance(ages, PageFitness)
    assert (ages.total(ages.curves(of("t", "X"))) <= 0).all()
    assert isinstance(make_fitness(mortal, plan, "ndcg", "all"), PageFitness)
    assert isinstance(make_fitness(lasting, Plan(1.0, 0.2, 2, site_cap=1), "ndcg", "all"), PageFitness)


def test_change_bits_are_the_cycles_of_the_changes() -> None:
    """A change at the very end of a cycle belongs to it; pages are in the order of their tie-break."""
    data = recording(3, [[1.0, 2.5], [0.2, 0.4]])
    bits = change_bits(data, np.array([1.0, 2.0, 3.0]), seed=7)
    by_tie = np.argsort(tie_order(data.page_ids, 7))
    rows = np.stack([changed_in(bits, cycle) for cycle in (1, 2, 3)])
    assert rows[:, by_tie.tolist().index(0)].tolist() == [True, False, True]
    assert rows[:, by_tie.tolist().index(1)].tolist() == [True, False, False]


@given(st.lists(st.floats(0, 1), max_size=700))
@settings(max_examples=60)
def test_sums_are_numpys(values: list[float]) -> None:
    """The kernel adds in the order that numpy does, so both agree to the last digit."""
    held = np.array(values)
    assert pairwise_sum(held, len(held)) == held.sum()


def test_impossible_crawls_are_refused() -> None:
    """No cycle left to judge, or no visit to make."""
    data = recording(3, [[1.0], [2.0]])
    with pytest.raises(InputError, match="warm-up"):
        make_fitness(data, Plan(1.0, 1, 3))
    with pytest.raises(InputError, match="budget"):
        make_fitness(data, Plan(1.0, 0.01, 1))
