"""recrawl learn: find the policy that fits a crawl's own history best."""

from __future__ import annotations

import argparse
import json

from recrawl.cli.options import add_crawl, add_json, add_order, crawl_of, steering
from recrawl.live.crawl_defaults import CANDIDATES, CAVEAT
from recrawl.progress import progress

EXAMPLES = """examples:
  recrawl learn -C news
  recrawl learn -C news --policies age,bayes,gad --measure ChangesFound
  recrawl learn -C news --evolve                  breed a score formula on this history, let it compete
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Replay the crawl's history under candidate policies and note the best in models/policy.json; "
        'crawls with policy = "auto" use it from the next run on.'
    )
    add_crawl(parser)
    parser.add_argument("--policies", default=CANDIDATES, metavar="A,B", help=f"candidates (default: {CANDIDATES})")
    parser.add_argument(
        "--measure", metavar="M", help="measure to maximise (default: the objective of the crawl's policy)"
    )
    parser.add_argument(
        "--evolve", action="store_true", help="also breed a formula as a candidate, kept in models/evolved.json"
    )
    parser.add_argument("--generations", type=int, default=20, metavar="N", help="generations of --evolve (20)")
    parser.add_argument(
        "--population", type=int, default=100, metavar="N", help="formulas per generation of --evolve (100)"
    )
    parser.add_argument("--anyway", action="store_true", help="choose the best, even if it is not significantly better")
    add_order(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Compare the candidates and keep the best."""
    crawl, evolve = crawl_of(args), None
    if args.evolve:
        from recrawl.evolve.evolution import EvolutionSettings

        evolve = EvolutionSettings("all", args.population, args.generations, 1, min(20, args.population))
    with progress("learning") as advance:
        choice = crawl.learn(
            args.policies, args.measure, evolve=evolve, advance=advance, anyway=args.anyway, **steering(args)
        )
    if args.json:
        print(json.dumps(choice.to_dict(), indent=2))
        return
    width = max(map(len, choice.values))
    chosen = max(choice.values, key=lambda name: name.endswith(choice.policy))
    for policy, value in choice.values.items():
        print(f"{policy:<{width}}  {choice.measure} {value:.4g}{'   <- auto' if policy == chosen else ''}")
    for note in (*choice.notes, CAVEAT):
        print(f"note: {note}")
    path = crawl.directory.path / "models" / "policy.json"
    print(f'wrote {path}: `policy = "auto"` in recrawl.toml means {choice.policy}')
