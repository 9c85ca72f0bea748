"""recrawl focus: evolve how a topical crawl ranks its frontier, and replay what was evolved."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.cli.options import add_jobs, add_out, add_seed, check_numbers, whole_numbers
from recrawl.cli.output import check_out, deliver
from recrawl.cli.verbs import FOCUS, new_parser
from recrawl.errors import InputError
from recrawl.progress import progress

if TYPE_CHECKING:
    from recrawl.focus.genetic import GeneticSettings
    from recrawl.focus.mission import Mission, Seeding
    from recrawl.focus.strategy import Strategy
    from recrawl.report.table import Table

EXAMPLES = """examples:
  recrawl focus evolve web --topic dir:mdn/content/files/en-us/web/css --out css
  recrawl focus evolve web --topic words:kubernetes,pod,kubectl --anchor-and-host --within 2 --out k8s --jobs 2
  recrawl focus run web --topic words:kubernetes,pod,kubectl --strategy k8s/strategy-1.json --strategy best-first
  recrawl focus evolve synthetic --topic label:sparse --start css/strategy-1.json --generations 10 --out sparse
  recrawl focus run synthetic --topic label:popular --pages 10000 --runs 15 --json

DATA is the folder of a recording with links and words, or `synthetic`. A topic is dir:SITE/FOLDER, words:A,B,
urls:A,B or urls:@FILE (one address a line), or label:NAME (synthetic webs: popular, common, sparse).
Strategies by name: best-first, breadth-first, random, link-classifier, paper.
"""

FILES = ("results.json", *(f"strategy-{number}.json" for number in range(1, 11)))


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Evolve strategies that rank the frontier of a topical crawl, and replay them on a recorded web."
    )
    actions = parser.add_subparsers(metavar="ACTION", dest="action", required=True)
    for add_options, (name, help) in zip((_add_evolve, _add_run), FOCUS.items(), strict=True):
        action = new_parser(actions, name, help)
        action.epilog = EXAMPLES
        add_options(action)


def _add_evolve(parser: argparse.ArgumentParser) -> None:
    _add_common(parser)
    group = parser.add_argument_group("evolution")
    add_evolution(group)
    group.add_argument("--keep", type=int, default=3, metavar="K", help="strategies to keep, at most 10 (3)")
    group.add_argument("--anchor-and-host", action="store_true", help="also weigh similar anchor texts and good hosts")
    group.add_argument("--explore", type=float, default=0.0, metavar="X",
                       help="a good page d links from the seeds counts 1 + X (d - 1) (0)")  # fmt: skip
    group.add_argument("--within", type=_distances, default=(), metavar="D,E",
                       help="different weights up to D links from the seeds, up to E, and beyond")  # fmt: skip
    group.add_argument("--start", action="append", default=[], metavar="FILE|NAME",
                       help="begin with a strategy of an earlier run, or a named one; may be repeated")  # fmt: skip
    parser.set_defaults(run=run_evolve)


def _add_run(parser: argparse.ArgumentParser) -> None:
    _add_common(parser)
    parser.add_argument("--strategy", action="append", default=[], metavar="FILE|NAME",
                        help="a strategy's file or name; may be repeated (all baselines)")  # fmt: skip
    parser.add_argument(
        "--runs", type=int, default=5, metavar="R", help="crawls per strategy, each with its own random draws (5)"
    )
    parser.set_defaults(run=run_replay)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", metavar="DATA", help="folder of a recording, or `synthetic`")
    parser.add_argument("--topic", required=True, metavar="T", help="what to look for, see below")
    parser.add_argument(
        "--pages", type=int, default=0, metavar="P", help="pages per crawl (as many as the graph allows)"
    )
    parser.add_argument("--seeds", type=int, default=0, metavar="N", help="start from N relevant pages drawn at random")
    parser.add_argument("--seed-urls", metavar="A,B|@FILE", help="start from these pages (the topic's examples)")
    parser.add_argument("--web-pages", type=int, default=0, metavar="N", help="pages of a synthetic web (200000)")
    add_seed(parser)
    add_jobs(parser)
    add_out(parser, "results.json and strategies")


def add_evolution(group: Any) -> None:
    """Add the settings of the genetic algorithm; the defaults are the paper's."""
    group.add_argument("--population", type=int, default=50, metavar="N", help="strategies per generation (50)")
    group.add_argument("--generations", type=int, default=50, metavar="G", help="generations (50)")
    group.add_argument(
        "--levels", type=int, default=5, metavar="K", help="generations of ancestors to weigh, 1 to 5 (5)"
    )
    group.add_argument("--simulations", type=int, default=3, metavar="K", help="crawls that judge a strategy (3)")
    group.add_argument("--crossover", type=float, default=0.90, metavar="P", help="probability of crossover (0.90)")
    group.add_argument(
        "--mutation", type=float, default=0.01, metavar="P", help="probability that a child has one bit flipped (0.01)"
    )


