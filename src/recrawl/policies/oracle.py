"""The clairvoyant upper bounds: of changes found, and of new links found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.memory import Memory
from recrawl.policies.topk import TopK
from recrawl.policy import Policy, Setting, Truth, policies


@dataclass(frozen=True)
class Stale:
    """Scores by the truth: changed pages first, the more important before, then dead ones, then the rest."""

    truth: Truth

    def score(self, memory: Memory, at: float) -> FloatArray:
        """Return 2 (and up to 1 more for importance) for changed pages, 1 for dead ones, 0 otherwise."""
        stale = self.truth.stale_since <= at
        dead = self.truth.died <= at
        changed = 2.0 if memory.importance is None else 2.0 + memory.importance / memory.importance.max()
        return np.where(dead, 1.0, np.where(stale, changed, 0.0))


@runtime_checkable
class LinkTruth(Protocol):
    """A world that can also count the new links a visit to each page would find."""

    stale_since: FloatArray
    died: FloatArray

    def new_links(self, at: float) -> IntArray:
        """Count them for every page."""


@dataclass(frozen=True)
class Linked:
    """Scores by the new links that a visit would find now; pages that changed without any come next.

    The best of a cycle, not of the whole crawl.
    """

    truth: LinkTruth

    def score(self, memory: Memory, at: float) -> FloatArray:
        """Return the new links of each page, a half for other stale ones."""
        stale = (self.truth.stale_since <= at) & (self.truth.died > at)
        return np.maximum(self.truth.new_links(at), 0.5 * stale)


@policies.add("oracle", formula="knows which copies are stale now", source="clairvoyant upper bound", clairvoyant=True)
def _oracle(setting: Setting, of: Literal["changes", "links"] = "changes") -> Policy:
    if setting.truth is None:
        raise ValueError("an oracle needs a world that knows the truth")
    if of == "changes":
        return TopK(Stale(setting.truth), weighted=False)
    if not isinstance(setting.truth, LinkTruth):
        raise ValueError("an oracle of links needs a world that counts them")
    return TopK(Linked(setting.truth))
