"""The genetic algorithm that finds weights (Johnson et al., section 3).

An individual is a string of bits, seven for each weight: a number from 0 to 127, scaled so that the weights sum to 1.
In each generation the population is doubled: parents are drawn by roulette on their fitness, crossed at one point with
probability 0.90, and a child is chosen with probability 0.01 to have one bit flipped. Old and new are sorted by
fitness and the best half lives on (the elitism of CHC, Eshelman 1991).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from recrawl.columns import BoolArray, FloatArray, PageIds
from recrawl.errors import InputError
from recrawl.focus.scores import EXTRAS, LEVELS, SCORES
from recrawl.focus.simulator import Fleet, chances
from recrawl.focus.strategy import Strategy, normalised
from recrawl.progress import Advance, silent

BITS = 7
LARGEST = 2**BITS - 1


@dataclass(frozen=True)
class Genome:
    """Which weights a string of bits holds: those of `scores`, for each sub-strategy."""

    scores: tuple[str, ...] = SCORES
    within: tuple[int, ...] = ()

    @property
    def length(self) -> int:
        """Bits of an individual."""
        return BITS * len(self.scores) * (len(self.within) + 1)

    def decode(self, bits: BoolArray, name: str = "evolved") -> Strategy:
        """Read the weights."""
        numbers = bits.reshape(len(self.within) + 1, len(self.scores), BITS) @ (1 << np.arange(BITS)[::-1])
        return Strategy(name, tuple(normalised(row.tolist(), self.scores) for row in numbers), self.within)

    def encode(self, strategy: Strategy) -> BoolArray:
        """Write a strategy as bits, its largest weight as 127; a simpler one serves at every distance.

        Raises InputError if it weighs scores that this genome has not.
        """
        foreign = [s for part in strategy.parts for s, w in part.items() if w and s not in self.scores]
        if foreign or (strategy.within and strategy.within != self.within):
            what = f"weighs {foreign[0]}" if foreign else f"changes at other distances than {self.within}"
            raise InputError(f"strategy {strategy.name!r} {what}: it cannot start this evolution")
        parts = strategy.parts if strategy.within else strategy.parts * (len(self.within) + 1)
        rows = []
        for part in parts:
            weights = np.array([part.get(score, 0.0) for score in self.scores])
            rows.append(np.rint(LARGEST * weights / max(weights.max(), 1e-12)).astype(np.int64))
        numbers = np.concatenate(rows)
        return ((numbers[:, None] >> np.arange(BITS)[::-1]) & 1).astype(np.bool_).ravel()


@dataclass(frozen=True)
class GeneticSettings:
    """The paper's settings."""

    population: int = 50
    generations: int = 50
    crossover: float = 0.90
    mutation: float = 0.01
    simulations: int = 3
    recall_fitness: bool = True  # an individual that was seen before has the fitness it had: same crawls, same result

    def __post_init__(self) -> None:
        if self.population < 2 or self.generations < 0 or self.simulations < 1:
            raise InputError("evolution needs a population of at least 2, no negative generations, and a simulation")
        if not (0 <= self.crossover <= 1 and 0 <= self.mutation <= 1):
            raise InputError("crossover and mutation are probabilities, from 0 to 1")


@dataclass(frozen=True)
class Evolution:
    """The last population, best first, and the course of the fitness: best and mean of each generation."""

    population: tuple[BoolArray, ...]
    fitness: FloatArray
    best: FloatArray
    mean: FloatArray
    evaluations: int = 0


Evaluate = Callable[[list[BoolArray]], FloatArray]


def evolve_bits(
    evaluate: Evaluate,
    length: int,
    settings: GeneticSettings,
    seed: int,
    start: Sequence[BoolArray] = (),
    advance: Advance = silent,
) -> Evolution:
    """Evolve strings of bits; the first population is `start`, filled up at random."""
    rng = np.random.default_rng(seed)
    known: dict[bytes, float] = {}
    evaluations = 0

    def judge(individuals: list[BoolArray]) -> FloatArray:
        nonlocal evaluations
        fresh = {bits.tobytes(): bits for bits in individuals if bits.tobytes() not in known}
        asked = list(fresh.values()) if settings.recall_fitness else individuals
        evaluations += len(asked)
        known.update(zip((bits.tobytes() for bits in asked), evaluate(asked).tolist() if asked else [], strict=True))
        return np.array([known[bits.tobytes()] for bits in individuals])

    population = [bits.copy() for bits in start[: settings.population]]
    population += [rng.random(length) < 0.5 for _ in range(settings.population - len(population))]
    fitness = judge(population)
    course = [(fitness.max(), fitness.mean())]
    for generation in range(settings.generations):
        advance(generation, settings.generations, f"best {fitness.max():.3f}")
        children = breed(population, fitness, settings, rng)
        everyone, worth = population + children, np.concatenate([fitness, judge(children)])
        order = survivors(everyone, worth, settings.population)
        population, fitness = [everyone[i] for i in order], worth[order]
        course.append((fitness.max(), fitness.mean()))
    advance(settings.generations, settings.generations, f"best {fitness.max():.3f}")
    last = np.argsort(-fitness, kind="stable")
    best, mean = np.array(course).T
    return Evolution(tuple(population[i] for i in last), fitness[last], best, mean, evaluations)


