"""recrawl compare: what each policy would have found on a recorded web."""

from __future__ import annotations

import argparse
import math
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recrawl.cli.options import add_cycles, add_engine, add_jobs, add_out, add_seed, add_warmup, share_or_count
from recrawl.cli.output import check_folder
from recrawl.cli.slice_options import add_slices, select
from recrawl.errors import InputError
from recrawl.progress import progress
from recrawl.registry import split_specs
from recrawl.report.comparison_defaults import DISCOVERY, FILES, MEASURES, POLICIES

# What measures and draws takes a second or two to import, so it is imported where it is used: --help stays quick.
if TYPE_CHECKING:
    from recrawl.plan import Plan

EXAMPLES = """examples:
  recrawl compare web --cycle 7d --budget 5%
  recrawl compare web --policies "age,cg,explore(cg, 0.1),oracle" --cycle 1d --days 57 --folds 5 --out report
  recrawl compare web --measures "ChangeRate,NDCG@1%,Freshness(weighted)" --importance inlinks
  recrawl compare web --kinds docs,wiki --fixed --budgets 1%,2%,5%,10% --jobs 2 --out report --force

`recrawl policies` lists all policies, `recrawl measures` all measures.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Replay a recorded web under several policies and show what each would have found."
    parser.add_argument("data", metavar="DATA", help="folder of a recording")
    parser.add_argument("--policies", default=POLICIES, metavar="A,B", help=f"default: {POLICIES}")
    parser.add_argument("--measures", default=MEASURES, metavar="M,N", help=f"default: {MEASURES}".replace("%", "%%"))
    add_slices(parser)
    group = parser.add_argument_group("how to crawl")
    add_cycles(group)
    group.add_argument("--budgets", type=_budgets, metavar="1%,2%",
                       help="budgets to draw curves over; none: no curves (1%%,2%%,5%%,10%% with --out)")  # fmt: skip
    add_warmup(group)
    group.add_argument(
        "--site-cap", type=int, default=0, metavar="M", help="at most M visits per site and cycle (0: no cap)"
    )
    group.add_argument("--discover", choices=("links", "birth"), default="links", help="how new pages become known")
    group.add_argument(
        "--discovery",
        type=float,
        default=DISCOVERY,
        metavar="S",
        help=f"largest share of the budget for first visits ({DISCOVERY})",
    )
    group.add_argument("--importance", default="uniform", metavar="I", help="weight of each page: uniform or inlinks")
    group = parser.add_argument_group("how often, how fast, where to")
    group.add_argument("--folds", type=int, default=1, metavar="F", help="split the pages into F parts (1)")
    group.add_argument("--repeats", type=int, default=1, metavar="R", help="repeat with the seeds S, S+1, ... (1)")
    add_seed(group, what="seed of samples, folds, ties and draws")
    add_jobs(group, "processes")
    add_engine(group)
    add_out(group, "results.json, plots and report.html")


def run(args: argparse.Namespace) -> None:
    """Compare, print, write."""
    from recrawl.report.comparison_report import compare, with_command

    plan = _plan(args)
    if args.out is not None:
        check_folder(args.out, force=args.force, may_replace=FILES)
    recording, slices, notes = select(args)
    budgets: Any = args.budgets if args.budgets is not None else "curve" if args.out is not None else ()
    with progress("comparing") as advance:
        result = compare(
            recording, args.policies, plan, args.measures, folds=args.folds, repeats=args.repeats, budgets=budgets,
            jobs=args.jobs, engine=args.engine, slices=slices, notes=notes, advance=advance,
        )  # fmt: skip
    result = with_command(result, command(args, result.comparison.budgets))
    if args.out is not None:
        result.save(args.out, force=args.force)
    if args.json:
        sys.stdout.write(result.to_json())
    else:
        result.show()
    if args.out is not None:
        print(f"wrote {args.out}/report.html", file=sys.stderr)


def command(args: argparse.Namespace, budgets: Sequence[float | int]) -> str:
    """Write the command that gives these results, without what does not matter for them."""
    words = ["recrawl", "compare", str(args.data), "--policies", args.policies, "--measures", args.measures]
    words += ["--cycle", f"{_exact(args.cycle)}d", "--budget", _said(args.budget), "--warmup", str(args.warmup)]
    words += ["--budgets", ",".join(_said(budget) for budget in budgets) or "none"]
    for option in ("days", "from_day", "sites", "kinds", "active_within", "pages"):
        value = getattr(args, option)
        if value is not None:
            words += ["--" + option.replace("_", "-"), _exact(value)]
    words += ["--" + option for option in ("fixed", "active") if getattr(args, option)]
    words += ["--site-cap", str(args.site_cap)] if args.site_cap else []
    words += ["--discovery", f"{args.discovery:g}"] if args.discovery != DISCOVERY else []
    words += ["--discover", args.discover, "--importance", args.importance]
    words += ["--folds", str(args.folds), "--repeats", str(args.repeats), "--seed", str(args.seed)]
    return shlex.join(words)


def _plan(args: argparse.Namespace) -> Plan:
    from recrawl.plan import Plan

    if args.site_cap < 0:
        raise InputError(f"a site cap of {args.site_cap} is negative; 0 means no cap")
    if args.jobs < 1:
        raise InputError("jobs must be at least 1")
    if args.seed < 0:
        raise InputError("a seed must not be negative")
    if args.warmup < 0:
        raise InputError(f"a warm-up of {args.warmup} cycles is negative")
    if args.from_day is not None and not math.isfinite(args.from_day):
        raise InputError("--from-day must be a finite number")
    if not 0 < args.discovery <= 1:
        raise InputError(f"--discovery must be above 0 and at most 1, not {args.discovery:g}")
    shared = (args.cycle, args.budget, args.warmup, args.site_cap, args.seed, args.discover, args.importance)
    return Plan(*shared, discovery=args.discovery)


def _budgets(text: str) -> tuple[float | int, ...]:
    if text == "none":
        return ()
    found = tuple(dict.fromkeys(share_or_count(part) for part in split_specs(text)))
    if len({type(budget) for budget in found}) != 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be all shares or all numbers of visits, such as 1%,2%,5%")
    return found


def _said(budget: float | int) -> str:
    return str(budget) if isinstance(budget, int) else f"{budget * 100:.12g}%"


def _exact(value: object) -> str:
    """Write a number so that it reads back as the same."""
    return str(value).removesuffix(".0")
