"""recrawl demo: crawl a living web on this machine, and see what learning is worth."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.cli.options import add_out, add_seed
from recrawl.cli.output import check_out
from recrawl.errors import InputError, OutputError

if TYPE_CHECKING:
    from recrawl.cli.live_table import View

PARTS = ("report.html", "results.json", "learned", "bayes", "age")
NOTE = """learned is learned(objective=freshness), as a live crawl runs by default: it should find more changes than
age and keep more copies up to date (freshness); the oracle knows all changes, and seeks nothing else."""
EXAMPLES = """examples:
  recrawl demo                     needs no network: all sites are on this machine
  recrawl demo --out demo          keeps the crawls and report.html:  recrawl status -C demo/age
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Make a small living web, serve it on loopback, crawl it over HTTP with a tenth of the visits "
        "under a learned policy and under age, and compare both with the oracle; takes about a minute."
    )
    parser.add_argument("--pages", type=int, default=600, metavar="N", help="pages of the web (600)")
    add_seed(parser, 1, "seed of the web")
    add_out(parser, "the crawls, results.json and report.html")


def run(args: argparse.Namespace) -> None:
    """Make the web, crawl it, print the comparison."""
    if not 50 <= args.pages <= 20_000:
        raise InputError(f"a demonstration has 50 to 20000 pages, not {args.pages}")
    check_out(args, PARTS.__contains__)
    from recrawl.demo.demo_report import render, rows_of
    from recrawl.demo.demo_story import story
    from recrawl.demo.living_demo import demonstrate, make_web

    began = time.monotonic()
    recording = make_web(args.pages, args.seed)
    parent = None if args.out is None else args.out.absolute().parent
    if parent is not None:
        parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".recrawl-demo-", dir=parent) as folder:
        judged = demonstrate(recording, Path(folder), args.seed, _view)
        rows = rows_of(judged)
        told = story(rows, Path(folder))
        if args.out is not None:
            (Path(folder) / "report.html").write_text(render(judged, recording, Path(folder)), encoding="utf-8")
            (Path(folder) / "results.json").write_text(json.dumps(rows, indent=2) + "\n")
            _put(Path(folder), args.out)
    print(json.dumps(rows, indent=2) if args.json else "\n".join([*_table(rows), NOTE, "", *told]))
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    if args.out is not None:
        print(f"open {args.out / 'report.html'}", file=sys.stderr)
        print(f"see it: recrawl serve -C {args.out / rows[0]['policy']}", file=sys.stderr)


def _view(policy: str) -> View:
    from recrawl.cli.live_table import View

    return View(title=f"recrawl demo: {policy}")


def _table(rows: list[dict[str, Any]]) -> list[str]:
    lines = ["policy     crawled    changes found  of oracle  vs age  freshness  new pages"]
    for row in rows:
        lines.append(
            f"{row['policy']:<10} {row['how']:<10} {row['changes']:>13,} {row['of_oracle']:>10.0%} "
            f"{row['versus_age']:>+7.0%} {row['freshness']:>10.3f} {row['new_pages']:>10}"
        )
    return lines


def _put(made: Path, out: Path) -> None:
    try:
        out.mkdir(exist_ok=True)
        for part in PARTS:
            if (out / part).is_dir():
                shutil.rmtree(out / part)
            if (made / part).exists():
                (made / part).replace(out / part)
    except OSError as error:
        raise OutputError(f"{out} cannot be written: {error.strerror}") from None
