"""What does the base model bring to someone with one site? Each site crawled alone, with and without base and trees.

    python -m benchmarks.alone [--recording gitweb] [--plans weekly,daily] [--seed 1] [--base DIR]

DIR has the base models 0.npz to 3.npz of `python -m benchmarks.pretrain --leave-out FOLD`: each site is crawled with
the one that was made without the sites of its fold. Of all findable changes, the share that each policy finds in all
cycles and in the first ten; and the mean over sites of its share of what the oracle finds. "No trees" is `learned`
where LightGBM is not installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.unseen import DATA, FOLD_SEED, FOLDS, PLANS
from recrawl.columns import FloatArray, uniform
from recrawl.evaluate.crawl import PolicyMaker, crawl
from recrawl.evaluate.measures.all_measures import make_measures
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policies.learned.learned import Learned
from recrawl.policy import Policy, Setting
from recrawl.recording.recording import Recording

SIZES = (300, 4000)  # pages of a site
FIRST = 10  # cycles
MEASURE = make_measures("ChangeRate")


def learned(base: str, *, trees: bool) -> PolicyMaker:
    """Return a maker of `learned` with a base model, with or without trees of its own."""

    def make(setting: Setting) -> Policy:
        policy = make_policy(f"learned(base={base})", setting)
        assert isinstance(policy, Learned)
        policy.belief.trees = trees
        return policy

    return make


def policies_for(base: str) -> dict[str, str | PolicyMaker]:
    """Return what is compared."""
    return {
        "oracle": "oracle",
        "age": "age",
        "learned, no base, no trees": learned("none", trees=False),
        "learned, base, no trees": learned(base, trees=False),
        "learned, no base": learned("none", trees=True),
        "learned, base": learned(base, trees=True),
    }


def found_on(site: Recording, plan: Plan, base: str) -> FloatArray:
    """Return the changes that each policy finds on a site: in all cycles, and in the first."""
    found = [crawl(site, policy, plan, MEASURE).parts[0][:, 0] for policy in policies_for(base).values()]
    return np.array([(changes.sum(), changes[:FIRST].sum()) for changes in found])


def main(argv: Sequence[str] = ()) -> None:
    """Crawl every site alone, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--recording", type=Path, default=DATA / "gitweb")
    parser.add_argument("--plans", default="weekly,daily")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--base", type=Path, required=True, help="folder of base models, one per fold left out")
    args = parser.parse_args(argv)
    whole = Recording.open(args.recording)
    for name in args.plans.split(","):
        length, budget, days = PLANS[name]
        recording = whole.window(max(whole.start, whole.end - days), whole.end).fixed()
        sites, pages = np.unique(recording.site, return_counts=True)
        sites = sites[(pages >= SIZES[0]) & (pages <= SIZES[1])]
        plan = Plan(length, budget, seed=args.seed, exact_links=False)
        folds = (uniform(sites, FOLD_SEED) * FOLDS).astype(np.int64)
        found = np.array(
            [
                found_on(recording.keep(recording.site == site), plan, str(args.base / f"{fold}.npz"))
                for site, fold in zip(sites, folds, strict=True)
            ]
        )
        share = found.sum(axis=0) / found[:, 0].sum(axis=0)
        some = found[:, 0, 0] > 0
        means = (found[some, :, 0] / found[some, :1, 0]).mean(axis=0)
        print(f"{name}: {len(sites)} sites\n{'':30}{'all':>9}{'first 10':>10}{'mean of sites':>15}")
        for row, policy in enumerate(policies_for("")):
            print(f"{policy:30}{share[row, 0]:9.4f}{share[row, 1]:10.4f}{means[row]:15.4f}", flush=True)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
