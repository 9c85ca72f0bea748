"""Evolution: better formulas from generation to generation, the same ones from the same seed, chosen by validation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recrawl.columns import FloatArray
from recrawl.errors import InputError
from recrawl.evolve.candidates import Archive, Candidate, choose, cycle_spread
from recrawl.evolve.evolution import EvolutionSettings, Generation, Ledger, discover, evolve, validate
from recrawl.evolve.fitness import ClassFitness, make_fitness
from recrawl.evolve.operators import OperatorRates
from recrawl.evolve.population import FormulaPopulation
from recrawl.plan import Plan
from recrawl.policies.formulas.expression import Expression, Tree
from recrawl.recording.recording import Recording
from support.small_recordings import random_tables

PLAN = Plan(1.0, 0.1, 2, seed=1)
SMALL = EvolutionSettings(population=40, generations=6, seeds=2, archive=10, depth=5)


def fitness(seed: int = 0, jobs: int = 1) -> ClassFitness:
    found = make_fitness(Recording.from_arrays(random_tables(300, 19.0, seed)), PLAN, "ndcg", "all", jobs=jobs)
    assert isinstance(found, ClassFitness)
    return found


def of(tree: Tree) -> Expression:
    return Expression.of(tree)


def test_the_papers_values_are_the_defaults() -> None:
    """Santos 2014, §5.2: 300 individuals, 50 generations, 5 seeds, N_b 50, depth 10 and 9, rates .9, .15, .05, .05."""
    settings = EvolutionSettings()
    assert (settings.population, settings.generations, settings.seeds, settings.archive) == (300, 50, 5, 50)
    assert (settings.depth, settings.rates.depth, settings.rates.tournament) == (10, 9, 2)
    rates = settings.rates
    assert (rates.crossover, rates.reproduction, rates.swap, rates.replacement) == (0.9, 0.15, 0.05, 0.05)


def test_evolution_climbs_and_reports() -> None:
    """The best never falls, the mean rises, and every generation is reported."""
    seen: list[Generation] = []
    run = evolve(Ledger(fitness()), SMALL, 3, seen.append)
    best = [g.best for g in seen]
    assert best == sorted(best)
    assert seen[-1].mean > seen[0].mean
    assert [g.number for g in seen] == list(range(1, 7))
    assert run.generations == seen
    assert all(0 < g.behaviours <= g.distinct <= 40 for g in seen)
    assert run.best[0][1] == best[-1]
    assert [fitness for _, fitness in run.best] == sorted((f for _, f in run.best), reverse=True)


def test_workers_and_shared_ledgers_do_not_matter() -> None:
    """The same seed gives the same evolution, with more threads, and with formulas that others have judged before."""
    one = evolve(Ledger(fitness()), SMALL, 3)
    shared = Ledger(fitness(jobs=3))
    evolve(shared, SMALL, 8)
    two = evolve(shared, SMALL, 3)
    assert [g.best for g in one.generations] == [g.best for g in two.generations]
    assert [g.mean for g in one.generations] == [g.mean for g in two.generations]
    assert one.best == two.best


def test_seeds_differ() -> None:
    """Another seed, another evolution."""
    one, two = (evolve(Ledger(fitness()), SMALL, seed) for seed in (1, 2))
    assert [g.mean for g in one.generations] != [g.mean for g in two.generations]


def test_no_formula_is_judged_twice() -> None:
    """Canonical duplicates are recognised, within a generation and across seeds."""
    judged: list[bytes] = []

    class Counting:
        def __init__(self) -> None:
            self.inner = fitness()
            self.measure, self.over, self.form = self.inner.measure, self.inner.over, self.inner.form

        def curves(self, population: FormulaPopulation) -> FloatArray:
            judged.extend(population.key(i) for i in range(len(population)))
            return self.inner.curves(population)

        def total(self, curves: FloatArray) -> FloatArray:
            return self.inner.total(curves)

    ledger = Ledger(Counting())
    runs = [evolve(ledger, SMALL, seed) for seed in (1, 2)]
    assert len(judged) == len(set(judged)) == len(ledger)
    assert len(judged) == sum(g.new for run in runs for g in run.generations) < 2 * 6 * 40


def test_the_archive_keeps_the_best_of_all_generations() -> None:
    """N_b best, each behaviour once, in its shortest spelling."""
    archive = Archive(room=2)
    curve = {name: np.full(3, value) for name, value in (("a", 0.1), ("b", 0.2), ("c", 0.3))}
    archive.add(of(("+", "t", "X")), 0.3, curve["c"])
    archive.add(of("n"), 0.1, curve["a"])
    archive.add(of("t"), 0.3, curve["c"])
    archive.add(of(("*", "t", "X")), 0.3, curve["c"])
    for i in range(10):
        archive.add(of(("+", "X", float(i))), 0.2, curve["b"] + i)
    assert [(str(formula), fitness) for formula, fitness in archive.best()] == [("t", 0.3), ("X + 0", 0.2)]


def test_selections_by_hand() -> None:
    """Best goes by validation, sum and avg by both minus their deviation (Santos 2014, §4.2.3)."""
    lucky = Candidate(of("t"), 0, train=0.60, validation=0.74)
    steady = Candidate(of("X"), 0, train=0.72, validation=0.70)
    steadier = Candidate(of("n"), 0, train=0.675, validation=0.675)
    assert lucky.score("sum") == pytest.approx(1.34 - 0.07)
    assert lucky.score("avg") == pytest.approx(0.67 - 0.07)
    held = [lucky, steady, steadier]
    assert [choose(held, name).formula for name in ("best", "sum", "avg")] == [of("t"), of("X"), of("X")]


def test_discovery_validates_and_simplifies() -> None:
    """The chosen formula is the best in validation; its readable form crawls exactly like it."""
    train, other = fitness(0), fitness(1)
    found = discover(train, other, SMALL, seed=5)
    assert len(found.candidates) <= SMALL.seeds * SMALL.archive
    assert found.best.validation == max(c.validation for c in found.candidates)
    for data, value in ((train, found.best.train), (other, found.best.validation)):
        assert data.total(data.curves(FormulaPopulation.of([found.best.formula]))).tolist() == [value]
    assert {c.seed for c in found.candidates} == {5, 6}


def test_validation_is_by_the_other_set() -> None:
    """Every archived formula is judged on the validation set."""
    run = evolve(Ledger(fitness(0)), SMALL, 1)
    other = fitness(1)
    for candidate in validate([run], fitness(0), other)[:3]:
        assert other.total(other.curves(FormulaPopulation.of([candidate.formula])))[0] == candidate.validation


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (EvolutionSettings(population=0), "population must be at least 1"),
        (EvolutionSettings(generations=0), "generations"),
        (EvolutionSettings(depth=40), "a depth of 40"),
        (EvolutionSettings(rates=OperatorRates(depth=0)), "a crossover depth of 0"),
        (EvolutionSettings(rates=OperatorRates(crossover=1.5)), "crossover rate"),
        (EvolutionSettings(rates=OperatorRates(tournament=0)), "tournament"),
        (EvolutionSettings(terminals="none"), "unknown terminal set 'none'"),
    ],
)
def test_impossible_settings_are_refused(settings: EvolutionSettings, said: str) -> None:
    """In one line."""
    with pytest.raises(InputError, match=said):
        settings.check()


def test_selections_as_printed_and_as_in_the_program() -> None:
    """Best is by validation as printed and by training in the program; sigma is of the two values, or of all cycles.

    Cycles of training .4 and .8 (mean .6), of validation .5 and .9 (mean .7): the common mean is .65, and the program's
    sigma the root of .25**2 + .15**2 + .15**2 + .25**2 = .17, about .4123. As printed sigma is half of .7 - .6.
    """
    spread = cycle_spread(np.array([[0.4, 0.8]]), np.array([[0.5, 0.9]]))
    assert spread.tolist() == pytest.approx([0.17**0.5])
    one = Candidate(of("t"), 0, 0.6, 0.7, float(spread[0]))
    assert one.score("best") == 0.7
    assert one.score("best in training") == 0.6
    assert one.score("sum") == pytest.approx(1.3 - 0.05)
    assert one.score("avg") == pytest.approx(0.65 - 0.05)
    assert one.score("sum by cycles") == pytest.approx(1.3 - 0.17**0.5)
    assert one.score("avg by cycles") == pytest.approx(0.65 - 0.17**0.5)
    other = Candidate(of("X"), 0, 0.65, 0.6, 0.0)
    assert choose([one, other], "best").formula == of("t")
    assert choose([one, other], "best in training").formula == of("X")


def test_parents_may_be_the_archive() -> None:
    """Lines 11 and 12 of Listing 1 read literally: the best of all generations breed; populations stay as large."""
    settings = replace(SMALL, parents="archive")
    runs = [evolve(Ledger(fitness(0)), s, 1) for s in (SMALL, settings)]
    assert runs[0].generations[0] == runs[1].generations[0]  # the first generation is drawn
    assert runs[0].generations[1] != runs[1].generations[1]
    best = [g.best for g in runs[1].generations]
    assert best == sorted(best)
    with pytest.raises(InputError, match="parents must be one of population, archive"):
        replace(SMALL, parents="nobody").check()
