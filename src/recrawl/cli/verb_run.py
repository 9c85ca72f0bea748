"""recrawl run: crawl, cycle by cycle."""

from __future__ import annotations

import argparse
import logging

from recrawl.cli.options import add_crawl, add_order, crawl_of, moment, steering

EXAMPLES = """examples:
  recrawl run -C news --cycles 1
  recrawl run -C news --every 12h --budget 5% --policy bayes
  recrawl run -C news --warmup --cycles 2          visit every known page in these cycles

Ctrl-C (or SIGTERM) lets the visits under way end, records them and stops; the next run goes on where this one stopped.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Visit the pages that the policy chooses, within the budget, once a cycle; for ever, or N cycles."
    )
    add_crawl(parser)
    parser.add_argument("--cycles", type=_count, metavar="N", help="stop after N cycles (default: never)")
    add_order(parser)
    parser.add_argument("--warmup", action="store_true", help="visit every known page, whatever the budget")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number of cycles")
    return int(text)


def run(args: argparse.Namespace) -> None:
    """Open the crawl and run its cycles."""
    from recrawl.cli.live_table import View

    logging.basicConfig(format="recrawl: %(message)s", level=logging.WARNING)
    with View(quiet=args.quiet) as view:
        done = crawl_of(args).run(
            args.cycles, policy=args.policy, warmup=args.warmup, view=view, stop_on_signals=True, **steering(args)
        )
        if done.stopped:
            view.say("stopped: what was visited is recorded, the rest of the cycle waits for the next run")
        else:
            view.say(f"done; the next cycle is due {moment(done.next_due_at)}")
