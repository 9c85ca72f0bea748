"""recrawl focus: evolve how a topical crawl ranks its frontier, and replay what was evolved."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.cli.output import check_folder, write_folder
from recrawl.errors import InputError
from recrawl.progress import progress

if TYPE_CHECKING:
    from recrawl.focus.genetic import GeneticSettings
    from recrawl.focus.mission import Mission, Seeding
    from recrawl.focus.strategy import Strategy

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


def add(verbs: Any) -> None:
    """Add the verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "focus",
        help="crawl for a topic: evolve and replay strategies that rank the frontier",
        description="Evolve strategies that rank the frontier of a topical crawl, and replay them on a recorded web.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(metavar="ACTION", dest="action", required=True)
    _add_evolve(actions)
    _add_run(actions)


def _add_evolve(actions: Any) -> None:
    parser = actions.add_parser(
        "evolve", help="evolve strategies by a genetic algorithm", epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    _add_common(parser)
    group = parser.add_argument_group("evolution")
    add_evolution(group)
    group.add_argument("--keep", type=int, default=3, metavar="K", help="strategies to keep, at most 10 (3)")
    group.add_argument("--anchor-and-host", action="store_true", help="weigh similar anchors and good hosts, too")
    group.add_argument("--explore", type=float, default=0.0, metavar="X",
                       help="a good page d links from the seeds counts 1 + X (d - 1) (0)")  # fmt: skip
    group.add_argument("--within", type=_distances, default=(), metavar="D,E",
                       help="different weights up to D links from the seeds, up to E, and beyond")  # fmt: skip
    group.add_argument("--start", action="append", default=[], metavar="FILE|NAME",
                       help="begin with a strategy of an earlier run, or a named one; may be repeated")  # fmt: skip
    parser.set_defaults(run=run_evolve)


def _add_run(actions: Any) -> None:
    parser = actions.add_parser(
        "run", help="replay strategies", epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    _add_common(parser)
    parser.add_argument("--strategy", action="append", default=[], metavar="FILE|NAME",
                        help="a strategy's file or name; may be repeated (all baselines)")  # fmt: skip
    parser.add_argument("--runs", type=int, default=5, metavar="R", help="crawls of each, with other chances (5)")
    parser.set_defaults(run=run_replay)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", metavar="DATA", help="folder of a recording, or `synthetic`")
    parser.add_argument("--topic", required=True, metavar="T", help="what to look for, see below")
    parser.add_argument("--pages", type=int, default=0, metavar="P", help="pages of a crawl (what the graph allows)")
    parser.add_argument("--seeds", type=int, default=0, metavar="N", help="start from N relevant pages drawn at random")
    parser.add_argument("--seed-urls", metavar="A,B|@FILE", help="start from these pages (the topic's examples)")
    parser.add_argument("--web-pages", type=int, default=0, metavar="N", help="pages of a synthetic web (200000)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of everything that is drawn (0)")
    parser.add_argument("--jobs", type=int, default=1, metavar="J", help="threads; the results are the same (1)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write results.json and strategies there")
    parser.add_argument("--force", action="store_true", help="replace existing results in --out")
    parser.add_argument("--json", action="store_true", help="print results.json instead of tables")


def add_evolution(group: Any) -> None:
    """Add the settings of the genetic algorithm; the defaults are the paper's."""
    group.add_argument("--population", type=int, default=50, metavar="N", help="individuals (50)")
    group.add_argument("--generations", type=int, default=50, metavar="G", help="generations (50)")
    group.add_argument("--simulations", type=int, default=3, metavar="K", help="crawls that judge an individual (3)")
    group.add_argument("--crossover", type=float, default=0.90, metavar="P", help="probability of crossing (0.90)")
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
    if args.json:
        print(json.dumps(results, indent=1))
    else:
        _headline(mission, start, pages)
        heads = ["score", *(f"{s.name}{_part(s, i)}" for s in kept for i in range(len(s.parts)))]
        rows = [[name, *(f"{value:.3f}" for value in values)] for name, values in weight_rows(kept)]
        rows.append(["fitness", *(f"{s.found['fitness']:.4f}" for s in kept for _ in s.parts)])
        show("", heads, rows)
    if args.out is not None:
        files = {"results.json": (json.dumps(results, indent=1) + "\n").encode()}
        files |= {f"strategy-{i}.json": to_json(strategy).encode() for i, strategy in enumerate(kept, 1)}
        write_folder(args.out, files)
        print(f"wrote {args.out}/strategy-1.json", file=sys.stderr)


def run_replay(args: argparse.Namespace) -> None:
    """Replay strategies; print what each was worth."""
    from recrawl.evaluate.statistics import interval
    from recrawl.focus.baselines import BASELINES
    from recrawl.focus.fleet import chances
    from recrawl.papers.focus.focus_protocol import MEASURES, measure
    from recrawl.papers.focus.focus_report import said

    if args.runs < 1:
        raise InputError("--runs must be at least 1")
    strategies = [_strategy(name) for name in args.strategy] or list(BASELINES)
    mission, start, pages = _mission(args)
    with progress("crawling") as advance:
        crawls = mission.fleet.crawls(strategies, start.seeds, pages, chances(args.seed, args.runs), advance)
    import numpy as np

    values = [np.array([measure(mission, start, crawl, pages) for crawl in mine]) for mine in crawls]
    summary = [[interval(table[:, i]) for i in range(len(MEASURES))] for table in values]
    rows = []
    for strategy, mine, points in zip(strategies, crawls, summary, strict=True):
        shown = {m: {"mean": p.mean, "half": _known(p.half)} for m, p in zip(MEASURES, points, strict=True)}
        rows.append({"strategy": strategy.name, "pages": max(len(crawl.pages) for crawl in mine), **shown})
    results = {**_about(mission, start, pages), "runs": args.runs, "results": rows}
    if args.json:
        print(json.dumps(results, indent=1))
    else:
        _headline(mission, start, pages)
        table = [[s.name, *(said(point) for point in points)] for s, points in zip(strategies, summary, strict=True)]
        show("", ["strategy", *MEASURES], table)
        longest = max(len(crawl.pages) for mine in crawls for crawl in mine)
        if longest < pages:
            print(f"note: the crawls ended after {longest:,} pages, all that the seeds reach")
    if args.out is not None:
        write_folder(args.out, {"results.json": (json.dumps(results, indent=1) + "\n").encode()})
        print(f"wrote {args.out}/results.json", file=sys.stderr)


def show(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table for people."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 10_000  # a pipe has no width
    table = Table(box=None, header_style="bold", pad_edge=False)
    for i, head in enumerate(heads):
        table.add_column(head, justify="right" if i else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    if title:
        console.print(Text(title, style="bold"), soft_wrap=True)
    console.print(table)


def _mission(args: argparse.Namespace) -> tuple[Mission, Seeding, int]:
    """Check the arguments, open the web, learn the topic, find the seeds."""
    from recrawl.focus.mission import Mission, default_pages
    from recrawl.focus.topic import read_addresses
    from recrawl.focus.web import open_web

    check_numbers(args)
    if args.seeds and args.seed_urls:
        raise InputError("give --seeds or --seed-urls, not both")
    if args.out is not None:
        check_folder(args.out, force=args.force, may_replace=FILES)
    web = open_web(args.data, seed=args.seed, pages=args.web_pages)
    wanted = web.graph.pages_of(read_addresses(args.seed_urls)) if args.seed_urls else None
    mission = Mission.learn(web, args.topic, seed=args.seed, jobs=args.jobs)
    if wanted is not None:
        start = mission.start(wanted)
    else:
        start = mission.draw(args.seeds, args.seed) if args.seeds else mission.examples(args.seed)
    return mission, start, args.pages or default_pages(start, mission.good_within(start))


def check_numbers(args: argparse.Namespace) -> None:
    """Say what is wrong with a number before the long work."""
    for option, least in (("pages", 0), ("seeds", 0), ("web_pages", 0), ("seed", 0), ("jobs", 1)):
        if getattr(args, option, least) < least:
            raise InputError(f"--{option.replace('_', '-')} must be at least {least}")


def _strategy(name: str) -> Strategy:
    from recrawl.focus.baselines import NAMED
    from recrawl.focus.strategy import load

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


def _headline(mission: Mission, start: Seeding, pages: int) -> None:
    quality = mission.topic.quality
    tested = f"precision {quality.precision:.2f}, recall {quality.recall:.2f}, AUC {quality.auc:.3f} on held-out pages"
    print(f"{mission.web.name}: {len(mission.web):,} pages, {mission.web.graph.links:,} links")
    print(
        f"{mission.topic.name}: {quality.relevant:,} relevant pages ({100 * quality.share:.1f}%); classifier of "
        f"{quality.positives} + {quality.negatives} pages, {tested if quality.folds else 'too few examples to test it'}"
    )
    print(
        f"{len(start.seeds)} seeds reach {start.reach:,} pages, {mission.good_within(start):,} of them relevant; "
        f"crawls of {pages:,} pages\n"
    )


def _part(strategy: Strategy, part: int) -> str:
    if not strategy.within:
        return ""
    return f" (to {strategy.within[part]})" if part < len(strategy.within) else " (beyond)"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _distances(text: str) -> tuple[int, ...]:
    try:
        found = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers such as 2 or 2,4") from None
    if list(found) != sorted(set(found)) or found[0] < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: distances must rise and be at least 1")
    return found
