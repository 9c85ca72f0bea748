"""Which objective should a live crawl have? Changes found and fresh copies, by objective, on many webs, beside age.

python -m benchmarks.objectives [FOLDER ...] [--pages 3000] [--seeds 2] [--out FILE.json]

Every preset of `recrawl synth`, and recordings in the folders given (a sample of each). Prints for each web and policy
ChangeRate (visits that found a change) and Freshness (share of the time that copies are up to date).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from recrawl.evaluate.crawl import crawl
from recrawl.evaluate.measures.all_measures import make_measures
from recrawl.plan import Plan
from recrawl.recording.recording import Recording
from recrawl.simulate.synthetic.presets import presets
from recrawl.simulate.synthetic.synthesis import synthesize

OBJECTIVES = ("changes", "balanced", "freshness")
POLICIES = (*(f"learned(objective={name})" for name in OBJECTIVES), "age")
MEASURES = make_measures("ChangeRate,Freshness")
LONG_DAYS = 200.0  # a web that is recorded for longer is crawled weekly
BUDGET = 0.10  # the default of a live crawl


def main() -> None:
    """Print a line per web and policy; with --out, keep them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    rows = []
    webs: list[str | Path] = [*(entry.name for entry in presets), *args.folders]
    for web in webs:
        for seed in range(1, args.seeds + 1):
            recording = web_of(web, args.pages, seed)
            days = recording.end - recording.start
            plan = Plan(7.0 if days > LONG_DAYS else 1.0, BUDGET, 2, seed=seed)
            for policy in POLICIES:
                result = crawl(recording, policy, plan, MEASURES)
                found, fresh = (result.value(measure) for measure in MEASURES)
                row = {"web": str(getattr(web, "name", web)), "seed": seed, "policy": policy, "cycle": plan.cycle_days}
                rows.append(row | {"ChangeRate": round(found, 4), "Freshness": round(fresh, 4)})
                print(
                    f"{row['web']:<14} seed {seed} {policy:<32} ChangeRate {found:.4f}  Freshness {fresh:.4f}",
                    flush=True,
                )
            if args.out is not None:
                args.out.write_text(json.dumps(rows, indent=1) + "\n")


def web_of(web: str | Path, pages: int, seed: int) -> Recording:
    """Draw a synthetic web, or a sample of a recorded one."""
    if isinstance(web, Path):
        whole = Recording.open(web)
        return whole.sample(pages, seed) if len(whole) > pages else whole
    return synthesize(web, pages, seed=seed)


if __name__ == "__main__":
    main()
