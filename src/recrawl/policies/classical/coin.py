"""A biased coin per page, within the budget."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.columns import FloatArray, PageIds, uniform
from recrawl.memory import Memory
from recrawl.policies.selection import first_k
from recrawl.policies.topk import Random, TopK
from recrawl.policy import Named, Policy, Scorer, Setting, make_policy, policies

TOSS_STREAM = 1 << 40  # sets the tosses' draws apart from those of the order


@dataclass(repr=False)
class Coin(Named):
    """Go through the pages in random order, visiting each with its probability of having changed, within the budget.

    The probability is a scorer's number, cut to [0, 1]. The coins of a cycle are tossed once: a page that lost is not
    tossed for again when the policy is asked again. Pages without a copy come first, without a toss. With `fill`, what
    one pass leaves of the budget is spent by further passes over the pages that lost.
    """

    scorer: Scorer
    seed: int
    fill: bool = False

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return winners in the order of the passes."""
        tosses = self.tosses(memory, at)
        order = -Random(self.seed).score(memory, at)
        return first_k([tosses, order], memory, budget, among=tosses < np.inf if self.fill else tosses <= 1)

    def tosses(self, memory: Memory, at: float) -> FloatArray:
        """How often each coin is tossed until it shows a visit: ceil(ln u / ln(1 - p)), 0 for a missing copy."""
        p = np.clip(self.scorer.score(memory, at), 0.0, 1.0)
        u = 1.0 - uniform(memory.tie, self.seed * 1_000_003 + memory.cycle + TOSS_STREAM)
        with np.errstate(divide="ignore", invalid="ignore"):
            count = np.maximum(np.ceil(np.log(u) / np.log1p(-p)), 1.0)
        count[np.isnan(count) | (p <= 0)] = np.inf
        count[memory.unfetched()] = 0.0
        return np.asarray(count)


@policies.add("coin", formula="random order, each by its probability", source="Radinsky & Bennett 2013")
def _coin(setting: Setting, policy: str = "cg", fill: bool = False) -> Policy:
    base = make_policy(policy, setting)
    if not isinstance(base, TopK):
        raise ValueError(f"{policy!r} gives no probability; use a policy that scores pages, such as cg")
    return Coin(base.scorer, setting.seed, fill)
