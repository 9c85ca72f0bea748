"""What a measure is: a value with a spec, equality and a hash, found by name.

    ChangeRate      ChangeRate(weighted)      NDCG@5%      NDCG@100      Unvisited@30d      Unvisited@99%

To add one, write a small frozen dataclass with `parts` and a maker under `@measures.add(name, ...)`, and import its
module in `all_measures.py`.
"""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recrawl.columns import FloatArray
from recrawl.errors import InputError
from recrawl.evaluate.measures.view import CycleView
from recrawl.registry import Registry, parse_spec, split_specs


@dataclass(frozen=True, repr=False)
class Measure(ABC):
    """Judges a cycle by a ratio, and a crawl by the mean of its cycles or, if `pooled`, by the ratio of the sums.

    The denominator may be 0 in a cycle where the measure has no meaning (a share of no visits): such a cycle has no
    value (NaN) and is left out of the mean.
    """

    better: ClassVar[Literal["higher", "lower"]] = "higher"
    pooled: ClassVar[bool] = False
    running: ClassVar[bool] = False  # a cycle's value is the ratio of the sums up to and with it
    per_visit: ClassVar[bool] = False  # flatters a policy that only makes its surest visits
    unit: ClassVar[str] = ""
    name: ClassVar[str]
    meaning: ClassVar[str]  # one line

    @property
    def detail(self) -> str:
        """What follows the name in the spec."""
        return ""

    @property
    def spec(self) -> str:
        """The text that makes this measure."""
        return self.name + self.detail

    @property
    def description(self) -> str:
        """One line for people who read a table."""
        return self.meaning

    @abstractmethod
    def parts(self, view: CycleView) -> tuple[float, float]:
        """Return numerator and denominator of a cycle."""

    def per_cycle(self, parts: FloatArray) -> FloatArray:
        """Return the value of every cycle from its parts (cycles x 2)."""
        above, below = (parts.cumsum(axis=0) if self.running else parts).T
        return np.divide(above, below, out=np.full(len(parts), np.nan), where=below != 0)

    def total(self, parts: FloatArray) -> float:
        """Return the value of a crawl from the parts of its cycles."""
        if self.pooled:
            above, below = parts.sum(axis=0)
            return float(above / below) if below else math.nan
        values = self.per_cycle(parts)
        values = values[~np.isnan(values)]
        return float(values.mean()) if len(values) else math.nan

    def __repr__(self) -> str:
        return self.spec


@dataclass(frozen=True, repr=False)
class Weighable(Measure):
    """A measure in which pages can count by their importance: `Name(weighted)`."""

    weighted: bool = False

    @property
    def detail(self) -> str:
        """What follows the name in the spec."""
        return "(weighted)" if self.weighted else ""

    @property
    def description(self) -> str:
        """One line for people who read a table."""
        return self.meaning + (", pages by their importance" if self.weighted else "")

    @classmethod
    def made(cls, flag: str = "") -> Measure:
        """Make it from the only argument that it takes."""
        if flag not in ("", "weighted"):
            raise InputError(f"measure {cls.name!r} takes 'weighted' or nothing, not {flag!r}")
        return cls(flag == "weighted")


measures: Registry[Measure] = Registry("measure", "recrawl.measures")
add_measure = measures.add


def make_measure(text: str) -> Measure:
    """Build a measure from its spec."""
    head, at, cutoff = text.strip().partition("@")
    spec = parse_spec(head)
    make = measures[spec.name].make
    options = dict(spec.options) | ({"cutoff": cutoff.strip()} if at else {})
    try:
        inspect.signature(make).bind(*spec.args, **options)
    except TypeError:
        raise InputError(f"measure {text!r}: {spec.name} is written {measures[spec.name].formula}") from None
    return make(*spec.args, **options)


def make_measures(text: str) -> tuple[Measure, ...]:
    """Build the measures of a comma-separated list; a measure named twice counts once."""
    chosen = tuple(dict.fromkeys(make_measure(part) for part in split_specs(text)))
    if not chosen:
        raise InputError("no measure is named")
    return chosen
