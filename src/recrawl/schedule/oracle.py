"""The clairvoyant upper bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.columns import FloatArray
from recrawl.remember.memory import Memory
from recrawl.schedule.policy import Policy, Setting, Truth, policies
from recrawl.schedule.topk import TopK


@dataclass(frozen=True)
class Stale:
    """Sees which copies are stale now: changed pages first, the more important before, then the dead, then the rest."""

    truth: Truth

    def score(self, memory: Memory, at: float) -> FloatArray:
        """Return 2 (and up to 1 more for importance) for changed pages, 1 for dead ones, 0 otherwise."""
        stale = self.truth.stale_since <= at
        dead = self.truth.died <= at
        changed = 2.0 if memory.importance is None else 2.0 + memory.importance / memory.importance.max()
        return np.where(dead, 1.0, np.where(stale, changed, 0.0))


@policies.add("oracle", formula="knows which copies are stale now", source="clairvoyant upper bound", clairvoyant=True)
def _oracle(setting: Setting) -> Policy:
    if setting.truth is None:
        raise ValueError("an oracle needs a world that knows the truth")
    return TopK(Stale(setting.truth), weighted=False)
