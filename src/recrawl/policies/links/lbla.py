"""The `lbla` policy: look back at a page's new links, look around at those of its related pages (Dang et al. 2022).

Before each cycle every page is described by the new links that its own visits found and by those of the 30 pages whose
words are most like its own (linkhistory.py), and scored by the new links to expect of a visit (linkmean.py).
The models are trained anew every few cycles, on the crawl's own visits. Related pages are found among the copies at
hand, and again when these have grown by a quarter. A share of the budget goes to the longest unvisited pages.

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

from recrawl.columns import BoolArray, FloatArray, PageIds, TieArray, uniform
from recrawl.features.link_learners import has_ngboost
from recrawl.features.related import NONE, Related, related
from recrawl.memory import Memory
from recrawl.policies.learned.gains import gains_by_chance
from recrawl.policies.learned.hazard import Hazard
from recrawl.policies.learned.objectives import Objective, parse_objective
from recrawl.policies.links.link_forecast import Learner, LinkForecast, Target
from recrawl.policies.links.linkhistory import FEATURES, Rows
from recrawl.policies.links.linkmean import LinkMean
from recrawl.policies.links.linkrates import LinkWatcher
from recrawl.policies.selection import first_k, top_k
from recrawl.policy import Policy, Setting, policies
from recrawl.visits import Outcome, Visits

STRENGTH = 4.0  # weight of the related pages' rate, in cycles of watching
ALL_STRENGTH = 8.0  # weight of the mean of all pages under the related pages' rate
GROWN = 1.25  # so many times the copies: related pages are looked for again
WARM_ROWS = 30_000  # kept of a cycle with more visits, visits that found something apart
MEAN = [FEATURES.index("related: mean internal"), FEATURES.index("related: mean external")]
NO_WORDS = "no words of the copies are known here: it looks back at a page's own new links, not around"
CHANGE = FEATURES.index("related: content change rate")


class Lbla(LinkWatcher):
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
        super().__init__(counted)
        self.objective = objective
        self.every = every
        self.explore = explore
        self.seed = seed
        self.notes: tuple[str, ...] = ()
        self.mean: LinkMean | LinkForecast = forecast or LinkMean(seed)
        self.hazard = Hazard(FEATURES, seed)
        self._links_only = all(name == "links" for name, _ in objective.weights)
        self._related: Related | None = None
        self._related_of = 0  # copies at hand when they were found
        self._rows: Rows = np.empty((0, len(FEATURES)), dtype=np.float32)
        self._priors = np.empty(0), np.empty(0)
        self._keys: TieArray = np.empty(0, dtype=np.uint64)

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

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Learn from visits, described by the state before them (prequential)."""
        compared = visits.outcome < Outcome.FIRST
        pages, changed = visits.pages[compared], visits.changed[compared]
        sorts = np.column_stack([visits.new_internal, visits.new_external])[compared]
        links = (sorts * self.history.counted).sum(axis=1).astype(np.float64)
        kept, weight = self._sampled(pages, (links > 0) | changed)
        some = pages[kept]
        self.mean.learn(self._rows[some], self._priors[0][some], links[kept], weight, self.cycle)
        if not self._links_only:
            self.hazard.learn(self._rows[some], self._priors[1][some], changed[kept], weight, self.cycle)
        super().learn(memory, visits)

    def _sampled(self, pages: PageIds, found: BoolArray) -> tuple[BoolArray, FloatArray]:
        """Of very many visits keep those that found something, and a part of the others with more weight."""
        share = WARM_ROWS / max(len(pages), 1)
        if share >= 1.0:
            return np.ones(len(pages), dtype=np.bool_), np.ones(len(pages))
        kept = found | (uniform(self._keys[pages], self.cycle) < share)
        return kept, np.where(found, 1.0, 1.0 / share)[kept]

    def begin(self, memory: Memory, at: float) -> None:
        """Add new pages, train, find related pages, and describe all pages."""
        fresh = memory.cycle != self.cycle
        super().begin(memory, at)
        self._keys = memory.tie
        if fresh and (self.mean.model is None or self.cycle % self.every == 0):
            self.mean.fit(self.cycle)
            if not self._links_only:
                self.hazard.fit(self.cycle)
        self._look_around(memory)
        self._rows = self.history.describe(memory, self._related)
        self._priors = self._expected_links(memory), self._expected_change(memory)

    def _look_around(self, memory: Memory) -> None:
        copied = np.flatnonzero(self.history.first[: len(memory)] >= 0)
        if len(copied) < max(GROWN * self._related_of, 2):
            return
        vectors = None if memory.copies is None else memory.copies.word_vectors()
        if vectors is None:
            self.notes = (NO_WORDS,)
            return
        # in the order of the pages' own keys: the result must not depend on how they are numbered
        copied = copied[np.argsort(memory.tie[copied])]
        found = related(vectors[copied], seed=self.seed)
        pages = np.full((len(memory), found.pages.shape[1]), NONE, dtype=np.int32)
        similarity = np.zeros(pages.shape, dtype=np.float32)
        pages[copied] = np.where(found.pages == NONE, NONE, copied[found.pages])
        similarity[copied] = found.similarity
        self._related, self._related_of = Related(pages, similarity, found.recall, found.compared), len(copied)

    def _expected_links(self, memory: Memory) -> FloatArray:
        """Return mu0: the own rate, shrunk to the related pages' rate, itself shrunk to that of all pages."""
        watched = self.history.watched[: len(memory)]
        total = self.history.gained(memory).sum(axis=1).astype(np.float64)
        base = (total.sum() + 0.1) / (np.maximum(watched, 0).sum() + 10.0)
        near = self._rows[:, MEAN].sum(axis=1).astype(np.float64)
        return self._shrunk(total, near, float(base), watched)

    def _expected_change(self, memory: Memory) -> FloatArray:
        """Return p0 = 1 - exp(-rate t), the rate shrunk in the same way."""
        watched = self.history.watched[: len(memory)]
        changes = memory.changes.astype(np.float64)
        base = (changes.sum() + 1.0) / (np.maximum(watched, 0).sum() + 30.0)
        near = self._rows[:, CHANGE].astype(np.float64)
        return np.asarray(-np.expm1(-self._shrunk(changes, near, float(base), watched)))

    def _shrunk(self, count: FloatArray, near: FloatArray, base: float, watched: FloatArray) -> FloatArray:
        known = np.where(np.isnan(near), base, (STRENGTH * near + ALL_STRENGTH * base) / (STRENGTH + ALL_STRENGTH))
        rate = (count + STRENGTH * known) / (np.maximum(watched, 0.0) + STRENGTH)
        return np.asarray(rate * np.maximum(self._rows[:, 0], 1.0))

    def _worth(self, memory: Memory) -> FloatArray:
        links = self.mean.expected(self._rows, self._priors[0])
        waited = np.maximum(self._rows[:, 0].astype(np.float64), 1.0)
        chance = np.ones(len(links)) if self._links_only else self.hazard.probability(self._rows, self._priors[1])
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
