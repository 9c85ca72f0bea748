"""Policies that visit the pages with the highest scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from recrawl.columns import FloatArray, PageIds, uniform
from recrawl.errors import PolicyError
from recrawl.memory import Memory
from recrawl.policies.classical import estimators
from recrawl.policies.selection import top_k
from recrawl.policy import Named, Policy, Scorer, Setting, policies


@dataclass(repr=False)
class TopK(Named):
    """Visit the pages with the highest scores.

    A known page without a copy comes before all others, whatever the scorer: a missing copy is
    certainly not fresh. All score-based policies share this rule, so it favours none.

    Where pages differ in importance, a score (the worth of a visit to a page of importance 1) is multiplied by it;
    `weighted` is False for scorers whose numbers have no zero, and for those that apply importance themselves.
    """

    scorer: Scorer
    weighted: bool = True

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Return the best `budget` pages."""
        scores = np.asarray(self.scorer.score(memory, at))
        if scores.shape != (len(memory),):
            raise PolicyError(
                f"{type(self.scorer).__name__}.score returned shape {scores.shape}, not one number for each of "
                f"{len(memory)} pages"
            )
        if self.weighted and memory.importance is not None:
            scores = scores * memory.importance
        return top_k(scores, memory, budget, ahead=memory.unfetched())


@dataclass(frozen=True)
class Random:
    """A new random order in every cycle, in which important pages tend to come early.

    With importances, u**(1/importance) draws without replacement in proportion to them (Efraimidis & Spirakis 2006).
    """

    seed: int

    def score(self, memory: Memory, at: float) -> FloatArray:
        """Draw one number per page."""
        draw = uniform(memory.tie, self.seed * 1_000_003 + memory.cycle)
        if memory.importance is None:
            return draw
        with np.errstate(divide="ignore"):
            return np.asarray(draw ** (1.0 / memory.importance))


class LongestUnvisited:
    """Score t, the cycles since the last visit: the longest unvisited first."""

    def score(self, memory: Memory, at: float) -> FloatArray:
        """Cycles since the last visit."""
        return memory.waited()


class TimesChanged:
    """Score t * X: cycles since the last visit times the changes seen."""

    def score(self, memory: Memory, at: float) -> FloatArray:
        """Cycles since the last visit times the changes seen."""
        return memory.waited() * memory.changes


@dataclass(frozen=True)
class Bayes:
    """t * (X + a) / (n + b): the changes to expect since the last visit."""

    a: float
    b: float

    def score(self, memory: Memory, at: float) -> FloatArray:
        """Cycles since the last visit times the rate."""
        # multiplied before divided, so that equal worths are equal numbers
        return np.asarray(memory.waited() * (memory.changes + self.a) / (memory.n + self.b))


@dataclass(frozen=True)
class Estimated:
    """phi = 1 - exp(-rate t) with one of the classical rates (Santos et al. 2014, eq. 5)."""

    rate: Callable[[Memory], FloatArray]

    def score(self, memory: Memory, at: float) -> FloatArray:
        """Return the probability that the page has changed."""
        return np.asarray(estimators.probability(self.rate(memory), memory.waited()))


@dataclass(frozen=True)
class PlainRate:
    """The estimated rate alone, without t: eq. 4 as printed, and as the authors' program ranks by CG."""

    rate: Callable[[Memory], FloatArray]

    def score(self, memory: Memory, at: float) -> FloatArray:
        """Return the changes per cycle."""
        return self.rate(memory)


@policies.add("rand", formula="a new random order each cycle", source="Santos 2014 §5.1")
def _rand(setting: Setting) -> Policy:
    return TopK(Random(setting.seed), weighted=False)


@policies.add("age", formula="t", source="Santos 2014 §5.1")
def _age(setting: Setting) -> Policy:
    return TopK(LongestUnvisited())


@policies.add("tx", formula="t * X", source="Santos 2013")
def _tx(setting: Setting) -> Policy:
    return TopK(TimesChanged())


@policies.add("bayes", formula="t * (X+a)/(n+b)", source="Jeffreys 1946 (a=.5, b=1)")
def _bayes(setting: Setting, a: float = 0.5, b: float = 1.0) -> Policy:
    if a < 0 or b <= 0 or a > b:
        raise ValueError(f"a and b must satisfy 0 <= a <= b and b > 0, not a={a:g}, b={b:g}")
    return TopK(Bayes(a, b))


@policies.add(
    "cg", formula="1 - exp(-tL), or L (form=rate); L = -ln((n-X+.5)/(n+.5))", source="Cho 2003; Santos 2014 eq. 4"
)
def _cg(setting: Setting, form: Literal["chance", "rate"] = "chance") -> Policy:
    return TopK(Estimated(estimators.cg) if form == "chance" else PlainRate(estimators.cg))


def _weighted(name: str, rate: Callable[[Memory, str], FloatArray], weights: str) -> None:
    @policies.add(name, formula=f"1 - exp(-tL), L = sum w_i I_i, {weights}", source="Tan & Mitra 2010")
    def _make(setting: Setting, over: Literal["visits", "cycles"] = "visits") -> Policy:
        return TopK(Estimated(lambda memory: rate(memory, over)))


_weighted("nad", estimators.nad, "w = 1/n")
_weighted("sad", estimators.sad, "w_n = 1")
_weighted("aad", estimators.aad, "w ~ i")
_weighted("gad", estimators.gad, "w ~ 2^i")
