"""All-pairs related pages: the time, memory and recall of `describe.related`, and of scikit-learn's brute force.

    python -m benchmarks.related [--pages 384323] [--data DIR] [--brute-queries 2000]

The vectors are clustered as pages are: 40 fields, in them 3,000 topics of very different size, pages around topics.
The peer is timed in the same run on a sample of the queries and scaled to all of them. With --data the vectors are
those of a recording's pages.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import numpy.typing as npt

from recrawl.features.related import NEIGHBOURS, related
from recrawl.features.semantic import SemanticSpace, unit
from recrawl.progress import progress
from recrawl.recording.recording import Recording

FIELDS, TOPICS = 40, 3_000
Vectors = npt.NDArray[np.float32]


def clustered(pages: int, dimensions: int, seed: int) -> Vectors:
    """Unit vectors around topics, which lie around fields; the sizes of the topics are log-normal."""
    draw = np.random.default_rng(seed)

    def cloud(rows: int, length: float) -> Vectors:
        return np.asarray(draw.normal(0.0, length / dimensions**0.5, (rows, dimensions)), dtype=np.float32)

    topics = cloud(FIELDS, 0.6)[draw.integers(0, FIELDS, TOPICS)] + cloud(TOPICS, 0.7)
    share = draw.lognormal(0.0, 1.0, TOPICS)
    topic = draw.choice(TOPICS, pages, p=share / share.sum())
    vectors = topics[topic]
    for first in range(0, pages, 50_000):
        rows = vectors[first : first + 50_000]
        rows += cloud(len(rows), 0.7)
    return unit(vectors)


def brute(vectors: Vectors, metric: str, queries: int, seed: int) -> float:
    """Seconds that scikit-learn's brute force needs for all queries, from a sample of them."""
    from sklearn.neighbors import NearestNeighbors

    some = np.random.default_rng(seed).choice(len(vectors), min(queries, len(vectors)), replace=False)
    search = NearestNeighbors(n_neighbors=NEIGHBOURS + 1, metric=metric, algorithm="brute", n_jobs=-1).fit(vectors)
    began = time.perf_counter()
    search.kneighbors(vectors[some])
    return (time.perf_counter() - began) * len(vectors) / len(some)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=384_323)
    parser.add_argument("--data")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--brute-queries", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    related(clustered(2_000, 8, 0), exact=False)  # compile
    began = time.perf_counter()
    vectors = (
        SemanticSpace(Recording.open(args.data)).first() if args.data else clustered(args.pages, 192, seed=args.seed)
    )
    print(f"{len(vectors):,} x {vectors.shape[1]} vectors made in {time.perf_counter() - began:.1f} s")
    began = time.perf_counter()
    with progress("related") as advance:
        found = related(vectors, threads=args.threads, seed=args.seed, advance=advance)
    took = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{NEIGHBOURS} nearest of all: {took:.1f} s, recall {found.recall:.4f} on pages not used to settle it")
    print(f"pairs compared: {found.compared:.2%}; peak memory {memory:.2f} GB")
    if args.brute_queries:
        for metric in ("cosine", "euclidean"):  # of unit vectors both give the same order, the second is faster
            full = brute(vectors, metric, args.brute_queries, args.seed)
            print(f"scikit-learn brute force, {metric}, from {args.brute_queries:,} queries: {full:,.0f} s: ", end="")
            print(f"{full / took:.1f} x")


if __name__ == "__main__":
    main()
