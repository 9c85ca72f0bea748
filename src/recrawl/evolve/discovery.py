"""From training and validation to one formula: all seeds, the candidates, the choice, and a readable form of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from recrawl.columns import FloatArray
from recrawl.evolve.evolution import (
    SELECTIONS,
    SHORT,
    Candidate,
    EvolutionRun,
    EvolutionSettings,
    Generation,
    Ledger,
    choose,
    evolve,
    nearly_best,
    validate,
)
from recrawl.evolve.fitness import Fitness
from recrawl.evolve.population import FormulaPopulation
from recrawl.evolve.simplify import sample_states, simplify
from recrawl.policies.formulas.expression import Expression

Watch = Callable[[Generation], None]


@dataclass(frozen=True)
class Discovery:
    """What an evolution with several seeds found."""

    settings: EvolutionSettings
    runs: list[EvolutionRun]
    candidates: list[Candidate]  # of all seeds
    chosen: dict[str, Candidate]  # by selection: best, sum, avg, and short
    simulated: int  # different formulas that were judged in training

    @property
    def best(self) -> Candidate:
        """The formula with the highest fitness in validation."""
        return self.chosen["best"]


def discover(
    train: Fitness, validation: Fitness, settings: EvolutionSettings, seed: int = 0, watch: Watch | None = None
) -> Discovery:
    """Evolve with the seeds seed, seed + 1, ..., validate the best of each, choose, and make the choice readable."""
    ledger = Ledger(train)
    runs = [evolve(ledger, settings, seed + i, watch) for i in range(settings.seeds)]
    candidates = validate(runs, validation)
    chosen = {name: readable(choose(candidates, name), train, validation) for name in SELECTIONS}
    plain = [readable(candidate, train, validation) for candidate in nearly_best(candidates)]
    chosen[SHORT] = min(plain, key=lambda c: (len(c.formula), -c.validation))
    return Discovery(settings, runs, candidates, chosen, len(ledger))


def readable(candidate: Candidate, *sets: Fitness) -> Candidate:
    """Simplify a candidate's formula as far as its crawls stay the same, cycle by cycle."""
    states = sample_states()
    for prune in (True, False):
        shorter = simplify(candidate.formula, states=states, prune=prune)
        if all(_same(candidate.formula, shorter, fitness) for fitness in sets):
            return replace(candidate, formula=shorter)
    return candidate


def _same(a: Expression, b: Expression, fitness: Fitness) -> bool:
    curves = fitness.curves(FormulaPopulation.of([a, b]))
    return bool(np.array_equal(curves[0], curves[1], equal_nan=True))


def fitness_of(expressions: list[Expression], fitness: Fitness) -> FloatArray:
    """Judge formulas."""
    return fitness.total(fitness.curves(FormulaPopulation.of(expressions)))
