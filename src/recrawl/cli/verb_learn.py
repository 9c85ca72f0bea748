"""recrawl learn: find the policy that fits a crawl's own history best."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.cli.crawl_options import add_crawl, add_order, order_of, reading
from recrawl.cli.options import add_json
from recrawl.cli.verb_replay import CAVEAT, history, replayed
from recrawl.cli.verbs import new_parser
from recrawl.progress import progress
from recrawl.registry import split_specs

if TYPE_CHECKING:
    from recrawl.live.directory import CrawlDirectory
    from recrawl.live.session import Order
    from recrawl.recording.recording import Recording

CANDIDATES = "age,bayes,cg,nad,aad,gad,lambdacrawl,nutch(fill=yes)"
MEASURE = "ChangesFound"

EXAMPLES = """examples:
  recrawl learn -C news
  recrawl learn -C news --policies age,bayes,gad --measure Freshness
  recrawl learn -C news --evolve                  breed a score formula on this history, let it compete
  recrawl run -C news --policy gp:news/models/evolved.json
"""


def add(verbs: Any) -> None:
    """Add the verb."""
    description = (
        "Replay the crawl's history under candidate policies and note the best in models/policy.json; "
        'crawls with policy = "auto" use it from the next run on.'
    )
    parser = new_parser(verbs, "learn", EXAMPLES, description)
    add_crawl(parser)
    parser.add_argument("--policies", metavar="A,B", help=f"candidates (default: {CANDIDATES}, and learned)")
    parser.add_argument("--measure", default=MEASURE, metavar="M", help=f"what counts (default: {MEASURE})")
    parser.add_argument(
        "--evolve", action="store_true", help="breed a formula for models/evolved.json, a candidate too"
    )
    parser.add_argument("--generations", type=int, default=20, metavar="N", help="of the evolution (20)")
    parser.add_argument("--population", type=int, default=100, metavar="N", help="of the evolution (100)")
    add_order(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def evolved(args: argparse.Namespace, directory: CrawlDirectory, recording: Recording, order: Order) -> str:
    """Breed a formula on the crawl's own history into models/evolved.json; return the policy that follows it."""
    from recrawl.cli.verb_evolve import halves, watcher
    from recrawl.evaluate.crawl import Plan
    from recrawl.evolve.evolution import EvolutionSettings
    from recrawl.evolve.evolution_result import evolve_on, files_of
    from recrawl.live.choice import write

    plan = Plan(order.cycle_days, order.budget, 1, seed=order.seed)
    settings = EvolutionSettings("all", args.population, args.generations, 1, min(20, args.population))
    settings.check()
    train, validation = halves(recording, plan, fixed=True)
    with progress("evolving") as advance:
        outcome = evolve_on(train, validation, plan, settings, "changerate", watch=watcher(settings, advance))
    path = directory.path / "models" / "evolved.json"
    write(path, files_of(outcome, "recrawl learn --evolve")["best.json"])
    return f"gp:{path}"


def run(args: argparse.Namespace) -> None:
    """Compare the candidates and keep the best."""
    from recrawl.live.choice import save
    from recrawl.policies.catalogue import policies

    extra = ",learned" if "learned" in policies else ""
    with reading(args) as (directory, store), tempfile.TemporaryDirectory() as folder:
        order = order_of(directory, args)
        recording = history(store, Path(folder) / "history")
        names = split_specs(args.policies or CANDIDATES + extra)
        if args.evolve:
            names.append(evolved(args, directory, recording, order))
        comparison = replayed(recording, names, args.measure, order, 0)
    measure = comparison.measures[0]
    best = comparison.best(measure) or "age"
    values = {policy: comparison.summary(policy, measure).mean for policy in comparison.ranking(measure)}
    choice = {"policy": best, "measure": measure.spec, "cycle_days": order.cycle_days, "values": values}
    save(directory, choice)
    if args.json:
        print(json.dumps(choice, indent=2))
        return
    width = max(map(len, values))
    for policy, value in values.items():
        print(f"{policy:<{width}}  {measure.spec} {value:.4g}{'   <- best' if policy == best else ''}")
    print(f"note: {CAVEAT}")
    print(f'wrote {directory.path / "models" / "policy.json"}: `policy = "auto"` in recrawl.toml now means {best}')
