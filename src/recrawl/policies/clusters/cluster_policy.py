"""Cluster-level sampling (CLS; Tan et al. 2007): pages that look alike are sampled together.

Pages with a copy are clustered by their features (page_features.py) by repeated bisection. In every cycle the pages
nearest a cluster's centre are its sample; the mean over the sample of phi = 1 - exp(-lambda), with lambda by one of
the estimators nad, sad, aad, gad over each page's own visits (or, `over=cycles`, over all cycles so far, in which a
page that was not visited shows no change), is the cluster's chance of change. A page that was never
compared with a copy has its cluster's chance, not 0. New pages join the cluster of the nearest centre; every so many
cycles all pages are clustered again. A clustering stands for the pages it was made of, so it is made in the order of
the pages' own keys.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from recrawl.arguments import Share
from recrawl.columns import FloatArray, IntArray, PageIds, grown
from recrawl.features.bisection import Vectors, bisect, nearest
from recrawl.memory import Memory
from recrawl.policies.classical import estimators
from recrawl.policies.clusters.groups import FIRST, GroupSampling, means, sufficient
from recrawl.policies.clusters.page_features import PageFeatures
from recrawl.policy import Policy, Setting, policies

FeatureSet = Literal["url", "content", "url+content", "static", "dynamic", "combined"]


@dataclass(repr=False, eq=False)
class ClusterSampling(GroupSampling):
    """The CLS policy, see the module; its parameters are listed by `recrawl policies`."""

    rate: Callable[[Memory], FloatArray]
    features: PageFeatures
    clusters: int = 100
    confidence: float = 0.8
    delta: float = 0.1
    every: int = 4  # cycles between clusterings
    cold: bool = True  # whether pages without a history have their cluster's chance
    wait: bool = False  # whether a page's chance grows with the cycles since its last visit; not in the paper
    fair: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        super().__init__(self.seed, self.fair)
        self._clustered = 0
        self._centres: Vectors = np.empty((0, 0), dtype=np.float32)
        self._cosine: FloatArray = np.empty(0)  # similarity of every page to its cluster's centre
        self._bound = 1
        self._order: PageIds = np.empty(0, dtype=np.int64)  # nearest to their centre first

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of the features."""
        return self.features.notes

    def form_groups(self, memory: Memory, budget: int) -> None:
        """Cluster again if it is time, and let new pages join."""
        self.group = grown(self.group, len(memory), -1)
        self._cosine = grown(self._cosine, len(memory), 0.0)
        if not self._clustered or memory.cycle - self._clustered >= self.every:
            self._cluster(memory)
        self._join(memory)
        self._bound = max(1, budget // max(self.groups, 1))
        self._order = np.empty(0, dtype=np.int64)

    def _cluster(self, memory: Memory) -> None:
        pages = np.flatnonzero(memory.held())
        if not len(pages):
            return
        pages = pages[np.argsort(memory.tie[pages])]
        vectors = self.features.learn(memory, pages)
        found = bisect(vectors, self.clusters, seed=self.seed)
        self.group[:] = -1
        self.group[pages] = found.label
        self._centres, self.groups = found.centres, len(found)
        self._cosine[pages] = np.einsum("ij,ij->i", _unit(vectors), found.centres[found.label])
        self.estimate = np.bincount(found.label, self._chance(memory)[pages], minlength=len(found)) / found.sizes()
        self._clustered = memory.cycle

    def _join(self, memory: Memory) -> None:
        """Let pages that have a copy since the last clustering join the nearest cluster."""
        if not self.groups:
            return
        new = np.flatnonzero(memory.held())
        new = new[self.group[new] < 0]
        if len(new):
            self.group[new], self._cosine[new] = nearest(self.features.describe(memory, new), self._centres)

    def wanted(self, memory: Memory) -> IntArray:
        """Double the sample, up to the bound, of every cluster whose sample is not sufficient yet."""
        sample = self._sampled(memory)
        count, _, deviation = means(self._chance(memory)[sample], self.group[sample], self.groups)
        enough = sufficient(count, deviation, self.confidence, self.delta)
        more = np.where(count == 0, FIRST, count)
        return np.where(enough, 0, np.clip(self._bound - count, 0, more))

    def candidates(self, memory: Memory) -> PageIds:
        """Pages from the centre of their cluster outwards."""
        if not len(self._order):
            pages = np.flatnonzero(memory.eligible() & (self.group[: len(memory)] >= 0))
            self._order = pages[np.lexsort((memory.tie[pages], -self._cosine[pages]))]
        self._order = self._order[memory.eligible()[self._order]]
        return self._order

    def estimates(self, memory: Memory) -> FloatArray:
        """Mean chance of change of the sampled pages; the previous value for a cluster without a sample."""
        sample = self._sampled(memory)
        count, mean, _ = means(self._chance(memory)[sample], self.group[sample], self.groups)
        before = self.estimate if len(self.estimate) == self.groups else np.zeros(self.groups)
        return np.where(count > 0, mean, before)

    def _chances(self, memory: Memory) -> FloatArray:
        """phi of each page's cluster; with `wait`, the chance of a change since the page's own last visit."""
        chance = super()._chances(memory)
        if self.wait:
            chance = 1.0 - (1.0 - chance) ** memory.waited()
        return chance if self.cold else np.where(memory.n > 0, chance, 0.0)

    def _sampled(self, memory: Memory) -> PageIds:
        """Pages visited in the open cycle whose outcome counts for their cluster."""
        asked = (memory.asked == memory.cycle) & (memory.n > 0) & (self.group[: len(memory)] >= 0)
        return np.flatnonzero(asked)

    def _chance(self, memory: Memory) -> FloatArray:
        return np.asarray(estimators.probability(self.rate(memory), 1.0))


def _unit(vectors: Vectors) -> Vectors:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-12)[:, None], dtype=np.float32)


def _cls(name: str, rate: Callable[..., FloatArray]) -> None:
    @policies.add(
        f"cls-{name}", formula=f"sample clusters of alike pages, phi by {name.upper()}", source="Tan et al. 2007 (CLS)"
    )
    def _make(
        setting: Setting,
        clusters: int = 100,
        features: FeatureSet = "combined",
        confidence: Share = 0.8,
        delta: Share = 0.1,
        every: int = 4,
        cold: bool = True,
        wait: bool = False,
        fair: Share = 0.0,
        over: Literal["visits", "cycles"] = "visits",
    ) -> Policy:
        if clusters < 1 or every < 1 or not 0 < confidence < 1:
            raise ValueError("clusters and every are at least 1, confidence is between 0 and 1")
        described = PageFeatures(features, clusters, setting.seed)
        known = rate if over == "visits" else partial(rate, over="open cycles")
        return ClusterSampling(known, described, clusters, confidence, delta, every, cold, wait, fair, setting.seed)


_cls("nad", estimators.nad)
_cls("sad", estimators.sad)
_cls("aad", estimators.aad)
_cls("gad", estimators.gad)
