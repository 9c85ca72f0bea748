"""Word vectors as ten numbers: how near a page's word cluster is to each of the ten largest.

The pages are clustered by their words. Feature f of a page in cluster C is 0 if C is the f-th largest cluster, 1 if no
other cluster is nearer to that one than C, 2 if one is, and so on (Tan et al. 2007, section 3.1), so that hundreds of
words do not drown the other features. Ranks are divided by the largest one.
"""

from __future__ import annotations

import numpy as np

from recrawl.columns import FloatArray, IntArray, PageIds, grown
from recrawl.features.bisection import Vectors, bisect, nearest

LARGEST = 10


class WordRanks:
    """The word clusters of the pages that were there first; later pages join the nearest."""

    def __init__(self, vectors: Vectors, learnt_from: PageIds, clusters: int, seed: int) -> None:
        found = bisect(vectors[learnt_from], clusters, seed=seed)
        self.centres = found.centres
        self.label: IntArray = np.full(len(vectors), -1, dtype=np.int64)
        self.label[learnt_from] = found.label
        self.ranks = cluster_ranks(found.centres)

    def describe(self, vectors: Vectors, pages: PageIds) -> FloatArray:
        """Return pages x 10, from 0 to 1."""
        self.label = grown(self.label, len(vectors), -1)
        new = pages[self.label[pages] < 0]
        if len(new):
            self.label[new], _ = nearest(vectors[new], self.centres)
        return self.ranks[self.label[pages]]


def cluster_ranks(centres: Vectors) -> FloatArray:
    """Return clusters x 10: the rank of each cluster by its distance from each of the ten largest, from 0 to 1."""
    ranks = np.zeros((len(centres), LARGEST))
    near = np.asarray(centres @ centres.T, dtype=np.float64)
    for f in range(min(LARGEST, len(centres))):
        near[f, f] = np.inf  # itself, whatever the rounding
        ranks[np.argsort(-near[f], kind="stable"), f] = np.arange(len(centres))
    return ranks / max(len(centres) - 1, 1)
