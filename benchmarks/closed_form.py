"""Closed-form policies: page-scores a second and bytes a page, beside a pandas loop written the obvious way.

400,000 pages x 17 daily cycles at 5%, warm-up 2, as in the GP4C paper's windows. A page-score is one page scored and
ranked in one cycle after warm-up. One core.
"""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
import pandas as pd

from recrawl.columns import BoolArray
from recrawl.cycle import EveryPage, run_cycle
from recrawl.policies.catalogue import make_policy
from recrawl.policy import Setting
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from recrawl.simulate.synthetic.synthesis import synthesize

PAGES, DAYS, WARMUP, SHARE = 400_000, 19, 2, 0.05
POLICIES = ("age", "cg", "nad", "sad", "aad", "gad", "bayes", "lambdacrawl", "freshness-optimal")


def crawl(recording: Recording, name: str) -> float:
    """Run the crawl through the real loop; return the mean ChangeRate."""
    world = RecordedWorld(recording)
    memory = world.memory(cycle_days=1.0, seed=1)
    policy = make_policy(name, Setting(seed=1, truth=world))
    budget = round(SHARE * len(recording))
    rates = []
    for cycle in range(DAYS):
        at = recording.start + cycle + 1.0
        if cycle < WARMUP:
            run_cycle(world, memory, EveryPage(policy), len(recording), at)
        else:
            rounds = run_cycle(world, memory, policy, budget, at)
            rates.append(sum(v.changed.sum() for v in rounds) / sum(len(v) for v in rounds))
    return float(np.mean(rates))


def pandas_crawl(changed: BoolArray) -> float:
    """Run the same crawl under cg the obvious way: a data frame, sorted in every cycle."""
    pages, days = changed.shape
    frame = pd.DataFrame({"n": 0, "X": 0, "last": 0}, index=range(pages))
    budget = round(SHARE * pages)
    rates = []
    for day in range(days):
        cycle = day + 1
        if day < WARMUP:
            chosen = frame.index
        else:
            rate = -np.log((frame["n"] - frame["X"] + 0.5) / (frame["n"] + 0.5))
            frame["score"] = 1 - np.exp(-rate * (cycle - frame["last"]))
            chosen = frame.sort_values("score", ascending=False).head(budget).index
        found = pd.Series(
            [changed[page, last:cycle].any() for page, last in zip(chosen, frame.loc[chosen, "last"], strict=True)],
            index=chosen,
        )
        frame.loc[chosen, "n"] += 1
        frame.loc[chosen, "X"] += found.astype(int)
        frame.loc[chosen, "last"] = cycle
        if day >= WARMUP:
            rates.append(found.mean())
    return float(np.mean(rates))


def change_matrix(recording: Recording) -> BoolArray:
    """Which page changed on which day."""
    matrix = np.zeros((len(recording), DAYS), dtype=np.bool_)
    pages = np.repeat(np.arange(len(recording)), np.diff(recording.change_start))
    days = np.ceil(recording.change_day - recording.start).astype(np.int64) - 1
    matrix[pages, np.clip(days, 0, DAYS - 1)] = True
    return matrix


def main() -> None:
    """Print one line a policy, then the ratio and the memory."""
    recording = synthesize("brdc12", PAGES, DAYS, seed=1)
    crawl(synthesize("brdc12", 1000, DAYS, seed=1), "gad")  # compile the kernels
    scores = PAGES * (DAYS - WARMUP)
    seconds: dict[str, float] = {}
    for name in POLICIES:
        began = time.perf_counter()
        rate = crawl(recording, name)
        seconds[name] = time.perf_counter() - began
        speed = scores / seconds[name] / 1e6
        print(f"{name:18} {seconds[name]:6.2f} s  {speed:6.1f} M page-scores/s  ChangeRate {rate:.4f}")
    matrix = change_matrix(recording)
    began = time.perf_counter()
    rate = pandas_crawl(matrix)
    plain = time.perf_counter() - began
    print(f"{'pandas cg':18} {plain:6.2f} s  ChangeRate {rate:.4f}  recrawl is {plain / seconds['cg']:.1f}x as fast")
    tracemalloc.start()
    crawl(recording, "cg")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    held = recording.change_day.nbytes + recording.change_start.nbytes
    print(f"peak memory under cg: {peak / PAGES:.0f} bytes a page, {(peak + held) / PAGES:.0f} with the change times")


if __name__ == "__main__":
    main()
