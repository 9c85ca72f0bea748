"""Policies that visit the pages with the highest scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from recrawl.columns import FloatArray, PageIds, uniform
from recrawl.errors import InputError
from recrawl.predict import estimators
from recrawl.remember.memory import Memory
from recrawl.remember.visits import Visits
from recrawl.schedule.policy import Policy, Scorer, Setting, policies
from recrawl.schedule.select import top_k


@dataclass
class TopK:
    """Visit the pages with the highest scores.

    A page that we know of but have no copy of comes before all others, whatever the scorer: a missing copy is
    certainly not fresh. All score-based policies share this rule, so it favours none.
    """

    scorer: Scorer

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return the best `budget` pages."""
        scores = self.scorer.score(memory, at)
        return top_k(np.where(memory.unfetched(), np.inf, scores), memory, budget)

    def observe(self, visits: Visits) -> None:
        """Nothing to learn: everything the scorer reads is in the memory."""


@dataclass(frozen=True)
class Random:
    """A new random order in every cycle."""

    seed: int

    def score(self, memory: Memory, at: float) -> FloatArray:
        """Draw one number a page."""
        return uniform(memory.tie, self.seed * 1_000_003 + memory.cycle)


class Age:
    """The longest unvisited first: t."""

    def score(self, memory: Memory, at: float) -> FloatArray:
        """Cycles since the last visit."""
        return memory.waited()


class TimesChanged:
    """t * X."""

    def score(self, memory: Memory, at: float) -> FloatArray:
        """Cycles since the last visit times the changes seen."""
        return memory.waited() * memory.changes


@dataclass(frozen=True)
class Estimated:
    """phi = 1 - exp(-rate t) with one of the classical rates (Santos et al. 2014, eq. 5)."""

    rate: Callable[[Memory], FloatArray]

    def score(self, memory: Memory, at: float) -> FloatArray:
        """Return the probability that the page has changed."""
        return np.asarray(estimators.probability(self.rate(memory), memory.waited()))


@policies.add("rand", formula="a new random order each cycle", source="Santos 2014 §5.1")
def _rand(setting: Setting) -> Policy:
    return TopK(Random(setting.seed))


@policies.add("age", formula="t", source="Santos 2014 §5.1")
def _age(setting: Setting) -> Policy:
    return TopK(Age())


@policies.add("tx", formula="t * X", source="Santos 2013")
def _tx(setting: Setting) -> Policy:
    return TopK(TimesChanged())


@policies.add("cg", formula="1 - exp(-t * -ln((n-X+.5)/(n+.5)))", source="Cho & Garcia-Molina 2003; Santos 2014 eq. 4")
def _cg(setting: Setting) -> Policy:
    return TopK(Estimated(estimators.cg))


def _weighted(name: str, rate: Callable[[Memory, str], FloatArray], weights: str) -> None:
    @policies.add(name, formula=f"1 - exp(-t * sum w_i I_i), {weights}", source="Tan & Mitra 2010; Santos 2014 §5.1")
    def _make(setting: Setting, over: str = "visits") -> Policy:
        if over not in ("visits", "cycles"):
            raise InputError(f"{name}: over must be 'visits' or 'cycles', not {over!r}")
        return TopK(Estimated(lambda memory: rate(memory, over)))


_weighted("nad", estimators.nad, "w_i = 1/n")
_weighted("sad", estimators.sad, "w_n = 1")
_weighted("aad", estimators.aad, "w_i = 2i/(n(n+1))")
_weighted("gad", estimators.gad, "w_i = 2^(i-1)/(2^n-1)")
