"""Index of each objective: the worth of a visit, by which pages are ranked.

With p the chance of a change since the last visit, and f and a what a change that is found is worth in freshness and in
age (gains.py):

    changes     p                   each visit that finds a change counts 1
    freshness   p f                 time that copies are up to date
    age         p a                 time that copies are out of date
    balanced    p (1 + BALANCE f)   found changes and fresh copies at once, as changes+0.05*freshness
    links       l                   the new links that the visit is expected to find (links/link_outlook.py)

An objective is a name or a weighted sum such as `changes+0.1*links`. Importance multiplies the index.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from recrawl.columns import FloatArray
from recrawl.errors import InputError

NAMES = ("changes", "freshness", "age", "links", "balanced")
BALANCE = 0.05  # found changes that a cycle of freshness is worth: 0 is the order of `changes`
_TERM = re.compile(r"(?:(\d+(?:\.\d+)?)\*)?([a-z]+)")
FRESH, AGE = range(2)  # columns of the gains


@dataclass(frozen=True)
class Objective:
    """A weighted sum of the indices."""

    weights: tuple[tuple[str, float], ...]

    @property
    def needs_links(self) -> bool:
        """Whether the index depends on the links expected."""
        return any(name == "links" for name, _ in self.weights)

    @property
    def links_only(self) -> bool:
        """Whether nothing but new links counts."""
        return all(name == "links" for name, _ in self.weights)

    @property
    def needs_gains(self) -> bool:
        """Whether the index depends on what a change is worth."""
        return any(name in ("freshness", "age", "balanced") for name, _ in self.weights)

    @property
    def by_chance(self) -> bool:
        """Whether the index depends on nothing but the chance of a change."""
        return not self.needs_links and not self.needs_gains

    def index(self, p: FloatArray, links: FloatArray, gains: FloatArray) -> FloatArray:
        """Return the worth of a visit to each page; `links` are expected of it, `gains` of a change found by it."""
        return np.asarray(sum(weight * _index(name, p, links, gains) for name, weight in self.weights))


def parse_objective(text: str) -> Objective:
    """Read `changes`, `freshness`, `changes+0.1*links`."""
    weights = []
    for term in text.replace(" ", "").split("+"):
        match = _TERM.fullmatch(term)
        if match is None or match[2] not in NAMES:
            raise InputError(f"unknown objective {term!r}; take a sum of {', '.join(NAMES)} such as changes+0.1*links")
        weights.append((match[2], float(match[1] or 1.0)))
    return Objective(tuple(weights))


def _index(name: str, p: FloatArray, links: FloatArray, gains: FloatArray) -> FloatArray:
    if name == "changes":
        return p
    if name == "links":
        return links
    worth: FloatArray = gains[:, AGE if name == "age" else FRESH]
    return np.asarray(p * (1.0 + BALANCE * worth if name == "balanced" else worth))
