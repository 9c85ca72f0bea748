"""The formulas that an evolution keeps, and how the final one is chosen (Santos et al. 2014, section 4.2.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from recrawl.columns import FloatArray
from recrawl.policies.formulas.expression import Expression

SELECTIONS = ("best", "sum", "avg")  # as the paper prints them
PROGRAM_SELECTIONS = ("best in training", "sum by cycles", "avg by cycles")  # as the authors' program has them
SHORT = "short"  # ours: the shortest that is nearly the best
NEARLY = 0.005  # of the best validation


@dataclass
class Archive:
    """The `room` best formulas seen so far; of those that behave alike in training only the shortest.

    Two formulas behave alike if their crawls score the same in every cycle. Without that rule the archive fills up
    with spellings of one formula, and validation has nothing to choose from.
    """

    room: int = 50
    _held: dict[bytes, tuple[float, Expression]] = field(default_factory=dict)

    def add(self, formula: Expression, fitness: float, curve: FloatArray) -> None:
        """Insert a formula, if it is among the best."""
        behaviour = curve.tobytes()
        known = self._held.get(behaviour)
        if known is None:
            if len(self._held) >= 2 * self.room:
                self._shrink()
            self._held[behaviour] = fitness, formula
        elif _order(fitness, formula) < _order(*known):
            self._held[behaviour] = fitness, formula

    def best(self) -> list[tuple[Expression, float]]:
        """Return the formulas with their fitness, best first."""
        self._shrink()
        return [(formula, fitness) for fitness, formula in self._held.values()]

    def _shrink(self) -> None:
        ranked = sorted(self._held.items(), key=lambda item: _order(*item[1]))
        self._held = dict(ranked[: self.room])


def _order(fitness: float, formula: Expression) -> tuple[float, int, bytes]:
    return -fitness, len(formula), formula.key


@dataclass(frozen=True)
class Candidate:
    """A formula with its fitness in training and validation.

    `spread` is the authors' program's sigma: the root of the summed squares of all cycles' values, of both sets, about
    their common mean (not divided by their number).
    """

    formula: Expression
    seed: int
    train: float
    validation: float
    spread: float = math.nan

    def score(self, selection: str) -> float:
        """Return the criterion of a selection method.

        As printed: best is the validation ("individuals that perform the best in this phase are selected"); sum is
        train + validation - sigma, avg their mean - sigma, with sigma the standard deviation of the two. In the
        authors' program best is the best in training, and sigma is `spread`.
        """
        if selection == "best":
            return self.validation
        if selection == "best in training":
            return self.train
        sigma = self.spread if selection.endswith("by cycles") else float(np.std([self.train, self.validation]))
        both = self.train + self.validation
        return (both if selection.startswith("sum") else both / 2) - sigma


def cycle_spread(train: FloatArray, validation: FloatArray) -> FloatArray:
    """Return the program's sigma of each formula from its values in the cycles of training and validation."""
    both = np.concatenate([train, validation], axis=1)
    known = ~np.isnan(both)
    mean = np.where(known, both, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return np.asarray(np.sqrt(np.where(known, (both - mean[:, None]) ** 2, 0.0).sum(axis=1)))


def nearly_best(candidates: list[Candidate], most: int = 20) -> list[Candidate]:
    """Return the shortest candidates whose validation is within NEARLY of the best, shortest first."""
    top = max(c.validation for c in candidates)
    near = [c for c in candidates if c.validation >= top - NEARLY * abs(top)]
    return sorted(near, key=lambda c: (len(c.formula), -c.validation, c.formula.key))[:most]


def choose(candidates: list[Candidate], selection: str = "best") -> Candidate:
    """Return the best candidate; of equals the one better in training, then the shorter."""
    return min(candidates, key=lambda c: (-c.score(selection), -c.train, len(c.formula), c.formula.key))
