"""Visit pages by the new links or changes they had: the one-feature baselines of Dang et al. 2022 (Table 4).

    nnl-av   new links per cycle, the mean over all cycles the page was watched
    nnl-pr   new links per cycle, as the last visit found them
    ccr      content change rate: the share of the visits that found a change

Ties (most pages have no new link at all) go by the longest wait, so that a crawl also comes to pages that have
not shown anything yet.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from recrawl.columns import FloatArray, PageIds
from recrawl.memory import Memory
from recrawl.policies.links.linkhistory import LinkWatcher
from recrawl.policies.selection import first_k
from recrawl.policy import Policy, Setting, policies

By = Literal["nnl-av", "nnl-pr", "ccr"]


class LinkRate(LinkWatcher):
    """Policies of one feature, see the module."""

    def __init__(self, by: By) -> None:
        super().__init__()
        self.by = by

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return the pages with the highest rates."""
        unfetched = memory.unfetched()
        score = self._score(memory)
        if memory.importance is not None:
            score = score * memory.importance
            score[unfetched] = memory.importance[unfetched]
        else:
            score[unfetched] = 0.0
        return first_k([~unfetched, -score, -memory.waited()], memory, budget)

    def _score(self, memory: Memory) -> FloatArray:
        pages = len(memory)
        if self.by == "nnl-pr":
            return np.nan_to_num(self.history.recent[:pages, 0].sum(axis=1).astype(np.float64))
        if self.by == "ccr":
            return np.asarray(memory.changes / np.maximum(memory.n, 1))
        return np.asarray(memory.new_links.sum(axis=1) / np.maximum(self.history.watched[:pages], 1.0))


def _add(by: By, formula: str) -> None:
    @policies.add(by, formula=f"{formula}; ties by t", source="Dang et al. 2022, Table 4")
    def _make(setting: Setting) -> Policy:
        return LinkRate(by)


_add("nnl-av", "mean new links per cycle so far")
_add("nnl-pr", "new links per cycle at the last visit")
_add("ccr", "X / n")
