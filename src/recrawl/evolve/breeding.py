"""Breed a score formula on a recorded web: half of the pages and of the time train, the others validate."""

from __future__ import annotations

from pathlib import Path

from recrawl.errors import InputError
from recrawl.evaluate.parallel import SentRecording
from recrawl.evaluate.work_engine import LOCAL
from recrawl.evolve.evolution import EvolutionSettings, Generation, Watch, conclude, discover, fitness_of
from recrawl.evolve.evolution_pieces import SentTraining, as_of_one_ledger, evolve_on
from recrawl.evolve.evolution_result import EvolutionResult
from recrawl.evolve.fitness import make_fitness
from recrawl.plan import Plan
from recrawl.policies.formulas.expression import Expression, Tree
from recrawl.progress import Advance, silent
from recrawl.recording.recording import Recording

CLASSICAL: tuple[Tree, ...] = ("t", ("*", "t", "X"), "CG", "NAD", "SAD", "AAD", "GAD")


def evolve_formula(
    data: Recording | str | Path,
    plan: Plan | None = None,
    settings: EvolutionSettings | None = None,
    fitness: str = "ndcg",
    *,
    fixed: bool = True,
    over: str = "visits",
    form: str = "rate",
    jobs: int = 1,
    engine: str = LOCAL,
    advance: Advance = silent,
) -> EvolutionResult:
    """Evolve formulas by genetic programming (GP4C, Santos et al. 2014) and return the best, validated on other pages.

    `fitness` is changerate, ndcg or any measure. With `fixed`, only pages that live through a half are used: far
    faster. `over` and `form` say what the estimators among the terminals are. `result.formula` is the formula; written
    as JSON it is a policy, `gp:FILE`. The seeds are independent: with `engine` `dask://HOST:PORT` they are evolved on a
    cluster, with the same result; `jobs` are the threads in this process.
    """
    plan, settings = plan or Plan(), settings or EvolutionSettings()
    settings.check()
    recording = data if isinstance(data, Recording) else Recording.open(data)
    train, validation = halves(recording, plan, fixed=fixed)
    sets = [
        make_fitness(p, plan, fitness, settings.terminals, over=over, form=form, jobs=jobs) for p in (train, validation)
    ]
    if engine == LOCAL:
        discovery = discover(sets[0], sets[1], settings, plan.seed, _watcher(settings, advance))
    else:
        training = SentTraining(SentRecording.of(train), plan, fitness, over, form, settings)
        runs, simulated = as_of_one_ledger(evolve_on(engine, training, plan.seed, advance))
        discovery = conclude(sets[0], sets[1], settings, runs, simulated)
    classical = [Expression.of(tree) for tree in CLASSICAL]
    values = [fitness_of(classical, judge) for judge in sets]
    return EvolutionResult(
        discovery,
        plan,
        sets[0].measure.spec,
        over,
        form,
        train.name,
        (len(train), len(validation)),
        (len(sets[0].cycles), len(sets[1].cycles)),
        [(e, float(a), float(b)) for e, a, b in zip(classical, *values, strict=True)],
    )


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
    """Return a callback that shows the progress of each generation."""
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
