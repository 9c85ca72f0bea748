"""Repeated bisection beside scikit-learn's BisectingKMeans: time and criterion on the same unit vectors.

    python -m benchmarks.clusters [--rows 300000] [--dimensions 48] [--clusters 100] [--seed 1]

Vectors are drawn like those of pages: skewed counts, flags and ranks, in groups of very different size, scaled to
length 1. I2 is the sum of the cosines between the rows and the centres of their clusters (Tan et al. 2007, eq. 3).
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from recrawl.features.bisection import Vectors, bisect, criterion
from recrawl.features.semantic import unit


def pages_like(rows: int, dimensions: int, seed: int) -> Vectors:
    """Draw rows in 250 groups of Zipf sizes around centres of their own; a third of the columns are flags."""
    draw = np.random.default_rng(seed)
    groups = 250
    share = 1.0 / np.arange(1, groups + 1)
    group = draw.choice(groups, rows, p=share / share.sum())
    centres = draw.gamma(0.5, 1.0, (groups, dimensions)).astype(np.float32)
    made = centres[group] + draw.gamma(0.7, 0.25, (rows, dimensions)).astype(np.float32)
    flags = dimensions // 3
    made[:, :flags] = made[:, :flags] > 0.8
    return unit(made)


def main(words: list[str] | None = None) -> None:
    """Print one line a method."""
    from sklearn.cluster import BisectingKMeans

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--dimensions", type=int, default=48)
    parser.add_argument("--clusters", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(words if words is not None else [])
    bisect(pages_like(2_000, args.dimensions, 0), 5)  # compiles
    rows = pages_like(args.rows, args.dimensions, args.seed)
    print(f"{args.rows:,} x {args.dimensions} into {args.clusters}, seed {args.seed}")
    for name, refine in (("recrawl", 0), ("recrawl, 5 passes over all clusters", 5)):
        began = time.perf_counter()
        found = bisect(rows, args.clusters, seed=args.seed, refine=refine)
        spent = time.perf_counter() - began
        print(f"{name:36} {spent:6.1f} s   I2 {criterion(rows, found.label):12.1f}   {len(found)} clusters")
    for strategy in ("biggest_inertia", "largest_cluster"):
        began = time.perf_counter()
        label = BisectingKMeans(
            args.clusters, random_state=args.seed, bisecting_strategy=strategy, n_init=1
        ).fit_predict(rows)
        spent = time.perf_counter() - began
        value = criterion(rows, label.astype(np.int64))
        print(f"{f'scikit-learn, {strategy}':36} {spent:6.1f} s   I2 {value:12.1f}   {len(np.unique(label))} clusters")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