def settings_of(args: argparse.Namespace) -> GeneticSettings:
    """Read the settings of the genetic algorithm."""
    from recrawl.focus.genetic import GeneticSettings

    return GeneticSettings(args.population, args.generations, args.crossover, args.mutation, args.simulations)


def run_evolve(args: argparse.Namespace) -> None:
    """Evolve, print the weights, write the strategies."""
    from recrawl.focus.genetic import Search, evolve
    from recrawl.focus.mission import check_room
    from recrawl.focus.strategy import to_json
    from recrawl.papers.focus.focus_protocol import weight_rows, with_topic
    from recrawl.report.table import Table

    settings = settings_of(args)
    if not 1 <= args.keep <= 10:
        raise InputError("--keep must be from 1 to 10")
    if not (math.isfinite(args.explore) and args.explore >= 0):
        raise InputError("--explore must be a number, at least 0")
    search = Search(
        anchor_and_host=args.anchor_and_host,
        explore=args.explore,
        within=args.within,
        start=tuple(_strategy(name) for name in args.start),
        levels=args.levels,
    )
    for strategy in search.start:
        search.genome.encode(strategy)  # says so at once if it does not fit
    mission, start, pages = _mission(args)
    check_room(start, pages)
    with progress("evolving") as advance:
        found, course = evolve(mission.fleet, start.seeds, pages, settings, args.seed, search, advance)
    kept = with_topic(found[: args.keep], args.topic)
    results = {
        **_about(mission, start, pages),
        "strategies": [json.loads(to_json(strategy)) for strategy in kept],
        "evolution": {"best": course.best.tolist(), "mean": course.mean.tolist(), "evaluations": course.evaluations},
    }
    heads = ["score", *(f"{s.name}{_part(s, i)}" for s in kept for i in range(len(s.parts)))]
    rows = [[name, *(f"{value:.3f}" for value in values)] for name, values in weight_rows(kept)]
    rows.append(["fitness", *(f"{s.found['fitness']:.4f}" for s in kept for _ in s.parts)])
    files = {f"strategy-{i}.json": to_json(strategy).encode() for i, strategy in enumerate(kept, 1)}
    _tell(args, results, _headline(mission, start, pages), Table(heads, rows), files, "strategy-1.json")


def run_replay(args: argparse.Namespace) -> None:
    """Replay strategies; print what each was worth."""
    from recrawl.evaluate.statistics import interval
    from recrawl.focus.simulator import chances
    from recrawl.focus.strategy import BASELINES
    from recrawl.papers.focus.focus_measures import MEASURES, measure
    from recrawl.report.table import Table, with_interval

    strategies = [_strategy(name) for name in args.strategy] or list(BASELINES)
    mission, start, pages = _mission(args)
    with progress("crawling") as advance:
        crawls = mission.fleet.crawls(strategies, start.seeds, pages, chances(args.seed, args.runs), advance)
    import numpy as np

    values = [np.array([measure(mission, start, crawl, pages) for crawl in mine]) for mine in crawls]
    summary = [[interval(table[:, i]) for i in range(len(MEASURES))] for table in values]
    rows = []
    for strategy, mine, points in zip(strategies, crawls, summary, strict=True):
        shown = {m: {"mean": p.mean, "half": p.half} for m, p in zip(MEASURES, points, strict=True)}
        rows.append({"strategy": strategy.name, "pages": max(len(crawl.pages) for crawl in mine), **shown})
    results = {**_about(mission, start, pages), "runs": args.runs, "results": rows}
    table = [
        [s.name, *(with_interval(point) for point in points)] for s, points in zip(strategies, summary, strict=True)
    ]
    longest = max(len(crawl.pages) for mine in crawls for crawl in mine)
    note = f"The crawls ended after {longest:,} pages, all that the seeds reach." if longest < pages else ""
    _tell(
        args, results, _headline(mission, start, pages), Table(["strategy", *MEASURES], table, note), {}, "results.json"
    )


