"""How does `learned` do on sites it was not tuned on? Folds of sites by a hash, each crawled as a web of its own.

    python -m benchmarks.unseen [--recording gitweb] [--folds 0,1] [--plans weekly,daily] [--seeds 1,2,3]
                                [--policies "learned;sls;age;oracle"] [--presets small-late,...] [--cache DIR] [--sites]

The base model that `learned` ships with was trained on gitweb. For figures of sites never seen, crawl each fold with
one made without it: `python -m benchmarks.pretrain --leave-out 0 --out bases/0.npz`, then `--folds 0 --policies
"learned(base=bases/0.npz)"`.

Choices are made on some folds and judged on the others. For each policy: ChangeRate, and as a share of the oracle's,
its spread over seeds (largest less smallest), NewLinks, Freshness and WorstSite. Crawls are kept in --cache by the
digest of the sources they depend on, the web, the plan, the seed and the policy, so that only what has changed is
crawled again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import recrawl
from recrawl.columns import uniform
from recrawl.evaluate.crawl import crawl
from recrawl.evaluate.measures.all_measures import make_measures
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.measures.view import CycleView
from recrawl.evaluate.measures.worstsite import LEAST, SiteTally
from recrawl.plan import Plan
from recrawl.recording.recording import Recording
from recrawl.simulate.synthetic.synthesis import synthesize

DATA = Path(__file__).parents[2] / "shared" / "data"
FOLDS = 4
FOLD_SEED = 17
PLANS = {"weekly": (7.0, 0.05, 364.0), "daily": (1.0, 0.01, 57.0)}  # days of a cycle, budget, days in all
PRESETS = {
    "waking": "weekly",
    "archive": "weekly",
    "moving": "weekly",
    "seasonal": "weekly",
    "small-site": "daily",
    "small-late": "daily",
    "late": "daily",
}
MEASURES = make_measures("ChangeRate,Freshness,NewLinks,WorstSite")
SHOWN = ("ChangeRate", "of oracle", "spread", "NewLinks", "Freshness", "WorstSite")


@dataclass(frozen=True, repr=False)
class BySite(Measure):
    """Keeps the tally of the sites, for the table of each site."""

    name = "BySite"
    by_site = True
    meaning = "changes found by site"
    kept: list[SiteTally] = field(default_factory=list, compare=False)

    def parts(self, view: CycleView) -> tuple[float, float]:
        """Keep the tally; the value itself is of no use."""
        assert view.stage.tally is not None
        self.kept[:] = [view.stage.tally]
        return 0.0, 1.0


def digest(policy: str) -> str:
    """Return a digest of the sources that a crawl depends on; policies other than learned hardly ever change."""
    root = Path(recrawl.__file__).parent
    folders = ["policies/learned", "policies/selection.py"] if policy.startswith("learned") else []
    found = hashlib.sha256()
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")) or [root / folder]:
            found.update(path.read_bytes())
    return found.hexdigest()[:12]


def fold_of(recording: Recording, fold: int) -> Recording:
    """Return the sites of one fold."""
    return recording.keep((uniform(recording.site, FOLD_SEED) * FOLDS).astype(np.int64) == fold)


def web_of(folder: Path, fold: int, plan: str) -> Recording:
    """Open the last days of a recording with fixed pages; of one fold, or all if it is negative."""
    whole = Recording.open(folder)
    recording = whole.window(max(whole.start, whole.end - PLANS[plan][2]), whole.end).fixed()
    return recording if fold < 0 else fold_of(recording, fold)


def run(recording: Recording, policy: str, plan: Plan) -> dict[str, Any]:
    """Crawl once; return the measures, and for each site with changes what was findable, found and found by age."""
    sites, began = BySite(), time.process_time()
    result = crawl(recording, policy, plan, (*MEASURES, sites))
    tally = sites.kept[0]
    some = np.flatnonzero(tally.findable >= LEAST)
    rows = zip(some, tally.findable[some], tally.found[some], tally.by_age[-1][some], strict=True)
    return {
        **{m.spec: round(result.value(m), 5) for m in MEASURES},
        "sites": {str(recording.site_names[site]): [int(n) for n in counts] for site, *counts in rows},
        "notes": list(result.notes),
        "cpu_s": round(time.process_time() - began, 1),
    }


def cached(cache: Path | None, recording: Recording, web: str, policy: str, plan: Plan) -> dict[str, Any]:
    """Return the crawl from the cache, or crawl and keep it."""
    key = hashlib.sha256(f"{web}|{len(recording)}|{policy}|{plan}|{digest(policy)}".encode()).hexdigest()[:20]
    path = None if cache is None else cache / f"{key}.json"
    if path is not None and path.exists():
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found
    found = run(recording, policy, plan)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found), encoding="utf-8")
    return found


def judge(
    web: str, recording: Recording, policies: Sequence[str], plans: Sequence[Plan], cache: Path | None, *, sites: bool
) -> dict[str, Any]:
    """Crawl a web with every policy and seed; print and return the table."""
    print(f"{web}: {len(recording)} pages\n{'':34}" + "".join(f"{name:>12}" for name in SHOWN), flush=True)
    table: dict[str, Any] = {}
    for policy in ("oracle", *(name for name in policies if name != "oracle")):
        rows = [cached(cache, recording, web, policy, plan) for plan in plans]
        row = {m.spec: [r[m.spec] for r in rows] for m in MEASURES}
        table[policy] = row
        row["of oracle"] = (np.array(row["ChangeRate"]) / np.array(table["oracle"]["ChangeRate"])).round(4).tolist()
        spread = max(row["of oracle"]) - min(row["of oracle"])
        means = {name: float(np.mean(row[name])) for name in SHOWN if name not in ("spread", "WorstSite")}
        means |= {"spread": spread, "WorstSite": min(row["WorstSite"])}
        cells = "".join(f"{means[name]:12.4f}" for name in SHOWN)
        each = " ".join(f"{value:.4f}" for value in row["of oracle"])
        print(f"{policy:34}{cells}   [{each}] {sum(r['cpu_s'] for r in rows):.0f} s", flush=True)
        if sites and policy.startswith("learned"):
            show_sites(rows)
    return {"pages": len(recording), "policies": table}


def show_sites(rows: Sequence[dict[str, Any]]) -> None:
    """Print the sites on which the ratio to age is smallest, and the notes of the policy."""
    ratios = [
        (found / age, name, findable, found, age, seed)
        for seed, row in enumerate(rows, 1)
        for name, (findable, found, age) in row["sites"].items()
        if age
    ]
    for ratio, name, findable, found, age, seed in sorted(ratios)[:12]:
        print(f"    {ratio:5.2f} {name[:44]:44} findable {findable:6} found {found:6} age {age:6} run {seed}")
    for row in rows:
        for note in row["notes"]:
            print(f"    {note}")


def main(argv: Sequence[str] = ()) -> None:
    """Judge policies on folds of a recording and on presets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--recording", type=Path, default=DATA / "gitweb")
    parser.add_argument("--folds", default="0,1,2,3", help="numbers, or all for the whole recording, or none")
    parser.add_argument("--plans", default="weekly,daily")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--policies", default="age;sls;learned", help="separated by semicolons")
    parser.add_argument("--presets", default="")
    parser.add_argument("--pages", type=int, default=20_000, help="of a preset")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--sites", action="store_true", help="print the worst sites and the policy's notes")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args(argv)
    seeds, policies = [int(s) for s in args.seeds.split(",")], args.policies.split(";")
    found: dict[str, Any] = {}
    for plan in args.plans.split(",") if args.folds != "none" else ():
        for fold in [-1] if args.folds == "all" else [int(f) for f in args.folds.split(",")]:
            web = f"{args.recording.name} {plan} fold {fold}"
            recording = web_of(args.recording, fold, plan)
            plans = [Plan(*PLANS[plan][:2], seed=seed, exact_links=False) for seed in seeds]
            found[web] = judge(web, recording, policies, plans, args.cache, sites=args.sites)
    for name in filter(None, args.presets.split(",")):
        length, budget, days = PLANS[PRESETS[name]]
        recording = synthesize(name, args.pages, days, seed=1, only=("sites", "pages", "changes"))
        plans = [Plan(length, budget, seed=seed, exact_links=False, discover="birth") for seed in seeds]
        found[name] = judge(name, recording, policies, plans, args.cache, sites=args.sites)
    if args.out is not None:
        args.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
