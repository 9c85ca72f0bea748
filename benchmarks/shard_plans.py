"""What does `learned` give up in shards? Changes among the planned pages of one cycle, beside `learned` in one process.

python -m benchmarks.shard_plans [DATA] [--pages N]

A recording is crawled under `learned`; before some of its cycles the next 5% of the pages are planned from the same
visits: by the policy itself with the answers of each round, by it without answers, in shards, and by bayes.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import tempfile
from typing import Any

import numpy as np

from recrawl.columns import PageIds
from recrawl.cycle import EveryPage, chosen, run_cycle
from recrawl.eligibility import Bar
from recrawl.fleet.planning import plan_shards
from recrawl.fleet.shard_writing import Snapshot, numbered_rounds, write_shards
from recrawl.memory import Memory
from recrawl.policies.catalogue import make_policy
from recrawl.policy import Policy, Setting
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from recrawl.simulate.synthetic.synthesis import synthesize

WARMUP, CYCLE_DAYS, SHARE = 2, 7.0, 0.05
LOOKED_AT = (12, 16, 20, 24, 28, 32, 36, 40, 44, 48)


def without_answers(memory: Memory, policy: Policy, budget: int, at: float) -> PageIds:
    """Let a policy choose round after round; memory and policy are copies."""
    memory.begin_cycle()
    policy.begin(memory, at)
    found: list[PageIds] = []
    while (left := budget - sum(map(len, found))) > 0:
        pages = chosen(memory, policy, left, at, None)
        if not len(pages):
            break
        memory.bars.page[pages] = Bar.UNDER_WAY
        found.append(pages)
    return np.concatenate(found)


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", help="a recording (a small synthetic web)")
    parser.add_argument("--pages", type=int)
    args = parser.parse_args(words or [])
    web = Recording.open(args.data) if args.data else synthesize("mixed", pages=2_000, days=364, seed=1)
    web = web if args.pages is None else web.sample(args.pages, 1)
    web = web.fixed()  # no page is born or dies: plans differ in what they rank alone
    world, policy = RecordedWorld(web), make_policy("learned", Setting(seed=1))
    memory = world.memory(cycle_days=CYCLE_DAYS, seed=1)
    budget, seen, totals = round(SHARE * len(web)), list[tuple[Any, ...]](), dict[str, int]()
    paths, domains = np.asarray(web.page("path")), [f"{name}.example" for name in web.site_names]
    for cycle in range(1, LOOKED_AT[-1] + 1):
        at = web.start + cycle * CYCLE_DAYS
        if cycle in LOOKED_AT:
            stale = world.stale_since <= at
            plain = copy.copy(memory)
            plain.bars = copy.deepcopy(memory.bars)
            plain.__dict__.update({k: v.copy() for k, v in memory.__dict__.items() if isinstance(v, np.ndarray)})
            page, of, number, outcome = (np.concatenate(column) for column in zip(*seen, strict=True))
            snapshot = Snapshot(memory, domains, paths, paths, page, of, number, outcome, at, 1, cycle)
            with tempfile.TemporaryDirectory() as folder:
                shards = write_shards(snapshot, f"{folder}/s", 8, "benchmark")
                for name in ("learned", "bayes"):
                    plan = [visit.page for visit in plan_shards(shards, name, budget).visits()]
                    totals[f"{name} in shards"] = totals.get(f"{name} in shards", 0) + int(stale[plan].sum())
            own = without_answers(plain, copy.deepcopy(policy), budget, at)
            totals["learned, no answers"] = totals.get("learned, no answers", 0) + int(stale[own].sum())
        chooser, visits = (EveryPage(policy), len(web)) if cycle <= WARMUP else (policy, budget)
        rounds = run_cycle(world, memory, chooser, visits, at)
        numbers = numbered_rounds([r.pages for r in rounds], len(web))
        visited = np.concatenate([r.pages for r in rounds])
        outcomes = np.concatenate([r.outcome.astype(np.int64) for r in rounds])
        seen.append((visited, np.full(len(visited), cycle), numbers, outcomes))
        if cycle in LOOKED_AT:
            found = sum(int(r.changed.sum()) for r in rounds)
            totals["learned, with answers"] = totals.get("learned, with answers", 0) + found
    planned = budget * len(LOOKED_AT)
    for name, found in totals.items():
        print(json.dumps({"plan": name, "found": found, "of": planned, "share": round(found / planned, 4)}))


if __name__ == "__main__":
    main(sys.argv[1:])
