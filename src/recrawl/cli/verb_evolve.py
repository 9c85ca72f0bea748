"""recrawl evolve: breed score formulas on a recorded web."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.cli.output import check_folder, write_folder
from recrawl.cli.parse import share_or_count, span
from recrawl.cli.slice_options import add_slices, select
from recrawl.errors import InputError
from recrawl.progress import progress

if TYPE_CHECKING:
    from recrawl.evolve.evolution import EvolutionSettings
    from recrawl.evolve.evolution_result import EvolutionResult

FILES = ("results.json", "report.html", "best.json", "best.py", "best.sql", "fitness.png", "fitness.svg")

EXAMPLES = """examples:
  recrawl evolve web --fitness ndcg --terminals all --out evolved
  recrawl evolve web --cycle 7d --budget 2% --fitness changerate --jobs 2 --out evolved
  recrawl evolve web --generations 10 --population 100 --seeds 1
  recrawl compare web --policies "age,cg,gp:evolved/best.json"

The pages are split in two halves, and so is the time: formulas are bred on the first half of the pages in the first
half of the time, and validated on the other pages in the time after. Only pages that live through a half are used
unless --all-pages is given, which is slower by far, as are the extended terminals and other measures.
"""


def add(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "evolve",
        help="breed score formulas on a recorded web",
        description="Breed score formulas by genetic programming (GP4C, Santos et al. 2014).",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", metavar="DATA", help="folder of a recording")
    add_slices(parser)
    group = parser.add_argument_group("how to crawl")
    group.add_argument("--cycle", type=span, default=1.0, metavar="1d", help="length of a cycle: 1h, 1d, 2w (1d)")
    group.add_argument("--budget", type=share_or_count, default=0.05, metavar="5%",
                       help="visits a cycle: a share of the pages, or a number (5%%)")  # fmt: skip
    group.add_argument("--warmup", type=int, default=2, metavar="W", help="first cycles that visit every page (2)")
    group.add_argument("--all-pages", action="store_true", help="include pages that are born or die on the way")
    add_settings(parser)
    group = parser.add_argument_group("how fast, where to")
    group.add_argument("--seed", type=int, default=0, metavar="S", help="seed of everything that is drawn (0)")
    group.add_argument("--jobs", type=int, default=1, metavar="J", help="threads; the results are the same (1)")
    group.add_argument("--out", type=Path, metavar="DIR", help="write best.json, best.py, best.sql and a report there")
    group.add_argument("--force", action="store_true", help="replace earlier results in --out")
    group.add_argument("--json", action="store_true", help="print results.json instead of the table")
    parser.set_defaults(run=run)


def add_settings(parser: argparse.ArgumentParser, *, chosen: bool = True) -> None:
    """Add the options of an evolution; the defaults are the paper's. `chosen`: with fitness and terminals."""
    group = parser.add_argument_group("how to evolve")
    if chosen:
        group.add_argument("--fitness", default="ndcg", metavar="M", help="changerate, ndcg or any measure (ndcg)")
        group.add_argument("--terminals", choices=("basic", "all", "extended"), default="all",
                           help="what formulas may read (all)")  # fmt: skip
    group.add_argument("--over", choices=("visits", "cycles"), default="visits",
                       help="what the estimators' weights run over (visits)")  # fmt: skip
    group.add_argument("--population", type=int, default=300, metavar="N", help="individuals (300)")
    group.add_argument("--generations", type=int, default=50, metavar="N", help="(50)")
    group.add_argument("--seeds", type=int, default=5, metavar="N", help="independent evolutions (5)")
    group.add_argument("--archive", type=int, default=50, metavar="N", help="best of each that are validated (50)")
    group.add_argument("--depth", type=int, default=10, metavar="D", help="of trees when created (10)")
    group.add_argument("--crossover-depth", type=int, default=9, metavar="D", help="of trees afterwards (9)")
    group.add_argument("--tournament", type=int, default=2, metavar="N", help="individuals in a tournament (2)")
    for rate, value in (("crossover", 0.9), ("reproduction", 0.15), ("swap", 0.05), ("replacement", 0.05)):
        group.add_argument(f"--{rate}", type=float, default=value, metavar="P", help=f"rate ({value:g})")


def settings_of(args: argparse.Namespace) -> EvolutionSettings:
    """Read the options of an evolution."""
    from recrawl.evolve.evolution import EvolutionSettings
    from recrawl.evolve.operators import OperatorRates

    rates = OperatorRates(
        args.reproduction, args.crossover, args.swap, args.replacement, args.tournament, args.crossover_depth
    )
    settings = EvolutionSettings(
        args.terminals, args.population, args.generations, args.seeds, args.archive, args.depth, rates=rates
    )
    settings.check()
    return settings


def run(args: argparse.Namespace) -> None:
    """Check everything, evolve, print, write."""
    from recrawl.evolve.breeding import evolve_formula
    from recrawl.evolve.evolution_result import files_of, to_json
    from recrawl.plan import Plan

    if args.jobs < 1 or args.seed < 0:
        raise InputError("jobs must be at least 1, a seed at least 0")
    settings = settings_of(args)
    if args.out is not None:
        check_folder(args.out, force=args.force, may_replace=FILES)
    recording, _, notes = select(args)
    plan = Plan(args.cycle, args.budget, args.warmup, seed=args.seed)
    with progress("evolving") as advance:
        outcome = evolve_formula(
            recording, plan, settings, args.fitness,
            fixed=not args.all_pages, over=args.over, jobs=args.jobs, advance=advance,
        )  # fmt: skip
    if args.json:
        sys.stdout.write(to_json(outcome, command(args)))
    else:
        show(outcome, notes)
    if args.out is not None:
        write_folder(args.out, files_of(outcome, command(args)))
        print(f"wrote {args.out}/best.json and {args.out}/report.html", file=sys.stderr)


def show(outcome: EvolutionResult, notes: tuple[str, ...]) -> None:
    """Print the best formulas and, to compare, the classical estimators."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from recrawl.evolve.evolution_result import headline, rows

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 10_000
    console.print(Text(headline(outcome)), soft_wrap=True)
    for note in notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)
    table = Table(box=None, header_style="bold", pad_edge=False)
    for head in ("formula", "training", "validation", ""):
        table.add_column(head, justify="left" if head in ("formula", "") else "right")
    for formula, train, validation, word in rows(outcome):
        style = "bold" if word.startswith("best") else "dim" if word == "classical" else ""
        table.add_row(Text(formula), f"{train:.4f}", f"{validation:.4f}", word, style=style)
    console.print()
    console.print(table)


def command(args: argparse.Namespace, verb: str = "evolve", skip: tuple[str, ...] = ()) -> str:
    """Write the command that gives these results."""
    words = ["recrawl", *verb.split(), str(args.data)]
    for option, value in vars(args).items():
        if option in ("data", "verb", "run", "out", "force", "json", "jobs", *skip) or value is None or value is False:
            continue
        words.append("--" + option.replace("_", "-"))
        if option == "budget" and isinstance(value, float):
            words.append(f"{value * 100:.12g}%")
        elif value is not True:
            shown = value if isinstance(value, tuple) else (value,)
            words.append(",".join(f"{v:.12g}" if isinstance(v, float) else str(v) for v in shown))
    return shlex.join(words)
