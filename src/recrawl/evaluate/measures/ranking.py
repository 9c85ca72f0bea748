"""Measures of the visits of a cycle and of their order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from recrawl.columns import FloatArray
from recrawl.errors import InputError
from recrawl.evaluate.measures.measure import Measure, Weighable, measures
from recrawl.evaluate.measures.view import CycleView
from recrawl.spans import budget_of


@dataclass(frozen=True, repr=False)
class ChangeRate(Weighable):
    """C_i = D_i^c / D_i: of the pages visited in a cycle, those that had changed (Santos et al. 2014, eq. 1).

    Defined by Douglis et al. 1997; Tan et al. call it ChangeRatio. Weighted, each changed page counts by its
    importance: sum w_p I(p) / D_i, with weights of mean 1 over all pages (Cho & Ntoulas 2002; Tan et al.), so finding
    changes on important pages can give more than 1.
    """

    name = "ChangeRate"
    per_visit = True
    meaning = "share of the visits that found a change"

    def parts(self, view: CycleView) -> tuple[float, float]:
        """Changed pages (or their weights) over visits."""
        if self.weighted and len(view.stage.weights):
            return float(view.stage.weights[view.picks[view.changed]].sum()), len(view.picks)
        return view.found, len(view.picks)


@dataclass(frozen=True, repr=False)
class NDCG(Measure):
    """DCG of the first k picks over that of the best order (Järvelin & Kekäläinen 2002; Santos 2014 eqs. 2-3).

    A changed page gains 1 at rank 1 and 1/ln(r+1) at rank r >= 2. (Eq. 2 prints log(i), which has no value at rank 1;
    this is the discount of the authors' program.) The ideal order has min(k, stale) changed pages on top, where stale
    counts the pages that have changed as seen from this crawler's own last visits. A cycle without any is 0.
    """

    name = "NDCG"
    meaning = "how near the top of the order the changed pages are; 1 is perfect"
    k: int | float | None = None  # a number of ranks, a share of the pages, or the whole budget

    @property
    def detail(self) -> str:
        """What follows the name in the spec."""
        if self.k is None:
            return ""
        return f"@{self.k}" if isinstance(self.k, int) else f"@{self.k * 100:g}%"

    def ranks(self, view: CycleView) -> int:
        """How many ranks count."""
        if self.k is None:
            return view.stage.budget
        return self.k if isinstance(self.k, int) else max(1, round(self.k * view.stage.pages))

    def parts(self, view: CycleView) -> tuple[float, float]:
        """The cycle's NDCG over 1."""
        ranks = min(self.ranks(view), len(view.since))
        gain = discounts(ranks)
        changed = view.changed[:ranks]
        ideal = gain[: view.stale].sum()
        return (float(gain[: len(changed)][changed].sum() / ideal) if ideal else 0.0), 1.0


@lru_cache(maxsize=8)
def discounts(ranks: int) -> FloatArray:
    """Return the gain of a changed page at each rank: 1, then 1/ln(r+1) (Santos et al. 2014, eq. 2 as released)."""
    gain = 1.0 / np.log(np.arange(1, ranks + 1) + 1.0)
    gain[:1] = 1.0
    return gain


@dataclass(frozen=True, repr=False)
class Spent(Measure):
    """Visits made over visits allowed: policies that wait for pages to be due may leave budget unused."""

    name = "Spent"
    meaning = "share of the budget that was used"
    pooled = True

    def parts(self, view: CycleView) -> tuple[float, float]:
        """Visits over budget."""
        return len(view.picks), view.stage.budget


measures.add("ChangeRatio", formula="ChangeRatio or ChangeRatio(weighted)", source="another name of ChangeRate")(
    ChangeRate.made
)
measures.add("ChangeRate", formula="ChangeRate or ChangeRate(weighted)", source="Douglis 1997; Santos 2014 eq. 1")(
    ChangeRate.made
)


@measures.add("NDCG", formula="NDCG, NDCG@5% or NDCG@100", source="Järvelin & Kekäläinen 2002; Santos 2014 eq. 3")
def _ndcg(cutoff: str | None = None) -> Measure:
    if cutoff is None:
        return NDCG()
    try:
        return NDCG(budget_of(cutoff))
    except InputError:
        raise InputError(f"measure 'NDCG@{cutoff}': k is a number of ranks such as 100 or a share such as 5%") from None


measures.add("Spent", formula="Spent")(Spent)
