"""recrawl evolve: breed score formulas on a recorded web."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from recrawl.cli.options import add_cycles, add_results, add_warmup, check_numbers, command
from recrawl.cli.output import check_out, deliver
from recrawl.cli.slice_options import add_recording, select
from recrawl.progress import progress

if TYPE_CHECKING:
    from recrawl.evolve.evolution import EvolutionSettings

FILES = ("results.json", "report.html", "best.json", "best.py", "best.sql", "fitness.png", "fitness.svg")

EXAMPLES = """examples:
  recrawl evolve web --fitness ndcg --terminals all --out evolved
  recrawl evolve web --cycle 7d --budget 2% --fitness changerate --jobs 2 --out evolved
  recrawl evolve web --seeds 20 --engine dask://10.0.0.1:8786 --out evolved
  recrawl evolve web --generations 10 --population 100 --seeds 1
  recrawl compare web --policies "age,cg,gp:evolved/best.json"

The pages are split in two halves, and so is the time: formulas are bred on the first half of the pages in the first
half of the time, and validated on the other pages in the time after. Only pages that live through a half are used
unless --all-pages is given, which is slower by far, as are the extended terminals and other measures.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Breed score formulas by genetic programming (GP4C, Santos et al. 2014)."
    add_recording(parser)
    group = parser.add_argument_group("how to crawl")
    add_cycles(group)
    add_warmup(group)
    group.add_argument("--all-pages", action="store_true", help="include pages that are born or die within the window")
    add_settings(parser)
    add_results(
        parser,
        "best.json, best.py, best.sql and a report",
        jobs="threads in this process",
        pieces="the evolutions of --seeds",
    )


def add_settings(parser: argparse.ArgumentParser, *, chosen: bool = True) -> None:
    """Add the options of an evolution; the defaults are the paper's. `chosen`: with fitness and terminals."""
    group = parser.add_argument_group("how to evolve")
    if chosen:
        group.add_argument("--fitness", default="ndcg", metavar="M", help="changerate, ndcg or any measure (ndcg)")
        group.add_argument("--terminals", choices=("basic", "all", "extended"), default="all",
                           help="what formulas may read (all)")  # fmt: skip
    group.add_argument("--over", choices=("visits", "cycles"), default="visits",
                       help="what the estimators' weights run over (visits)")  # fmt: skip
    group.add_argument("--form", choices=("rate", "chance"), default="rate",
                       help="the estimators are changes per cycle, or chances of a change by now (rate)")  # fmt: skip
    group.add_argument("--parents", choices=("population", "archive"), default="population",
                       help="where parents come from: this generation, or the best so far (population)")  # fmt: skip
    group.add_argument("--population", type=int, default=300, metavar="N", help="formulas per generation (300)")
    group.add_argument("--generations", type=int, default=50, metavar="N", help="number of generations (50)")
    group.add_argument("--seeds", type=int, default=5, metavar="N", help="independent evolutions (5)")
    group.add_argument(
        "--archive", type=int, default=50, metavar="N", help="best formulas per evolution to validate (50)"
    )
    group.add_argument("--depth", type=int, default=10, metavar="D", help="largest depth of trees when created (10)")
    group.add_argument(
        "--crossover-depth", type=int, default=9, metavar="D", help="largest depth of trees after crossover (9)"
    )
    group.add_argument("--crossover-limit", choices=("child", "parents"), default="child",
                       help="what --crossover-depth bounds: trees made, or trees crossed (child)")  # fmt: skip
    group.add_argument("--tournament", type=int, default=2, metavar="N", help="formulas per tournament (2)")
    for rate, value in (("crossover", 0.9), ("reproduction", 0.15), ("swap", 0.05), ("replacement", 0.05)):
        group.add_argument(f"--{rate}", type=float, default=value, metavar="P", help=f"{rate} rate ({value:g})")


def settings_of(args: argparse.Namespace) -> EvolutionSettings:
    """Read the options of an evolution."""
    from recrawl.evolve.evolution import EvolutionSettings
    from recrawl.evolve.operators import OperatorRates

    rates = OperatorRates(
        args.reproduction, args.crossover, args.swap, args.replacement, args.tournament, args.crossover_depth
    )
    if args.crossover_limit == "parents":  # what is made is then bounded by the depth of all trees
        rates = rates._replace(depth=args.depth, parents=args.crossover_depth)
    settings = EvolutionSettings(
        args.terminals,
        args.population,
        args.generations,
        args.seeds,
        args.archive,
        args.depth,
        parents=args.parents,
        rates=rates,
    )
    settings.check()
    return settings


def run(args: argparse.Namespace) -> None:
    """Check everything, evolve, print, write."""
    from recrawl.evolve.breeding import evolve_formula
    from recrawl.evolve.evolution_result import files_of, formulas_table, headline, to_json
    from recrawl.plan import Plan
    from recrawl.report.console import print_tables

    check_numbers(args)
    settings = settings_of(args)
    check_out(args, FILES.__contains__)
    recording, _, notes = select(args)
    plan = Plan(args.cycle, args.budget, args.warmup, seed=args.seed)
    with progress("evolving") as advance:
        outcome = evolve_formula(
            recording, plan, settings, args.fitness,
            fixed=not args.all_pages, over=args.over, form=args.form,
            jobs=args.jobs, engine=args.engine, advance=advance,
        )  # fmt: skip
    words = command(args, "evolve")
    deliver(
        args,
        lambda: to_json(outcome, words),
        lambda: print_tables([headline(outcome)], notes, [formulas_table(outcome)]),
        lambda: files_of(outcome, words),
        f"best.json and {args.out}/report.html",
    )