def survivors(everyone: Sequence[BoolArray], worth: FloatArray, count: int) -> list[int]:
    """The best `count` of all, each string of bits once as long as there are others; of equals, the older one.

    With copies the population would be one individual after a few generations: the best has many equal children.
    """
    order = np.argsort(-worth, kind="stable").tolist()
    first: dict[bytes, int] = {}
    for i in order:
        first.setdefault(everyone[i].tobytes(), i)
    chosen = list(first.values())
    taken = set(chosen)
    return (chosen + [i for i in order if i not in taken])[:count]


def breed(
    population: Sequence[BoolArray], fitness: FloatArray, settings: GeneticSettings, rng: np.random.Generator
) -> list[BoolArray]:
    """Make as many children as there are parents."""
    total = float(fitness.sum())
    wheel = fitness / total if total > 0 else np.full(len(fitness), 1.0 / len(fitness))
    children: list[BoolArray] = []
    while len(children) < len(population):
        a, b = (population[i] for i in rng.choice(len(population), size=2, p=wheel))
        if rng.random() < settings.crossover:
            a, b = cross(a, b, int(rng.integers(0, len(a) + 1)))
        for child in (a.copy(), b.copy()):
            if rng.random() < settings.mutation:
                place = rng.integers(0, len(child))
                child[place] = ~child[place]
            children.append(child)
    return children[: len(population)]


def cross(a: BoolArray, b: BoolArray, point: int) -> tuple[BoolArray, BoolArray]:
    """Match the first `point` bits of each with the rest of the other (Figure 2)."""
    return np.concatenate([a[:point], b[point:]]), np.concatenate([b[:point], a[point:]])


@dataclass(frozen=True)
class Search:
    """What to evolve: the paper's weights, or also the options that it names as future work."""

    name: str = "evolved"
    anchor_and_host: bool = False  # two more scores: similar anchors, good pages on the host
    explore: float = 0.0  # reward of good pages far from the seeds, see `fitness`
    within: tuple[int, ...] = ()  # sub-strategies that change at these distances from the seeds
    start: tuple[Strategy, ...] = field(default=(), repr=False)  # strategies of earlier runs, to begin with
    levels: int = LEVELS  # generations of ancestors whose classifier scores are weighed (the paper's k)

    def __post_init__(self) -> None:
        if not 1 <= self.levels <= LEVELS:
            raise InputError(f"levels must be from 1 to {LEVELS}, not {self.levels}")

    @property
    def genome(self) -> Genome:
        """The weights to find."""
        scores = SCORES[: len(SCORES) - LEVELS + self.levels]
        return Genome(scores + EXTRAS if self.anchor_and_host else scores, self.within)


def evolve(
    fleet: Fleet,
    seeds: PageIds,
    pages: int,
    settings: GeneticSettings,
    seed: int,
    search: Search | None = None,
    advance: Advance = silent,
) -> tuple[list[Strategy], Evolution]:
    """Evolve strategies for crawls of `pages` pages from `seeds`; returns the different ones, best first."""
    search = search or Search()
    genome = search.genome
    runs = chances(seed, settings.simulations)

    def evaluate(individuals: list[BoolArray]) -> FloatArray:
        strategies = [genome.decode(bits) for bits in individuals]
        return fleet.fitness(strategies, seeds, pages, runs, search.explore)

    start = [genome.encode(strategy) for strategy in search.start]
    evolution = evolve_bits(evaluate, genome.length, settings, seed, start, advance)
    found: dict[tuple[tuple[float, ...], ...], Strategy] = {}
    for bits, fitness in zip(evolution.population, evolution.fitness, strict=True):
        strategy = genome.decode(bits)
        key = tuple(tuple(part.values()) for part in strategy.parts)
        if key not in found:
            name = f"{search.name} {len(found) + 1}"
            story = {"fitness": float(fitness), "pages": pages, "seeds": len(seeds), "seed": seed}
            found[key] = Strategy(name, strategy.parts, strategy.within, story)
    return list(found.values()), evolution
