"""Change rates for policies that plan by them: the posterior of each page's rate that `learned` starts from.

A page that was visited twice has no rate of its own worth the name; what its surroundings and all pages of the crawl
have shown says more (prior.py). With p0 the chance of a change after the t cycles since the last visit,

    D = -ln(1 - p0) / t        changes per cycle
"""

from __future__ import annotations

import numpy as np

from recrawl.columns import FloatArray
from recrawl.memory import Memory
from recrawl.policies.learned.belief import Belief
from recrawl.visits import Visits


class SharedRates:
    """The closed form of `learned`, without its trees, as an estimator of rates."""

    def __init__(self, seed: int) -> None:
        self.belief = Belief(seed, every=1, trees=False)

    def begin(self, memory: Memory) -> None:
        """Place pages that have become known, and open the cycle."""
        self.belief.meet(memory)
        if memory.cycle != self.belief.cycle:
            self.belief.open_cycle(memory)

    def learn(self, memory: Memory, visits: Visits) -> None:
        """Learn from visits."""
        self.begin(memory)
        self.belief.learn(visits, np.zeros(len(self.belief.history.first)))

    def per_cycle(self, memory: Memory) -> FloatArray:
        """Return every page's changes per cycle; 0 without a copy."""
        self.begin(memory)
        belief, rate = self.belief, np.zeros(len(memory))
        pages = np.flatnonzero(belief.held(memory))
        chance = belief.prior.chance(pages, belief.places, belief.evidence, belief.history, belief.cycle)
        waited = np.maximum(belief.cycle - belief.history.last[pages], 1)
        rate[pages] = -np.log1p(-np.minimum(chance, 1.0 - 1e-12)) / waited
        return rate
