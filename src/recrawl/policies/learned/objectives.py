"""Index of each objective: the worth of a visit, by which pages are ranked.

With p the chance of a change since the last visit, t the time since then, D = -ln(1 - p) / t the rate that gives that
chance, and x = D t. A page that is visited every t days costs c(t) = integral over (0, t) of a(s) ds per visit, where
a(s) is what we mind at s days after a visit. Visiting it a little sooner gains t a(t) - c(t) = integral of s a'(s) ds
per visit given up; ranking by this number and visiting the top equalises it over the pages, which is optimal for
independent pages under a budget (the argument of Cho & Garcia-Molina 2003, with the multiplier as the threshold).

    changes     p                                        each visit that finds a change counts 1
    freshness   (1 - (1 + x) exp(-x)) / D                a(s) = 1 - exp(-D s), the chance of being stale
    age         t^2 / 2 - (1 - (1 + x) exp(-x)) / D^2    a(s) = s - (1 - exp(-D s)) / D, the expected age
    balanced    p f^BALANCE, f the index of freshness: found changes and fresh copies at once, whatever the unit of time
    links       p times the new links expected of a change (linkyield.py)

An objective is a name or a weighted sum such as `changes+0.1*links`. Importance multiplies the index.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from recrawl.columns import FloatArray
from recrawl.errors import InputError

NAMES = ("changes", "freshness", "age", "links", "balanced")
BALANCE = 0.25  # between 0, the order of `changes`, and infinity, that of `freshness`
_TERM = re.compile(r"(?:(\d+(?:\.\d+)?)\*)?([a-z]+)")
_SLOW = 1e-9  # below this rate the limits for x -> 0 hold


@dataclass(frozen=True)
class Objective:
    """A weighted sum of the indices."""

    weights: tuple[tuple[str, float], ...]

    @property
    def needs_links(self) -> bool:
        """Whether the index depends on the links expected."""
        return any(name == "links" for name, _ in self.weights)

    def index(self, p: FloatArray, t: FloatArray, links: FloatArray) -> FloatArray:
        """Return the worth of a visit to each page; `links` are the new links expected where it has changed."""
        return np.asarray(sum(weight * _index(name, p, t, links) for name, weight in self.weights))


def parse_objective(text: str) -> Objective:
    """Read `changes`, `freshness`, `changes+0.1*links`."""
    weights = []
    for term in text.replace(" ", "").split("+"):
        match = _TERM.fullmatch(term)
        if match is None or match[2] not in NAMES:
            raise InputError(f"unknown objective {term!r}; take a sum of {', '.join(NAMES)} such as changes+0.1*links")
        weights.append((match[2], float(match[1] or 1.0)))
    return Objective(tuple(weights))


def _index(name: str, p: FloatArray, t: FloatArray, links: FloatArray) -> FloatArray:
    if name == "changes":
        return p
    if name == "links":
        return p * links
    x = -np.log1p(-np.minimum(p, 1.0 - 1e-12))
    rate = np.maximum(x / np.maximum(t, 1e-9), _SLOW)
    gained = np.maximum(-np.expm1(-x) - x * np.exp(-x), 0.0)
    if name == "age":
        return np.maximum(t**2 / 2.0 - gained / rate**2, 0.0)
    fresher = gained / rate
    return fresher if name == "freshness" else np.asarray(p * fresher**BALANCE)
