"""The evolution of score formulas (Santos et al. 2014, Listing 1): training, then validation of the best.

The archive holds the best individuals of all generations; the choice among them comes after validation. `discover`
goes all the way to one formula: all seeds, the candidates, the choice, and a readable form of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from recrawl.columns import FloatArray
from recrawl.errors import InputError
from recrawl.evolve.candidates import (
    PROGRAM_SELECTIONS,
    SELECTIONS,
    SHORT,
    Archive,
    Candidate,
    choose,
    cycle_spread,
    nearly_best,
)
from recrawl.evolve.canonical import canonical
from recrawl.evolve.fitness import Fitness
from recrawl.evolve.operators import OperatorRates, breed, create
from recrawl.evolve.population import FormulaPopulation, Leaves, new_dice
from recrawl.evolve.simplify import sample_states, simplify
from recrawl.policies.formulas.closure import MAX_DEPTH
from recrawl.policies.formulas.expression import Expression
from recrawl.policies.formulas.terminals import terminal_set

CREATION, BREEDING = 0, 1  # streams of random numbers
PARENTS = ("population", "archive")


@dataclass(frozen=True)
class EvolutionSettings:
    """Parameters of an evolution; defaults are the paper's values."""

    terminals: str = "all"
    population: int = 300
    generations: int = 50
    seeds: int = 5  # independent evolutions
    archive: int = 50  # best individuals that go to validation
    depth: int = 10  # of created trees
    variable_share: float = 0.5  # leaves that are terminals; the others are constants
    parents: str = "population"  # who breeds: the generation, or the archive of all generations
    rates: OperatorRates = field(default_factory=OperatorRates)

    def check(self) -> None:
        """Raise InputError for settings that are out of range."""
        terminal_set(self.terminals)
        for name in ("population", "generations", "seeds", "archive"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1")
        for name, depth in (("depth", self.depth), ("crossover depth", self.rates.depth)):
            if not 1 <= depth <= MAX_DEPTH:
                raise InputError(f"a {name} of {depth} is not between 1 and {MAX_DEPTH}")
        for name in ("reproduction", "crossover", "swap", "replacement"):
            if not 0 <= getattr(self.rates, name) <= 1:
                raise InputError(f"the {name} rate must be between 0 and 1")
        if self.parents not in PARENTS:
            raise InputError(f"parents must be one of {', '.join(PARENTS)}, not {self.parents!r}")
        if not 0 <= self.rates.parents <= MAX_DEPTH:
            raise InputError(f"a depth of parents of {self.rates.parents} is not between 0 and {MAX_DEPTH}")
        if self.rates.tournament < 1:
            raise InputError("a tournament needs at least 1 individual")


@dataclass(frozen=True)
class Generation:
    """One generation in numbers."""

    seed: int
    number: int  # from 1
    best: float  # fitness of the best so far
    mean: float
    distinct: int  # different formulas
    new: int  # of these, never seen before
    behaviours: int  # different crawls
    size: float  # mean nodes


@dataclass(frozen=True)
class EvolutionRun:
    """Result of one evolution."""

    seed: int
    generations: list[Generation]
    best: list[tuple[Expression, float]]  # the archive


Watch = Callable[[Generation], None]


class Ledger:
    """The curves of all formulas judged so far, by canonical form. Shared by the seeds of one training set."""

    def __init__(self, fitness: Fitness) -> None:
        self.fitness = fitness
        self._known: dict[bytes, FloatArray] = {}

    def __len__(self) -> int:
        return len(self._known)

    @property
    def judged(self) -> list[bytes]:
        """The canonical forms, in the order in which they were simulated."""
        return list(self._known)

    def curves(self, forms: FormulaPopulation, keys: list[bytes]) -> tuple[FloatArray, int]:
        """Return the curves of canonical formulas, and how many had to be simulated."""
        first: dict[bytes, int] = {}
        for i, key in enumerate(keys):
            if key not in self._known:
                first.setdefault(key, i)
        if first:
            rows = list(first.values())
            new = FormulaPopulation(forms.code[rows], forms.value[rows], forms.size[rows])
            self._known.update(zip(first, self.fitness.curves(new), strict=True))
        return np.stack([self._known[key] for key in keys]), len(first)


def evolve(ledger: Ledger, settings: EvolutionSettings, seed: int, watch: Watch | None = None) -> EvolutionRun:
    """Evolve formulas from one seed."""
    settings.check()
    leaves = Leaves.of(terminal_set(settings.terminals), settings.variable_share)
    population = create(settings.population, settings.depth, leaves, new_dice(seed, CREATION))
    dice = new_dice(seed, BREEDING)
    archive = Archive(settings.archive)
    generations: list[Generation] = []
    for number in range(1, settings.generations + 1):
        forms = canonical(population)
        keys = [forms.key(i) for i in range(len(forms))]
        curves, new = ledger.curves(forms, keys)
        fitness = ledger.fitness.total(curves)
        _keep(archive, forms, keys, fitness, curves)
        best = max(float(fitness.max()), generations[-1].best if generations else -np.inf)
        behaviours = len({curve.tobytes() for curve in curves})
        generations.append(
            Generation(
                seed, number, best, float(fitness.mean()), len(set(keys)), new, behaviours, float(forms.size.mean())
            )
        )
        if watch is not None:
            watch(generations[-1])
        if number < settings.generations:
            parents, worth = (population, fitness) if settings.parents == "population" else _parents(archive)
            population = breed(parents, worth, settings.rates, leaves, dice, settings.population)
    return EvolutionRun(seed, generations, archive.best())


def _parents(archive: Archive) -> tuple[FormulaPopulation, FloatArray]:
    """The archive as parents: lines 11 and 12 of Listing 1 let the N_b fittest of all generations evolve on."""
    best = archive.best()
    return FormulaPopulation.of([formula for formula, _ in best]), np.array([worth for _, worth in best])


def _keep(
    archive: Archive, forms: FormulaPopulation, keys: list[bytes], fitness: FloatArray, curves: FloatArray
) -> None:
    """Offer the generation's best to the archive; no other formula of it can be among the best of all."""
    seen: set[bytes] = set()
    for i in np.argsort(-fitness, kind="stable"):
        if keys[i] not in seen:
            seen.add(keys[i])
            archive.add(forms[i], float(fitness[i]), curves[i])


def validate(runs: list[EvolutionRun], train: Fitness, validation: Fitness) -> list[Candidate]:
    """Judge all archived formulas on the validation set."""
    archived = [(run.seed, formula, worth) for run in runs for formula, worth in run.best]
    formulas = FormulaPopulation.of([formula for _, formula, _ in archived])
    curves = validation.curves(formulas)
    spread = cycle_spread(train.curves(formulas), curves)
    return [
        Candidate(formula, seed, worth, float(value), float(sigma))
        for (seed, formula, worth), value, sigma in zip(archived, validation.total(curves), spread, strict=True)
    ]


@dataclass(frozen=True)
class Discovery:
    """Result of an evolution with several seeds."""

    settings: EvolutionSettings
    runs: list[EvolutionRun]
    candidates: list[Candidate]  # of all seeds
    chosen: dict[str, Candidate]  # by selection: the paper's, the program's, and short
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
    return conclude(train, validation, settings, runs, len(ledger))


def conclude(
    train: Fitness, validation: Fitness, settings: EvolutionSettings, runs: list[EvolutionRun], simulated: int
) -> Discovery:
    """Validate the best formulas of all runs, choose, and make the choice readable."""
    candidates = validate(runs, train, validation)
    picked = {name: choose(candidates, name) for name in (*SELECTIONS, *PROGRAM_SELECTIONS)}
    plainer = {c.formula.key: readable(c, train, validation).formula for c in picked.values()}
    chosen = {name: replace(c, formula=plainer[c.formula.key]) for name, c in picked.items()}
    plain = [readable(candidate, train, validation) for candidate in nearly_best(candidates)]
    chosen[SHORT] = min(plain, key=lambda c: (len(c.formula), -c.validation))
    return Discovery(settings, runs, candidates, chosen, simulated)


def readable(candidate: Candidate, *sets: Fitness) -> Candidate:
    """Simplify a candidate's formula as far as its crawls stay the same, cycle by cycle."""
    states = sample_states(form=sets[0].form)
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
