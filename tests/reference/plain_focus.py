"""The simulator once more, in plain Python: slow, easy to read, and the measure of the compiled one.

Given the same seed of chance it downloads the same pages in the same order; it has no link classifier (BAYES).
`scores_from_scratch` computes the scores of section 2.2 from their definitions alone, from nothing but the order of the
downloads.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

import numpy as np

from recrawl.columns import FloatArray, PageIds
from recrawl.focus.frontier import CHANCE, FILL
from recrawl.focus.scores import (
    ANCHOR,
    AUTHORITY,
    COMM_IN,
    COMM_OUT,
    HOST,
    HUB,
    LEVELS,
    PARENT,
    QUEUE,
    UNIT,
    CrawlArrays,
)
from recrawl.focus.simulator import FILL_AT

_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15


class PlainCrawl:
    """A crawl in lists and dictionaries."""

    def __init__(self, web: CrawlArrays, weights: FloatArray, within: Sequence[int] = ()) -> None:
        self.out = [web.out[a:b].tolist() for a, b in zip(web.start[:-1], web.start[1:], strict=True)]
        self.hint = [web.hint[a:b].tolist() for a, b in zip(web.start[:-1], web.start[1:], strict=True)]
        self.order, self.value = web.order.tolist(), web.value.tolist()
        self.good, self.host = web.good.tolist(), web.host.tolist()
        self.weights, self.within = weights.tolist(), list(within)

    def run(self, seeds: PageIds, pages: int, seed: int) -> list[int]:
        """Crawl; return the downloaded pages in order."""
        self._begin(seeds.tolist())
        current, stamps = seeds.tolist(), [1] * len(seeds)
        luck = seed & _MASK
        done: list[int] = []
        while current and len(done) < pages:
            luck = (luck + _GOLDEN) & _MASK
            i, left = 0, scramble(luck) % sum(stamps)
            while left >= stamps[i]:
                left -= stamps[i]
                i += 1
            page = current[i]
            current[i], stamps[i] = current[-1], stamps[-1]
            current.pop()
            stamps.pop()
            self._download(page)
            done.append(page)
            if len(current) <= FILL_AT and self.frontier:
                stamps = [stamp + 1 for stamp in stamps] + [1] * min(FILL, len(self.frontier))
                chosen = self._best(seed)
                self.frontier.difference_update(chosen)
                current += chosen
        return done

    def _begin(self, seeds: list[int]) -> None:
        self.frontier: set[int] = set()
        self.community = set(seeds)
        self.downloaded: set[int] = set()
        self.parents: dict[int, list[int]] = {page: [] for page in seeds}
        self.depth = dict.fromkeys(seeds, 0)
        self.ancestors: dict[int, list[int]] = {page: [0] * LEVELS for page in seeds}
        self.number = {page: i for i, page in enumerate(seeds)}
        self.comm_out: dict[int, int] = dict.fromkeys(seeds, 0)
        self.anchor: dict[int, float] = dict.fromkeys(seeds, 0.0)
        self.most_links: dict[int, int] = dict.fromkeys(seeds, 0)
        self.from_community: dict[int, int] = dict.fromkeys(seeds, 0)
        self.links = 0
        self.host_all: dict[int, int] = {}
        self.host_good: dict[int, int] = {}

    def _download(self, page: int) -> None:
        self.frontier.discard(page)
        self.downloaded.add(page)
        if self.good[page] and page not in self.community:
            self.community.add(page)
            for parent in self.parents[page]:
                unit = UNIT // len(self.out[parent])
                for sibling in self.out[parent]:
                    self.comm_out[sibling] += unit
        out = self.out[page]
        share = sum(target in self.community for target in out) * (UNIT // max(len(out), 1))
        for i, target in enumerate(out):
            if target not in self.parents:
                self._discover(target, page)
            self.parents[target].append(page)
            self.from_community[target] += page in self.community
            self.most_links[target] = max(self.most_links[target], len(out))
            self.comm_out[target] += share
            if target not in self.downloaded:
                self.depth[target] = min(self.depth[target], self.depth[page] + 1)
            if self.hint[page]:
                self.anchor[target] = max(self.anchor[target], self.hint[page][i])
            for k in range(LEVELS):
                self._raise(target, k, self.ancestors[page][k - 1] if k else self.order[page])
        self.links += len(out)
        host = self.host[page]
        self.host_all[host] = self.host_all.get(host, 0) + 1
        self.host_good[host] = self.host_good.get(host, 0) + self.good[page]

    def _discover(self, target: int, page: int) -> None:
        self.parents[target] = []
        self.number[target] = len(self.number)
        self.depth[target] = self.depth[page] + 1
        self.ancestors[target] = [0] * LEVELS
        self.comm_out[target] = self.from_community[target] = self.most_links[target] = 0
        self.anchor[target] = 0.0
        self.frontier.add(target)

    def _raise(self, page: int, k: int, place: int) -> None:
        """Raise the best ancestor k + 1 links back, and with it those of the pages that it is an ancestor of."""
        if place <= self.ancestors[page][k]:
            return
        self.ancestors[page][k] = place
        if page in self.downloaded and k + 1 < LEVELS:
            for target in self.out[page]:
                if target in self.ancestors:
                    self._raise(target, k + 1, place)

    def _best(self, seed: int) -> list[int]:
        per_out = len(self.downloaded) / max(self.links, 1)
        per_in = len(self.number) / max(self.links, 1)
        start = seed * _GOLDEN
        ranked = []
        for page in self.frontier:
            tie = scramble(page + start)
            ranked.append((-self._rank(page, per_out, per_in, tie), tie, page))
        return [page for _, _, page in heapq.nsmallest(FILL, ranked)]

    def _rank(self, page: int, per_out: float, per_in: float, tie: int) -> float:
        band = sum(self.depth[page] > bound for bound in self.within)
        weight = self.weights[band]
        parents = len(self.parents[page])
        rest = weight[COMM_IN] * (self.from_community[page] / parents)
        rest -= CHANCE * (tie >> 11)
        rest += weight[COMM_OUT] * (self.comm_out[page] / UNIT)
        for k in range(LEVELS):
            if weight[PARENT + k]:
                rest += weight[PARENT + k] * self.value[self.ancestors[page][k]]
        rest += weight[ANCHOR] * self.anchor[page]
        rest -= weight[QUEUE] * self.number[page]
        rank = weight[HUB] * self.most_links[page] * per_out + weight[AUTHORITY] * parents * per_in + rest
        if weight[HOST]:
            host = self.host[page]
            rank += weight[HOST] * (self.host_good.get(host, 0) / (self.host_all.get(host, 0) + 1))
        return float(rank)


def scramble(key: int) -> int:
    """The splitmix64 finaliser."""
    z = key & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def scores_from_scratch(
    web: CrawlArrays, svm: FloatArray, seeds: Iterable[int], done: Sequence[int], url: int
) -> FloatArray:
    """Return the scores of `url` after the downloads `done`, by eqs 3-12 over sets (and ANCHOR and HOST)."""
    out = [set(web.out[a:b].tolist()) for a, b in zip(web.start[:-1], web.start[1:], strict=True)]
    downloaded = set(done)
    community = set(seeds) | {page for page in done if svm[page] > 0}
    seen = set(seeds).union(*(out[page] for page in done))
    parents = {u: {page for page in done if u in out[page]} for u in seen}
    ave_out = sum(len(out[page]) for page in downloaded) / len(downloaded)
    ave_in = sum(len(parents[u]) for u in seen) / len(seen)
    mine = parents[url]
    links = {e for page in mine for e in range(web.start[page], web.start[page + 1]) if web.out[e] == url}
    on_host = [page for page in done if web.host[page] == web.host[url]]
    ancestors, levels = mine, []
    for _ in range(LEVELS):
        scores = [float(svm[page]) for page in ancestors]
        levels.append(parent_score(scores))
        ancestors = set().union(*(parents[page] for page in ancestors))
    return np.array(
        [
            max(len(out[page]) for page in mine) / ave_out,
            len(mine) / ave_in,
            len(mine & community) / len(mine),
            sum(len(out[page] & community) / len(out[page]) for page in mine),
            *levels,
            max((float(web.hint[e]) for e in links), default=0.0) if len(web.hint) else 0.0,
            sum(svm[page] > 0 for page in on_host) / (len(on_host) + 1),
        ]
    )


def parent_score(scores: Sequence[float]) -> float:
    """Eqs 11 and 12: of one sign, the score of greatest absolute value; of both, the greatest; 0 without any."""
    if not scores:
        return 0.0
    if all(score <= 0 for score in scores):
        return min(scores)
    return max(scores)
