"""recrawl experiment focus: evolved strategies for focused crawling (Johnson et al. 2003)."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from recrawl.cli.options import add_results, check_numbers, whole_numbers
from recrawl.cli.output import check_out, deliver_paper
from recrawl.cli.verb_focus import add_evolution, settings_of
from recrawl.errors import InputError
from recrawl.progress import progress

if TYPE_CHECKING:
    from recrawl.papers.focus.focus_protocol import FocusPlan

EXAMPLES = """examples:
  recrawl experiment focus web --topic dir:MicrosoftDocs/cpp-docs --topic words:kubernetes,pod --out focus
  recrawl experiment focus synthetic --topic label:sparse --topic label:popular --evolutions 3 --out focus-synthetic
  recrawl experiment focus synthetic --web-pages 1000000 --pages 10000 --no-options --jobs 2 --out focus-paper
  recrawl experiment focus synthetic --quick

Topics are those of `recrawl focus`. Strategies are evolved for the first topic and tested on all, as in the paper.
Without --pages crawls have 10,000, 20,000 and 30,000 pages, or less where the
graph or the topic is small: P, 2P and 3P, with P one page in twenty of those in reach, not more than there are
relevant ones, and not less than twice the seeds. --quick has sizes of its own: 300 pages (or --pages), 60 and 20
seeds, 3 runs, a population of 8 for 3 generations, and a synthetic web of 20,000 pages.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Evolve how the frontier is ranked and compare with Best-First and others; Table 1, Figs 3 to 10."
    )
    parser.add_argument("data", metavar="DATA", help="folder of a recording with links and words, or `synthetic`")
    parser.add_argument("--topic", action="append", metavar="T", help="what to look for; may be repeated")
    parser.add_argument(
        "--pages", type=int, default=0, metavar="P", help="length in pages of the crawls to evolve on (see below)"
    )
    parser.add_argument("--web-pages", type=int, default=0, metavar="N", help="pages of a synthetic web (200000)")
    parser.add_argument("--runs", type=int, default=15, metavar="R", help="crawls per strategy (15)")
    parser.add_argument(
        "--seed-sets",
        type=whole_numbers("250,50", 1),
        default=(250, 50),
        metavar="A,B",
        help="numbers of seed pages to test with (250,50)",
    )
    parser.add_argument("--evolutions", type=int, default=1, metavar="N",
                        help="evolutions, each with a seed of its own (1)")  # fmt: skip
    parser.add_argument("--evolve-on", choices=("first", "each"), default="first",
                        help="evolve for the first topic and test on all, or for each, too (first)")  # fmt: skip
    parser.add_argument("--features", choices=("auto", "words", "bigrams"), default="auto",
                        help="what the classifier reads: bigrams need texts (auto: where there are texts)")  # fmt: skip
    parser.add_argument("--vocabulary", choices=("all", "examples"), default="all",
                        help="words that the classifier reads: all, or those of the topic's examples")  # fmt: skip
    parser.add_argument("--best", type=int, default=3, metavar="N", help="evolved strategies that are tested (3)")
    parser.add_argument("--no-options", action="store_true", help="leave out the paper's ideas for future work")
    parser.add_argument("--quick", action="store_true", help="a small version of everything, see below")
    add_evolution(parser.add_argument_group("evolution"))
    add_results(parser, "results.json, strategies, figures, report.html", jobs="threads in this process",
                pieces="the evolutions of a topic")  # fmt: skip


def run(args: argparse.Namespace) -> None:
    """Check everything, run, print, write."""
    from recrawl.focus.web import open_web
    from recrawl.papers.focus.focus_protocol import run as run_experiment
    from recrawl.papers.focus.focus_report import FocusReport

    check_numbers(args)
    plan = _plan(args)
    topics = args.topic or (["label:sparse", "label:popular"] if args.data == "synthetic" else [])
    if args.evolutions < 1:
        raise InputError("--evolutions must be at least 1")
    if args.best < 1:
        raise InputError("--best must be at least 1")
    if not topics:
        raise InputError("name what to look for: --topic dir:SITE/FOLDER, words:A,B or urls:A,B")
    check_out(args, FocusReport.owns)
    if args.quick and args.data == "synthetic" and not args.web_pages:
        args.web_pages = 20_000
    web = open_web(args.data, seed=args.seed, pages=args.web_pages, features=args.features)
    with progress("focus") as advance:
        results = run_experiment(web, topics, plan, args.jobs, advance, args.engine)
    args.topic = None  # written at the end, once each
    deliver_paper(args, FocusReport(results), more="".join(f" --topic {shlex.quote(t)}" for t in topics))


def _plan(args: argparse.Namespace) -> FocusPlan:
    from recrawl.papers.focus.focus_protocol import FocusPlan

    settings = settings_of(args)  # what cannot be is refused though --quick has sizes of its own
    if args.quick:
        quick = FocusPlan.quick(args.seed)
        quick = replace(quick, pages=args.pages or quick.pages, options=not args.no_options, levels=args.levels)
        quick = replace(quick, best=min(args.best, quick.best), vocabulary=args.vocabulary)
        return replace(quick, evolutions=args.evolutions, each=args.evolve_on == "each")
    return FocusPlan(
        args.pages, args.seed_sets, args.runs, settings, options=not args.no_options, seed=args.seed,
        levels=args.levels, evolutions=args.evolutions, each=args.evolve_on == "each", best=args.best,
        vocabulary=args.vocabulary,
    )  # fmt: skip
