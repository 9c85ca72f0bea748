"""How many visits do the trees of `learned` need? Log-loss and found changes on later cycles, by the rows trained on.

python -m benchmarks.learning_curve [DATA] [--seeds 2]

A recording is crawled for all its weeks, a quarter of the pages at random in each. Of the visits before the last six
cycles N are drawn for training; the chances of change of the last six cycles' visits are judged.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import replace

import numpy as np

import recrawl.policies.learned.hazard as learner
from recrawl.columns import FloatArray, uniform
from recrawl.fleet.shard_files import ShardSet
from recrawl.fleet.shard_totals import total_of, totals_of_shard
from recrawl.fleet.shard_training import SampleRows, Shares, rows_of_shard, train
from recrawl.fleet.shard_writing import of_recording, write_shards
from recrawl.plan import Plan
from recrawl.recording.recording import Recording
from recrawl.simulate.synthetic.synthesis import synthesize

SIZES = (25_000, 50_000, 100_000, 200_000, 400_000, 800_000, 10**9)
JUDGED = 6  # cycles
TOP = 0.05


def all_rows(recording: Recording, folder: str) -> tuple[SampleRows, ShardSet, list[float]]:
    """Every visit of a crawl at random, with what was known before it."""
    plan = Plan(7.0, 0.25, 2)
    snapshot = of_recording(recording, plan, plan.cycles(recording), "rand")
    shards = write_shards(snapshot, folder, 1, "benchmark", force=True)
    totals = total_of([totals_of_shard((shards, 0))], shards.cycle)
    shares = Shares(1.0, 1.0, Shares.of(totals, 1).judging)
    return rows_of_shard((shards, 0, totals.bases(), shares)), shards, totals.bases()


def judged(chance: FloatArray, rows: SampleRows) -> tuple[float, float]:
    """Mean log-loss, and the share of visits that find a change among the top 5% of each cycle."""
    p = np.clip(chance, 1e-6, 1 - 1e-6)
    loss = -np.mean(np.where(rows.changed, np.log(p), np.log1p(-p)))
    found = []
    for cycle in np.unique(rows.cycle):
        mine = np.flatnonzero(rows.cycle == cycle)
        best = mine[np.argsort(-p[mine], kind="stable")[: round(TOP * len(mine))]]
        found.append(rows.changed[best].mean())
    return float(loss), float(np.mean(found))


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", help="a recording (a small synthetic web)")
    parser.add_argument("--seeds", type=int, default=2)
    args = parser.parse_args(words or [])
    web = Recording.open(args.data) if args.data else synthesize("mixed", pages=2_000, days=364, seed=1)
    kept, learner.MAX_ROWS = learner.MAX_ROWS, 10**12  # the curve goes beyond what the policy keeps
    try:
        curve(web, args.seeds)
    finally:
        learner.MAX_ROWS = kept


def curve(web: Recording, seeds: int) -> None:
    """Print a line per number of rows and seed."""
    with tempfile.TemporaryDirectory() as folder:
        rows, shards, bases = all_rows(web, f"{folder}/shards")
        last = shards.cycle - 1
        early, late = rows.take(rows.cycle <= last - JUDGED), rows.take(rows.cycle > last - JUDGED)
        print(json.dumps({"rows": len(early.tie), "judged": len(late.tie), "changes": int(early.changed.sum())}))
        for size in SIZES:
            if size != SIZES[-1] and size > len(early.tie):
                continue
            for seed in range(seeds if size < len(early.tie) else 1):
                drawn = uniform(early.tie + early.cycle.astype(np.uint64), 77 + seed) < size / len(early.tie)
                begun = time.process_time()
                chosen = replace(early, weight=np.where(drawn, 1.0, 0.0)).take(drawn | early.judging)
                model = train(chosen, bases, last - JUDGED + 1, seed)
                used = time.process_time() - begun
                prior = model.of_rows(late)
                loss, top = judged(model.hazard.probability(late.features, prior), late)
                told = {"trained_on": int(drawn.sum()), "seed": seed, "log_loss": round(loss, 5), "top": round(top, 4)}
                print(json.dumps(told | {"train_cpu_s": round(used, 1)}), flush=True)
        loss, top = judged(prior, late)
        print(json.dumps({"trained_on": 0, "log_loss": round(loss, 5), "top": round(top, 4)}))


if __name__ == "__main__":
    main(sys.argv[1:])
