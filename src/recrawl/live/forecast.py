"""Forecast of a page's next visit and its reason, from what the policy would choose now."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recrawl.columns import PageIds
from recrawl.eligibility import Bar
from recrawl.errors import InputError
from recrawl.live.crawl_rounds import AskedPolicy
from recrawl.live.dry_run import scores_of
from recrawl.live.rebuild import rebuild
from recrawl.live.store import Store
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policies.selection import NO_PAGES
from recrawl.policies.topk import TopK
from recrawl.policy import Explains, Policy, Setting, explainer_of


@dataclass(frozen=True)
class Forecast:
    """Rank and score of a page before the next cycle."""

    policy: str
    rank: int | None  # among all pages that may be visited, from 1; None: not chosen however large the budget
    pages: int
    budget: int
    score: float | None  # where the policy scores pages
    waited_cycles: float | None
    visits: int
    changes: int
    gone: bool
    planned: int | None  # place in the plan of the cycle that is running
    due_at: float | None
    rests: int = 0  # cycles in which it is left alone because its visits failed
    explanation: str = ""  # by the policy itself, where it can explain

    @property
    def why(self) -> str:
        """Describe it in one line, or with the policy's own explanation."""
        if self.gone:
            return "never: the page is gone"
        if self.planned is not None:
            return f"in the cycle that is running: planned by {self.policy}"
        if self.rests:
            return f"in {self.rests + 1} cycles at the earliest: its last visits failed, one after the other"
        if self.explanation:
            return f"by {self.policy}, {self.explanation}"
        if self.rank is None:
            return f"not soon: {self.policy} does not choose it now"
        rank = f"rank {self.rank} of {self.pages} by {self.policy}, budget {self.budget}"
        if self.score is not None and np.isfinite(self.score):
            rank += f", score {self.score:.4g}"
        if self.waited_cycles is None:
            seen = "never fetched"
        else:
            seen = f"{self.changes} changes in {self.visits} visits, {self.waited_cycles:g} cycles since the last"
        when = "in the next cycle" if self.rank <= self.budget else f"in about {-(-self.rank // self.budget)} cycles"
        return f"{when}: {rank} ({seen})"


class Forecaster:
    """A policy asked what it would choose for the next cycle, from a memory rebuilt from the store: a dry run."""

    def __init__(self, store: Store, policy_name: str, plan: Plan) -> None:
        """Rebuild the memory, which reads every visit, and let the policy rank the pages."""
        self.policy_name = policy_name
        policy = make_policy(policy_name, Setting(seed=plan.seed))
        self.memory = memory = rebuild(store, AskedPolicy(policy), replace(plan, site_cap=0))
        last, running = store.last_due_at(), store.running()
        if running is None:
            memory.begin_cycle()
        self.due_at = None if last is None else last + (plan.cycle_days if running is None else 0.0)
        self.eligible = int(memory.eligible().sum())
        self.explainer = explainer_of(policy)
        self.budget = plan.visits_among(int(memory.held().sum()), int(memory.unfetched().sum()))
        asked = self.eligible if self.explainer is None else min(self.budget, self.eligible)
        policy.begin(memory, self.due_at or 0.0)
        self.ranked = _rounds(policy, memory, asked, self.due_at or 0.0)
        self._planned = dict(zip(self.chosen.tolist(), self._chances(policy), strict=True))
        self._scores = policy.scorer.score(memory, self.due_at or 0.0) if isinstance(policy, TopK) else None

    @property
    def chosen(self) -> PageIds:
        """The pages of the next cycle, best first."""
        return self.ranked[: self.budget]

    def _chances(self, policy: Policy) -> list[float | None]:
        return scores_of(policy, self.memory, self.due_at or 0.0, self.chosen)

    def score(self, page: int) -> float | None:
        """Return a page's score, where the policy scores pages, or this one as it is chosen."""
        return self._planned.get(page) if self._scores is None else float(self._scores[page])

    def of(self, store: Store, page: int) -> Forecast:
        """Say when a page will be visited next, and why."""
        place, memory = np.flatnonzero(self.ranked == page), self.memory
        return Forecast(
            policy=self.policy_name,
            rank=int(place[0]) + 1 if len(place) else None,
            pages=self.eligible,
            budget=self.budget,
            score=self.score(page),
            waited_cycles=float(memory.waited()[page]) if memory.held()[page] else None,
            visits=int(memory.n[page]),
            changes=int(memory.changes[page]),
            gone=bool(memory.gone[page]),
            planned=store.planned_rank(page),
            due_at=self.due_at,
            rests=max(0, int(memory.rests()[page])),
            explanation="" if self.explainer is None else _explained(self.explainer, page),
        )


def _rounds(policy: Policy, memory: Memory, budget: int, at: float) -> PageIds:
    """Return what a policy chooses round after round, without answers in between."""
    open_before, chosen = memory.bars.page.copy(), NO_PAGES
    while len(chosen) < budget:
        more = policy.choose(memory, budget - len(chosen), at)
        if not len(more):
            break
        chosen = np.concatenate((chosen, more))
        memory.bars.page[more] = Bar.UNDER_WAY
    memory.bars.page[:] = open_before
    return chosen


def forecast(store: Store, page: int, policy_name: str, plan: Plan) -> Forecast:
    """Rebuild the memory and ask the policy to rank all pages for the next cycle."""
    return Forecaster(store, policy_name, plan).of(store, page)


def _explained(explainer: Explains, page: int) -> str:
    try:
        return str(explainer.explain(page))
    except InputError as error:
        return str(error)
