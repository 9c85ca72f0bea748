"""GP4C: formulas judged a second, beside DEAP with numpy, and the whole experiment of the paper.

One individual is one simulated crawl of 17 judged cycles at 5% with ChangeRate and NDCG. The individuals are drawn
from all generations of a real evolution. DEAP compiles a tree to a Python function that runs over arrays of all pages,
as its tutorials do. Both get the same trees on the same pages, on one core.

`python -m benchmarks.gp4c speed` leaves out the whole experiment.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from deap import gp

from recrawl.columns import BoolArray, FloatArray
from recrawl.evolve.canonical import canonical
from recrawl.evolve.evolution import BREEDING, CREATION, EvolutionSettings, Ledger, evolve
from recrawl.evolve.fitness import ClassFitness, make_fitness
from recrawl.evolve.ground import changed_in
from recrawl.evolve.operators import breed, create
from recrawl.evolve.population import FormulaPopulation, Leaves, new_dice
from recrawl.papers.gp4c.gp4c_protocol import Gp4cProtocol
from recrawl.papers.gp4c.gp4c_trials import run_experiment
from recrawl.plan import Plan
from recrawl.policies.formulas.closure import CUT, EXP_CUT
from recrawl.policies.formulas.expression import Tree
from recrawl.policies.formulas.terminals import SETS, terminal_set
from recrawl.simulate.synthetic.synthesis import synthesize

WARMUP, CYCLES, SHARE = 2, 19, 0.05
PLAN = Plan(1.0, SHARE, WARMUP, seed=1)
SAMPLE = {80_000: 32, 400_000: 12}  # individuals that DEAP judges, too
PAPER_PAGES = 417_048


# -- DEAP ------------------------------------------------------------------------------------------------------------


def _divide(a: Any, b: Any) -> Any:
    zero = np.equal(b, 0)
    return np.where(zero, 0.0, np.clip(a / np.where(zero, 1.0, b), -CUT, CUT))


def _power(a: Any, b: Any) -> Any:
    value = np.power(np.asarray(a, dtype=float), b)
    return np.where(np.equal(a, 0) | np.isnan(value), 0.0, np.clip(value, -CUT, CUT))


def _log(a: Any) -> Any:
    positive = np.greater(a, 0)
    return np.where(positive, np.log(np.where(positive, a, 1.0)), 0.0)


PRIMITIVES: dict[str, tuple[str, Callable[..., Any], int]] = {
    "+": ("add", lambda a, b: np.clip(a + b, -CUT, CUT), 2),
    "-": ("sub", lambda a, b: np.clip(a - b, -CUT, CUT), 2),
    "*": ("mul", lambda a, b: np.clip(a * b, -CUT, CUT), 2),
    "/": ("divide", _divide, 2),
    "pow": ("power", _power, 2),
    "log": ("log", _log, 1),
    "exp": ("exp", lambda a: np.exp(np.minimum(a, EXP_CUT)), 1),
}


def deap_set() -> gp.PrimitiveSet:
    """The primitives and terminals of the paper."""
    held = gp.PrimitiveSet("MAIN", len(SETS["all"]))
    held.renameArguments(**{f"ARG{i}": name for i, name in enumerate(SETS["all"])})
    for name, function, arity in PRIMITIVES.values():
        held.addPrimitive(function, arity, name=name)
    return held


def deap_tree(tree: Tree, held: gp.PrimitiveSet) -> gp.PrimitiveTree:
    """The same tree as DEAP has it."""

    def text(node: Tree) -> str:
        if isinstance(node, tuple):
            return f"{PRIMITIVES[str(node[0])][0]}({', '.join(map(text, node[1:]))})"
        return str(node)

    return gp.PrimitiveTree.from_string(text(tree), held)


def deap_crawl(score: Callable[..., Any], changed: BoolArray, budget: int, gain: FloatArray) -> tuple[float, float]:
    """Crawl in arrays of all pages, with the functions of numpy."""
    cycles, pages = changed.shape
    n, X, last_hit, total, decay = (np.zeros(pages) for _ in range(5))
    visited, stale = np.zeros(pages), np.zeros(pages, dtype=bool)
    rates, ndcg = [], []
    for cycle in range(1, cycles + 1):
        stale |= changed[cycle - 1]
        chosen = np.arange(pages)
        if cycle > WARMUP:
            t, visits = cycle - visited, np.maximum(n, 1)
            lines = [-np.log((n - X + 0.5) / (n + 0.5)), X / visits, last_hit, 2 * total / (visits * (visits + 1))]
            lines.append(decay / (1 - 0.5**visits))
            scores = np.broadcast_to(score(n, X, t, *(1 - np.exp(-line * t) for line in lines)), pages)
            top = np.argpartition(-scores, budget - 1)[:budget]
            chosen = top[np.argsort(-scores[top], kind="stable")]
            found = stale[chosen]
            rates.append(found.mean())
            ndcg.append(gain[found].sum() / gain[: min(budget, int(stale.sum()))].sum())
        hit = stale[chosen]
        n[chosen] += 1
        X[chosen] += hit
        last_hit[chosen] = hit
        total[chosen] += hit * n[chosen]
        decay[chosen] = 0.5 * decay[chosen] + 0.5 * hit
        visited[chosen] = cycle
        stale[chosen] = False
    return float(np.mean(rates)), float(np.mean(ndcg))


# -- side by side ----------------------------------------------------------------------------------------------------


@dataclass
class Web:
    """The data in both forms."""

    fitness: ClassFitness
    changed: BoolArray

    @classmethod
    def of(cls, pages: int) -> Web:
        recording = synthesize("brdc12", pages, 57, seed=1, only=()).window(0, CYCLES)
        fitness = make_fitness(recording, PLAN, "ndcg", "all")
        assert isinstance(fitness, ClassFitness)
        return cls(fitness, np.stack([changed_in(fitness.ground.bits, c) for c in range(1, CYCLES + 1)]))


def individuals(web: Web, count: int) -> FormulaPopulation:
    """Draw individuals evenly from 20 generations of an evolution, as they were bred."""
    settings = EvolutionSettings()
    leaves = Leaves.of(terminal_set("all"), settings.variable_share)
    population = create(settings.population, settings.depth, leaves, new_dice(7, CREATION))
    dice, draw = new_dice(7, BREEDING), np.random.default_rng(7)
    ledger, drawn = Ledger(web.fitness), []
    for _ in range(20):
        drawn += [population[i] for i in draw.choice(len(population), count // 20, replace=False)]
        forms = canonical(population)
        curves, _ = ledger.curves(forms, [forms.key(i) for i in range(len(forms))])
        population = breed(population, web.fitness.total(curves), settings.rates, leaves, dice)
    return FormulaPopulation.of(drawn)


def best_of(repeats: int, work: Callable[[], Any]) -> float:
    """Seconds of the fastest repetition."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def side_by_side(pages: int) -> None:
    """Judge the same individuals both ways."""
    web = Web.of(pages)
    drawn = individuals(web, 320)
    size = SAMPLE[pages]
    rows = np.linspace(0, len(drawn) - 1, size).astype(int)
    some = FormulaPopulation(drawn.code[rows], drawn.value[rows], drawn.size[rows])
    ours = best_of(5, lambda: web.fitness.both(canonical(some))) / size
    whole = best_of(3, lambda: web.fitness.both(canonical(drawn))) / len(drawn)
    held, ground = deap_set(), web.fitness.ground
    begin = time.perf_counter()
    with np.errstate(all="ignore"):
        theirs = [
            deap_crawl(gp.compile(deap_tree(some[i].tree, held), held), web.changed, ground.budget, ground.gain)
            for i in range(size)
        ]
    deap = (time.perf_counter() - begin) / size
    rates = web.fitness.both(canonical(some))[0].mean(axis=1)
    apart = np.abs(rates - [rate for rate, _ in theirs])
    print(
        f"{pages:,} pages x {CYCLES - WARMUP} cycles: {1 / ours:,.0f} individuals a second, DEAP {1 / deap:.2f}: "
        f"{deap / ours:.0f}x on the same {size} trees (mean of {len(drawn)}: {whole * 1000:.2f} ms); "
        f"ChangeRates differ by {np.median(apart):.4f} (median; ties are broken otherwise)"
    )


