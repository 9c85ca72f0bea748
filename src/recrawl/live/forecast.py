"""When a page will be visited next, and why: the policy asked what it would choose now."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recrawl.errors import InputError
from recrawl.live.rebuild import rebuild
from recrawl.live.store import Store
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policies.selection import NO_PAGES
from recrawl.policies.topk import TopK
from recrawl.policy import Explains, Setting, explainer_of


@dataclass(frozen=True)
class Forecast:
    """What the policy thinks of a page before the next cycle."""

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
    explanation: str = ""  # the policy's own words, where it explains itself

    @property
    def why(self) -> str:
        """Say it: in one line, or in the words of a policy that explains itself."""
        if self.gone:
            return "never: the page is gone"
        if self.planned is not None:
            return f"in the cycle that is running: planned by {self.policy}"
        if self.explanation:
            return f"by {self.policy}, {self.explanation}"
        if self.rank is None:
            return f"not soon: {self.policy} does not choose it now"
        said = f"rank {self.rank} of {self.pages} by {self.policy}, budget {self.budget}"
        if self.score is not None and np.isfinite(self.score):
            said += f", score {self.score:.4g}"
        if self.waited_cycles is None:
            seen = "never fetched"
        else:
            seen = f"{self.changes} changes in {self.visits} visits, {self.waited_cycles:g} cycles since the last"
        when = "in the next cycle" if self.rank <= self.budget else f"in about {-(-self.rank // self.budget)} cycles"
        return f"{when}: {said} ({seen})"


def forecast(store: Store, page: int, policy_name: str, plan: Plan) -> Forecast:
    """Rebuild the memory and ask the policy to rank all pages for the next cycle."""
    policy = make_policy(policy_name, Setting(seed=plan.seed))
    memory = rebuild(store, policy, replace(plan, site_cap=0))
    last, running = store.last_due_at(), store.running()
    if running is None:
        memory.begin_cycle()
    due_at = None if last is None else last + (plan.cycle_days if running is None else 0.0)
    eligible = memory.eligible()
    explainer, budget = explainer_of(policy), plan.visits_among(int(memory.held().sum()), int(memory.unfetched().sum()))
    asked = int(eligible.sum()) if explainer is None else min(budget, int(eligible.sum()))
    policy.begin(memory, due_at or 0.0)
    ranked = policy.choose(memory, asked, due_at or 0.0) if asked else NO_PAGES
    place = np.flatnonzero(ranked == page)
    score = float(policy.scorer.score(memory, due_at or 0.0)[page]) if isinstance(policy, TopK) else None
    return Forecast(
        policy=policy_name,
        rank=int(place[0]) + 1 if len(place) else None,
        pages=int(eligible.sum()),
        budget=budget,
        score=score,
        waited_cycles=float(memory.waited()[page]) if memory.held()[page] else None,
        visits=int(memory.n[page]),
        changes=int(memory.changes[page]),
        gone=bool(memory.gone[page]),
        planned=store.planned_rank(page),
        due_at=due_at,
        explanation="" if explainer is None else _explained(explainer, page),
    )


def _explained(explainer: Explains, page: int) -> str:
    try:
        return str(explainer.explain(page))
    except InputError as error:
        return str(error)
