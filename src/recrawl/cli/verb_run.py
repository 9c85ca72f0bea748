"""recrawl run: crawl, cycle by cycle."""

from __future__ import annotations

import argparse
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recrawl.cli.crawl_options import add_crawl, add_order, moment, policy_and_plan

if TYPE_CHECKING:
    from recrawl.cli.live_table import View
    from recrawl.live.journal import Journal
    from recrawl.live.session import Session

EXAMPLES = """examples:
  recrawl run -C news --cycles 1
  recrawl run -C news --every 12h --budget 5% --policy bayes
  recrawl run -C news --warmup --cycles 2          visit every known page in these cycles

Ctrl-C (or SIGTERM) lets the visits under way end, records them and stops; the next run goes on where this one stopped.
"""


def add(verbs: Any) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "run",
        help="crawl, cycle by cycle",
        description="Visit the pages that the policy chooses, within the budget, once a cycle; for ever, or N cycles.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_crawl(parser)
    parser.add_argument("--cycles", type=_count, metavar="N", help="stop after N cycles (default: never)")
    add_order(parser)
    parser.add_argument("--warmup", action="store_true", help="visit every known page, whatever the budget")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(run=run)


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number of cycles")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Open the crawl and run its cycles."""
    from recrawl.cli.live_table import View
    from recrawl.clock import SystemClock
    from recrawl.live.directory import CrawlDirectory
    from recrawl.live.journal import Journal
    from recrawl.live.recorder import Noted
    from recrawl.live.session import Session
    from recrawl.live.signals import Heard

    logging.basicConfig(format="recrawl: %(message)s", level=logging.WARNING)
    directory = CrawlDirectory.open(args.crawl)
    policy, plan = policy_and_plan(directory, args)
    if args.warmup:
        plan = replace(plan, warmup=1 << 30)
    view = View(quiet=args.quiet)
    with Journal(directory.path, SystemClock()) as journal:

        def watch(noted: Noted) -> None:
            journal.visit(noted)
            view.visit(noted)

        def heard(said: Heard) -> None:
            journal.note("heard", files=said.visits, new_pages=said.found, announced=said.announced)

        with Session(directory, policy, plan, watch=watch, heard=heard) as session, view:
            session.stop_on_signals()
            journal.note("open", policy=policy, cycle_days=plan.cycle_days, pages=len(session.store.index))
            done = _cycles(session, view, journal, args.cycles)
            journal.note("stop", cycles=done)
    return 0


def _cycles(session: Session, view: View, journal: Journal, wanted: int | None) -> int:
    done = 0
    while not session.stopped and (wanted is None or done < wanted):
        due_at = session.next_due_at()
        view.waiting(due_at)
        session.wait_until(due_at)
        if session.stopped:
            break
        view.begin(session)
        went_through = session.run_cycle()
        journal.note("cycle", number=session.memory.cycle, done=went_through, **view.counts())
        if session.policy.fault is not None:
            journal.note("handover", fault=session.policy.fault)
        view.end(session, went_through)
        done += went_through
    if session.stopped:
        view.say("stopped: what was visited is recorded, the rest of the cycle waits for the next run")
    else:
        view.say(f"done; the next cycle is due {moment(session.next_due_at())}")
    return done
