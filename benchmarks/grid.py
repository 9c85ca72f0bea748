"""Which policy wins where? Cycles of 1 to 28 days x budgets of 1 to 20% x pages fixed or with births and deaths.

    python -m benchmarks.grid [--recording gitweb] [--sites 0.17] [--cycles 1,7] [--budgets 0.01,0.05] [--fixed]
                              [--seed 1] [--out FILE.json] [--render FILE.json]
                              [--again docs/results/data/learned.json]

For each of four measures, `learned` with the objective of that measure, without its base model (which was made from
gitweb), beside every policy of OTHERS, on a share of the sites by a hash. Daily cycles crawl the last 57 days, longer
ones the whole year. Links are compared exactly. --out is written cell by cell, and what is there already is not crawled
again; --render prints the table of such a file. --again crawls with `learned` alone and writes its values into a table
of committed results, beside the best others that stand there.

OTHERS are the registered policies that look at nothing but the crawl and spend their budget. Left out: those that
decide themselves how much to spend (fixed, ache, nutch, stormcrawler: per visit they compare badly), that need training
or words at some length (gp, cls-*, expert-*), wrappers (explore, chase, coin) and rand and round-robin, which are age
with more or less luck.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.unseen import DATA
from recrawl.columns import uniform
from recrawl.evaluate.crawl import crawl
from recrawl.evaluate.measures.all_measures import make_measures
from recrawl.plan import Plan
from recrawl.recording.recording import Recording

CYCLES = "1,7,14,28"
BUDGETS = "0.01,0.02,0.05,0.1,0.2"
OBJECTIVES = {"ChangeRate": "changes", "Freshness": "freshness", "Age": "age", "NewLinks": "links"}
OTHERS = (
    *("age", "tx", "bayes", "cg", "nad", "sad", "aad", "gad", "freq", "sls", "lambdacrawl", "freshness-optimal"),
    *("lambdacrawl(rate=shared)", "freshness-optimal(rate=shared)", "ccr", "nnl-av", "nnl-pr", "lbla"),
)
MEASURES = make_measures(",".join(OBJECTIVES))
SITES_SEED = 31
DAILY_DAYS = 57.0


def learned(objective: str) -> str:
    """Return the spec of `learned` with an objective."""
    return f"learned(objective={objective}, base=none)"


def part_of(whole: Recording, share: float, cycle: float, *, fixed: bool) -> Recording:
    """Return the sites and days that a cell crawls."""
    start = max(whole.start, whole.end - DAILY_DAYS) if cycle == 1.0 else whole.start
    recording = whole.window(start, whole.end)
    recording = recording.fixed() if fixed else recording
    return recording.keep(uniform(recording.site, SITES_SEED) < share)


def cell_of(recording: Recording, plan: Plan) -> dict[str, dict[str, float]]:
    """Crawl with every policy; return the value of each measure."""
    table = {}
    for policy in (*(learned(name) for name in OBJECTIVES.values()), *OTHERS):
        result = crawl(recording, policy, plan, MEASURES)
        table[policy] = {m.spec: round(result.value(m), 5) for m in MEASURES}
    return table


def rows_of(cells: dict[str, Any]) -> list[list[str]]:
    """Return the table: the winner of each cell by each measure, with learned's value beside the best other's."""
    rows = []
    for name, table in cells.items():
        row = [name]
        for measure in MEASURES:
            own = table[learned(OBJECTIVES[measure.spec])][measure.spec]
            sign = 1.0 if measure.better == "higher" else -1.0
            other = max(OTHERS, key=lambda policy: sign * table[policy][measure.spec])
            value = table[other][measure.spec]
            mark = "**" if sign * own >= sign * value else ""
            row.append(f"{mark}{own:.4g}{mark} / {value:.4g} {other}")
        rows.append(row)
    return rows


def crawl_again(whole: Recording, share: float, path: Path, seed: int) -> None:
    """Crawl with `learned` alone, and write its values into the table of results, cell by cell."""
    results = json.loads(path.read_text(encoding="utf-8"))
    table = next(
        part["table"]
        for result in results["results"]
        for part in result["body"]
        if part.get("table", {}).get("columns", [])[1:] == list(OBJECTIVES)
    )
    for row in table["rows"]:
        cycle, budget, pages = row[0].split(", ")
        plan = Plan(float(cycle.removesuffix("d")), float(budget.removesuffix("%")) / 100.0, seed=seed)
        recording = part_of(whole, share, plan.cycle_days, fixed=pages == "fixed")
        for column, measure in enumerate(MEASURES, 1):
            own = crawl(recording, learned(OBJECTIVES[measure.spec]), plan, (measure,)).value(measure)
            other = row[column].partition(" / ")[2]
            sign = 1.0 if measure.better == "higher" else -1.0
            mark = "**" if sign * own >= sign * float(other.split()[0]) else ""
            row[column] = f"{mark}{own:.4g}{mark} / {other}"
        print("| " + " | ".join(row) + " |", flush=True)
        path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def show(cells: dict[str, Any]) -> None:
    """Print the table in Markdown."""
    print("| cycle, budget, pages | " + " | ".join(OBJECTIVES) + " |\n|---|" + "---|" * len(OBJECTIVES))
    for row in rows_of(cells):
        print("| " + " | ".join(row) + " |")


def main(argv: Sequence[str] = ()) -> None:
    """Crawl the cells that are missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--recording", type=Path, default=DATA / "gitweb")
    parser.add_argument("--sites", type=float, default=0.17, help="share of the sites")
    parser.add_argument("--cycles", default=CYCLES, help="days")
    parser.add_argument("--budgets", default=BUDGETS, help="shares of the pages")
    parser.add_argument("--fixed", action="store_true", help="leave out the cells with births and deaths")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--render", type=Path)
    parser.add_argument("--again", type=Path, help="results of docs/results/data; crawl with learned alone")
    args = parser.parse_args(argv)
    if args.render is not None:
        show(json.loads(args.render.read_text(encoding="utf-8"))["cells"])
        return
    if not args.recording.is_dir():
        print(f"no recording at {args.recording}: nothing measured")
        return
    whole = Recording.open(args.recording)
    if args.again is not None:
        if not args.again.is_file():
            parser.error(f"no results at {args.again}")
        crawl_again(whole, args.sites, args.again, args.seed)
        return
    found: dict[str, Any] = {"sites": [], "cells": {}}
    if args.out is not None and args.out.exists():
        found = json.loads(args.out.read_text(encoding="utf-8"))
    cycles, budgets = ([float(part) for part in text.split(",")] for text in (args.cycles, args.budgets))
    for cycle, budget, fixed in product(cycles, budgets, (True,) if args.fixed else (True, False)):
        name = f"{cycle:g}d, {budget:.0%}, {'fixed' if fixed else 'births and deaths'}"
        if name in found["cells"]:
            continue
        began = time.process_time()
        recording = part_of(whole, args.sites, cycle, fixed=fixed)
        found["sites"] = sorted({*found["sites"], *(str(recording.site_names[i]) for i in np.unique(recording.site))})
        found["cells"][name] = cell_of(recording, Plan(cycle, budget, seed=args.seed))
        print(f"{name}: {len(recording)} pages, {time.process_time() - began:.0f} s of a core", flush=True)
        if args.out is not None:
            args.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    show(found["cells"])


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
