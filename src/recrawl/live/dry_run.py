"""Pick the pages that a planner gives away next, for good or as a dry run with reasons."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from recrawl.columns import FloatArray, PageIds
from recrawl.live.config import CrawlConfig
from recrawl.live.open_crawl import OpenCrawl, bar_pages, choose_on
from recrawl.live.store import Store
from recrawl.live.store_leases import PlannedPage
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policies.learned.learned import Learned
from recrawl.policies.topk import TopK


class Picking:
    """Takes pages from a cycle's plan, which the policy makes longer where it is not enough."""

    def __init__(self, crawl: OpenCrawl, budget: int, at: float) -> None:
        self.store, self.memory = crawl.store, crawl.memory
        self._budget, self._at = budget, at
        self._chooser = crawl.chooser(self.memory.cycle)
        self._discovery = crawl.discovery_in(self.memory.cycle)

    def pick(self, most: int, per_host: int, waiting: list[PlannedPage]) -> list[PlannedPage]:
        """Return at most so many pages of those that wait; what the policy chooses on top is added to `waiting`.

        The policy is asked round after round, as in `run_cycle`, but no answers come in between.
        """
        memory = self.memory
        bar_pages(self.store, memory, self.store.under_way(memory.cycle))
        rank = self.store.chosen_in(memory.cycle)
        most = min(most, self._budget - (rank - len(waiting)))  # visits that nobody asked for take of the budget too
        picked: list[PlannedPage] = []
        hosts: Counter[int] = Counter()
        tried = 0
        while True:
            for planned in waiting[tried:]:
                host = int(memory.site[planned.page])
                if len(picked) < most and not (per_host and hosts[host] >= per_host):
                    picked.append(planned)
                    hosts[host] += 1
            tried, pages = len(waiting), list[int]()
            if len(picked) < most:
                pages = choose_on(memory, self._chooser, self._budget, self._budget - rank, self._at, self._discovery)
            if not pages:
                return picked
            waiting += [PlannedPage(page, rank + i) for i, page in enumerate(pages, 1)]
            rank += len(pages)


@dataclass(frozen=True, slots=True)
class DryVisit:
    """A page that would be visited, and why."""

    url: str
    page: int
    rank: int  # place in the cycle, from 1
    score: float | None  # where the policy scores pages, and this one was fetched before
    visits: int
    changes: int
    why: str


def dry_run(
    store: Store, policy: str, plan: Plan, config: CrawlConfig, most: int, *, per_host: int = 0, at: float
) -> list[DryVisit]:
    """Return what would be visited next, at `at`; the store is only read, also while another process crawls."""
    crawl = OpenCrawl(policy, plan, config)
    crawl.store = store
    crawl.restore()
    memory, last = crawl.memory, store.last_cycle()
    if last is not None and not last.done and at < last.at + plan.cycle_days - 1e-9:
        at, budget = last.at, last.budget
    else:
        budget = crawl.budget_of(memory.cycle + 1)
        memory.begin_cycle(plan.site_cap)
    crawl.policy.begin(memory, at)
    chosen = Picking(crawl, budget, at).pick(most, per_host, store.waiting(memory.cycle))
    pages = np.array([page for page, _ in chosen], dtype=np.int64)
    scores = scores_of(crawl.policy, memory, at, pages)
    return [
        DryVisit(url, page, rank, score, int(memory.n[page]), int(memory.changes[page]), _why(memory, page))
        for url, (page, rank), score in zip(store.urls(pages.tolist()), chosen, scores, strict=True)
    ]


def _why(memory: Memory, page: int) -> str:
    if not memory.held()[page]:
        return "never fetched"
    waited = memory.cycle - int(memory.last_cycle[page])
    return f"{memory.changes[page]} changes in {memory.n[page]} visits, {waited} cycles since the last"


def scores_of(policy: object, memory: Memory, at: float, pages: PageIds) -> list[float | None]:
    """Return what the policy thinks of each page, None where it does not say."""
    while not isinstance(policy, TopK | Learned) and hasattr(policy, "policy"):
        policy = policy.policy
    if not len(pages) or not isinstance(policy, TopK | Learned):
        return [None] * len(pages)
    scores: FloatArray = policy.scorer.score(memory, at)[pages] if isinstance(policy, TopK) else policy.chances(pages)
    held = memory.held()[pages]  # others come first, whatever the scores
    return [float(score) if there and np.isfinite(score) else None for score, there in zip(scores, held, strict=True)]
