"""The seeds of an evolution as independent pieces of work for an engine, with the results of one process.

In one process the seeds share a ledger, so that no formula is simulated twice. On an engine each seed has its own: some
formulas are simulated by several seeds, and what is new in a generation is counted afterwards, seed by seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from recrawl.evaluate.parallel import SentRecording
from recrawl.evaluate.work_engine import Shared, open_engine
from recrawl.evolve.evolution import EvolutionRun, EvolutionSettings, Ledger, evolve
from recrawl.evolve.fitness import Fitness, make_fitness
from recrawl.plan import Plan
from recrawl.progress import Advance, silent


@dataclass
class SentTraining:
    """What all seeds of an evolution are bred on, as it is sent to workers."""

    recording: SentRecording
    plan: Plan
    measure: str
    over: str
    form: str
    settings: EvolutionSettings

    @cached_property
    def fitness(self) -> Fitness:
        """The fitness, made once where it is used; one thread, since a cluster works on several seeds at once."""
        return make_fitness(
            self.recording.open(), self.plan, self.measure, self.settings.terminals, over=self.over, form=self.form
        )


SeedResult = tuple[EvolutionRun, list[bytes]]  # and the canonical forms that it simulated, in order


def evolve_on(engine: str, training: SentTraining, seed: int, advance: Advance = silent) -> list[SeedResult]:
    """Evolve every seed on an engine; the results are in the order of the seeds."""
    settings = training.settings
    found: dict[int, SeedResult] = {}
    with open_engine(engine) as opened:
        shared = opened.share(training)
        pieces = ((shared, seed + i) for i in range(settings.seeds))
        for number, result in opened.each(_work, pieces):
            found[number] = result
            best = result[0].generations[-1].best
            done, total = len(found) * settings.generations, settings.seeds * settings.generations
            advance(done, total, f"seed {seed + number}: best {best:.4f}")
    return [found[number] for number in range(settings.seeds)]


def _work(piece: tuple[Shared, int]) -> SeedResult:
    shared, seed = piece
    training: SentTraining = shared.load()
    ledger = Ledger(training.fitness)
    return evolve(ledger, training.settings, seed), ledger.judged


def as_of_one_ledger(results: Sequence[SeedResult]) -> tuple[list[EvolutionRun], int]:
    """Count what is new as a ledger shared by all seeds does; returns the runs and how many formulas there are."""
    known: set[bytes] = set()
    runs = []
    for run, judged in results:
        forms = iter(judged)
        own = [list(islice(forms, generation.new)) for generation in run.generations]
        new = [sum(form not in known for form in some) for some in own]
        known.update(judged)
        generations = [replace(generation, new=count) for generation, count in zip(run.generations, new, strict=True)]
        runs.append(replace(run, generations=generations))
    return runs, len(known)