def one_evolution() -> None:
    """300 x 50 on a fold of the paper's data."""
    web = Web.of(83_000)
    evolve(Ledger(web.fitness), EvolutionSettings(generations=2), 1)
    ledger = Ledger(web.fitness)
    begin = time.perf_counter()
    run = evolve(ledger, EvolutionSettings(), 1)
    seconds = time.perf_counter() - begin
    bred = 300 * 50
    behaviours = sum(g.behaviours for g in run.generations) / bred
    print(
        f"one evolution, 300 x 50 on 83,000 pages, one core: {seconds:.1f} s; {100 * (1 - len(ledger) / bred):.0f}% of "
        f"the individuals were duplicates, {100 * behaviours:.0f}% behaved unlike the others of their generation"
    )


def whole_experiment(jobs: int = 2) -> None:
    """5 folds x 5 seeds x 300 x 50, one fitness function and one set of terminals, tests included."""
    recording = synthesize("brdc12", PAPER_PAGES, 57, seed=1, only=())
    protocol = Gp4cProtocol(Plan(1.0, SHARE, WARMUP, seed=1), terminals=("all",), fitness=("ndcg",), jobs=jobs)
    begin = time.perf_counter()
    experiment = run_experiment(recording, protocol)
    minutes = (time.perf_counter() - begin) / 60
    pages = experiment.folds[0].pages
    print(f"the paper's experiment (NDCG, All), {pages[0]:,} pages to train on, {jobs} threads: {minutes:.1f} minutes")


def main() -> None:
    """Measure."""
    for pages in SAMPLE:
        side_by_side(pages)
    one_evolution()
    if "speed" not in sys.argv:
        whole_experiment()


if __name__ == "__main__":
    main()