def _tell(
    args: argparse.Namespace,
    results: dict[str, Any],
    intro: list[str],
    table: Table,
    files: dict[str, bytes],
    wrote: str,
) -> None:
    """Print and write what was found."""
    from recrawl.recording.summary import plain
    from recrawl.report.console import print_tables
    from recrawl.report.results import json_text

    text = json_text(plain(results))
    deliver(
        args,
        lambda: text,
        lambda: print_tables(intro, (), [table]),
        lambda: {"results.json": text.encode(), **files},
        wrote,
    )


def _mission(args: argparse.Namespace) -> tuple[Mission, Seeding, int]:
    """Check the arguments, open the web, learn the topic, find the seeds."""
    from recrawl.focus.mission import Mission, default_pages
    from recrawl.focus.topic import read_addresses
    from recrawl.focus.web import open_web

    check_numbers(args)
    if args.seeds and args.seed_urls:
        raise InputError("give --seeds or --seed-urls, not both")
    check_out(args, FILES.__contains__)
    web = open_web(args.data, seed=args.seed, pages=args.web_pages)
    wanted = web.graph.pages_of(read_addresses(args.seed_urls)) if args.seed_urls else None
    mission = Mission.learn(web, args.topic, seed=args.seed, jobs=args.jobs)
    if wanted is not None:
        start = mission.start(wanted)
    else:
        start = mission.draw(args.seeds, args.seed) if args.seeds else mission.examples(args.seed)
    return mission, start, args.pages or default_pages(start, mission.good_within(start))


def _strategy(name: str) -> Strategy:
    from recrawl.focus.strategy import NAMED, load

    if name in NAMED:
        return NAMED[name]
    if not Path(name).exists():
        raise InputError(f"no strategy {name!r}: neither a file nor one of {', '.join(NAMED)}")
    return load(Path(name))


def _about(mission: Mission, start: Seeding, pages: int) -> dict[str, Any]:
    return {
        "web": {"name": mission.web.name, "pages": len(mission.web), "links": mission.web.graph.links},
        "topic": mission.topic.name,
        "classifier": mission.topic.quality.to_json(),
        "seeds": len(start.seeds),
        "reach": start.reach,
        "good_in_reach": mission.good_within(start),
        "pages": pages,
    }


def _headline(mission: Mission, start: Seeding, pages: int) -> list[str]:
    quality = mission.topic.quality
    tested = f"precision {quality.precision:.2f}, recall {quality.recall:.2f}, AUC {quality.auc:.3f} on held-out pages"
    tested = tested if quality.folds else "too few examples to test it"
    return [
        f"{mission.web.name}: {len(mission.web):,} pages, {mission.web.graph.links:,} links",
        f"{mission.topic.name}: {quality.relevant:,} relevant pages ({100 * quality.share:.1f}%); classifier of "
        f"{quality.positives} + {quality.negatives} pages, {tested}",
        f"{len(start.seeds)} seeds reach {start.reach:,} pages, {mission.good_within(start):,} of them relevant; "
        f"crawls of {pages:,} pages",
    ]


def _part(strategy: Strategy, part: int) -> str:
    if not strategy.within:
        return ""
    return f" (to {strategy.within[part]})" if part < len(strategy.within) else " (beyond)"


def _distances(text: str) -> tuple[int, ...]:
    found = whole_numbers("2,4", 1)(text)
    if list(found) != sorted(set(found)):
        raise argparse.ArgumentTypeError(f"{text!r}: distances must rise")
    return found
