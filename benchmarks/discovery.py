"""How much of the budget should first visits get? Webs that are born at several rates, crawled with several shares.

Prints for each web, policy and share: changes found and first copies taken per 100 visits, and the share of all living
pages of which the crawl holds a fresh copy at the end of a cycle, on average; pages without a copy count as stale.

    python -m benchmarks.discovery [--pages 3000] [--days 60] [--policies bayes,learned]
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from recrawl.cycle import EveryPage, run_cycle
from recrawl.policies.catalogue import make_policy
from recrawl.policy import Setting
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from recrawl.simulate.synthetic.presets import preset
from recrawl.simulate.synthetic.synthesis import synthesize
from recrawl.visits import Outcome

SHARES = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
BIRTHS = (0.01, 0.05, 0.2)  # pages born a day, of those at the start
WARMUP = 2


def web(births: float, pages: int, days: float) -> Recording:
    """Return a mixed web that grows: `pages` count all that are ever born."""
    return synthesize(replace(preset("mixed"), births=births), pages, days, seed=1)


def crawl(recording: Recording, policy: str, share: float, budget: float) -> tuple[float, float, float]:
    """Crawl with this share for first visits; return changes and first copies per 100 visits, and the fresh share."""
    world = RecordedWorld(recording)
    memory = world.memory(cycle_days=1.0)
    chooser = make_policy(policy, Setting())
    visits = max(1, round(budget * memory.known.sum()))
    found, fresh = np.zeros(3), []
    for day in range(1, int(recording.end) + 1):
        warm = day <= WARMUP
        rounds = run_cycle(
            world, memory, EveryPage(chooser) if warm else chooser, len(memory) if warm else visits, float(day),
            discovery=1.0 if warm else share,
        )  # fmt: skip
        if warm:
            continue
        outcome = np.concatenate([each.outcome for each in rounds])
        found += [(outcome == Outcome.CHANGED).sum(), (outcome == Outcome.FIRST).sum(), len(outcome)]
        alive = (recording.born <= day) & (recording.died > day)
        fresh.append(np.mean((memory.held() & (world.stale_since > day))[alive]))
    return 100 * found[0] / found[2], 100 * found[1] / found[2], float(np.mean(fresh))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--days", type=float, default=60.0)
    parser.add_argument("--budget", type=float, default=0.05)
    parser.add_argument("--policies", default="age,bayes,learned")
    args = parser.parse_args()
    print(f"{'births':>6} {'policy':<8} {'share':>5} {'changes':>8} {'firsts':>7} {'fresh of all':>12}")
    for births in BIRTHS:
        recording = web(births, args.pages, args.days)
        for policy in args.policies.split(","):
            for share in SHARES:
                changes, firsts, fresh = crawl(recording, policy, share, args.budget)
                print(f"{births:>6g} {policy:<8} {share:>5g} {changes:>8.1f} {firsts:>7.1f} {fresh:>12.3f}", flush=True)


if __name__ == "__main__":
    main()
