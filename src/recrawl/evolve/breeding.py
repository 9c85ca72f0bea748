"""Breed a score formula on a recorded web: half of the pages and of the time train, the others validate."""

from __future__ import annotations

from pathlib import Path

from recrawl.errors import InputError
from recrawl.evolve.discovery import Watch
from recrawl.evolve.evolution import EvolutionSettings, Generation
from recrawl.evolve.evolution_result import EvolutionResult, evolve_on
from recrawl.plan import Plan
from recrawl.progress import Advance, silent
from recrawl.recording.recording import Recording


def evolve_formula(
    data: Recording | str | Path,
    plan: Plan | None = None,
    settings: EvolutionSettings | None = None,
    fitness: str = "ndcg",
    *,
    fixed: bool = True,
    over: str = "visits",
    jobs: int = 1,
    advance: Advance = silent,
) -> EvolutionResult:
    """Evolve formulas by genetic programming (GP4C, Santos et al. 2014) and return the best, validated on other pages.

    `fitness` is changerate, ndcg or any measure. With `fixed`, only pages that live through a half are used: far
    faster. `result.formula` is the formula; written as JSON it is a policy, `gp:FILE`.
    """
    plan, settings = plan or Plan(), settings or EvolutionSettings()
    settings.check()
    recording = data if isinstance(data, Recording) else Recording.open(data)
    train, validation = halves(recording, plan, fixed=fixed)
    watch = _watcher(settings, advance)
    return evolve_on(train, validation, plan, settings, fitness, over=over, jobs=jobs, watch=watch)


def halves(recording: Recording, plan: Plan, *, fixed: bool) -> tuple[Recording, Recording]:
    """Split pages and time in two: the first half trains, the second validates."""
    cycles = int((recording.end - recording.start) / plan.cycle_days + 1e-9) // 2
    if cycles <= plan.warmup:
        raise InputError(
            f"{recording.end - recording.start:g} days are too short: each half needs more than "
            f"{plan.warmup} cycles of {plan.cycle_days:g} days"
        )
    middle = recording.start + cycles * plan.cycle_days
    one, two = recording.folds(2, plan.seed)
    parts = one.window(one.start, middle), two.window(middle, middle + cycles * plan.cycle_days)
    parts = (parts[0].fixed(), parts[1].fixed()) if fixed else parts
    for part in parts:
        if not len(part):
            raise InputError("no page lives through a whole half of the time; try --all-pages")
    return parts


def _watcher(settings: EvolutionSettings, advance: Advance) -> Watch:
    """Show generation by generation how it goes."""
    done = 0

    def watch(generation: Generation) -> None:
        nonlocal done
        done += 1
        advance(
            done,
            settings.seeds * settings.generations,
            f"seed {generation.seed}, generation {generation.number}: best {generation.best:.4f}, "
            f"mean {generation.mean:.4f}, {generation.distinct} distinct",
        )

    return watch
