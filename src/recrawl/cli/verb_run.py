"""recrawl run: crawl, cycle by cycle."""

from __future__ import annotations

import argparse
import json
import logging
from contextlib import nullcontext
from dataclasses import asdict

from recrawl.cli.options import add_crawl, add_json, add_order, crawl_of, moment, steering, whole
from recrawl.spans import dated

EXAMPLES = """examples:
  recrawl run -C news --cycles 1
  recrawl run -C news --every 12h --budget 5% --policy bayes
  recrawl run -C news --warmup --cycles 2          visit every known page in these cycles

Ctrl-C (or SIGTERM) lets the visits under way end, records them and stops; the next run goes on where this one stopped.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Visit the pages that the policy chooses, within the budget, once per cycle; for ever, or N cycles."
    )
    add_crawl(parser)
    parser.add_argument("--cycles", type=whole(1), metavar="N", help="stop after N cycles (default: never)")
    add_order(parser)
    parser.add_argument("--warmup", action="store_true", help="visit every known page, whatever the budget")
    parser.add_argument(
        "--deliver", action="store_true", help="also run `recrawl deliver --follow` in a process of its own"
    )
    parser.add_argument("--now", action="store_true", help="begin at once, even if the next cycle is not due yet")
    parser.add_argument("--planner-only", action="store_true", help="fleet: plan only, and leave all visits to workers")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    add_json(parser, "print how the run ended as JSON")


def run(args: argparse.Namespace) -> None:
    """Open the crawl and run its cycles."""
    from recrawl.cli.live_table import View
    from recrawl.cli.verb_deliver import delivering

    logging.basicConfig(format="recrawl: %(message)s", level=logging.WARNING)
    crawl = crawl_of(args)
    with delivering(args.crawl) if args.deliver else nullcontext(), View(quiet=args.quiet) as view:
        done = crawl.run(
            args.cycles,
            policy=args.policy,
            warmup=args.warmup,
            now=args.now,
            planner_only=args.planner_only,
            view=view,
            stop_on_signals=True,
            **steering(args),
        )
        if done.stopped:
            view.say("stopped: what was visited is recorded, the rest of the cycle waits for the next run")
        else:
            view.say(f"done; the next cycle is due {moment(done.next_due_at)}")
    if args.json:
        print(json.dumps(dated(asdict(done))))
