"""The `lbla` policy: look back at a page's new links, look around at those of its related pages (Dang et al. 2022).

Pages are ranked by the new links to expect of a visit (link_outlook.py). The models are trained anew every few cycles,
on the crawl's own visits. A share of the budget goes to the longest unvisited pages.

With an objective other than new links the chance of a change is learnt from the same features (hazard.py).

The default is not one of the paper's rankings: it starts from a shrunken rate, so that it works from the first cycle.
`target` and `learner` make it one (link_forecast.py); `links` counts internal or external links alone, as the paper:

    lbla(target=lcr, learner=et)        LCR-ET, look around only
    lbla(target=nl, learner=et)         NL-ET, and pnl for PNL-ET
    lbla(target=nnl, learner=et)        NNL-ET
    lbla(learner=ngb)                   NNL-NGB, natural gradient boosting (the extra `ngboost`)
    lbla(target=pnl, learner=lgbm)      the paper's other classifier; of numbers, histogram gradient boosting
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from recrawl.columns import BoolArray, FloatArray, PageIds
from recrawl.features.link_learners import has_ngboost
from recrawl.memory import Memory
from recrawl.policies.learned.gains import gains_by_chance
from recrawl.policies.learned.hazard import Hazard
from recrawl.policies.learned.objectives import Objective, parse_objective
from recrawl.policies.links.link_forecast import Learner, LinkForecast, Target
from recrawl.policies.links.link_outlook import LinkOutlook
from recrawl.policies.links.linkhistory import FEATURES
from recrawl.policies.selection import first_k, top_k
from recrawl.policy import Policy, Setting, policies

CHANGE = FEATURES.index("related: content change rate")


class Lbla(LinkOutlook):
    """The policy of the module; its parameters are listed by `recrawl policies`."""

    def __init__(
        self,
        objective: Objective,
        seed: int,
        every: int,
        explore: float,
        forecast: LinkForecast | None = None,
        counted: tuple[bool, bool] = (True, True),
    ) -> None:
        super().__init__(seed, every, forecast, counted)
        self.objective = objective
        self.explore = explore
        self.hazard = Hazard(FEATURES, seed)
        self._chance: FloatArray = np.empty(0)  # p0 of a change

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return the pages with the most expected new links, and some that have waited longest."""
        worth = self._worth(memory)
        explored = 0 if memory.site_room() is not None else int(self.explore * budget)
        best = top_k(worth, memory, budget - explored, ahead=memory.unfetched())
        if not explored:
            return best
        others = np.ones(len(memory), dtype=np.bool_)
        others[best] = False
        return np.concatenate([best, first_k([-memory.waited()], memory, explored, among=others)])

    def learn_changes(self, pages: PageIds, changed: BoolArray, weight: FloatArray) -> None:
        """Learn the chance of a change, where the objective needs it."""
        if not self.objective.links_only:
            self.hazard.learn(self.rows[pages], self._chance[pages], changed, weight, self.cycle)

    def train(self) -> None:
        """Train anew on the visits so far."""
        super().train()
        if not self.objective.links_only:
            self.hazard.fit(self.cycle)

    def begin(self, memory: Memory, at: float) -> None:
        """Describe all pages."""
        super().begin(memory, at)
        self._chance = self._expected_change(memory)

    def _expected_change(self, memory: Memory) -> FloatArray:
        """Return p0 = 1 - exp(-rate t), the rate shrunk as that of new links."""
        watched = self.history.watched[: len(memory)]
        changes = memory.changes.astype(np.float64)
        base = (changes.sum() + 1.0) / (np.maximum(watched, 0).sum() + 30.0)
        near = self.rows[:, CHANGE].astype(np.float64)
        return np.asarray(-np.expm1(-self.shrunk(changes, near, float(base))))

    def _worth(self, memory: Memory) -> FloatArray:
        links = self.expected()
        waited = np.maximum(self.rows[:, 0].astype(np.float64), 1.0)
        sure = self.objective.links_only
        chance = np.ones(len(links)) if sure else self.hazard.probability(self.rows, self._chance)
        worth = self.objective.index(chance, links, gains_by_chance(chance, waited))
        return worth if memory.importance is None else worth * memory.importance


COUNTED = {"both": (True, True), "internal": (True, False), "external": (False, True)}


@policies.add(
    "lbla", formula="new links expected by own and related pages' new links", source="Dang et al. 2022, section 7"
)
def _lbla(
    setting: Setting,
    objective: str = "links",
    every: int = 3,
    explore: float = 0.05,
    target: Target = "nnl",
    learner: Learner = "poisson",
    links: Literal["internal", "external", "both"] = "both",
) -> Policy:
    if every < 1 or not 0 <= explore <= 1:
        raise ValueError("every is at least 1, explore between 0 and 1")
    wanted = parse_objective(objective)
    forecast = None
    if (target, learner) != ("nnl", "poisson"):
        forecast = LinkForecast(target, learner, setting.seed)
        if objective != "links":
            raise ValueError("a target or a learner of the paper goes with objective=links alone")
        if learner == "ngb" and not has_ngboost():
            raise ValueError("learner=ngb needs the package ngboost: pip install 'recrawl[ngboost]'")
    return Lbla(wanted, setting.seed, every, explore, forecast, COUNTED[links])
