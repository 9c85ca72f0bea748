"""How many found changes do fresh copies cost? ChangeRate against Freshness of each objective, as a picture.

    python -m benchmarks.frontier [--recording gitweb] [--sites 0.17] [--cycle 7] [--budget 0.05] [--out FILE.json]
                                  [--draw FILE.json]

The sites of benchmarks.grid, with fixed pages and without the base model. Weighted sums of `changes` and `freshness`
trace the frontier; `balanced`, `age` and the policies that come nearest to either end are drawn beside it. --draw
draws such a file as docs/pictures/learned-frontier.png without crawling again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.grid import learned, part_of
from benchmarks.unseen import DATA
from recrawl.evaluate.crawl import crawl
from recrawl.evaluate.measures.all_measures import make_measures
from recrawl.plan import Plan
from recrawl.recording.recording import Recording

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "learned-frontier.png"
FRONTIER = (
    *("changes", "changes+0.03*freshness", "changes+0.1*freshness", "changes+0.3*freshness", "changes+1*freshness"),
    "freshness",
)
BESIDE = ("balanced", "age")
OTHERS = ("age", "sls", "bayes", "oracle")
BESIDE_POINT = {  # where a name would lie over another: offset and alignment
    "freshness": ((-4, 7), "right"),
    "objective=age": ((7, -10), "left"),
    "objective=balanced": ((-7, -9), "right"),
    "sls": ((7, -2), "left"),
    "age": ((-7, -3), "right"),
}
MEASURES = make_measures("ChangeRate,Freshness")
Points = dict[str, tuple[float, float]]  # by policy ChangeRate and Freshness


def points_of(recording: Recording, plan: Plan) -> Points:
    """Crawl with every policy."""
    found: Points = {}
    for policy in (*(learned(name) for name in (*FRONTIER, *BESIDE)), *OTHERS):
        result = crawl(recording, policy, plan, MEASURES)
        rate, fresh = (round(result.value(measure), 5) for measure in MEASURES)
        found[policy] = rate, fresh
        print(f"{policy:58}" + "".join(f"{value:10.4f}" for value in found[policy]), flush=True)
    return found


def draw(points: Points, path: Path) -> None:
    """Draw the frontier as a line, the others as points."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.4), layout="constrained")
    axes = figure.subplots()
    line = [points[learned(name)] for name in FRONTIER]
    axes.plot(*zip(*line, strict=True), "o-", color="tab:blue", label="learned: changes + W freshness")
    for name, at in zip(FRONTIER, line, strict=True):
        short = name.removeprefix("changes+").removesuffix("*freshness")
        _name(axes, name if short == name else f"W = {short}", at)
    for name in BESIDE:
        axes.plot(*points[learned(name)], "D", color="tab:orange")
        _name(axes, f"objective={name}", points[learned(name)])
    for name in OTHERS:
        axes.plot(*points[name], "s", color="tab:gray")
        _name(axes, name, points[name])
    axes.set(xlabel="ChangeRate: visits that found a change", ylabel="Freshness: copies up to date")
    axes.margins(0.16, 0.12)
    axes.legend(loc="lower left", fontsize=8)
    figure.savefig(path, dpi=90)


def _name(axes: Any, text: str, at: tuple[float, float]) -> None:
    """Write a point's name beside it."""
    where, side = BESIDE_POINT.get(text, ((6, 4), "left"))
    axes.annotate(text, at, where, textcoords="offset points", fontsize=8, ha=side)


def main(argv: Sequence[str] = ()) -> None:
    """Crawl, keep the points, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--recording", type=Path, default=DATA / "gitweb")
    parser.add_argument("--sites", type=float, default=0.17, help="share of the sites")
    parser.add_argument("--cycle", type=float, default=7.0, help="days")
    parser.add_argument("--budget", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--draw", type=Path)
    args = parser.parse_args(argv)
    if args.draw is not None:
        points = json.loads(args.draw.read_text(encoding="utf-8"))
        draw({policy: (rate, fresh) for policy, (rate, fresh) in points.items()}, PICTURE)
        return
    if not args.recording.is_dir():
        print(f"no recording at {args.recording}: nothing measured")
        return
    recording = part_of(Recording.open(args.recording), args.sites, args.cycle, fixed=True)
    points = points_of(recording, Plan(args.cycle, args.budget, seed=args.seed))
    if args.out is not None:
        args.out.write_text(json.dumps(points, indent=1) + "\n", encoding="utf-8")
    draw(points, PICTURE)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
