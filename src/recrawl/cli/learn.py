"""recrawl learn: find the policy that fits a crawl's own history best."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from recrawl.cli.crawl import add_crawl, add_order, order_of, reading
from recrawl.cli.replay import CAVEAT, history, replayed
from recrawl.registry import split_specs

CANDIDATES = "age,bayes,cg,nad,aad,gad,lambdacrawl,nutch(fill=yes)"
MEASURE = "ChangesFound"

EXAMPLES = """examples:
  recrawl learn -C news
  recrawl learn -C news --policies age,bayes,gad --measure Freshness
"""


def add(verbs: Any) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "learn",
        help="find the policy that fits this crawl's history best",
        description="Replay the crawl's history under candidate policies and note the best in models/policy.json; "
        'crawls with policy = "auto" use it from the next run on.',
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_crawl(parser)
    parser.add_argument("--policies", metavar="A,B", help=f"candidates (default: {CANDIDATES}, and learned)")
    parser.add_argument("--measure", default=MEASURE, metavar="M", help=f"what counts (default: {MEASURE})")
    add_order(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Compare the candidates and keep the best."""
    from recrawl.run.choice import save
    from recrawl.schedule.catalog import policies

    extra = ",learned" if "learned" in policies else ""
    with reading(args) as (directory, store), tempfile.TemporaryDirectory() as folder:
        order = order_of(directory, args)
        recording = history(store, Path(folder) / "history")
        names = split_specs(args.policies or CANDIDATES + extra)
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
